"""How the command line ends: messages, tracebacks, exit codes."""

import argparse
import re
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from autograder.cli import main as command_line
from autograder.cli.arguments import Verbs
from autograder.errors import AutograderError, CourseError, JudgeError, SandboxError, SubmissionError

Run = Callable[[argparse.Namespace], int]
Install = Callable[[Run], None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Make ``autograder work [--loud]`` the only verb, carried out by the given function."""

    def install(run: Run) -> None:
        def add_parser(verbs: Verbs) -> None:
            parser = verbs.add_parser("work", help="do the work")
            parser.add_argument("--loud", action="store_true")
            parser.set_defaults(run=run)

        monkeypatch.setattr(command_line, "VERBS", (SimpleNamespace(add_parser=add_parser),))

    return install


def raising(error: BaseException) -> Run:
    def run(args: argparse.Namespace) -> int:
        raise error

    return run


def test_the_exit_code_is_what_the_verb_returns(install: Install) -> None:
    install(lambda args: 1 if args.loud else 0)
    assert 0 == command_line.main(["work"])
    assert 1 == command_line.main(["work", "--loud"])


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CourseError("no notebook"), 2),
        (SubmissionError("no notebook"), 1),
        (SandboxError("no notebook"), 3),
        (JudgeError("no notebook"), 4),
    ],
)
def test_an_error_of_ours_is_one_message_and_its_exit_code(
    error: AutograderError, code: int, install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install(raising(error))
    assert code == command_line.main(["work"])
    assert ("", "autograder: no notebook\n") == capsys.readouterr()


def test_an_unexpected_exception_is_called_a_fault_of_ours(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install(raising(ZeroDivisionError("division by zero")))
    assert 4 == command_line.main(["work"])
    expected = (
        "autograder: this is a fault of the kit's, not of yours: ZeroDivisionError: division by zero."
        " Add --traceback to see where.\n"
    )
    assert ("", expected) == capsys.readouterr()


@pytest.mark.parametrize("words", [["work", "--traceback"], ["--traceback", "work"]])
@pytest.mark.parametrize("error", [ZeroDivisionError("division by zero"), CourseError("no notebook")])
def test_a_traceback_is_shown_on_request_wherever_it_is_requested(
    words: list[str], error: Exception, install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install(raising(error))
    command_line.main(words)
    complaint = capsys.readouterr().err
    assert "Traceback (most recent call last)" in complaint
    assert "in run\n    raise error" in complaint
    assert "Add --traceback" not in complaint


def test_an_interrupt_is_no_fault(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install(raising(KeyboardInterrupt()))
    assert 130 == command_line.main(["work"])
    assert "autograder: interrupted\n" == capsys.readouterr().err
    install(raising(KeyboardInterrupt("3 of 5 are done")))
    assert 130 == command_line.main(["work"])
    assert "autograder: interrupted: 3 of 5 are done\n" == capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["wrok"], "there is no verb 'wrok'. Did you mean 'work'? See: autograder --help"),
        (["play"], "there is no verb 'play'. See: autograder --help"),
        (
            ["work", "--lowd=3"],
            "there is no option '--lowd'. Did you mean '--loud'? See: autograder work --help",
        ),
        (["--versoin"], "there is no option '--versoin'. Did you mean '--version'? See: autograder --help"),
        (["work", "more"], "one word too many: 'more'. See: autograder work --help"),
    ],
)
def test_wrong_use_is_one_message_that_suggests_the_nearest_word(
    words: list[str], complaint: str, install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install(lambda args: 0)
    assert 2 == command_line.main(words)
    assert ("", f"autograder: {complaint}\n") == capsys.readouterr()


def test_without_a_verb_the_verbs_are_explained(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install(lambda args: 0)
    assert 2 == command_line.main([])
    assert re.search(r"^ +work +do the work$", capsys.readouterr().out, re.MULTILINE)


def test_a_terminal_gets_the_same_message_in_colour_and_unbroken(
    install: Install, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    message = "[not markup] " + "long " * 50
    install(raising(CourseError(message)))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    command_line.main(["work"])
    assert f"\x1b[1;31mautograder: \x1b[0m{message}\n" == capsys.readouterr().err


def test_help_is_quick_since_nothing_slow_is_imported_for_it() -> None:
    code = (
        "import sys; from autograder.cli.main import main\n"
        "try: main(['--help'])\n"
        "finally: print(sorted({'numpy', 'nbformat', 'nbgrader', 'rich', 'IPython'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.splitlines()[-1]
