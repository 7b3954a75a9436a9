"""One thread for NumPy's products of matrices.

The matrices here are small: sharing one among threads gains nothing, takes many times as long where the
machine has other work, and changes the last digits with the number of cores, so that runs would not repeat.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

#: Where NumPy's wheels keep OpenBLAS, and how its functions are called in one version or another.
_FOLDERS = ("../numpy.libs", ".dylibs")
_PREFIXES = ("scipy_openblas_", "openblas_")
_SUFFIXES = ("64_", "")


@contextmanager
def one_thread() -> Iterator[None]:
    """Let OpenBLAS use one thread for a while; where NumPy came without it, nothing is changed."""
    found = _functions()
    if found is None:
        yield
        return
    get, set_to = found
    before = get()
    set_to(1)
    try:
        yield
    finally:
        set_to(before)


@cache
def _functions() -> tuple["ctypes._NamedFuncPointer", "ctypes._NamedFuncPointer"] | None:
    """What tells and what sets the number of threads; None without OpenBLAS."""
    folders = [Path(np.__file__).parent / folder for folder in _FOLDERS]
    for path in [path for folder in folders for path in sorted(folder.glob("*openblas*"))]:
        try:
            library = ctypes.CDLL(str(path.resolve()))  # it is loaded already: this only finds it
        except OSError:
            continue
        for prefix, suffix in product(_PREFIXES, _SUFFIXES):
            names = [f"{prefix}{verb}_num_threads{suffix}" for verb in ("get", "set")]
            if all(hasattr(library, name) for name in names):
                return getattr(library, names[0]), getattr(library, names[1])
    return None
