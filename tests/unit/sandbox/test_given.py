import subprocess
import sys
from pathlib import Path

import pytest

from autograder.sandbox.folder import stage
from autograder.sandbox.given import compiled_name, given_files

SHOW = "import lesson; print(lesson.value, lesson.__cached__); lesson.fail()"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "deep").mkdir(parents=True)
    (folder / "lesson.py").write_text("value = 1\n\n\ndef fail():\n    raise ValueError\n")
    (folder / "deep" / "part.py").write_text("value = 2\n")
    (folder / "broken.py").write_text("value = (\n")
    (folder / "data.txt").write_text("data")
    return folder


def staged(source: Path, tmp_path: Path) -> Path:
    paths = [path.relative_to(source) for path in source.rglob("*") if path.is_file()]
    folder, _ = stage(tmp_path, None, given_files(source, paths))
    return folder


def run(folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-v", "-c", SHOW]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_python_takes_the_compiled_file_and_names_the_source(source: Path, tmp_path: Path) -> None:
    folder = staged(source, tmp_path)
    done = run(folder)
    assert f"1 {folder / compiled_name(Path('lesson.py'))}\n" == done.stdout
    assert f"# code object from '{folder / 'lesson.py'}'" not in done.stderr
    assert f'File "{folder / "lesson.py"}", line 5, in fail' in done.stderr


def test_who_changes_a_given_file_gets_what_they_wrote(source: Path, tmp_path: Path) -> None:
    folder = staged(source, tmp_path)
    (folder / "lesson.py").write_text("value = 3\n")
    assert run(folder).stdout.startswith("3 ")


def test_whatever_is_no_python_stays_as_it_is(source: Path, tmp_path: Path) -> None:
    folder = staged(source, tmp_path)
    assert ("data", "value = (\n") == ((folder / "data.txt").read_text(), (folder / "broken.py").read_text())
    compiled = {path.relative_to(folder) for path in folder.rglob("*.pyc")}
    assert {Path(compiled_name(Path(name))) for name in ("lesson.py", "deep/part.py")} == compiled
