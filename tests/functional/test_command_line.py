"""The installed program ``autograder`` as a person calls it."""

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

pytestmark = pytest.mark.functional

PROGRAM = Path(sys.executable).with_name("autograder")
ROOT = Path(__file__).parents[2]


def autograder(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *words], cwd=cwd, capture_output=True, text=True, check=False)


def test_help_explains_every_verb_in_one_line() -> None:
    done = autograder("--help")
    assert 0 == done.returncode
    _, _, rest = done.stdout.partition("  VERB\n")
    lines = rest.partition("\n\n")[0].splitlines()
    verbs = [re.fullmatch(r"    (\w+) +(\w.*)", line) for line in lines]
    assert all(verbs), lines
    assert "release" in [verb[1] for verb in verbs if verb]


def test_every_verb_has_a_help_of_its_own() -> None:
    verbs = re.findall(r"^    (\w+) +\w", autograder("--help").stdout.partition("  VERB\n")[2], re.MULTILINE)
    assert verbs
    for verb in verbs:
        done = autograder(verb, "--help")
        assert (0, "") == (done.returncode, done.stderr)
        assert f"usage: autograder {verb} " in done.stdout


def test_the_version_is_that_of_the_package() -> None:
    assert f"autograder {version('autograder')}\n" == autograder("--version").stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["relaese"], "there is no verb 'relaese'. Did you mean 'release'? See: autograder --help"),
        (["release"], "the following arguments are required: ASSIGNMENT. See: autograder release --help"),
        (
            ["release", "multi-head"],
            f"There is no assignment 'multi-head' in {ROOT}. Did you mean 'multihead'?",
        ),
        (
            ["release", "multihead", "--course", "/no/such/folder"],
            "There is no course folder /no/such/folder.",
        ),
    ],
)
def test_wrong_use_gets_one_clear_message_and_exit_code_2(words: list[str], complaint: str) -> None:
    done = autograder(*words)
    assert (2, "", f"autograder: {complaint}\n") == (done.returncode, done.stdout, done.stderr)


def test_a_reader_that_leaves_early_is_no_fault() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [PROGRAM, "--version"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert (0, "") == (done.returncode, done.stderr)
