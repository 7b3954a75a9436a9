"""Run commands one after the other, each in a fork of a process that has imported nbgrader and the kit once.

    python warm_commands.py < steps.json

Standard input holds a list of ``[folder, [program, word, ...]]``. The answer is a list of
``[exit code, what it printed]``, which ends with the first command that fails. Importing nbgrader takes
seconds: done for each of the commands in the guides, it would take most of a minute.
"""

import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from typing import Any


def programs() -> dict[str, Callable[[], Any]]:
    """What the programs call; imported here, so that nobody pays for it who only collects tests."""
    from nbgrader.apps import nbgraderapp

    from autograder.cli import main as kit
    from autograder.usecases import feedback, grade  # noqa: F401 - what most verbs import, before the forks

    return {"autograder": kit.main, "nbgrader": nbgraderapp.main}


def run(program: Callable[[], Any], folder: str, words: list[str]) -> tuple[int, str]:
    """Run one command as a program of its own would; returns its exit code and its output."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            become(program, folder, words, output.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        return code, output.read().decode("utf-8", "replace")


def become(program: Callable[[], Any], folder: str, words: list[str], output: int) -> None:
    """Be that command; does not return."""
    code: Any = 1
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(folder)
        sys.argv = words
        code = program()
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 - whatever it is, it belongs into the output
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def main() -> None:
    answers = []
    known = programs()
    for folder, words in json.load(sys.stdin):
        answers.append(run(known[words[0]], folder, words))
        if answers[-1][0] != 0:
            break
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
