"""How well are mistakes named that somebody wrote anew, from their one-sentence descriptions alone?

    python tests/blind_trial.py --beliefs                 the sentences, as sections to be filled
    python tests/blind_trial.py FOLDER [--seeds 3]        grades what is written there; says what was named

``FOLDER/*.md`` holds sections: a heading such as ``## multihead_b12eb``, the sentence, and a block of Python
that defines the exercise's function, wrong as the sentence says, as a student would write it, with ``np``,
``attention``, ``attention_backward`` and the other exercises' right functions at hand. It goes through all
that a submission goes through behind the sandbox. Exit code 1 if fewer than 95 % are named.

What ``slow`` mistakes do is told by the check that they fail: they count as named when it fails by time.
"""

import argparse
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from autograder.assignments.candidates import known_mistakes
from autograder.assignments.catalog import KIT, Assignment, load_assignment
from autograder.checking.mistakes import Mistake
from autograder.model import CheckResult, ExerciseResult, Verdict
from autograder.usecases.assessing import Assessor
from autograder.usecases.local_run import LocalRun, notebook_of

GOAL = 0.95
SECTION = re.compile(r"^## (\S+)\n\n(.+?)\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CALL_SECONDS = 2.0


def number(mistake: Mistake) -> str:
    """A number that gives nothing away, and stays when mistakes are added."""
    return hashlib.sha256(f"{mistake.exercise}/{mistake.id}".encode()).hexdigest()[:5]


def by_heading(assignment: Assignment) -> dict[str, Mistake]:
    """All known mistakes by the heading under which they are to be written."""
    mistakes = [one for known in known_mistakes(assignment).values() for one in known]
    return {f"{one.exercise}_{number(one)}": one for one in mistakes}


def sections(folder: Path) -> Iterator[tuple[str, str, str]]:
    """The heading, the sentence and the code of all that was written anew."""
    for path in sorted(folder.glob("*.md")):
        for heading, belief, code in SECTION.findall(path.read_text(encoding="utf-8")):
            yield heading, " ".join(belief.split()), code


def said(mistake: Mistake, result: ExerciseResult) -> list[str]:
    """The ids of what was said of the exercise."""
    if mistake.slow and any(one.verdict is Verdict.TIMED_OUT for one in result.checks):
        return [mistake.id]
    return [one.diagnosis.id for one in result.checks if one.diagnosis is not None]


def outcome(mistake: Mistake, results: list[ExerciseResult]) -> tuple[str, str]:
    """Named, missed, wrong or not failed; and what was said instead."""
    ids = [said(mistake, result) for result in results]
    if all(mistake.id in one for one in ids):
        return "named", ""
    lost = sorted({name for result in results for name in map(_failed, result.checks) if name})
    if not lost:
        return "not failed", "all checks passed"
    known = sorted({name for one in ids for name in one if not name.startswith("observed_")} - {mistake.id})
    seen = sorted({name for one in ids for name in one if name.startswith("observed_")})
    what = f"said: {', '.join([*known, *seen]) or 'nothing'}; failed: {', '.join(lost)}"
    return ("wrong" if known else "missed"), what


def grade(folder: Path, assignment: Assignment, seeds: int) -> Iterator[tuple[str, Mistake, str, str]]:
    """Each heading, its mistake, the outcome, and what there is to say of it."""
    mistakes = by_heading(assignment)
    assessors = [Assessor(assignment, b"blind trial %d" % seed) for seed in range(seeds)]
    for heading, belief, code in sections(folder):
        if heading not in mistakes or mistakes[heading].belief != belief:
            raise SystemExit(f"{heading}: there is no such belief any more (--beliefs lists them)")
        mistake = mistakes[heading]
        make = partial(notebook_of, assignment.reference, code)
        try:
            make()
        except Exception as error:  # noqa: BLE001 (whatever is wrong with it, the others are graded)
            yield heading, mistake, "broken", repr(error)
            continue
        run = LocalRun([mistake.exercise], make, call_seconds=CALL_SECONDS)
        (exercise,) = (one for one in assignment.exercises if one.name == mistake.exercise)
        results = [one.assess("student", [exercise], run).exercises[0] for one in assessors]
        yield heading, mistake, *outcome(mistake, results)


def main() -> int:
    """List the sentences, or grade a folder; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--beliefs", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    assignment = load_assignment(KIT.parent, "multihead")
    if args.beliefs or args.folder is None:
        for heading, mistake in by_heading(assignment).items():
            sys.stdout.write(f"## {heading}\n\n{mistake.belief}\n\n```python\n```\n\n")
        return 0
    counts: Counter[str] = Counter()
    for heading, mistake, how, what in grade(args.folder, assignment, args.seeds):
        counts[how] += 1
        sys.stdout.write(f"{how:<10} {heading:<26} {mistake.id:<28} {what}\n")
    total = counts.total()
    rate = counts["named"] / total if total else 0.0
    sys.stdout.write(f"{counts['named']} of {total} named ({rate:.1%}); {dict(counts)}\n")
    return 0 if rate >= GOAL else 1


def _failed(check: CheckResult) -> str | None:
    return None if check.verdict is Verdict.PASSED else check.name


if __name__ == "__main__":
    sys.exit(main())
