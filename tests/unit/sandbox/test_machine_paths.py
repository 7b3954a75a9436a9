"""Folders of this machine are called as a student would call them; everything else stays as it is."""

import sys
import sysconfig

import pytest

from autograder.sandbox import machine_paths
from autograder.sandbox.machine_paths import MachinePaths

PATHS = MachinePaths({"/scratch/a": "..", "/scratch/a/run-1": ".", "/scratch/a/run-1-home": "~"})
PACKAGES = sysconfig.get_path("purelib")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("File /scratch/a/run-1/given.py:45, in f(x)", "File given.py:45, in f(x)"),
        ("\x1b[32m/scratch/a/run-1/given.py\x1b[39m", "\x1b[32mgiven.py\x1b[39m"),
        ("in /scratch/a/run-1", "in ."),
        ("'/scratch/a/run-1'", "'.'"),
        ("/scratch/a/run-1-home/.ipython", "~/.ipython"),
        ("/scratch/a/run-12 and /scratch/a/run-1.txt", "../run-12 and ../run-1.txt"),
        ("/scratch/other", "/scratch/other"),
        (f"File {PACKAGES}/numpy/linalg/_linalg.py:647", "File site-packages/numpy/linalg/_linalg.py:647"),
        (f"{sysconfig.get_path('stdlib')}/json/decoder.py", "python{}.{}/json/decoder.py"),
        (f"{sys.prefix}/bin/python", "python/bin/python"),
        (machine_paths.__file__, "{program}/autograder/sandbox/machine_paths.py"),
        ("x / y, a//b, /etc/hostname", "x / y, a//b, /etc/hostname"),
    ],
)
def test_folders_of_the_machine_get_short_names(text: str, expected: str) -> None:
    program = machine_paths.Path(machine_paths.__file__).parents[2].name
    assert expected.format(*sys.version_info[:2], program=program) == PATHS.shown(text)


def test_a_prefix_that_is_everybodys_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("prefix", "base_prefix", "exec_prefix"):
        monkeypatch.setattr(sys, name, "/usr")
    assert "/usr/share/dict" == MachinePaths({}).shown("/usr/share/dict")
