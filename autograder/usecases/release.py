"""Making the student version of an assignment, through nbgrader's own ``generate_assignment``.

On disk, in the course's folder:

    assignments/<name>/         what students get; generated, committed, never edited by hand
    assignments/<name>.sha256   what was generated last, for ``sha256sum --check``: tells a release that is
                                merely old from one that somebody edited
    dist/<name>.zip             the same files to hand out; the same bytes each time, not committed

nbgrader empties the folder that it writes to and removes it when it fails. It therefore writes to a
scratch folder, and only what differs is brought over.
"""

import hashlib
import tempfile
import zipfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from autograder.assignments.catalog import find_source
from autograder.errors import CourseError
from autograder.files import write_atomically
from autograder.gradebook.nbgrader_command import run_nbgrader
from autograder.notebooks.source import read_source_folder

#: Folders that Jupyter and Python leave beside a notebook; they are no part of a release.
_LEFTOVERS = frozenset({".ipynb_checkpoints", "__pycache__"})

Files = dict[str, bytes]


@dataclass(frozen=True)
class Difference:
    """A file of the committed release that is not as the source notebook would make it."""

    path: str
    problem: str


@dataclass(frozen=True)
class Release:
    """A finished release: its folder, its zip, its files, and what differed before."""

    folder: Path
    archive: Path
    files: tuple[str, ...]
    differences: tuple[Difference, ...]


def check_release(course: Path, name: str) -> tuple[Difference, ...]:
    """How the committed release differs from what the source would give now; touches nothing.

    Raises:
        CourseError: there is no such assignment, or nbgrader cannot make its release.
    """
    return _compare(_generate(course, name, record=False), _released(course, name), name)


def release(course: Path, name: str, *, force: bool = False) -> Release:
    """Write ``assignments/<name>/`` and ``dist/<name>.zip``, and enter the assignment in the gradebook.

    Raises:
        CourseError: there is no such assignment, nbgrader cannot make its release, or files in the folder
            were edited or added by hand and ``force`` is not given; nothing has been changed then.
    """
    old = _released(course, name)
    if not force and _edited(old, name):
        _refuse_to_lose(_edited(old, name), old, _generate(course, name, record=False), name)
    new = _generate(course, name, record=True)
    handed_out = {path: data for path, data in new.items() if path != _record(name)}
    archive = course / "dist" / f"{name}.zip"
    try:
        _bring_over(course / "assignments", old, new)
        archive.parent.mkdir(exist_ok=True)
        write_atomically(archive, _zipped(handed_out))
    except OSError as error:
        raise CourseError(f"Cannot write the release of {name!r}: {error}.") from error
    differences = tuple(one for one in _compare(new, old, name) if one.path != _record(name))
    return Release(course / "assignments" / name, archive, tuple(handed_out), differences)


def _generate(course: Path, name: str, *, record: bool) -> Files:
    """What nbgrader makes of the source now; ``record`` enters it in the gradebook as well."""
    read_source_folder(find_source(course, name))  # says what is wrong more clearly than nbgrader does
    with tempfile.TemporaryDirectory(prefix="autograder-release-") as scratch:
        arguments = ["generate_assignment", name, f"--CourseDirectory.release_directory={scratch}"]
        run_nbgrader(course, arguments if record else [*arguments, "--no-db"])
        files = _read(Path(scratch), name)
    return files | {_record(name): _checksums(files)}


def _record(name: str) -> str:
    return f"{name}.sha256"


def _released(course: Path, name: str) -> Files:
    root = course / "assignments"
    files = _read(root, name)
    record = root / _record(name)
    return files | ({_record(name): record.read_bytes()} if record.is_file() else {})


def _read(root: Path, name: str) -> Files:
    """All files of a release, by their paths from ``root``, in order."""
    paths = sorted(path for path in (root / name).rglob("*") if path.is_file())
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in paths
        if _LEFTOVERS.isdisjoint(path.relative_to(root).parts)
    }


def _checksums(files: Files) -> bytes:
    lines = [f"{hashlib.sha256(data).hexdigest()}  {path}\n" for path, data in sorted(files.items())]
    return "".join(lines).encode()


def _edited(released: Files, name: str) -> set[str]:
    """The files that are not as the record says we left them: all of them where there is no record."""
    lines = released.get(_record(name), b"").decode(errors="replace").splitlines()
    recorded = {path: checksum for checksum, _, path in (line.partition("  ") for line in lines)}
    return {
        path
        for path, data in released.items()
        if path != _record(name) and recorded.get(path) != hashlib.sha256(data).hexdigest()
    }


def _refuse_to_lose(edited: set[str], old: Files, new: Files, name: str) -> None:
    """Raise where a file that was edited by hand would be changed or removed."""
    lost = sorted(path for path in edited if old[path] != new.get(path))
    if lost:
        raise CourseError(
            f"Releasing {name!r} would overwrite files in assignments/ that were edited or added by hand: "
            f"{', '.join(lost)}. This folder is generated: move such changes to source/{name}/, "
            f"then release with --force."
        )


def _compare(new: Files, old: Files, name: str) -> tuple[Difference, ...]:
    edited = _edited(old, name)
    found = []
    for path in sorted(new.keys() | old.keys()):
        if path not in old:
            found.append(Difference(path, "missing"))
        elif path not in new:
            found.append(
                Difference(path, "not in the source" if path in edited else "no longer in the source")
            )
        elif old[path] != new[path]:
            found.append(Difference(path, "edited by hand" if path in edited else "out of date"))
    return tuple(found)


def _bring_over(root: Path, old: Files, new: Files) -> None:
    for path, data in new.items():
        if old.get(path) != data:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(root / path, data)
    for path in old.keys() - new.keys():
        (root / path).unlink()


def _zipped(files: Files) -> bytes:
    """A zip archive with the same bytes for the same files: in order, all from one fixed moment."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in sorted(files.items()):
            entry = zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return buffer.getvalue()
