"""``autograder grade --jobs N``: how many judge makes no difference to anything but the time."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.functional

#: What differs between any two gradings: times, and numbers that the database draws.
DRAWN = ("id", "time", "timestamp", "_id")


def test_results_files_and_gradebook_do_not_depend_on_how_many_judge(
    program: Any, make_course: Any, notebooks: Any, tmp_path: Path
) -> None:
    course = make_course(tmp_path / "one" / "course")
    right = notebooks.right()
    course.hand_in("ada", notebooks.filled(right))
    course.hand_in("bob", notebooks.filled(right | {"merge_heads": "def merge_heads(h):\n    return h"}))
    course.hand_in("cleo", b"")
    course.hand_in("dora", notebooks.released())
    (course.folder / ".autograder").mkdir(mode=0o700)
    (course.folder / ".autograder" / "secret").write_bytes(bytes(range(32)))
    courses = {"1": course.folder, "3": course.copy(tmp_path / "three" / "course").folder}
    for jobs, folder in courses.items():
        done = program("grade", "multihead", "--jobs", jobs, "--json", "results.json", cwd=folder)
        assert (0, "") == (done.code, done.err)
    results, files, books = (
        [read(folder) for folder in courses.values()] for read in (results_of, files_of, rows_of)
    )
    assert ["ada", "bob", "cleo", "dora"] == [one["student"] for one in results[0]["submissions"]]
    assert 20 == results[0]["submissions"][0]["score"]
    assert results[0] == results[1]
    assert 4 == len(files[0])
    assert files[0] == files[1]
    assert 4 * 5 == len(books[0]["grade"])
    assert books[0] == books[1]


def results_of(folder: Path) -> Any:
    return json.loads((folder / "results.json").read_text())


def files_of(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in (folder / "autograded").rglob("*.ipynb")}


def rows_of(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """The contents of all tables, but for what is drawn."""
    with sqlite3.connect(folder / "gradebook.db") as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        contents = {}
        for table in tables:
            columns = [column[1] for column in database.execute(f"PRAGMA table_info({table})")]
            kept = [f'"{one}"' for one in columns if not one.endswith(DRAWN)] or ["1"]
            found = database.execute(f'SELECT {", ".join(kept)} FROM "{table}"').fetchall()
            contents[table] = sorted(found, key=repr)
    database.close()
    return contents
