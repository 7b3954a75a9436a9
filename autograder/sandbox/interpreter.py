"""The Python with which student code runs, and what of the machine it needs to see."""

import os
import site
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

#: What folders of installed packages are called.
PACKAGE_FOLDERS = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Interpreter:
    """A Python: its executable, the folders of packages to be found by it, and all paths that it needs.

    What lies in ``/usr`` or the system's libraries is not named in ``needs``.
    """

    executable: str
    packages: tuple[str, ...]
    needs: tuple[str, ...] = ()


def this_interpreter() -> Interpreter:
    """The Python that runs the kit, from the system, a virtual environment, pyenv, conda or uv alike."""
    prefix = Path(sys.base_prefix)
    executable = Path(sys.executable)
    needs = [
        executable,
        Path(getattr(sys, "_base_executable", None) or executable),
        executable.parent.parent / "pyvenv.cfg",
        prefix / "lib",
        prefix / "lib64",
        Path(sysconfig.get_path("stdlib")),
        Path(sysconfig.get_config_var("DESTSHARED") or prefix / "lib"),
        *_loaded_libraries(),
    ]
    packages = dict.fromkeys(path for path in [*_site_folders(), *sys.path] if _holds_packages(path))
    there = dict.fromkeys(str(path) for path in needs if path.exists())
    return Interpreter(sys.executable, tuple(packages), tuple(there))


def _site_folders() -> list[str]:
    return [*site.getsitepackages(), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]


def _holds_packages(path: str) -> bool:
    return os.path.basename(path) in PACKAGE_FOLDERS and os.path.isdir(path)  # noqa: PTH112, PTH119


def _loaded_libraries() -> list[Path]:
    """The shared libraries of this very process: where the loader finds them differs between systems.

    Those of packages come with these.
    """
    lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    paths = {line.split(maxsplit=5)[5] for line in lines if len(line.split(maxsplit=5)) == 6}
    return [
        Path(path)
        for path in sorted(paths)
        if path.startswith("/") and ".so" in path and not _is_of_a_package(path)
    ]


def _is_of_a_package(path: str) -> bool:
    return not set(PACKAGE_FOLDERS).isdisjoint(Path(path).parts)
