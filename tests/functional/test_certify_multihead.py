"""The certificate of ``multihead`` on few seeds: what ``autograder certify multihead`` shows on 1000."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.functional, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
SEEDS = 3


@pytest.fixture(scope="module")
def stored(made_once: Callable[..., Path], program: Callable[..., Any]) -> Path:
    """The folder with the certificate as JSON and as a page, and what the command said."""

    def fill(folder: Path) -> Any:
        words = ("--seeds", str(SEEDS), "--json", folder / "certificate.json", "--page", folder / "page.html")
        return program("certify", "multihead", "--course", ROOT, *words, cwd=folder)

    return made_once("certificate", fill)


@pytest.fixture(scope="module")
def certificate(stored: Path) -> dict[str, Any]:
    return dict(json.loads((stored / "certificate.json").read_text()))


def test_every_mistake_is_found_and_every_right_solution_passes(
    stored: Path, certificate: dict[str, Any]
) -> None:
    code, out, err = json.loads((stored / "done.json").read_text())
    assert (0, "") == (code, err)
    assert out.startswith(f"multihead: certified on {SEEDS} seeds.")
    assert certificate["holds"] is True
    assert ([], []) == (certificate["false_failures"], certificate["breakdowns"])
    assert [] == [
        one["id"] for each in certificate["exercises"] for one in each["mistakes"] if one["survived"]
    ]


def test_there_are_many_of_both(certificate: dict[str, Any]) -> None:
    assert 130 <= sum(len(each["mistakes"]) for each in certificate["exercises"])
    assert 26 <= len(certificate["right"])
    assert {SEEDS, 1} == {one["seeds"] for one in certificate["right"]}


def test_every_check_finds_a_mistake_and_contracts_find_one_alone(certificate: dict[str, Any]) -> None:
    checks = {
        f"{each['name']}.{check['name']}": check
        for each in certificate["exercises"]
        for check in each["checks"]
    }
    assert [] == [name for name, check in checks.items() if not check["kills"]]
    contracts = [name for name, check in checks.items() if check["kind"] == "contract" and not check["alone"]]
    assert ["multihead_backward.extremes"] == contracts


def test_right_solutions_stay_far_below_every_tolerance_and_mistakes_far_above(
    certificate: dict[str, Any],
) -> None:
    checks = [check for each in certificate["exercises"] for check in each["checks"]]
    assert max(check["right_margin"] or 0.0 for check in checks) < 0.05
    assert min(check["wrong_margin"] or 1e9 for check in checks) > 10
    mistakes = [one for each in certificate["exercises"] for one in each["mistakes"]]
    assert min(one["margin"] or 1e9 for one in mistakes) > 1e5


def test_the_page_tells_of_each_mistake(stored: Path, certificate: dict[str, Any]) -> None:
    page = (stored / "page.html").read_text()
    assert all(
        f"<code>{one['id']}</code>" in page for each in certificate["exercises"] for one in each["mistakes"]
    )
