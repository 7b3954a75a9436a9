"""Draws the figures of the lesson ``torch_multihead`` as static SVG files.

    python docs/figures/torch_figures.py source/torch_multihead/figures

What it writes, and how, stands in ``writing.py``.
"""

from collections.abc import Sequence

from drawing import BLUE, EDGE, INK, MONO, PALE, PAPER, QUIET, ROUTES, Attributes, Drawing, Point, mix, tint
from writing import Figure, main

#: What "Orange" looks at in its sentence.
WEIGHTS = (("Orange", 0.21), ("is", 0.03), ("my", 0.05), ("favorite", 0.31), ("fruit", 0.40))
Table = Sequence[Sequence[int]]
#: The masks of the visible checks: for all, for each sequence, for each head of each sequence.
FOR_ALL: Table = ((1, 0, 1), (0, 1, 1))
FOR_SEQUENCES: Sequence[Table] = (((1, 0, 0), (1, 1, 0)), ((1, 1, 1), (0, 0, 1)))
FOR_HEADS: Sequence[Sequence[Table]] = (
    (((1, 0, 0), (0, 1, 0)), ((0, 0, 1), (1, 1, 1))),
    (((1, 1, 0), (0, 1, 1)), ((1, 0, 1), (1, 1, 0))),
)


def orange(drawing: Drawing) -> None:
    """One query, five keys, the row of weights, and what is gathered."""
    lanes = [196.0 + 104 * place for place in range(len(WEIGHTS))]
    (_, blue, _), (_, red, dashes), (_, green, dots) = ROUTES
    middle = lanes[2]
    _role(drawing, 40, "query", ["what Orange", "looks for"])
    _role(drawing, 144, "keys", ["what each", "token holds"])
    _role(drawing, 234, "weights", ["how well the", "two fit"])
    _role(drawing, 350, "values", ["what is", "gathered"])
    drawing.box((middle, 42), (110, 38), "Orange", fill=tint(blue), stroke=blue, stroke_width=2)
    for lane, (word, weight) in zip(lanes, WEIGHTS, strict=True):
        drawing.path(f"M{middle},61L{lane},127", stroke=blue, stroke_width=1 + 14 * weight)
        drawing.box((lane, 146), (92, 36), fill=PAPER, stroke=red, stroke_width=2)
        drawing.path(f"M{lane},164v36", stroke=red, stroke_width=2, stroke_dasharray=dashes)
        height = 76 * weight / 0.4
        drawing.box((lane, 238), (60, 76), fill=PAPER, stroke=EDGE, rx=0)
        drawing.box((lane, 276 - height / 2), (60, height), fill=mix(PAPER, BLUE, 0.42), rx=0)
        drawing.text((lane, 300), f"{weight:.2f}", 17, font_weight="bold")
        drawing.text((lane, 322), "times", 13, fill=QUIET)
        drawing.box((lane, 352), (92, 36), fill=PAPER, stroke=green, stroke_width=2, rx=18)
        for y in (146, 352):
            drawing.text((lane, y + 5), word, 16)
        drawing.path(f"M{lane},370v22", stroke=green, stroke_width=2, stroke_dasharray=dots)
    drawing.path(f"M{lanes[0]},392H{lanes[-1]}", stroke=green, stroke_width=2, stroke_dasharray=dots)
    drawing.arrow((middle, 392), (middle, 420), colour=green, dashes=dots)
    drawing.box((middle, 440), (300, 38), "the sum is the new Orange", fill=PALE)


def _role(drawing: Drawing, y: float, name: str, meaning: Sequence[str]) -> None:
    """What a row shows, to the left of it."""
    drawing.text((22, y), name, 16, text_anchor="start", font_weight="bold")
    drawing.lines((22, y + 18), meaning, 13, text_anchor="start", fill=QUIET)


def views(drawing: Drawing) -> None:
    """Six numbers in memory, two tensors that read them, and a copy in another order."""
    drawing.text((190, 40), "One piece of memory, two views", 16, font_weight="bold")
    drawing.text((545, 40), "A copy", 16, font_weight="bold")
    _memory(drawing, (58, 62), (0, 1, 2, 3, 4, 5))
    _memory(drawing, (413, 62), (0, 3, 1, 4, 2, 5))
    drawing.path("M369,24v330", stroke=EDGE)
    for middle, name, rows, strides in (
        (110.0, "x", ((0, 1, 2), (3, 4, 5)), "(3, 1)"),
        (270.0, "x.transpose(0, 1)", ((0, 3), (1, 4), (2, 5)), "(1, 3)"),
        (545.0, ".contiguous()", ((0, 3), (1, 4), (2, 5)), "(2, 1)"),
    ):
        drawing.arrow((545 if middle > 400 else 190, 108), (middle, 146))
        drawing.text((middle, 170), name, 14, font_family=MONO)
        _grid(drawing, (middle - 20.0 * len(rows[0]), 184), rows)
        drawing.text((middle, 328), f"strides {strides}", 14)
    drawing.lines(
        (190, 352),
        ["A stride says how far it is in memory", "to the next row, to the next column."],
        13,
        fill=QUIET,
    )
    drawing.lines((545, 352), ["Row after row again:", "view can cut it."], 13, fill=QUIET)


def _memory(drawing: Drawing, corner: Point, numbers: Sequence[int]) -> None:
    """Numbers side by side, as they lie in memory."""
    for place, number in enumerate(numbers):
        _number(drawing, (corner[0] + 44 * place + 22, corner[1] + 20), number, 44)


def _grid(drawing: Drawing, corner: Point, rows: Sequence[Sequence[int]]) -> None:
    """Numbers as a tensor shows them."""
    for row, line in enumerate(rows):
        for column, number in enumerate(line):
            _number(drawing, (corner[0] + 40 * column + 20, corner[1] + 40 * row + 20), number, 40)


def _number(drawing: Drawing, middle: Point, number: int, size: float) -> None:
    """A cell; the first three numbers are square, the others round, so that one sees where they go."""
    drawing.box(middle, (size, 40), fill=PAPER, stroke=EDGE, rx=0)
    drawing.box(middle, (30, 30), fill=drawing.head(number // 3), rx=3 if number < 3 else 15)
    halo: Attributes = {"stroke": PAPER, "stroke_width": 4, "paint_order": "stroke"}
    drawing.text((middle[0], middle[1] + 5), str(number), 15, font_weight="bold", **halo)


def masks(drawing: Drawing) -> None:
    """The scores of two sequences in two heads under masks of three shapes."""
    for panel, (shape, words, tables, (high, wide)) in enumerate(
        (
            ("(T, S)", "one table for all", [[FOR_ALL] * 2] * 2, (2, 2)),
            ("(B, 1, T, S)", "one for each sequence", [[one] * 2 for one in FOR_SEQUENCES], (1, 2)),
            ("(B, H, T, S)", "one for each head", FOR_HEADS, (1, 1)),
        )
    ):
        left = 62.0 + 214 * panel
        drawing.text((left + 93, 36), shape, 17, font_weight="bold")
        drawing.text((left + 93, 58), words, 14, fill=QUIET)
        for number in range(2):
            drawing.text((left + 43 + 100 * number, 82), f"head {number}", 13, fill=QUIET)
            if panel == 0:
                name = ["seq.", str(number)]
                drawing.lines((48, 118 + 96 * number), name, 13, text_anchor="end", fill=QUIET)
            for head, table in enumerate(tables[number]):
                _mask(drawing, (left + 4 + 100 * head, 96 + 96 * number), table)
        for top in range(0, 2, high):
            for start in range(0, 2, wide):
                middle = (left + 43 + 100 * start + 50 * (wide - 1), 122 + 96 * top + 48 * (high - 1))
                size = (92 + 100.0 * (wide - 1), 66 + 96.0 * (high - 1))
                drawing.box(middle, size, fill="none", stroke=BLUE, stroke_width=2.5, rx=8)
    drawing.lines(
        (350, 300),
        [
            "Row: the query. Column: the key. 1 may be looked at, a crossed-out key may not.",
            "A frame holds the tables that are copies of one.",
        ],
        fill=QUIET,
    )


def _mask(drawing: Drawing, corner: Point, table: Table) -> None:
    """A table of two queries and three keys."""
    side = 26.0
    for row, line in enumerate(table):
        for column, allowed in enumerate(line):
            x, y = corner[0] + side * (column + 0.5), corner[1] + side * (row + 0.5)
            drawing.box(
                (x, y), (side, side), fill=PAPER if allowed else PALE, stroke=QUIET, stroke_width=1, rx=0
            )
            if allowed:
                drawing.text((x, y + 5), "1", 14)
            else:
                drawing.path(f"M{x - 7},{y + 7}l14,-14", stroke=QUIET)


def two_sequences(drawing: Drawing) -> None:
    """The way through the module, with the shape at each arrow, when queries come from another sequence."""
    for lane, route, length in zip((140.0, 350.0, 560.0), ROUTES, "TSS", strict=True):
        name, colour, dashes = route
        layer = {"Q": "query", "K": "key", "V": "value"}[name]
        drawing.box((lane, 37), (150, 34), f"{layer} (B, {length}, C)")
        drawing.arrow((lane, 54), (lane, 90), colour=colour, dashes=dashes)
        drawing.box((lane, 108), (130, 36), f"self.{layer}", fill=tint(colour), stroke=colour, stroke_width=2)
        drawing.arrow((lane, 126), (lane, 166), colour=colour, dashes=dashes)
        drawing.text((lane + 12, 150), f"(B, {length}, C)", 14, text_anchor="start")
        drawing.box((lane, 182), (130, 32), "split_heads")
        drawing.arrow((lane, 198), (lane, 240), colour=colour, dashes=dashes)
        drawing.text((lane + 12, 222), f"(B, H, {length}, d)", 14, text_anchor="start")
    drawing.cards((350, 281), (540, 58))
    drawing.text((350, 277), "compute_attention", 15, font_family=MONO)
    drawing.text((350, 298), "scores and weights (B, H, T, S)", 14)
    drawing.box((560, 368), (130, 32), "mask")
    drawing.arrow((560, 352), (560, 310))
    for top, words in ((310.0, "(B, H, T, d)"), (384.0, "(B, T, C)")):
        drawing.arrow((350, top), (350, top + 42))
        drawing.text((362, top + 25), words, 14, text_anchor="start")
    drawing.box((350, 368), (140, 32), "combine_heads")
    drawing.box((350, 444), (130, 36), "self.output", fill=PALE, stroke=INK, stroke_width=2)
    drawing.arrow((350, 462), (350, 496))
    drawing.box((350, 513), (150, 34), "y (B, T, C)")
    note = ["As many answers as queries:", "T comes from the query,", "S from key and value."]
    drawing.lines((60, 420), note, text_anchor="start", fill=QUIET)


FIGURES = (
    Figure(
        "orange",
        478,
        "What Orange looks at",
        "The query Orange meets the keys of Orange is my favorite fruit. Its row of weights is 0.21 for "
        "Orange, 0.03 for is, 0.05 for my, 0.31 for favorite and 0.40 for fruit. Each value times its "
        "weight, summed, is the new Orange.",
        orange,
    ),
    Figure(
        "views",
        390,
        "Two views of one piece of memory, and a copy",
        "The numbers 0 to 5 lie in memory in order. The tensor x of two rows reads them with strides 3 and "
        "1; its transpose reads the same memory with strides 1 and 3, so that its rows are 0, 3; 1, 4; 2, 5. "
        "A contiguous copy has the numbers in memory as 0, 3, 1, 4, 2, 5, and view can cut it again.",
        views,
    ),
    Figure(
        "masks",
        334,
        "Masks of three shapes",
        "Tables of two queries and three keys for two sequences in two heads. A mask (T, S) is one table "
        "that serves all four. A mask (B, 1, T, S) has one table for each sequence, which serves both of its "
        "heads. A mask (B, H, T, S) has a table for each head of each sequence.",
        masks,
    ),
    Figure(
        "two_sequences",
        552,
        "The module, with queries from another sequence",
        "query (B, T, C), key (B, S, C) and value (B, S, C) pass their own layers and are split into "
        "(B, H, T, d), (B, H, S, d) and (B, H, S, d). In compute_attention scores and weights have the shape "
        "(B, H, T, S). What it returns, (B, H, T, d), is combined to (B, T, C) and passes the output layer: "
        "y (B, T, C).",
        two_sequences,
    ),
)


if __name__ == "__main__":
    main(FIGURES, "torch_figures")
