"""Training the models of an assignment's experiment outside of its notebook.

The experiment is the one that students run: ``source/<name>/experiment.py`` and the core beside it are loaded
as references are. It makes its lab in ``lab_of(reference)``, where the reference is the assignment's module
in ``solutions/``, and has the core's modules ``charts``, ``checkpoints``, ``comparison`` and ``lab``.

On disk, in the folder that was named:

    metrics.json           settings and outcomes
    curves.svg             losses over the steps
    maps-<...>.svg         what each head looks at in one sentence
    runs/<run>.npz         checkpoints, from which the same command goes on
"""

import dataclasses
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.assignments.loading import load_modules
from autograder.errors import CourseError, did_you_mean
from autograder.files import did_you_mean_path, write_atomically
from autograder.usecases.datasets import DATASETS, place_of

EXPERIMENT = "experiment.py"
EMBEDDED = "embedded"

#: Is told what is trained, how many of all steps are done, how many there are, and the last loss.
Advance = Callable[[str, int, int, float], None]


@dataclass(frozen=True)
class Plan:
    """What is to be trained: each choice with each seed, on one text.

    ``experiment`` is the assignment's module, ``lab``, ``text`` and ``settings`` are objects of its core.
    """

    experiment: ModuleType
    lab: Any
    text: Any
    settings: Any
    choices: tuple[str, ...]
    seeds: tuple[int, ...]

    @property
    def runs(self) -> tuple[tuple[str, int], ...]:
        """Every choice with every seed."""
        return tuple((choice, seed) for choice in self.choices for seed in self.seeds)


def load_lab(course: Path, name: str) -> tuple[ModuleType, Any]:
    """The module ``experiment`` of an assignment, and its lab, in which the reference stands for a student.

    Raises CourseError where the assignment has no experiment, or one of the two cannot be loaded.
    """
    source = course / "source" / name
    if not (source / EXPERIMENT).is_file():
        names = sorted(path.parent.name for path in (course / "source").glob(f"*/{EXPERIMENT}"))
        hint = did_you_mean(name, names) or (f" There is one of: {', '.join(names)}." if names else "")
        raise CourseError(f"{name!r} has no lab: {source / EXPERIMENT} is missing.{hint}")
    reference = course / "solutions" / f"{name}.py"
    paths = [source / EXPERIMENT, *([reference] if reference.is_file() else [])]
    experiment, *references = load_modules(paths, helpers=source)
    return experiment, experiment.lab_of(references[0] if references else None)


def plan_lab(
    course: Path,
    name: str,
    *,
    data: str = EMBEDDED,
    chosen: dict[str, Sequence[str]] | None = None,
    seeds: Sequence[int] = (),
    full: bool = False,
    steps: int | None = None,
) -> Plan:
    """What a command asks for; ``chosen`` has the choices that were named, by option; none means all.

    Raises CourseError where the lab does not vary that, or has no such choice, or there is no such text.
    """
    experiment, lab = load_lab(course, name)
    for option, values in (chosen or {}).items():
        if values and option != lab.option:
            raise CourseError(f"{name} has no --{option}: what it varies is --{lab.option}.")
        for value in values:
            if value not in lab.choices:
                raise CourseError(f"{name} has no --{option} {value}; there are {', '.join(lab.choices)}.")
    settings = experiment.lab.FULL if full else experiment.lab.SHORT
    return Plan(
        experiment=experiment,
        lab=lab,
        text=_text(course, data, experiment),
        settings=settings if steps is None else dataclasses.replace(settings, steps=steps),
        choices=tuple((chosen or {}).get(lab.option) or lab.choices),
        seeds=tuple(seeds) or (settings.seed,),
    )


def run_plan(plan: Plan, folder: Path, advance: Advance | None = None) -> tuple[Any, ...]:
    """Train, test, and keep everything in ``folder``; returns the core's ``Outcome`` of each run.

    What an earlier call finished is not trained again, what it began is taken up.

    Raises:
        CourseError: a checkpoint belongs to another run, or the folder cannot be written to.
        KeyboardInterrupt: it was stopped; the message tells how far it came.
    """
    outcomes = []
    for choice, seed in plan.runs:
        title = f"{plan.lab.option} {choice}, seed {seed}"
        progress = None if advance is None else _told(advance, title)
        settings = dataclasses.replace(plan.settings, seed=seed)
        length = "full" if settings.steps is None else f"{settings.steps}-steps"
        name = f"{plan.text.name}-{plan.lab.option}-{choice}-seed-{seed}-{length}.npz"
        try:
            outcomes.append(
                plan.experiment.lab.train(
                    plan.lab,
                    choice,
                    plan.text,
                    settings,
                    checkpoint=folder / "runs" / name,
                    progress=progress,
                )
            )
        except (ValueError, OSError, plan.experiment.checkpoints.CheckpointError) as error:
            raise CourseError(f"{title}: {error}") from error
    _keep(folder, plan, outcomes)
    return tuple(outcomes)


def metrics(plan: Plan, outcomes: Iterable[Any]) -> str:
    """Settings and outcomes as JSON, as ``docs/labs.md`` describes them."""
    told = plan.experiment.lab.to_json(plan.lab, plan.text, plan.settings, outcomes)
    return json.dumps(told, indent=1) + "\n"


def _keep(folder: Path, plan: Plan, outcomes: Sequence[Any]) -> None:
    files = {"metrics.json": metrics(plan, outcomes).encode()}
    charts = plan.experiment.charts
    try:
        files["curves.svg"] = charts.curves(outcomes, plan.lab.option).svg
        for outcome in outcomes:
            if outcome.weights is not None:
                files[f"maps-{outcome.choice}-seed-{outcome.seed}.svg"] = charts.maps(
                    outcome, plan.lab.option
                ).svg
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
    try:
        for name, data in files.items():
            write_atomically(folder / name, data)
    except OSError as error:
        raise CourseError(f"{folder} cannot be written to: {error.strerror}.") from error


def _told(advance: Advance, title: str) -> Callable[[int, int, float], None]:
    return lambda done, total, loss: advance(title, done, total, loss)


def _text(course: Path, data: str, experiment: ModuleType) -> Any:
    """The embedded text, a dataset by its name, or a file."""
    if data == EMBEDDED:
        return experiment.lab.embedded_text()
    path = place_of(course, DATASETS[data]) if data in DATASETS else Path(data)
    if data in DATASETS and not path.is_file():
        raise CourseError(f"{path} is missing. Fetch it once: autograder data {data}")
    try:
        return experiment.lab.text_of(path)
    except OSError as error:
        known = ", ".join((EMBEDDED, *DATASETS))
        hint = did_you_mean_path(path) or f" --data takes a file, or one of {known}."
        raise CourseError(f"{path} cannot be read: {error.strerror}.{hint}") from error
    except ValueError as error:
        raise CourseError(str(error)) from error
