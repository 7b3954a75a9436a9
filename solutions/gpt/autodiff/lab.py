"""A lab: the same model trained several times with one thing varied, and what came of it.

What is varied is the attention layer. A lab names its choices and says how each one makes that layer;
everything else, from the text to the table at the end, is the same for all labs.
"""

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from autodiff.corpus import make_corpus
from autodiff.data import Characters, Windows
from autodiff.generation import generate
from autodiff.model import MakeAttention, Model
from autodiff.tensor import Array, no_grad
from autodiff.threads import one_thread
from autodiff.training import Progress, Settings, Trainer

#: Enough to see what matters, in seconds.
SHORT = Settings(steps=1500)
#: The lesson's own.
FULL = Settings()

#: How many points a curve has.
POINTS = 60


@dataclass(frozen=True)
class Text:
    """What is trained on.

    ``prompt`` begins the samples, and ``probe`` is the sentence on which attention is looked at. ``is_sense``
    says for each character whether it belongs to a word that shows which meaning was meant; None: not known.
    """

    name: str
    text: str
    prompt: str
    probe: str
    is_sense: Array | None = None


def embedded_text() -> Text:
    """The text that is made up, and needs no download."""
    corpus = make_corpus()
    return Text("embedded", corpus.text, "Ada, the ", "The clerk saw an apple: updated.", corpus.is_sense)


def text_of(path: Path) -> Text:
    """The text of a file in UTF-8; raises ValueError where it is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no text in UTF-8.") from error
    prompt = "ROMEO:" if "ROMEO:" in text else text[:6]
    return Text(path.stem, text, prompt, text[:32])


@dataclass(frozen=True)
class Lab:
    """What is varied: ``option`` is its name, ``choices`` says for each value how attention is made."""

    name: str
    option: str
    choices: Mapping[str, MakeAttention]


@dataclass(frozen=True)
class Outcome:
    """What came of one training.

    ``curve`` has the number of the step and the mean training loss since the point before. ``loss`` is the
    mean test loss over ``batches`` batches of scores of ``shape``; ``sense_loss`` that of the words that show
    a meaning, alone. ``milliseconds`` is the median time of a step. ``weights`` are those of each block and
    head on the probe, (blocks, heads, seq, seq); None where the layer does not keep them.
    """

    choice: str
    seed: int
    parameters: int
    steps: int
    curve: list[tuple[int, float]]
    loss: float
    batches: int
    shape: tuple[int, ...]
    sense_loss: float | None
    milliseconds: float
    sample: str
    probe: str
    weights: Array | None = field(repr=False, compare=False)


def train(
    lab: Lab,
    choice: str,
    text: Text,
    settings: Settings,
    *,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Train one model of a lab, test it, and let it speak.

    Raises ValueError where the lab has no such choice; KeyboardInterrupt and CheckpointError as ``Trainer``
    does.
    """
    if choice not in lab.choices:
        known = ", ".join(lab.choices)
        raise ValueError(f"{lab.name} has no {lab.option} {choice!r}; there are {known}.")
    with one_thread():
        return _train(lab, choice, text, settings, checkpoint, progress)


def _train(
    lab: Lab, choice: str, text: Text, settings: Settings, checkpoint: Path | None, progress: Progress | None
) -> Outcome:
    characters = Characters(text.text)
    vocabulary = characters.vocabulary
    model = Model(len(vocabulary), make_attention=lab.choices[choice], seed=settings.seed)
    trainer = Trainer(model, characters, settings, checkpoint)
    trainer.run(progress)
    result = trainer.test(_marks_of(text, characters.test))
    return Outcome(
        choice=choice,
        seed=settings.seed,
        parameters=model.count(),
        steps=trainer.done,
        curve=curve_of(trainer.losses),
        loss=result.loss,
        batches=result.batches,
        shape=result.shape,
        sense_loss=result.marked,
        milliseconds=1000 * statistics.median(trainer.seconds),
        sample=generate(model, vocabulary, text.prompt, seed=settings.seed),
        probe=text.probe,
        weights=_weights_on(model, vocabulary.encode(text.probe)),
    )


def curve_of(losses: list[float]) -> list[tuple[int, float]]:
    """Means of successive losses, each with the number of its last step.

    >>> curve_of([4.0, 2.0] * 60)[:2]
    [(2, 3.0), (4, 3.0)]
    """
    ends = np.linspace(0, len(losses), min(POINTS, len(losses)) + 1).round().astype(int).tolist()
    return [(end, float(np.mean(losses[start:end]))) for start, end in pairwise(ends)]


def to_json(lab: Lab, text: Text, settings: Settings, outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """All of it as JSON's types; numbers of attention weights have three decimals."""
    return {
        "lab": lab.name,
        "option": lab.option,
        "text": {"name": text.name, "characters": len(text.text), "vocabulary": len(set(text.text))},
        "settings": asdict(replace(settings, seed=0)) | {"seed": None},
        "outcomes": [
            asdict(outcome)
            | {"weights": None if outcome.weights is None else outcome.weights.round(3).tolist()}
            for outcome in outcomes
        ],
    }


def _marks_of(text: Text, windows: Windows) -> Windows | None:
    """The test part's marks of words that show a meaning, in windows as those of its characters."""
    if text.is_sense is None:
        return None
    return Windows(text.is_sense[-windows.characters :].astype(np.int64))


def _weights_on(model: Model, numbers: Array) -> Array | None:
    """The attention weights of each block and head for one sentence: (blocks, heads, seq, seq)."""
    with no_grad():
        model(numbers[None, : model.context])
    kept = [getattr(layer, "weights", None) for layer in model.attention_layers()]
    if any(weights is None for weights in kept):
        return None
    seq = min(len(numbers), model.context)
    return np.stack([np.asarray(weights).reshape(-1, seq, seq) for weights in kept])
