"""Running nbgrader's own command line for a course, as an instructor would in the course's folder.

Each command is a process of its own: nbgrader reads the course's ``nbgrader_config.py``, and what it logs
stays here unless it fails. It ends with the process that started it, so that a grader that is killed leaves
nobody behind who writes to the gradebook.
"""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from autograder.errors import CourseError

CONFIG = "nbgrader_config.py"
SECONDS = 600

#: Run nbgrader; on Linux the kernel ends it (PR_SET_PDEATHSIG) when the process named first is gone.
_BOOT = """
import os, runpy, signal, sys
parent = int(sys.argv.pop(1))
if sys.platform == "linux":
    import ctypes
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("whoever started it is gone")
runpy.run_module("nbgrader", run_name="__main__", alter_sys=True)
"""

_ENTRY = re.compile(r"^\[\w+ \| (?P<level>[A-Z]+)\] ", re.MULTILINE)
_FULL = re.compile(r"disk is full|No space left on device|Disk quota exceeded")
_GENERALITIES = ("There was an error processing assignment", "Please see the")


def run_nbgrader(course: Path, arguments: Sequence[str]) -> str:
    """Run ``nbgrader ARGUMENTS`` for the course in folder ``course``; returns what it logged.

    A course without an ``nbgrader_config.py`` is run with the kit's own.

    Raises:
        CourseError: nbgrader failed; the message says why in nbgrader's words.
    """
    boot = [sys.executable, "-P", "-c", _BOOT, str(os.getpid())]
    command = [*boot, *arguments, *_configuration(course)]
    # nbgrader starts `alembic` by its bare name; it lies beside the interpreter that runs us.
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    }
    try:
        done = subprocess.run(
            command,
            cwd=course,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CourseError(
            f"`nbgrader {arguments[0]}` did not end within {SECONDS} s and was stopped."
        ) from error
    if done.returncode != 0:
        raise CourseError(f"`nbgrader {' '.join(arguments)}` failed in {course}: {_reason(done.stdout)}")
    return done.stdout


def _configuration(course: Path) -> list[str]:
    if (course / CONFIG).is_file():
        return []
    kit = Path(__file__).parents[2]
    return [
        f"--JupyterApp.config_file={kit / Path(CONFIG).stem}",
        f"--CourseDirectory.root={course.resolve()}",
    ]


def _reason(log: str) -> str:
    r"""What went wrong, in nbgrader's words: its errors, else the exceptions it logged, else its last words.

    That a disk is full it says at the end of a long trace only, and then advises to upgrade the database.

    >>> _reason("[App | INFO] hello\n[App | ERROR] no such\n  notebook\n")
    'no such notebook'
    """
    if _FULL.search(log):
        return "the disk is full. Make room, and run the same command again."
    _, *parts = _ENTRY.split(log)
    entries = zip(parts[::2], parts[1::2], strict=True)
    errors = [text for level, text in entries if level in {"ERROR", "CRITICAL"}]
    own_words = [
        " ".join(text.split())
        for text in errors
        if not text.startswith(_GENERALITIES) and "Traceback (most recent" not in text
    ]
    exceptions = [
        text.strip().splitlines()[-1].strip() for text in errors if "Traceback (most recent" in text
    ]
    return " ".join(dict.fromkeys(own_words or exceptions)) or log.strip()[-1000:]
