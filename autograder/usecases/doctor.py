"""Finds out what this machine's sandbox keeps from student code, and what that could do without it."""

import contextlib
import json
import platform
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.assignments.catalog import KIT
from autograder.assignments.environment import missing_packages, read_environment
from autograder.sandbox.choice import UNSAFE, Way
from autograder.sandbox.probes import LIMITS, Probe, probes
from autograder.sandbox.session import CellStep, Ending, Run, Worker

#: What a probe has found where it did not come to its end: anything, for all that is known.
UNKNOWN = "it could not be tried"


@dataclass(frozen=True)
class Finding:
    """What one probe has got hold of in the sandbox, and without; ``what`` says what it is not to have."""

    name: str
    what: str
    inside: tuple[str, ...]
    outside: tuple[str, ...]

    @property
    def is_kept(self) -> bool:
        """Whether the sandbox keeps all of it from student code."""
        return not self.inside


@dataclass(frozen=True)
class Examined:
    """All findings.

    ``rooms`` says whether every run has a room of its own in one box, ``worker_bytes`` what the warm
    interpreter takes, None where the kernel does not say. ``missing`` are packages that are not installed,
    by the assignment of the kit that cannot be graded without them.
    """

    findings: tuple[Finding, ...]
    rooms: bool
    worker_bytes: int | None
    missing: Mapping[str, Sequence[str]] = field(default_factory=dict)


def examine_machine(way: Way) -> Examined:
    """Try everything in the sandbox, and once more without; nothing but a folder of our own is at stake."""
    with _decoys() as (files, writable):
        wanted = probes(files, writable, platform.machine())
        rooms, worker_bytes, inside = _try_all(way, wanted)
        _, _, outside = _try_all(UNSAFE, wanted)
    findings = (Finding(one.name, one.what, inside[one.name], outside[one.name]) for one in wanted)
    return Examined(tuple(findings), rooms, worker_bytes, _missing())


def _missing() -> dict[str, list[str]]:
    """By assignment of the kit, what of the packages that it needs is not installed."""
    folders = sorted(path.parent for path in (KIT / "assignments").glob("*/checks.py"))
    found = {one.name: missing_packages(read_environment(one)[0]) for one in folders}
    return {name: packages for name, packages in found.items() if packages}


@contextlib.contextmanager
def _decoys() -> Iterator[tuple[dict[str, Path], Sequence[Path]]]:
    """What is to stay unread, and where nothing is to be written."""
    with tempfile.TemporaryDirectory(prefix="autograder-doctor-") as name:
        folder = Path(name)
        (folder / "gradebook.db").write_text("grades")
        (folder / "submitted" / "somebody").mkdir(parents=True)
        files = {
            "hidden checks": KIT / "assignments",
            "solutions": KIT.parent / "solutions",
            "a gradebook": folder / "gradebook.db",
            "submissions": folder / "submitted",
        }
        own = next((path for path in Path.home().iterdir() if path.is_file() and path.stat().st_size), None)
        if own is not None:
            files["your home"] = own
        yield files, (folder, Path("/"), Path("/usr"), Path("/var/tmp"))


def _try_all(way: Way, wanted: Sequence[Probe]) -> tuple[bool, int | None, dict[str, tuple[str, ...]]]:
    launcher = way()
    try:
        worker = Worker(launcher, LIMITS)
        try:
            found = {probe.name: _try(worker, probe) for probe in wanted}
            return not launcher.single_use, worker.memory_bytes, found
        finally:
            worker.close()
    finally:
        launcher.close()


def _try(worker: Worker, probe: Probe) -> tuple[str, ...]:
    folder = Path(tempfile.mkdtemp(dir=worker.folder))
    folder.chmod(0o755)
    run = worker.run(folder, [CellStep(0, probe.source)], {})
    try:
        return _found(run, probe)
    finally:
        run.close()


def _found(run: Run, probe: Probe) -> tuple[str, ...]:
    if probe.is_fatal and run.ending in (Ending.EXCEEDED, Ending.CRASHED):
        return ()
    try:
        words = json.loads(run.outputs[0][0]["text"])
    except (LookupError, ValueError):
        return (UNKNOWN,)
    return tuple(map(str, words)) if isinstance(words, list) else (UNKNOWN,)
