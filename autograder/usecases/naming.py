"""What diagnosis says of code whose worth is known, handed in as if it were a student's: for certificates."""

from collections.abc import Callable, Mapping

from autograder.assignments.catalog import Assignment
from autograder.errors import JudgeError
from autograder.notebooks.source import Exercise
from autograder.usecases.assessing import Assessor
from autograder.usecases.local_run import LocalRun


class Naming:
    """Puts candidates through all that a submission goes through, on the inputs of one seed."""

    def __init__(self, assignment: Assignment, seed: int):
        self.seed = seed
        self._assessor = Assessor(assignment, b"certificate %d" % seed)

    def said(
        self, name: str, make: Callable[[], Mapping[str, object]], exercise: Exercise
    ) -> tuple[str, ...]:
        """The ids of what is said of one exercise, in whose forks ``make`` makes the functions anew.

        Raises JudgeError where diagnosis itself fails.
        """
        run = LocalRun([exercise.name], lambda: dict(make()))
        assessed = self._assessor.assess(name, [exercise], run)
        if assessed.fault is not None:
            raise JudgeError(f"The diagnosis of {name} in {exercise.name} failed:\n{assessed.fault}")
        (result,) = assessed.exercises
        return tuple(check.diagnosis.id for check in result.checks if check.diagnosis is not None)
