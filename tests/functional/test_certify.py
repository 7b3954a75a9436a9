"""The certificates of the assignments on few seeds: what ``autograder certify NAME`` shows on 1000."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.assignments.catalog import gradable_names

pytestmark = [pytest.mark.functional, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
#: How many seeds each assignment is certified on.
SEEDS = {"multihead": 3, "weighted_attention": 2, "gpt": 2, "torch_multihead": 1}
#: How many mistakes and right solutions there are at least.
LEAST = {
    "multihead": (130, 26),
    "weighted_attention": (160, 16),
    "gpt": (110, 11),
    "torch_multihead": (90, 13),
}
#: The contracts that find no mistake alone.
NOT_ALONE = {
    "multihead": ["multihead_backward.extremes"],
    "weighted_attention": ["attention_backward.extremes", "weighted_attention_backward.extremes"],
    "gpt": ["CausalMask.single_precision", "build_gpt.parameters"],
    "torch_multihead": ["forward.extremes", "forward.batch", "forward.repeatable"],
}
#: By how much each mistake errs somewhere, and each check's mistakes at least, as multiples of the tolerance.
FAR = {"multihead": (1e5, 10), "weighted_attention": (500, 3), "gpt": (400, 100), "torch_multihead": (1e7, 5)}


@pytest.fixture(scope="module", params=gradable_names(ROOT))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def stored(name: str, made_once: Callable[..., Path], program: Callable[..., Any]) -> Path:
    """The folder with the certificate as JSON and as a page, and what the command said."""

    def fill(folder: Path) -> Any:
        words = (
            "--seeds",
            str(SEEDS[name]),
            "--json",
            folder / "certificate.json",
            "--page",
            folder / "page.html",
        )
        return program("certify", name, "--course", ROOT, *words, cwd=folder)

    return made_once(f"certificate-{name}", fill)


@pytest.fixture(scope="module")
def certificate(stored: Path) -> dict[str, Any]:
    return dict(json.loads((stored / "certificate.json").read_text()))


def test_every_mistake_is_found_and_every_right_solution_passes(
    name: str, stored: Path, certificate: dict[str, Any]
) -> None:
    code, out, err = json.loads((stored / "done.json").read_text())
    assert (0, "") == (code, err)
    assert out.startswith(f"{name}: certified on {SEEDS[name]} seed")
    assert certificate["holds"] is True
    assert ([], []) == (certificate["false_failures"], certificate["breakdowns"])
    assert [] == [
        one["id"] for each in certificate["exercises"] for one in each["mistakes"] if one["survived"]
    ]


def test_there_are_many_of_both(name: str, certificate: dict[str, Any]) -> None:
    mistakes, right = LEAST[name]
    assert mistakes <= sum(len(each["mistakes"]) for each in certificate["exercises"])
    assert right <= len(certificate["right"])
    assert {SEEDS[name], 1} == {one["seeds"] for one in certificate["right"]}


def test_every_check_finds_a_mistake_and_contracts_find_one_alone(
    name: str, certificate: dict[str, Any]
) -> None:
    checks = {
        f"{each['name']}.{check['name']}": check
        for each in certificate["exercises"]
        for check in each["checks"]
    }
    assert [] == [one for one, check in checks.items() if not check["kills"]]
    contracts = [one for one, check in checks.items() if check["kind"] == "contract" and not check["alone"]]
    assert NOT_ALONE[name] == contracts


def test_right_solutions_stay_far_below_every_tolerance_and_mistakes_far_above(
    name: str, certificate: dict[str, Any]
) -> None:
    somewhere, everywhere = FAR[name]
    checks = [check for each in certificate["exercises"] for check in each["checks"]]
    assert max(check["right_margin"] or 0.0 for check in checks) < 0.05
    assert min(check["wrong_margin"] or 1e9 for check in checks) > everywhere
    mistakes = [one for each in certificate["exercises"] for one in each["mistakes"]]
    assert min(one["margin"] or 1e9 for one in mistakes) > somewhere


def test_the_page_tells_of_each_mistake(stored: Path, certificate: dict[str, Any]) -> None:
    page = (stored / "page.html").read_text()
    assert all(
        f"<code>{one['id']}</code>" in page for each in certificate["exercises"] for one in each["mistakes"]
    )
