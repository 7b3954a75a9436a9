import json
from dataclasses import replace

from rich.console import Console

from autograder.reporting.certificate import (
    Certificate,
    ExerciseRecord,
    MistakeRecord,
    RightRecord,
    certificate_to_json,
)
from autograder.reporting.certificate_page import certificate_page
from autograder.reporting.certificate_table import certificate_table

NAMED = MistakeRecord("squared", "Doubling is squaring.", "a/b#1", 9, 4, (), {"v": 4}, 5e8, 3, {"squared": 3})
TAKEN = replace(NAMED, id="tripled", said={"squared": 1, "tripled": 2, "observed_<b>": 1})
UNTRIED = replace(NAMED, id="slow", diagnosed_seeds=0, said={})
CERTIFICATE = Certificate(
    assignment="toy",
    fingerprint="f" * 64,
    python="3.11.2",
    numpy="2.2.0",
    seeds=9,
    complete_seeds=4,
    processes=2,
    wall_seconds=1.25,
    exercises=(ExerciseRecord("double", 3.0, (), (NAMED, TAKEN, UNTRIED)),),
    right=(RightRecord("reference", "The reference.", 9, 2e-7),),
    false_failures=(),
    breakdowns=(),
)


def on_terminal(certificate: Certificate) -> str:
    console = Console(width=80)
    with console.capture() as captured:
        console.print(certificate_table(certificate))
    return " ".join(captured.get().split())


def test_what_is_named_every_time_and_nothing_else_is_counted() -> None:
    assert [True, False] == [one.is_named for one in CERTIFICATE.diagnosed]
    said = "1 of 2 mistakes are named, and nothing else, every time; of no right solution is anything said."
    assert said in on_terminal(CERTIFICATE)
    assert "Each mistake was handed in on 3 seeds" in certificate_page(CERTIFICATE)


def test_the_page_lists_who_is_taken_for_whom() -> None:
    page = certificate_page(CERTIFICATE)
    row = page[page.index("double.tripled") :]
    assert "2 of 3" in row
    assert "<code>observed_&lt;b&gt;</code> (1), <code>squared</code> (1)" in row
    assert "double.squared" not in page
    assert "Right solutions of which anything is said: none." in page


def test_a_further_form_is_named_by_the_id_of_its_mistake_and_counted_apart() -> None:
    form = replace(NAMED, id="squared_later", form_of="squared")
    exercise = replace(CERTIFICATE.exercises[0], mistakes=(NAMED, form))
    both = replace(CERTIFICATE, exercises=(exercise,))
    assert "1 known mistakes, 2 with all their forms: 0 survive." in on_terminal(both)
    assert "2 of 2 mistakes are named" in on_terminal(both)
    assert "<code>squared_later</code>, a form of <code>squared</code>" in certificate_page(both)


def test_a_right_solution_of_which_anything_is_said_breaks_the_certificate() -> None:
    wrong = replace(CERTIFICATE, right=(replace(CERTIFICATE.right[0], said=("squared",)),))
    assert CERTIFICATE.holds
    assert not wrong.holds
    assert "<li><code>reference</code>: squared</li>" in certificate_page(wrong)
    assert "of 1 right solution is anything said" in on_terminal(wrong)


def test_the_json_says_it_all() -> None:
    (_, taken, _) = json.loads(certificate_to_json(CERTIFICATE))["exercises"][0]["mistakes"]
    assert (3, {"squared": 1, "tripled": 2, "observed_<b>": 1}) == (taken["diagnosed_seeds"], taken["said"])


def test_where_nothing_was_diagnosed_nothing_is_said_of_it() -> None:
    untried = replace(CERTIFICATE, exercises=(ExerciseRecord("double", 3.0, (), (UNTRIED,)),))
    assert "Diagnosis" not in certificate_page(untried)
    assert "are named" not in on_terminal(untried)
