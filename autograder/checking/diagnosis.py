"""Which known mistake a student made: the one that gives the same answers to the same inputs.

A sitting is one pass of a student through checks, each on its own inputs. The known mistakes of the exercise
pass through the same checks, in this process, on the same inputs, and what was recorded of both is compared.
A mistake is named only if it alone is like the student, on two independent inputs at least.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np

from autograder.checking.framework import Check, Kind
from autograder.checking.likeness import alike, is_telling
from autograder.checking.local import LocalStudent
from autograder.checking.mistakes import Mistake
from autograder.checking.runner import Outcome, run_check
from autograder.checking.slimming import size_of, slim
from autograder.model import Diagnosis, Verdict

#: On so many independent inputs a student must be like a mistake before it is named.
MIN_INPUTS = 2
#: How much memory the mistakes' answers may take; the oldest are computed again when they are needed again.
CACHE_BYTES = 64 * 2**20

#: The generator of a check, by its name and the attempt.
Draw = Callable[[str, int], np.random.Generator]


@dataclass(frozen=True)
class Sitting:
    """One pass of a student through checks of one exercise, in this order and in one process.

    ``variant`` names the seeds: sittings with the same variant, checks and attempts had the same inputs.
    """

    variant: Hashable
    draw: Draw
    outcomes: Sequence[tuple[Check, Outcome]]

    def where(self, *kinds: Kind, failed: bool) -> Iterator[int]:
        """The numbers of the checks of these kinds that passed, or of those that failed in a telling way."""
        for number, (check, outcome) in enumerate(self.outcomes):
            ended = is_telling(outcome) if failed else outcome.verdict is Verdict.PASSED
            if check.kind in kinds and ended:
                yield number


_SAME = {
    Kind.VALUE: "Your answers are exactly those of a known mistake, made by those who believe:",
    Kind.CONTRACT: "Your function behaves exactly as in a known mistake, made by those who believe:",
}


@dataclass(frozen=True)
class Explanation:
    """A mistake, and the names of the failed checks that it explains, in their order.

    ``kind`` says what gave it away: values, or how a contract was broken.
    """

    mistake: Mistake
    checks: tuple[str, ...]
    kind: Kind

    @property
    def diagnosis(self) -> Diagnosis:
        """The mistake in words for the student."""
        return Diagnosis(
            id=self.mistake.id,
            message=f"{_SAME[self.kind]} “{self.mistake.belief}”",
            hint=self.mistake.hint,
        )


class Replays:
    """What known mistakes do in checks: computed once for each variant of the inputs."""

    def __init__(self, reference: ModuleType):
        self._reference = reference
        self._known: OrderedDict[Hashable, Outcome] = OrderedDict()
        self._room = CACHE_BYTES

    def outcome(
        self, sitting: Sitting, number: int, mistake: Mistake, standing: Mistake | None = None
    ) -> Outcome:
        """What a mistake does in a check of a sitting; ``standing`` is one made in another function, too."""
        makers = [one for one in (mistake, standing) if one is not None]
        # A memory makes the outcome depend on all that was asked before.
        first = 0 if any(one.stateful for one in makers) else number
        path = [(check.name, outcome.attempt) for check, outcome in sitting.outcomes[first : number + 1]]
        names = tuple((one.exercise, one.name) for one in makers)
        key = (sitting.variant, sitting.outcomes[number][0].exercise, names)
        if (*key, *path) not in self._known:
            self._replay(sitting, range(first, number + 1), _namespace(makers, self._reference), (*key,))
        self._known.move_to_end((*key, *path))
        return self._known[(*key, *path)]

    def _replay(
        self, sitting: Sitting, numbers: range, namespace: dict[str, object], key: tuple[Hashable, ...]
    ) -> None:
        for number in numbers:
            check, student = sitting.outcomes[number]
            generator = sitting.draw(check.name, student.attempt)
            outcome = run_check(check, LocalStudent(namespace), self._reference, generator)
            key = (*key, (check.name, student.attempt))
            self._keep(key, slim(outcome))

    def _keep(self, key: Hashable, outcome: Outcome) -> None:
        self._known[key] = outcome
        self._room -= size_of(outcome)
        while self._room < 0 and len(self._known) > 1:
            _, oldest = self._known.popitem(last=False)
            self._room += size_of(oldest)


@dataclass(frozen=True)
class Findings:
    """What was found. ``tied``: more than one mistake is like the student, and other inputs might decide."""

    explanations: tuple[Explanation, ...]
    tied: bool


def explain(
    mistakes: Iterable[Mistake],
    sittings: Sequence[Sitting],
    replays: Replays,
    standing: Mistake | None = None,
) -> Findings:
    """The mistakes that a student made, as far as it can be told; the one that explains most comes first.

    ``mistakes`` holds all forms in which each is known: those of one mistake are no rivals of each other.
    """
    search = _Search([one for one in mistakes if not one.slow], sittings, replays, standing)
    found: list[Explanation] = []
    for kind in (Kind.VALUE, Kind.CONTRACT):
        while (mistake := search.best(kind)) is not None:
            found.append(Explanation(mistake, search.take(mistake), kind))
    return Findings(tuple(found), search.tied)


Place = tuple[int, int]
"""The number of a sitting, and that of a check in it."""


@dataclass
class _Search:
    """What is still to be explained, and who is like the student where."""

    mistakes: list[Mistake]
    sittings: Sequence[Sitting]
    replays: Replays
    standing: Mistake | None
    explained: set[str] = field(default_factory=set)
    tied: bool = False

    def best(self, kind: Kind) -> Mistake | None:
        """The one mistake that explains most of the checks of that kind that are left, if there is one."""
        places = self._unexplained(kind)
        likes = [len(self._likes(one, kind, places)) for one in self.mistakes]
        most = max(likes, default=0)
        if most == 0:
            return None
        rivals = [one for one, count in zip(self.mistakes, likes, strict=True) if count == most]
        forms = self._least_contradicted(rivals)
        if len({one.id for one in forms}) > 1:
            self.tied = True
            return None
        first = max(forms, key=lambda one: len(self._inputs(one)))
        return first if len(self._inputs(first)) >= MIN_INPUTS else None

    def take(self, mistake: Mistake) -> tuple[str, ...]:
        """The names of all checks that the mistake, in any form, explains; they need no other explanation."""
        kinds = (Kind.VISIBLE, Kind.VALUE, Kind.CONTRACT)
        forms = [one for one in self.mistakes if one.id == mistake.id]
        failed = list(self._places(*kinds, failed=True))
        names = {self._name(place) for place in failed if any(self._is_like(form, place) for form in forms)}
        self.explained |= names
        return tuple(check.name for check, _ in self.sittings[0].outcomes if check.name in names)

    def _likes(self, mistake: Mistake, kind: Kind, places: list[Place]) -> list[Place]:
        """Where the mistake is like the student; nowhere if it is wrong where the student is right."""
        likes: list[Place] = []
        for tried, place in enumerate(places, start=1):
            if self._is_like(mistake, place):
                likes.append(place)
            elif tried >= MIN_INPUTS and not likes:
                return []
        unlike_names = {self._name(place) for place in places if place not in likes}
        likes = [place for place in likes if self._name(place) not in unlike_names]
        if not likes or self._only_raised(mistake, likes):
            return []
        must_pass = list(self._places(Kind.VALUE, failed=False))
        if kind is Kind.CONTRACT:  # a mistake of behaviour has right values
            must_pass += self._places(Kind.VALUE, failed=True)
        return likes if all(self._passes(mistake, place) for place in must_pass) else []

    def _only_raised(self, mistake: Mistake, likes: list[Place]) -> bool:
        """The same exception says nothing where it is raised whatever the values are.

        Nor does it say what is kept of earlier calls: an array of another shape may be one of many.
        """
        if not all(self._raised(place) and self._check(place).kind is not Kind.CONTRACT for place in likes):
            return False
        if mistake.stateful:
            contracts = self._places(Kind.CONTRACT, failed=True)
            return not any(self._is_like(mistake, one) for one in contracts if not self._raised(one))
        return not any(self._places(Kind.VALUE, failed=False))

    def _least_contradicted(self, rivals: list[Mistake]) -> list[Mistake]:
        """Those of several that are wrong in the fewest contracts that the student keeps."""
        if len({one.id for one in rivals}) == 1:
            return rivals
        kept = list(self._places(Kind.CONTRACT, failed=False))
        wrong = [sum(not self._passes(one, place) for place in kept) for one in rivals]
        return [one for one, count in zip(rivals, wrong, strict=True) if count == min(wrong)]

    def _inputs(self, mistake: Mistake) -> list[Place]:
        """Where the mistake is like the student on inputs that were drawn."""
        places = [*self._unexplained(Kind.VALUE), *self._unexplained(Kind.CONTRACT)]
        return [place for place in places if self._is_like(mistake, place)]

    def _unexplained(self, kind: Kind) -> list[Place]:
        places = self._places(kind, failed=True)
        return [place for place in places if self._name(place) not in self.explained]

    def _is_like(self, mistake: Mistake, place: Place) -> bool:
        return alike(self._check(place), self._outcome(place), self._replayed(mistake, place))

    def _passes(self, mistake: Mistake, place: Place) -> bool:
        return self._replayed(mistake, place).verdict is Verdict.PASSED

    def _replayed(self, mistake: Mistake, place: Place) -> Outcome:
        return self.replays.outcome(self.sittings[place[0]], place[1], mistake, self.standing)

    def _places(self, *kinds: Kind, failed: bool) -> Iterator[Place]:
        for number, sitting in enumerate(self.sittings):
            yield from ((number, inside) for inside in sitting.where(*kinds, failed=failed))

    def _check(self, place: Place) -> Check:
        return self.sittings[place[0]].outcomes[place[1]][0]

    def _outcome(self, place: Place) -> Outcome:
        return self.sittings[place[0]].outcomes[place[1]][1]

    def _raised(self, place: Place) -> bool:
        return self._outcome(place).verdict is Verdict.RAISED

    def _name(self, place: Place) -> str:
        return self._check(place).name


def _namespace(makers: Sequence[Mistake], reference: ModuleType) -> dict[str, object]:
    """A notebook's functions, right but for one mistake, or for two in different functions."""
    namespace = makers[0].namespace(reference)
    for one in makers[1:]:
        one.put_into(namespace, reference)
    return namespace
