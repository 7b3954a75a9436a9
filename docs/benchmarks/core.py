"""Time of a training step on the core, beside the same model in eager PyTorch: one thread each, in one run.

    python docs/benchmarks/core.py [--data FILE] [--heads N] [--turns N] [--profile] [--memory]

Both begin with the same parameters and read the same batches, in turns of 100 steps, so that whatever else
the machine does meets both; that their losses agree shows that both do the same. PyTorch is needed by nothing
else: install it into an environment that has NumPy. Without it the core is measured alone.
"""

import argparse
import cProfile
import os
import pstats
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before either library is loaded
sys.path.insert(0, str(Path(__file__).parents[2] / "source/weighted_attention"))
sys.path.insert(0, str(Path(__file__).parents[2] / "solutions"))

import numpy as np

from attention_layer import WeightedAttention
from autodiff.corpus import make_corpus
from autodiff.data import Characters
from autodiff.layers import Layer
from autodiff.model import Model
from autodiff.training import Settings, Trainer
from gpt import MultiHeadAttention

TURN = 100
SETTINGS = Settings()

Step = Callable[[int], float]


def tell(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


def trainer_on_the_core(text: str, heads: int | None = None) -> Trainer:
    """The lesson's model and settings; ``heads`` takes the layer of the lab ``gpt``."""
    characters = Characters(text)

    def several(d_model: int, rng: np.random.Generator) -> Layer:
        return MultiHeadAttention(d_model, heads or 1, rng)

    make_attention = WeightedAttention if heads is None else several
    model = Model(len(characters.vocabulary), make_attention=make_attention)
    return Trainer(model, characters, SETTINGS)


def step_in_torch(ours: Trainer, heads: int, torch: Any) -> Step:
    """A step of the same training, as one writes it in PyTorch."""
    torch.set_num_threads(1)
    model = model_in_torch(ours.model, heads, torch)
    optimiser = torch.optim.AdamW(model.parameters(), lr=SETTINGS.rate, weight_decay=0.01)

    def step(number: int) -> float:
        inputs, targets = (torch.from_numpy(array) for array in ours.characters.training[number])
        for group in optimiser.param_groups:
            group["lr"] = ours.rate(number)
        loss = torch.nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), SETTINGS.norm)
        optimiser.step()
        return float(loss.item())

    return step


def model_in_torch(ours: Model, heads: int, torch: Any) -> Any:
    """The same model with the same parameters."""
    nn = torch.nn

    class Attention(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, width: int) -> None:
            super().__init__()
            self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))

        def forward(self, x: Any) -> Any:
            batch, seq, width = x.shape
            projected = (self.query(x), self.key(x), self.value(x))
            q, k, v = (one.view(batch, seq, heads, width // heads).transpose(1, 2) for one in projected)
            allowed = torch.ones(seq, seq, dtype=torch.bool).tril()
            scores = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5
            out = scores.masked_fill(~allowed, -1e9).softmax(-1) @ v
            return self.output(out.transpose(1, 2).reshape(batch, seq, width))

    class Network(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, vocabulary: int, context: int, width: int) -> None:
            super().__init__()
            self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
            layers: list[Any] = []
            for _ in range(2):
                layers += [Attention(width), nn.Linear(width, 4 * width)]
                layers += [nn.GELU(approximate="tanh"), nn.Linear(4 * width, width)]
            self.blocks, self.output = nn.Sequential(*layers), nn.Linear(width, vocabulary)

        def forward(self, x: Any) -> Any:
            return self.output(self.blocks(self.token(x) + self.position(torch.arange(x.shape[1]))))

    vocabulary, width = ours.token.table.shape
    model = Network(vocabulary, ours.context, width)
    # Both list the parameters in the order in which data flows; linear layers there hold weights transposed.
    for theirs, mine in zip(model.parameters(), ours.parameters().values(), strict=True):
        data = mine.data.T if mine.ndim == 2 and not _is_table(mine, ours) else mine.data
        theirs.data = torch.from_numpy(np.ascontiguousarray(data).copy())
    return model


def _is_table(parameter: Any, model: Model) -> bool:
    return parameter is model.token.table or parameter is model.position.table


def timed(step: Step, numbers: range) -> tuple[list[float], list[float]]:
    """Milliseconds and losses of these steps."""
    milliseconds, losses = [], []
    for number in numbers:
        start = time.perf_counter()
        losses.append(step(number))
        milliseconds.append(1000 * (time.perf_counter() - start))
    return milliseconds, losses


def measure(text: str, turns: int, heads: int | None) -> None:
    """Take turns and print medians, their quotient, and how far the losses are apart."""
    ours = trainer_on_the_core(text, heads)
    steps: dict[str, Step] = {"core": lambda _number: ours.step()}
    try:
        import torch  # type: ignore[import-not-found, unused-ignore] # noqa: PLC0415 - may be missing
    except ModuleNotFoundError:
        tell("PyTorch is not installed: the core is measured alone.")
    else:
        steps["torch"] = step_in_torch(ours, heads or 1, torch)
    taken: dict[str, list[float]] = {name: [] for name in steps}
    losses: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(turns):
        for name, step in steps.items():
            milliseconds, found = timed(step, range(turn * TURN, (turn + 1) * TURN))
            losses[name] += found
            taken[name] += milliseconds if turn else []  # the first turn warms up
    medians = {name: statistics.median(all_of_them) for name, all_of_them in taken.items()}
    for name, all_of_them in taken.items():
        tell(f"{name:<6} median {medians[name]:.3f} ms, quickest {min(all_of_them):.3f} ms a step")
    if len(medians) == 2:
        apart = np.abs(np.subtract(losses["core"], losses["torch"]))
        tell(f"core / torch: {medians['core'] / medians['torch']:.2f}")
        tell(f"losses apart: {apart[:TURN].max():.1e} in the first {TURN} steps, {apart.max():.1e} in all")


def profile(text: str) -> None:
    """Print where 1000 steps spend their time."""
    ours = trainer_on_the_core(text)
    ours.run(until=100)
    profiler = cProfile.Profile()
    profiler.runcall(ours.run, until=1100)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(14)


def memory(text: str) -> None:
    """Print what Python and NumPy hold after each 1000 of 10,000 steps."""
    ours = trainer_on_the_core(text)
    ours.run(until=100)
    tracemalloc.start()
    for end in range(1000, 10_001, 1000):
        ours.run(until=end)
        held, peak = tracemalloc.get_traced_memory()
        tell(f"step {end}: {held / 1024:.0f} KiB held, {peak / 1024:.0f} KiB at most")


def main() -> None:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(description="Time of a training step on the core and in PyTorch.")
    parser.add_argument("--data", type=Path, help="a text (default: the embedded one)")
    parser.add_argument("--heads", type=int, help="attention as in the lab gpt (default: weighted attention)")
    parser.add_argument("--turns", type=int, default=16, help="of 100 steps each; the first is not counted")
    parser.add_argument("--profile", action="store_true", help="show where the core spends its time")
    parser.add_argument("--memory", action="store_true", help="show the memory over 10,000 steps")
    args = parser.parse_args()
    text = args.data.read_text(encoding="utf-8") if args.data else make_corpus().text
    if args.profile:
        profile(text)
    elif args.memory:
        memory(text)
    else:
        measure(text, args.turns, args.heads)


if __name__ == "__main__":
    main()
