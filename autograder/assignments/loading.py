"""Loading an assignment's modules by path, so that two assignments cannot mix.

Every module gets a private name. While it loads, the source folder is first on the import path, so that
``from attention import attention`` finds the file that travels with the notebook; afterwards the path
and the bare names are as they were. Modules must therefore import what they need when they load.
"""

import hashlib
import importlib
import importlib.util
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from autograder import assignments
from autograder.errors import CourseError

_import_lock = threading.RLock()


def load_module(path: Path, *, helpers: Path) -> ModuleType:
    """Run a module's file under a private name; ``helpers`` is the folder whose modules it may import.

    Raises CourseError where the file is missing or does not run.
    """
    (module,) = load_modules([path], helpers=helpers)
    return module


def load_modules(paths: Sequence[Path], *, helpers: Path) -> tuple[ModuleType, ...]:
    """Run several modules' files that share what they import from ``helpers``: a class is the same in all.

    Raises CourseError where a file is missing or does not run.
    """
    with _helpers_on_path(helpers):
        return tuple(_run(path) for path in paths)


def _run(path: Path) -> ModuleType:
    if not path.is_file():
        raise CourseError(f"{path} is missing.")
    name = f"{_private_name(path.parent)}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CourseError(f"{path} is no Python module.")
    module = importlib.util.module_from_spec(spec)
    with _named(name, module), _faults_of(path):
        spec.loader.exec_module(module)
    return module


def load_checks(folder: Path, *, helpers: Path) -> ModuleType:
    """Run ``checks.py`` of an assignment's folder anew, which may import its neighbours relatively.

    The kit's own folders keep their real names; a folder of a course becomes a package with a private
    name. Raises CourseError where the module does not run.
    """
    if not _is_kits_own(folder):
        package = _private_name(folder)
        with _import_lock:
            for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
                del sys.modules[name]
    return load_neighbour(folder, "checks", helpers=helpers)


def load_neighbour(folder: Path, module: str, *, helpers: Path) -> ModuleType:
    """A module beside ``checks.py``, such as ``mistakes.double``, as ``load_checks`` loads that one.

    Raises CourseError where there is none, or it does not run.
    """
    path = folder / f"{module.replace('.', '/')}.py"
    if not path.is_file():
        raise CourseError(f"{path} is missing.")
    if _is_kits_own(folder):
        with _helpers_on_path(helpers), _faults_of(path):
            return importlib.import_module(f"{assignments.__name__}.{folder.name}.{module}")
    package = _private_name(folder)
    with _import_lock:
        if package not in sys.modules:
            spec = ModuleSpec(package, None, is_package=True)
            spec.submodule_search_locations = [str(folder)]
            sys.modules[package] = importlib.util.module_from_spec(spec)
        importlib.invalidate_caches()
        with _helpers_on_path(helpers), _faults_of(path):
            return importlib.import_module(f"{package}.{module}")


def _is_kits_own(folder: Path) -> bool:
    return folder.parent.samefile(Path(assignments.__path__[0]))


def _private_name(folder: Path) -> str:
    """A module name that no other folder has."""
    digest = hashlib.sha256(str(folder.resolve()).encode("utf-8", "surrogateescape")).hexdigest()
    return f"_autograder_{folder.name}_{digest[:16]}"


@contextmanager
def _helpers_on_path(helpers: Path) -> Iterator[None]:
    """Let the folder's modules be imported by their bare names, and forget them afterwards."""
    bare = {path.stem for path in helpers.glob("*.py")}
    bare |= {path.parent.name for path in helpers.glob("*/__init__.py")}
    entry = str(helpers.resolve())
    with _import_lock:
        before = _take_out(bare)
        writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        sys.path.insert(0, entry)
        importlib.invalidate_caches()
        try:
            yield
        finally:
            sys.path.remove(entry)
            sys.dont_write_bytecode = writes_bytecode
            _take_out(bare)
            sys.modules.update(before)


def _take_out(bare: set[str]) -> dict[str, ModuleType]:
    """Take modules, and the modules below them, out of the list of loaded ones."""
    names = [name for name in sys.modules if name.split(".")[0] in bare]
    return {name: sys.modules.pop(name) for name in names}


@contextmanager
def _named(name: str, module: ModuleType) -> Iterator[None]:
    """Register a module while and after it runs: dataclasses look their own module up by name."""
    sys.modules[name] = module
    try:
        yield
    except BaseException:
        sys.modules.pop(name, None)
        raise


@contextmanager
def _faults_of(path: Path) -> Iterator[None]:
    """Whatever goes wrong while a course's module runs is the course's fault, said with the file's name."""
    try:
        yield
    except Exception as error:
        raise CourseError(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
