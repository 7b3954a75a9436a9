"""What `autograder doctor` says of what was found."""

import json
from typing import Any

import pytest

from autograder.cli.main import main
from autograder.sandbox import choice
from autograder.sandbox.choice import UNSAFE
from autograder.usecases import doctor
from autograder.usecases.doctor import Examined, Finding

KEPT = Finding("network", "sockets of any network", (), ("AF_INET", "AF_INET6"))
LEAK = Finding("many files", "more files than allowed", ("201 files",), ("201 files",))


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let the doctor find this."""

    def find(*findings: Finding, rooms: bool = True, worker_bytes: int | None = 30 << 20) -> None:
        monkeypatch.setattr(choice, "choose", lambda: UNSAFE)
        monkeypatch.setattr(doctor, "examine_machine", lambda way: Examined(findings, rooms, worker_bytes))

    return find


def test_where_all_is_kept_it_says_so(found: Any, capsys: pytest.CaptureFixture[str]) -> None:
    found(KEPT)
    assert 0 == main(["doctor"])
    told = " ".join(capsys.readouterr().out.split())
    assert "The sandbox works here" in told
    assert (
        "a room of its own in one warm box, which takes 30 MiB. Everything is kept as it should be." in told
    )
    assert "✓ sockets of any network nothing AF_INET, AF_INET6" in told


def test_what_gets_through_is_named_and_changes_the_exit_code(
    found: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    found(KEPT, LEAK, rooms=False, worker_bytes=None)
    assert 3 == main(["doctor"])
    told = " ".join(capsys.readouterr().out.split())
    assert "a whole box of its own, which is slow. NOT KEPT from student code: many files." in told
    assert "✗ more files than allowed 201 files 201 files" in told


def test_json_holds_the_same(found: Any, capsys: pytest.CaptureFixture[str]) -> None:
    found(KEPT, LEAK)
    assert 3 == main(["doctor", "--json", "-"])
    data = json.loads(capsys.readouterr().out)
    assert (1, True, 30 << 20) == (data["format_version"], data["rooms"], data["worker_bytes"])
    assert {
        "name": "network",
        "what": "sockets of any network",
        "kept": True,
        "inside": [],
        "outside": ["AF_INET", "AF_INET6"],
    } == data["probes"][0]
    assert [True, False] == [one["kept"] for one in data["probes"]]


def test_an_assignment_whose_packages_are_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(choice, "choose", lambda: UNSAFE)
    examined = Examined((KEPT,), True, None, {"torch_multihead": ["torch"]})
    monkeypatch.setattr(doctor, "examine_machine", lambda way: examined)
    assert 0 == main(["doctor", "--json", "-"])
    assert {"torch_multihead": ["torch"]} == json.loads(capsys.readouterr().out)["missing_packages"]
    assert 0 == main(["doctor"])
    told = " ".join(capsys.readouterr().out.split())
    assert (
        "torch_multihead cannot be graded here: it needs torch, not installed. Install it: pip install"
        in told
    )
