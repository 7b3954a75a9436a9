"""Follow-through credit: an exercise is judged once more, with right answers where those before it are wrong.

The rules under which a right answer may enter a student's fork stand in ``checking.follow_through``.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType

from autograder.checking.follow_through import RightCache
from autograder.checking.framework import Check, CheckSet, FollowThrough, Kind
from autograder.checking.installation import defined_in, source_of
from autograder.checking.runner import OUR_FAULT, Outcome
from autograder.checking.scoring import score_exercise
from autograder.checking.student import Student
from autograder.errors import CourseError
from autograder.model import CheckResult, Diagnosis, Verdict
from autograder.notebooks.source import Exercise

Outcomes = Sequence[tuple[Check, Outcome]]
#: The name of the row that tells what became of the exercise with all of the student's own code.
END_TO_END = "end_to_end"
#: Ends of a call after which the process does not answer any more, or not soon.
_BROKEN = frozenset({Verdict.TIMED_OUT, Verdict.CRASHED, Verdict.MEMORY_EXCEEDED, Verdict.MISSING})


@dataclass(frozen=True)
class Help:
    """What stands in the place of the student's own: functions by their source text, and a right cache.

    ``methods`` says of which class an exercise is a method.
    """

    sources: Mapping[str, str] = field(default_factory=dict)
    cache_of: str | None = None
    keys: tuple[str, ...] = ()
    whole: bool = False
    reference: ModuleType | None = None
    methods: Mapping[str, str] = field(default_factory=dict)

    @property
    def replaced(self) -> tuple[str, ...]:
        """The exercises that cannot be the reason any more for what is wrong."""
        return (*self.sources, *([] if self.cache_of is None else [self.cache_of]))

    def prepare(self, fork: Student) -> Student:
        """Bring it into a fresh fork, which must be killed after this exercise."""
        for name, source in self.sources.items():
            place = f"{self.methods[name]}.{name}" if name in self.methods else name
            fork.install(place, source, keep=[one for one, owner in self.methods.items() if owner == name])
        if self.cache_of is None or self.reference is None:
            return fork
        return RightCache(fork, self.reference, self.cache_of, self.keys, whole=self.whole)


@dataclass
class Examined:
    """One exercise: the outcomes with the student's ``own`` code, and those that count, got with ``help``.

    ``tried`` are the exercises in whose place right ones were tried. ``fits`` says whether its answers fit
    the student's own, wrong exercise before it, ``mixed`` whether something of that could not be replaced.
    """

    exercise: Exercise
    own: Outcomes
    counting: Outcomes
    help: Help = field(default_factory=Help)
    tried: tuple[str, ...] = ()
    fits: bool | Diagnosis = False
    mixed: bool = False

    @property
    def right(self) -> bool:
        """Whether nothing is wrong with what counts."""
        return all_passed(self.counting)

    @property
    def unwritten(self) -> bool:
        """Whether there is no function yet of which anything could be said."""
        return all(outcome.unwritten for _, outcome in self.counting)

    @property
    def gained(self) -> bool:
        """Whether right answers in the place of the student's own earned more points."""
        return points(self.exercise, self.counting) > points(self.exercise, self.own)


class FollowThroughs:
    """What can be declared of follow-through in an assignment, made ready once.

    Raises CourseError where a declaration names what is no exercise, or a function that cannot be installed.
    """

    def __init__(self, checks: CheckSet, reference: ModuleType):
        self.declared: Mapping[str, FollowThrough] = checks.following
        self._reference = reference
        self._methods = checks.methods
        self._sources: dict[str, str] = {}
        for exercise, one in self.declared.items():
            for name in (exercise, *one.builds_on):
                if name not in checks.exercises:
                    raise CourseError(f"Follow-through of {exercise}: {name!r} is no exercise with checks.")
            for name in one.helpers:
                self._sources[name] = self._source(name)
                self._check_that_nothing_is_told(exercise, name, checks.exercises)

    def helps(self, exercise: str, done: Mapping[str, Examined]) -> Iterator[Help]:
        """What to try for an exercise, after all those that it builds on are ``done``; the best first."""
        declared = self.declared[exercise]
        wrong = [name for name in declared.helpers if _is_wrong(name, done)]
        # A class comes before methods, which go into the one that stands there.
        sources = {name: self._sources[name] for name in sorted(wrong, key=self._methods.__contains__)}
        forward = declared.cache_of
        if forward is None or forward not in done or done[forward].right:
            if sources:
                yield Help(sources, methods=self._methods)
            return
        broken = any(outcome.verdict in _BROKEN for _, outcome in done[forward].counting)
        for whole in (True,) if broken else (False, True):
            yield Help(sources, forward, declared.keys, whole, self._reference, self._methods)

    def _source(self, name: str) -> str:
        """The text that makes the reference's function, method or class anew."""
        owner = self._methods.get(name)
        if owner is not None:
            return source_of(getattr(getattr(self._reference, owner), name), is_method=True)
        own_exercises = [one for one, holder in self._methods.items() if holder == name]
        return source_of(getattr(self._reference, name), without=own_exercises)

    def _check_that_nothing_is_told(self, exercise: str, helper: str, exercises: Sequence[str]) -> None:
        """What comes along with a helper must have its final verdict when the exercise is judged."""
        before = exercises[: exercises.index(exercise)]
        told = (defined_in(self._sources[helper]) & set(exercises)) - set(before)
        if told:
            raise CourseError(
                f"Follow-through of {exercise}: a right {helper} would answer {_list(sorted(told))}, too."
            )


def follow(
    examined: Examined,
    follow_throughs: FollowThroughs,
    done: Mapping[str, Examined],
    examine: Callable[[Help, int], tuple[Outcomes, bool]],
) -> None:
    """Try what may help an exercise that failed; the better result counts, and of equals the one with help.

    ``examine`` runs all of its checks in fresh forks with that help, and says whether it was mixed with what
    is wrong; its number says which attempt it is.
    """
    name = examined.exercise.name
    if name not in follow_throughs.declared or examined.right or _has_fault(examined.own):
        return
    for number, help_ in enumerate(follow_throughs.helps(name, done)):
        outcomes, mixed = examine(help_, number)
        first = not examined.tried
        examined.tried = help_.replaced
        better = points(examined.exercise, outcomes) - points(examined.exercise, examined.counting)
        if _has_fault(outcomes) or better > 0 or (first and better == 0):
            examined.counting, examined.help, examined.mixed = outcomes, help_, mixed
        if _has_fault(outcomes) or examined.right:
            return


def end_to_end(examined: Examined, builds_on: Collection[str]) -> CheckResult:
    """The row, without points, that says how the exercise fares with all of the student's own code."""
    name = examined.exercise.name
    if _has_fault(examined.counting):
        return _row(Verdict.JUDGE_ERROR, OUR_FAULT)
    if not examined.tried and _values_are_right(examined.own):
        return _row(Verdict.PASSED, f"{name} works together with your own {_list(builds_on)}.")
    if not examined.tried:
        reason = f"your own {_list(builds_on)} cannot be the reason"
        return _row(Verdict.FAILED, f"{name} is wrong by itself: {reason}.")
    wrong, one = _list(examined.tried), len(examined.tried) == 1
    other = "a right one" if one else "right ones"
    if examined.right:
        return _row(
            Verdict.FAILED,
            f"{name} is right by itself; it fails only because {wrong} {'is' if one else 'are'} wrong. "
            f"It has its points all the same: it was judged with {other} in place of your {wrong}.",
            f"Mend {wrong}, and it all fits together.",
        )
    if examined.fits is True:
        *_, forward = examined.tried
        return _row(
            Verdict.FAILED,
            f"{name} fits your own {forward}; it is {forward} that is wrong.",
            f"Mend {forward} first, and then {name} in the same way.",
        )
    if examined.gained:
        return _row(
            Verdict.FAILED,
            f"{name} was judged with {other} in place of your {wrong}, which earns more points; but it is "
            "not right by itself, either.",
        )
    return _row(Verdict.FAILED, f"{name} is wrong with your own {wrong}, and with {other}, too.")


def all_passed(outcomes: Outcomes) -> bool:
    """Whether nothing was found wrong."""
    return all(outcome.verdict is Verdict.PASSED for _, outcome in outcomes)


def points(exercise: Exercise, outcomes: Outcomes) -> float:
    """What the outcomes earn."""
    return score_exercise(exercise.name, outcomes, exercise.max_points).score or 0.0


def _is_wrong(name: str, done: Mapping[str, Examined]) -> bool:
    return name in done and not done[name].right


def _has_fault(outcomes: Outcomes) -> bool:
    return any(outcome.verdict is Verdict.JUDGE_ERROR for _, outcome in outcomes)


def _values_are_right(outcomes: Outcomes) -> bool:
    return all_passed([(check, one) for check, one in outcomes if check.kind is Kind.VALUE])


def _row(verdict: Verdict, message: str, hint: str | None = None) -> CheckResult:
    return CheckResult(END_TO_END, verdict, 0.0, 0.0, message, hint)


def _list(names: Collection[str]) -> str:
    """Names in a sentence.

    >>> _list(["a"]), _list(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
