"""Which inputs a replay draws, for those of the grading that it repeats."""

from autograder.usecases.assessing import AGAIN, ATTEMPTS, HELPED, OWN, Replay


def replay(**attempts: int) -> Replay:
    return Replay({("double", name): number for name, number in attempts.items()}, watch=lambda one: None)


def test_what_counted_at_once_is_drawn_again() -> None:
    assert [OWN, OWN + 1, HELPED] == [
        replay(values=OWN).number("double", "values", n) for n in (0, 1, HELPED)
    ]


def test_a_second_chance_is_drawn_at_once() -> None:
    assert OWN + 1 == replay(values=OWN + 1).number("double", "values", OWN)
    assert HELPED + 1 == replay(values=HELPED + 1).number("double", "values", HELPED)


def test_what_counted_with_help_leaves_the_attempt_without_it_alone() -> None:
    helped = replay(values=HELPED)
    assert [OWN, OWN + 1, HELPED] == [helped.number("double", "values", n) for n in (OWN, OWN + 1, HELPED)]


def test_the_second_worker_draws_its_own_for_every_check() -> None:
    second = replay(values=ATTEMPTS, other=ATTEMPTS + HELPED + 1)
    assert ATTEMPTS == second.number("double", "values", OWN)
    assert ATTEMPTS + HELPED + 1 == second.number("double", "other", HELPED)
    assert ATTEMPTS + AGAIN == second.number("double", "unknown", AGAIN)


def test_without_a_record_everything_is_as_at_a_first_grading() -> None:
    assert [0, 5] == [replay().number("double", "values", number) for number in (0, 5)]
