"""What a trial of an assignment's checks has shown; as JSON it has the format of ``docs/certificate.md``."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

FORMAT_VERSION = 1


@dataclass(frozen=True)
class CheckRecord:
    """What one check is good for.

    ``kills`` names the mistakes that it found on at least one of the seeds that were tried completely,
    ``alone`` those that, on one of them at least, no other check found. ``right_margin`` is the largest error
    of a right solution, ``wrong_margin`` the smallest of a mistake that it finds on every seed, both as
    multiples of the error allowed; None where there is no such number. ``slowest_seconds`` is the CPU time
    of the slowest right solution.
    """

    name: str
    kind: str
    weight: float
    kills: tuple[str, ...]
    alone: tuple[str, ...]
    right_margin: float | None
    wrong_margin: float | None
    slowest_seconds: float


@dataclass(frozen=True)
class MistakeRecord:
    """What became of one known mistake, or of a further form of one, the one named in ``form_of``.

    ``killed_by`` counts, by check, on how many of ``complete_seeds`` it was found. ``margin`` is, of its
    clearest error on each seed, the smallest; None where it is no number that gives it away. ``said``
    counts, by id, what was said of it on ``diagnosed_seeds``, handed in as a student's.
    """

    id: str
    belief: str
    seen: str
    seeds: int
    complete_seeds: int
    survived: tuple[int, ...]
    killed_by: Mapping[str, int]
    margin: float | None
    diagnosed_seeds: int = 0
    said: Mapping[str, int] = field(default_factory=dict)
    form_of: str = ""

    @property
    def right_name(self) -> str:
        """What diagnosis should say of it: the id that all forms share."""
        return self.form_of or self.id

    @property
    def is_named(self) -> bool:
        """Whether it, and nothing else, was named every time."""
        return dict(self.said) == {self.right_name: self.diagnosed_seeds}


@dataclass(frozen=True)
class ExerciseRecord:
    """One exercise, its checks and its known mistakes."""

    name: str
    max_points: float
    checks: tuple[CheckRecord, ...]
    mistakes: tuple[MistakeRecord, ...]


@dataclass(frozen=True)
class RightRecord:
    """The reference or another right solution; ``margin`` as ``right_margin`` of a check.

    ``said`` should be empty: ids of what diagnosis said of it.
    """

    name: str
    style: str
    seeds: int
    margin: float | None
    said: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fault:
    """A check that ended as it should not: a right solution failed, or the check itself broke down."""

    candidate: str
    exercise: str
    check: str
    seed: int
    verdict: str
    message: str


@dataclass(frozen=True)
class Certificate:
    """The outcome of the whole trial.

    On the first ``complete_seeds`` everything was tried with every check. On all others each mistake was
    tried until a check found it, and the right solutions besides the reference took turns.
    """

    assignment: str
    fingerprint: str
    python: str
    numpy: str
    seeds: int
    complete_seeds: int
    processes: int
    wall_seconds: float
    exercises: tuple[ExerciseRecord, ...]
    right: tuple[RightRecord, ...]
    false_failures: tuple[Fault, ...]
    breakdowns: tuple[Fault, ...]

    @property
    def survivors(self) -> tuple[tuple[str, MistakeRecord], ...]:
        """The mistakes that earned all points on some seed, with their exercise."""
        return tuple(
            (one.name, mistake) for one in self.exercises for mistake in one.mistakes if mistake.survived
        )

    @property
    def mistakes(self) -> tuple[MistakeRecord, ...]:
        """The mistakes of all exercises, in all their forms."""
        return tuple(mistake for one in self.exercises for mistake in one.mistakes)

    @property
    def diagnosed(self) -> tuple[MistakeRecord, ...]:
        """The mistakes on which diagnosis was tried."""
        return tuple(one for one in self.mistakes if one.diagnosed_seeds)

    @property
    def holds(self) -> bool:
        """Whether every mistake was found, every right solution passed, and nothing was said of that."""
        diagnosed = any(one.said for one in self.right)
        return not (self.survivors or self.false_failures or self.breakdowns or diagnosed)


def certificate_to_json(certificate: Certificate) -> str:
    """The certificate as JSON text."""
    data = {"format_version": FORMAT_VERSION, "holds": certificate.holds, **_plain(asdict(certificate))}
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _plain(value: Any) -> Any:
    """The same without numbers that JSON does not know: a margin beyond every number is null."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
