"""Pictures for the visible checks: what was expected beside what came, and what right numbers mean.

A picture is a grid of cells. As text it can be read anywhere; with matplotlib it becomes an image, for which
the same numbers are the alternative text. matplotlib is imported when the first image is drawn, and only in a
notebook that somebody is working on: neither in a program nor while a notebook is graded.
"""

import base64
import html
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from io import BytesIO
from itertools import accumulate, zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Point = tuple[float, float]

#: The widest image that a notebook shows without making it smaller.
WIDEST = 760
MARGIN = 20
#: The palette of Okabe and Ito, as in the figures of the lesson. No meaning lies in colour alone.
INK, QUIET, PAPER, EDGE, PALE = "#1a1a1a", "#454545", "#fdfdfb", "#c4c4c0", "#ececea"
BLUE, VERMILLION, SKY, ROSE = "#0072B2", "#D55E00", "#56B4E9", "#f7ddcb"


class Kind(Enum):
    """What a cell of a picture is."""

    LABEL = auto()  # what a line of tables, a row or all columns are called
    INDEX = auto()  # of a column
    TITLE = auto()  # stands over a group of tables and may run on to the right
    HEADING = auto()  # stands over one table and may run on, too
    NOTE = auto()  # stands beside a cell and may run on, too
    SIGN = auto()  # stands between two groups
    NUMBER = auto()
    WRONG = auto()  # a number that is not as expected: hatched, in a thick frame
    MISSED = auto()  # the number that was expected there: in a thick frame
    HIDDEN = auto()  # a place that the mask leaves empty


class Cell(NamedTuple):
    """One place of the grid; ``share`` between 0 and 1 is how deep it is coloured."""

    text: str = ""
    kind: Kind = Kind.LABEL
    share: float = 0.0


Grid = list[list[Cell]]
_BOXES = {Kind.NUMBER, Kind.WRONG, Kind.MISSED, Kind.HIDDEN}
_RUNNING_ON = {Kind.TITLE, Kind.HEADING, Kind.NOTE}


class Picture(NamedTuple):
    """A grid of cells, and what it says to those who do not see it."""

    grid: Grid
    alt: str


# --- What there is to see ---------------------------------------------------------------------------------


def comparison(expected: Array, got: Array, wrong: NDArray[np.bool_], axes: str) -> Picture:
    """Two arrays of one shape beside each other; ``wrong`` is True where they differ, ``axes`` names axes."""
    expected_texts, got_texts = _texts(expected, got, wrong)

    def right_cell(place: tuple[int, ...]) -> Cell:
        return Cell(str(expected_texts[place]), Kind.MISSED if wrong[place] else Kind.NUMBER)

    def got_cell(place: tuple[int, ...]) -> Cell:
        return Cell(str(got_texts[place]), Kind.WRONG if wrong[place] else Kind.NUMBER)

    groups = [_group("expected", got.shape, axes, right_cell), _group("got", got.shape, axes, got_cell)]
    grid = _beside(groups)
    if _size(grid)[0] > WIDEST:
        grid = _stacked(groups)
    told = f"{np.count_nonzero(wrong)} of {wrong.size} numbers are not as expected"
    grid = [*grid, [], [Cell(), Cell("", Kind.WRONG), Cell(told, Kind.NOTE)]]
    places = [tuple(int(i) for i in place) for place in np.argwhere(wrong)]
    listed = [
        f"{_named(place, axes)}: {got_texts[place]} instead of {expected_texts[place]}"
        for place in places[:6]
    ]
    listed += [f"and {len(places) - 6} more"] if len(places) > 6 else []
    return Picture(grid, f"Expected and got. {told}: {'; '.join(listed)}.")


def weights(tables: Mapping[str, Array], title: str) -> Picture:
    """Weights (T, T), or (H, T, T) of several heads, each under its name; zeros are what the mask hides."""
    groups, told = [], []
    for name, table in tables.items():

        def cell(place: tuple[int, ...], table: Array = table) -> Cell:
            weight = float(table[place[-table.ndim :]])
            return Cell(f"{weight:.2f}", Kind.NUMBER, weight) if weight else Cell("", Kind.HIDDEN)

        has_heads = table.ndim == 3
        shape, axes = (
            ((1, *table.shape), "batch heads query key") if has_heads else (table.shape, "query key")
        )
        groups.append(_group(name, shape, axes, cell))
        each = [f"head {h}: {_spoken(one)}" for h, one in enumerate(table)] if has_heads else [_spoken(table)]
        told.append(f"{name}: {'; '.join(each)}.")
    grid = [[Cell(title, Kind.TITLE)], []]
    return Picture(grid + _stacked(groups), f"{title}; a row for each query. {' '.join(told)}")


def total(parts: Mapping[str, Array], name: str, axes: str) -> Picture:
    """Arrays of one shape and their sum, each under its name."""
    arrays = {**parts, name: sum(parts.values(), start=np.zeros(()))}
    groups, told = [], []
    for title, array in arrays.items():

        def cell(place: tuple[int, ...], array: Array = array) -> Cell:
            return Cell(f"{array[place]:.2f}", Kind.NUMBER)

        groups.append(_group(title, array.shape, axes, cell))
        told.append(f"{title}: {_spoken(array)}.")
    signs = [*["+"] * (len(parts) - 1), "="]
    return Picture(_beside(groups, signs), f"{' + '.join(parts)} = {name}. {' '.join(told)}")


def _named(place: tuple[int, ...], axes: str) -> str:
    return " ".join(f"{name} {index}" for name, index in zip(_singular(axes), place, strict=True))


def _singular(axes: str) -> list[str]:
    return [name.removesuffix("s") for name in axes.split()]


def _texts(expected: Array, got: Array, wrong: NDArray[np.bool_]) -> tuple[Array, Array]:
    """The numbers as text: three decimals at most, more where wrong ones would look right."""
    for decimals in range(7):
        texts = _written(expected, decimals), _written(got, decimals)
        is_exact = np.all(np.abs(expected - np.round(expected, decimals)) < 1e-9)
        if (is_exact or decimals >= 3) and not np.any(wrong & (texts[0] == texts[1])):
            break
    return texts


def _written(numbers: Array, decimals: int) -> Array:
    texts = [f"{n:.{decimals}f}" if abs(n) < 1e5 else f"{n:.3g}" for n in map(float, numbers.flat)]
    return np.array(texts, dtype=object).reshape(numbers.shape)


def _spoken(array: Array) -> str:
    """The rows of an array with two decimals; zeros are left out."""
    rows = array.reshape(-1, array.shape[-1])
    return ", ".join(" ".join(f"{number:.2f}" for number in row if number) for row in rows)


# --- The grid ---------------------------------------------------------------------------------------------


def _group(title: str, shape: Sequence[int], axes: str, cell: Callable[[tuple[int, ...]], Cell]) -> Grid:
    """The tables of one array of two to four axes: the first one downwards, the second sideways."""
    *leading, rows, columns = _singular(axes)
    lines, tables = [*shape[: len(leading)], 1, 1][:2]
    grid: Grid = [[Cell(title, Kind.TITLE)]]
    for line in range(lines):
        places = [(line, table)[: len(leading)] for table in range(tables)]
        if leading:
            grid.append([Cell(f"{leading[0]} {line}")])
        if len(leading) > 1:
            for table in range(tables):
                grid[-1] += [Cell(f"{leading[1]} {table}", Kind.HEADING), *[Cell()] * shape[-1]]
        numbered = [Cell(str(j), Kind.INDEX) for j in range(shape[-1])]
        grid.append([Cell(columns), *_joined([numbered] * tables)])
        for i in range(shape[-2]):
            cells = [[cell((*place, i, j)) for j in range(shape[-1])] for place in places]
            grid.append([Cell(f"{rows} {i}"), *_joined(cells)])
        grid.append([])
    return grid[:-1]


def _joined(rows: Sequence[list[Cell]]) -> list[Cell]:
    """The same row of several tables, with an empty place between two tables."""
    return [one for row in rows for one in [Cell(), *row]][1:]


def _beside(groups: Sequence[Grid], signs: Sequence[str] = ()) -> Grid:
    """Groups of equal form from left to right, with signs between them in the first row of numbers."""
    grid: Grid = [[] for _ in groups[0]]
    width = max(len(row) for row in groups[0])
    first = next(i for i, row in enumerate(groups[0]) if any(one.kind in _BOXES for one in row))
    for number, group in enumerate(groups):
        sign = signs[number] if number < len(signs) else ""
        for i, row in enumerate(group):
            after = Cell(sign if i == first else "", Kind.SIGN)
            grid[i] += [*row, *[Cell()] * (width - len(row)), after]
    return [row[:-1] for row in grid]


def _stacked(groups: Sequence[Grid]) -> Grid:
    """Groups from top to bottom with an empty row between two."""
    return [row for group in groups for row in [[], *group]][1:]


class Column(NamedTuple):
    """A column of the grid: how many letters it holds, titles not counted, or which gap it is."""

    letters: int
    parts_groups: bool


def _columns(grid: Grid) -> list[Column]:
    columns = []
    for cells in zip_longest(*grid, fillvalue=Cell()):
        lengths = [len(one.text) for one in cells if one.kind not in _RUNNING_ON]
        columns.append(Column(max(lengths, default=0), any(one.kind is Kind.SIGN for one in cells)))
    return columns


def text_of(picture: Picture) -> str:
    """The grid for a screen without images; a star marks what is not as expected."""
    widths = [5 if one.parts_groups else one.letters + 2 for one in _columns(picture.grid)]
    lines = []
    for row in picture.grid:
        line = ""
        for one, start, width in zip(row, accumulate(widths, initial=0), widths, strict=False):
            text = f"*{one.text}" if one.kind is Kind.WRONG else one.text
            if text:
                text = f"  {text}" if one.kind in _RUNNING_ON else text.rjust(width)
                line = line.ljust(start) + text
        lines.append(line)
    return "\n".join(lines)


# --- The image --------------------------------------------------------------------------------------------


def _pixels(grid: Grid) -> tuple[list[float], list[float]]:
    """Where columns and rows begin, and where the last ones end."""
    widths = []
    for column in _columns(grid):
        gap = 36.0 if column.parts_groups else 16.0
        is_gap = column.parts_groups or column.letters == 0
        widths.append(gap if is_gap else 7.0 * max(2, column.letters) + 14)
    heights = [_height({one.kind for one in row if one.text or one.kind in _BOXES}) for row in grid]
    return [*accumulate(widths, initial=MARGIN)], [*accumulate(heights, initial=MARGIN)]


def _height(kinds: set[Kind]) -> float:
    if not kinds:
        return 14.0
    return 30.0 if kinds & (_BOXES | {Kind.TITLE}) else 22.0


def _size(grid: Grid) -> tuple[int, int]:
    """Width and height of the image; titles may be longer than what stands below them."""
    columns, rows = _pixels(grid)
    ends = [
        columns[i] + 8 * len(one.text) for row in grid for i, one in enumerate(row) if one.kind in _RUNNING_ON
    ]
    return round(max(columns[-1], *ends)) + MARGIN, round(rows[-1]) + MARGIN


def svg_of(picture: Picture) -> bytes:
    """The image as an SVG file: the same picture always gives the same bytes. Imports matplotlib."""
    import matplotlib as mpl  # noqa: PLC0415 - takes half a second, and need not be there
    from matplotlib.figure import Figure  # noqa: PLC0415
    from matplotlib.patches import FancyBboxPatch  # noqa: PLC0415

    width, height = _size(picture.grid)
    file = BytesIO()
    with mpl.rc_context():
        mpl.rcdefaults()  # whatever the notebook has set for its own figures
        mpl.rcParams.update({"svg.hashsalt": "pictures", "font.size": 12.0})
        figure = Figure(figsize=(width / 72, height / 72), dpi=72, facecolor="none")
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set(xlim=(0, width), ylim=(height, 0))
        axes.axis("off")
        shape = "round,pad=0,rounding_size=10"
        paper = FancyBboxPatch((0.5, 0.5), width - 1, height - 1, shape, facecolor=PAPER, edgecolor=EDGE)
        axes.add_patch(paper)
        columns, rows = _pixels(picture.grid)
        for y, below, row in zip(rows, rows[1:], picture.grid, strict=False):
            for x, beyond, one in zip(columns, columns[1:], row, strict=False):
                _draw_box(axes, one, (x, y), (beyond - x, below - y))
                _write(axes, one, (x, y), (beyond - x, below - y))
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def _draw_box(axes: Any, cell: Cell, corner: Point, size: Point) -> None:
    """What lies under the text of a cell."""
    if cell.kind is Kind.NUMBER:
        _box(axes, corner, size, facecolor=PAPER, edgecolor=QUIET, linewidth=0.8)
        _box(axes, corner, size, facecolor=SKY, linewidth=0, alpha=0.75 * cell.share)
    elif cell.kind is Kind.HIDDEN:
        _box(axes, corner, size, facecolor=PALE, edgecolor=EDGE, linewidth=0.8)
        _hatch(axes, corner, size, EDGE)
    elif cell.kind in (Kind.WRONG, Kind.MISSED):
        is_wrong = cell.kind is Kind.WRONG
        _box(axes, corner, size, facecolor=ROSE if is_wrong else PAPER, linewidth=0)
        if is_wrong:
            _hatch(axes, corner, size, VERMILLION)
        frame = {"edgecolor": VERMILLION if is_wrong else BLUE, "linewidth": 2.4, "zorder": 2}
        _box(axes, (corner[0] + 2, corner[1] + 2), (size[0] - 4, size[1] - 4), **frame)


def _write(axes: Any, cell: Cell, corner: Point, size: Point) -> None:
    """The text of a cell."""
    (x, y), (width, height) = corner, size
    style: dict[str, Any] = {"color": INK if cell.kind in _BOXES | _RUNNING_ON else QUIET, "ha": "center"}
    if cell.kind in (Kind.TITLE, Kind.WRONG, Kind.MISSED):
        style["weight"] = "bold"
    if cell.kind is Kind.WRONG:
        style["bbox"] = {"facecolor": ROSE, "linewidth": 0, "pad": 1}
    at = (x + width / 2, y + height / 2)
    if cell.kind in _RUNNING_ON:
        at, style["ha"] = (x + (8 if cell.kind is Kind.NOTE else 0), at[1]), "left"
    elif cell.kind is Kind.LABEL:
        at, style["ha"] = (x + width - 10, at[1]), "right"
    elif cell.kind is Kind.SIGN:  # between this row and the next
        at, style["size"] = (at[0], y + height), 16
    if cell.text:
        axes.text(*at, cell.text, va="center_baseline", **style)


def _box(axes: Any, corner: Point, size: Point, **style: Any) -> None:
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - see svg_of

    axes.add_patch(Rectangle(corner, *size, **({"facecolor": "none"} | style)))


def _hatch(axes: Any, corner: Point, size: Point, colour: str) -> None:
    """Thin slanting lines; matplotlib's own hatching would make the file five times as large."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - see svg_of
    from matplotlib.path import Path  # noqa: PLC0415

    (x, y), (width, height) = corner, size
    ends = []
    for step in np.arange(4.0, width + height, 7.0):
        ends += [(x + min(step, width), y + max(0.0, step - width))]
        ends += [(x + max(0.0, step - height), y + min(step, height))]
    codes = [Path.MOVETO, Path.LINETO] * (len(ends) // 2)
    axes.add_patch(PathPatch(Path(ends, codes), edgecolor=colour, linewidth=0.7))


# --- Showing ----------------------------------------------------------------------------------------------


#: What will be shown when the running cell has ended.
_waiting: list[Callable[[], Picture]] = []


def show_below(make: Callable[[], Picture]) -> None:
    """Show a picture below everything else that the running cell shows; elsewhere than there do nothing."""
    shell = _watched_shell()
    if shell is None or make in _waiting:  # IPython renders an error more than once
        return

    def show(_result: object) -> None:
        _waiting.remove(make)
        shell.events.unregister("post_run_cell", show)
        shell.display_pub.publish(shown(make()))

    _waiting.append(make)
    shell.events.register("post_run_cell", show)


def shown(picture: Picture) -> dict[str, str]:
    """What Jupyter gets, by its type: the text, and an image where one can be drawn."""
    text = text_of(picture)
    try:
        image = base64.b64encode(svg_of(picture)).decode()
    except Exception as error:  # noqa: BLE001 - a broken matplotlib must not stand in the way of the text
        is_absent = isinstance(error, ModuleNotFoundError) and error.name == "matplotlib"
        why = "" if is_absent else f"\n\n(matplotlib could not draw this: {type(error).__name__}: {error})"
        return {"text/plain": text + why}
    size = f'width="{_size(picture.grid)[0]}" style="margin: 8px 0"'
    source = f'src="data:image/svg+xml;base64,{image}"'
    # Jupyter gives an image of its own no alternative text; one inside HTML keeps it.
    return {"text/plain": text, "text/html": f'<img {size} {source} alt="{html.escape(picture.alt)}">'}


def _watched_shell() -> Any:
    """IPython's shell in a Jupyter kernel, unless nbgrader runs the notebook; else None."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    has_viewer = hasattr(shell, "kernel") and "NBGRADER_EXECUTION" not in os.environ
    return shell if has_viewer else None
