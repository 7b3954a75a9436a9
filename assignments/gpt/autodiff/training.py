"""Training a model on windows of text: step by step, to be stopped and taken up again at any of them.

A run is repeatable bit by bit: the same settings give the same parameters on the same kind of machine with
the same NumPy, whether or not the run was interrupted. All chance is drawn from the seed: the first
parameters, and the order of the windows, anew in each epoch.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from autodiff import checkpoints
from autodiff.data import Characters, Windows
from autodiff.losses import cross_entropy, surprises
from autodiff.model import Model
from autodiff.optimiser import AdamW, WarmupCosine
from autodiff.tensor import no_grad
from autodiff.threads import one_thread

#: Is told after each step how many are done, of how many, and the loss of this one.
Progress: TypeAlias = Callable[[int, int, float], None]


@dataclass(frozen=True)
class Settings:
    """How a model is trained; the defaults are the lesson's.

    ``steps`` limits the number of steps, and the learning rate then falls within them; None trains all
    epochs.
    """

    epochs: int = 2
    steps: int | None = None
    rate: float = 1e-3
    warmup: int = 100
    floor: float = 0.1
    norm: float = 1.0
    seed: int = 42


class Evaluation(NamedTuple):
    """The mean loss over all test batches, how many they are, and the shape of the scores of each.

    ``marked`` is the mean loss at the marked characters alone; None where none were marked.
    """

    loss: float
    batches: int
    shape: tuple[int, ...]
    marked: float | None = None


class Trainer:
    """Trains a model, step by step.

    Args:
        model: what is trained, in place.
        characters: the text, for training and for testing.
        settings: how.
        checkpoint: the file in which a run is kept; None: nowhere. Where it holds this run already, it is
            taken up from there.

    Raises:
        CheckpointError: the checkpoint belongs to another run, or cannot be read.
    """

    #: A checkpoint is written after so many steps, besides at the end and when the run is stopped.
    CHECKPOINT_EVERY = 2000

    def __init__(
        self, model: Model, characters: Characters, settings: Settings, checkpoint: Path | None = None
    ):
        self.model, self.characters, self.settings = model, characters, settings
        batches = len(characters.training)
        self.steps = settings.epochs * batches
        if settings.steps is not None:
            self.steps = min(self.steps, settings.steps)
        self._parameters = model.parameters()
        self._optimiser = AdamW(self._parameters)
        #: The learning rate at each step.
        self.rate = WarmupCosine(
            settings.rate, warmup=settings.warmup, steps=self.steps, floor=settings.floor
        )
        #: How many steps are done, and of each its training loss and the seconds that it took.
        self.done = 0
        self._history = np.zeros((2, self.steps))
        self._checkpoint = checkpoint
        self._epoch: int | None = None
        if checkpoint is not None and checkpoint.exists():
            self._take_up(checkpoint)

    @property
    def losses(self) -> list[float]:
        """The training loss of each step that is done."""
        losses: list[float] = self._history[0, : self.done].tolist()
        return losses

    @property
    def seconds(self) -> list[float]:
        """How long each step took."""
        seconds: list[float] = self._history[1, : self.done].tolist()
        return seconds

    def run(self, progress: Progress | None = None, until: int | None = None) -> bool:
        """Train to the end, or up to step ``until``; returns whether all steps are done.

        Ctrl-C, or the stop button of a notebook, ends it after the running step. The checkpoint is then
        written, and KeyboardInterrupt raised.
        """
        end = self.steps if until is None else min(until, self.steps)
        self.model.train()
        with one_thread(), _stop_signal() as stopped:
            while self.done < end and not stopped.is_set():
                loss = self.step()
                if self.done % self.CHECKPOINT_EVERY == 0 and self.done < end:
                    self._keep()
                if progress is not None:
                    progress(self.done, self.steps, loss)
        self._keep()
        if stopped.is_set():
            where = f"; the run can be taken up from {self._checkpoint}" if self._checkpoint else ""
            raise KeyboardInterrupt(f"stopped after {self.done} of {self.steps} steps{where}")
        return self.done == self.steps

    def step(self) -> float:
        """Do one step; returns its loss."""
        start = time.perf_counter()
        epoch, batch = divmod(self.done, len(self.characters.training))
        if epoch != self._epoch:
            self.characters.training.shuffle(self.settings.seed, epoch)
            self._epoch = epoch
        inputs, targets = self.characters.training[batch]
        loss = cross_entropy(self.model(inputs), targets)
        self._optimiser.zero_grad()
        loss.backward()
        self._optimiser.clip_grad_norm(self.settings.norm)
        self._optimiser.step(self.rate(self.done))
        self._history[:, self.done] = loss.item(), time.perf_counter() - start
        self.done += 1
        return loss.item()

    def test(self, marks: Windows | None = None) -> Evaluation:
        """The mean loss on the text that was not trained on; ``marks`` as in ``evaluate``."""
        return evaluate(self.model, self.characters.test, marks)

    def _description(self) -> dict[str, Any]:
        """What must be the same for a run to be the same."""
        shapes = {name: list(parameter.shape) for name, parameter in self._parameters.items()}
        windows = self.characters.training
        return {
            "settings": {**vars(self.settings), "steps": self.steps},
            "text": self.characters.sha256,
            "windows": [windows.context, windows.stride, windows.batch, len(windows)],
            "parameters": shapes,
        }

    def _keep(self) -> None:
        if self._checkpoint is not None:
            arrays = {name: getattr(self._optimiser, name) for name in self._optimiser.STATE}
            arrays["history"] = self._history[:, : self.done]
            checkpoints.write(self._checkpoint, self._description(), arrays)

    def _take_up(self, path: Path) -> None:
        arrays = checkpoints.read(path, self._description())
        for name in self._optimiser.STATE:
            getattr(self._optimiser, name)[...] = arrays[name]
        self.done = self._optimiser.steps = arrays["history"].shape[1]
        self._history[:, : self.done] = arrays["history"]


def evaluate(model: Model, windows: Windows, marks: Windows | None = None) -> Evaluation:
    """The mean loss of a model over all batches, not recorded; ``marks`` has a 1 for each marked character.

    >>> from autodiff.layers import Linear
    >>> model = Model(30, make_attention=lambda d_model, rng: Linear(d_model, d_model, rng))
    >>> result = evaluate(model, Windows(np.arange(1000) % 30))
    >>> result.batches, result.shape
    (15, (4, 32, 30))
    """
    means, marked = [], []
    model.eval()
    with one_thread(), no_grad():
        for number in range(len(windows)):
            inputs, targets = windows[number]
            logits = model(inputs).data
            losses = surprises(logits, targets)
            means.append(losses.mean())
            if marks is not None:
                marked.append(losses[marks[number][1] == 1])
    marked_loss = float(np.mean(np.concatenate(marked))) if marked else None
    return Evaluation(float(np.mean(means)), len(means), logits.shape, marked_loss)


@contextmanager
def _stop_signal() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets; a second one interrupts at once, as if nothing had been arranged.

    A step that is cut short would leave parameters of which some are changed and some are not.
    """
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped  # only the main thread hears signals
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopped.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before)
