"""Pictures of what came of a training, as SVG: curves, and tables of attention weights.

matplotlib is imported when the first picture is drawn; without it there are tables of text. Lines differ in
colour (the palette of Okabe and Ito), in pattern and by a name at their end: no meaning lies in colour alone.
"""

from collections.abc import Sequence
from io import BytesIO
from typing import Any, NamedTuple

from autodiff.lab import Outcome

INK, QUIET, PAPER = "#1a1a1a", "#454545", "#fdfdfb"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
PATTERNS: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (5, 1, 1, 1)), (0, (1, 2)))


class Chart(NamedTuple):
    """An image as the bytes of an SVG file, and what it says to those who do not see it."""

    svg: bytes
    alt: str


def curves(outcomes: Sequence[Outcome], option: str) -> Chart:
    """The training loss of each outcome over the steps. Raises ModuleNotFoundError without matplotlib."""
    figure, axes = _figure(7.2, 3.9)
    ends = []
    names = [name_of(outcome, outcomes, option) for outcome in outcomes]
    for number, outcome in enumerate(outcomes):
        steps, losses = zip(*outcome.curve, strict=True)
        style = {"color": COLOURS[number % len(COLOURS)], "linestyle": PATTERNS[number % len(PATTERNS)]}
        axes.plot(steps, losses, linewidth=2, **style)
        ends.append((losses[-1], names[number], style["color"]))
    low, high = axes.get_ylim()
    for at, (loss, name, colour) in zip(
        _apart([one[0] for one in ends], (high - low) / 16), ends, strict=True
    ):
        axes.annotate(
            name,
            (steps[-1], loss),
            xytext=(1.03, at),
            textcoords=("axes fraction", "data"),
            color=INK,
            va="center",
            arrowprops={"arrowstyle": "-", "color": colour},
        )
    axes.set_xlabel("step")
    axes.set_ylabel("training loss, in nats a character")
    axes.grid(visible=True, color="#e4e4e0")
    axes.spines[["top", "right"]].set_visible(False)
    told = "; ".join(
        f"{name} from {one.curve[0][1]:.2f} to {one.curve[-1][1]:.2f}"
        for name, one in zip(names, outcomes, strict=True)
    )
    return Chart(_svg(figure), f"Training loss over {outcomes[0].steps} steps: {told}.")


def maps(outcome: Outcome, option: str) -> Chart:
    """The weights of each block and head on the probe. Raises ModuleNotFoundError without matplotlib."""
    assert outcome.weights is not None
    blocks, heads, seq, _ = outcome.weights.shape
    letters = [{" ": "␣", "\n": "↵"}.get(letter, letter) for letter in outcome.probe[:seq]]
    across = min(heads, 4)
    down = -(-heads // across)
    figure, grid = _figure(3.5 * across, 3.5 * down * blocks, down * blocks, across)
    told = []
    for block in range(blocks):
        for head in range(heads):
            axes = grid[block * down + head // across][head % across]
            # The root makes small shares visible; white is still 0, and dark 1.
            axes.imshow(outcome.weights[block, head] ** 0.5, cmap="Blues", vmin=0, vmax=1)
            axes.set_title(f"block {block}, head {head}", fontsize=10, color=INK)
            axes.set_xticks(range(seq), letters, fontsize=7)
            axes.set_yticks(range(seq), letters, fontsize=7)
            axes.tick_params(length=0, pad=2)
            strongest = outcome.weights[block, head][-1].argmax()
            told.append(
                f"block {block} head {head} looks from the last character mostly at {letters[strongest]!r}"
            )
    for unused in [axes for row in grid for axes in row if not axes.has_data()]:
        unused.set_visible(False)
    return Chart(
        _svg(figure),
        f"Attention weights for {outcome.probe!r}, {option} {outcome.choice}; rows look, columns are looked "
        f"at. {'; '.join(told)}.",
    )


def name_of(outcome: Outcome, among: Sequence[Outcome], option: str) -> str:
    """What an outcome is called: its choice, and its seed where there are several."""
    has_seeds = len({one.seed for one in among}) > 1
    return f"{option} {outcome.choice}" + (f", seed {outcome.seed}" if has_seeds else "")


def _apart(places: Sequence[float], least: float) -> list[float]:
    """Places of names that are not nearer to each other than ``least``, in the order of what they name.

    >>> _apart([2.0, 1.0, 1.0], 0.5)
    [2.0, 1.0, 1.5]
    """
    moved = list(places)
    lowest = float("-inf")
    for index in sorted(range(len(places)), key=lambda index: places[index]):
        lowest = moved[index] = max(places[index], lowest + least)
    return moved


def _figure(width: float, height: float, rows: int | None = None, columns: int = 1) -> tuple[Any, Any]:
    """A figure with one system of axes, or with rows of them."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - takes half a second, and need not be there

    figure = Figure(figsize=(width, height), facecolor=PAPER, layout="constrained")
    axes = figure.subplots(rows or 1, columns, squeeze=False)
    for one in axes.flat:
        one.set_facecolor(PAPER)
        one.tick_params(colors=QUIET)
    return figure, axes if rows else axes[0][0]


def _svg(figure: Any) -> bytes:
    """The same figure always gives the same bytes."""
    import matplotlib as mpl  # noqa: PLC0415 - see _figure

    file = BytesIO()
    with mpl.rc_context({"svg.hashsalt": "charts"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()
