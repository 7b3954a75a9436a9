"""Draws the figures of the lesson ``multihead`` as static SVG files.

    python docs/figures/figures.py source/multihead/figures

What it writes, and how, stands in ``writing.py``.
"""

from collections.abc import Sequence

from drawing import (
    BLUE,
    EDGE,
    INK,
    MONO,
    PALE,
    PAPER,
    QUIET,
    ROUTES,
    VERMILLION,
    Attributes,
    Drawing,
    Point,
    tint,
)
from writing import Figure, main


def axes_and_heads(drawing: Drawing) -> None:
    """The same numbers as (B, T, C), as (B, T, H, d) and as (B, H, T, d)."""
    _stage(drawing, 70, (0, 0), "(B, T, C)", "(2, 5, 12)")
    drawing.arrow((280, 170), (280, 237))
    drawing.lines(
        (296, 195), ["cut the last axis into H pieces of d;", "no number moves"], text_anchor="start"
    )
    _stage(drawing, 256, (14, 6), "(B, T, H, d)", "(2, 5, 3, 4)")
    drawing.arrow((280, 406), (280, 470))
    drawing.lines(
        (296, 430), ["swap seq and heads: every head", "gets a table of its own"], text_anchor="start"
    )
    _stage(drawing, 489, (28, 0), "(B, H, T, d)", "(2, 3, 5, 4)")


def _stage(drawing: Drawing, top: float, gaps: Point, axes: str, sizes: str) -> None:
    """One form of the array; ``gaps`` part its pieces, sideways and downwards. Without them it is uncut."""
    middle, cell, seq, heads, d_head = 280.0, 18.0, 5, 3, 4
    fills = [drawing.head(head) for head in range(heads)] if gaps[0] else [PALE]
    columns = d_head if gaps[0] else heads * d_head
    piece, height = columns * cell, seq * cell + (seq - 1) * gaps[1]
    width = len(fills) * (piece + gaps[0]) - gaps[0]
    left = middle - width / 2
    for behind in (9, 0):
        drawing.box((middle + behind, top + height / 2 - behind), (width + 20, height + 20), fill=PAPER)
    for head, fill in enumerate(fills):
        start = left + head * (piece + gaps[0])
        for token in range(seq if gaps[1] else 1):
            rows = 1 if gaps[1] else seq
            drawing.table((start, top + token * (cell + gaps[1])), (rows, columns), cell, fill)
        if not gaps[1]:
            drawing.box(
                (start + piece / 2, top + 1.5 * cell), (piece, cell), fill="none", stroke_width=3.5, rx=0
            )
        if gaps[0]:
            drawing.text((start + piece / 2, top + height + 27), f"head {head}", 14)
    if gaps[1]:
        for token in range(seq):
            centre = (middle, top + cell / 2 + token * (cell + gaps[1]))
            drawing.box(centre, (width, cell), fill="none", stroke_width=3.5 if token == 1 else 1, rx=0)
    if gaps[0]:
        drawing.text((left - 28, top + height + 27), "heads (H = 3)", 14, text_anchor="end")
    drawing.above(left, top - 23, piece, "d_head (d = 4)" if gaps[0] else "d_model (C = 12)")
    drawing.beside(left - 16, top, height, "seq (time)", "(T = 5)")
    right, row = left + width, top + 1.5 * cell + gaps[1]
    drawing.text((right + 28, top + 2), "batch (B = 2)", 14, text_anchor="start")
    drawing.path(f"M{right + 3},{row}h31", stroke=QUIET)
    drawing.text((right + 38, row + 5), "one token", 14, text_anchor="start")
    drawing.text((614, top + height / 2 + 12), axes, 18, font_weight="bold")
    drawing.text((614, top + height / 2 + 34), sizes, 15, fill=QUIET)


def direct_reshape(drawing: Drawing) -> None:
    """The numbers 0 to 7 dealt out to two heads: rightly, and by one direct reshape."""
    x = [[0, 1, 2, 3], [4, 5, 6, 7]]
    split = [[row[2 * head : 2 * head + 2] for row in x] for head in range(2)]
    direct = [[x[head][:2], x[head][2:]] for head in range(2)]
    _deal(drawing, 20, "Correct split", ["reshape to (B, T, H, d),", "then swap T and H"], split)
    drawing.lines(
        (181, 440), ["Each head sees both tokens,", "in channels of its own."], 15, font_weight="bold"
    )
    _deal(drawing, 358, "Direct reshape", ["reshape straight", "to (B, H, T, d)"], direct)
    drawing.lines(
        (519, 440), ["The shape is right, but each", "head sees one token alone."], 15, font_weight="bold"
    )
    for left, words, fill, corners in (
        (44, "meant for head 0", drawing.head(0), 3),
        (208, "meant for head 1", drawing.head(1), 3),
        (382, "square: token 0", PAPER, 3),
        (540, "round: token 1", PAPER, 11),
    ):
        drawing.box((left, 510), (22, 22), fill=fill, rx=corners)
        drawing.text((left + 18, 515), words, 14, text_anchor="start")


def _deal(drawing: Drawing, left: float, name: str, how: Sequence[str], dealt: list[list[list[int]]]) -> None:
    """One panel: x with the cut that is made, and the two heads that come of it."""
    middle, wrong = left + 185, dealt[0][1] != [4, 5]
    colour = VERMILLION if wrong else BLUE
    drawing.box((left + 161, 249), (322, 458), fill="none", stroke=EDGE, rx=10)
    drawing.mark((left + 80, 46), 13, colour, right=not wrong)
    drawing.text((left + 102, 52), name, 18, font_weight="bold", text_anchor="start")
    drawing.lines((left + 161, 80), how)
    for token in range(2):
        drawing.text((left + 72, 150 + 44 * token), f"token {token}", 14, text_anchor="end")
        drawing.text((left + 72, 339 + 44 * token), f"seq = {token}", 14, text_anchor="end")
        for channel in range(4):
            _card(drawing, (middle - 66 + 44 * channel, 145 + 44 * token), 4 * token + channel)
    cut = f"M{middle - 98},167h196" if wrong else f"M{middle},118v98"
    drawing.path(cut, stroke=colour, stroke_width=4, stroke_dasharray="9 5")
    drawing.arrow((middle, 226), (middle, 270))
    drawing.text((middle - 14, 252), "shape (1, 2, 2, 2)", 14, text_anchor="end")
    for head, pairs in enumerate(dealt):
        centre = middle - 55 + 110 * head
        drawing.text((centre, 298), f"head {head}", font_weight="bold")
        drawing.box((centre, 356), (98, 98), fill="none")
        for token, pair in enumerate(pairs):
            for place, number in enumerate(pair):
                card = (centre - 22 + 44 * place, 334 + 44 * token)
                _card(drawing, card, number)
                if number != 4 * token + 2 * head + place:
                    drawing.mark((card[0] + 16, card[1] - 16), 8, VERMILLION, right=False)


def _card(drawing: Drawing, middle: Point, number: int) -> None:
    """A number whose fill says for which head it is meant, and whose form says of which token it is."""
    token, channel = divmod(number, 4)
    drawing.box(middle, (36, 36), fill=drawing.head(channel // 2), rx=18 if token else 3)
    halo: Attributes = {"stroke": PAPER, "stroke_width": 5, "paint_order": "stroke"}
    drawing.text((middle[0], middle[1] + 6), str(number), 18, font_weight="bold", **halo)


def four_projections(drawing: Drawing) -> None:
    """The forward pass with the shape at each arrow."""
    drawing.box((350, 37), (80, 34), "x")
    drawing.text((400, 42), "(B, T, C)", 14, text_anchor="start")
    for lane, (name, colour, dashes) in zip((140.0, 350.0, 560.0), ROUTES, strict=True):
        drawing.arrow((350, 54), (350, 75), (lane, 75), (lane, 98))
        _matrix(drawing, (lane, 121), ("x", f"W_{name}"), colour)
        drawing.arrow((lane, 144), (lane, 186), colour=colour, dashes=dashes)
        drawing.text((lane + 12, 168), f"{name} (B, T, C)", 14, text_anchor="start")
        drawing.box((lane, 202), (130, 32), "split_heads")
        drawing.arrow((lane, 218), (lane, 260), colour=colour, dashes=dashes)
        drawing.text((lane + 12, 242), "(B, H, T, d)", 14, text_anchor="start")
    drawing.cards((350, 303), (540, 62))
    drawing.text((350, 298), "attention", 15, font_family=MONO)
    drawing.text((350, 320), "every head on its own; scores and weights (B, H, T, T)", 14)
    for top, length, words in ((334, 40, "(B, H, T, d)"), (406, 40, "joined J (B, T, C)")):
        drawing.arrow((350, top), (350, top + length))
        drawing.text((362, top + 23), words, 14, text_anchor="start")
    drawing.arrow((350, 492), (350, 526))
    drawing.box((350, 390), (130, 32), "merge_heads")
    _matrix(drawing, (350, 469), ("J", "W_O"), INK)
    drawing.box((350, 543), (80, 34), "y")
    drawing.text((400, 548), "(B, T, C)", 14, text_anchor="start")
    drawing.box((560, 390), (130, 32), "allowed")
    drawing.arrow((560, 374), (560, 334))
    drawing.text((572, 359), "(T, T)", 14, text_anchor="start")
    note = [
        "The channels are divided",
        "only after the projections:",
        "every head can draw on",
        "all C channels of x.",
    ]
    drawing.lines((60, 448), note, text_anchor="start", fill=QUIET)


def _matrix(drawing: Drawing, middle: Point, factors: tuple[str, str], colour: str) -> None:
    """The product with one of the four matrices."""
    fill = PALE if colour == INK else tint(colour)
    drawing.box(middle, (130, 46), fill=fill, stroke=colour, stroke_width=2)
    drawing.text((middle[0], middle[1] - 3), " ".join(factors), 17)
    drawing.text((middle[0], middle[1] + 16), f"{factors[1]} is (C, C)", 13)


def three_routes(drawing: Drawing) -> None:
    """The backward pass: one gradient arrives, three routes lead to x."""
    middle = 290.0
    drawing.box((middle, 41), (80, 34), "dy")
    drawing.text((middle - 50, 46), "(B, T, C)", 14, text_anchor="end")
    drawing.arrow((middle + 40, 41), (464, 41))
    _gradient(drawing, (520, 50), "dW_O", ("J", "dy"), INK)
    drawing.arrow((middle, 58), (middle, 90))
    for top, length, words in ((124, 38, "dJ (B, T, C)"), (194, 42, "(B, H, T, d)")):
        drawing.arrow((middle, top), (middle, top + length))
        drawing.text((middle + 12, top + 24), words, 14, text_anchor="start")
    drawing.box((middle, 107), (120, 34), "dy W_O^T")
    drawing.box((middle, 178), (130, 32), "split_heads")
    drawing.cards((343, 269), (640, 42), "attention_backward")
    for lane, route in zip((72.0, 290.0, 508.0), ROUTES, strict=True):
        _route(drawing, lane, middle, route)
    drawing.box((middle, 534), (30, 30), fill=PAPER, stroke_width=2, rx=15)
    drawing.path(f"M{middle - 8},534h16m-8,-8v16", stroke_width=2.5)
    drawing.arrow((middle, 549), (middle, 582))
    drawing.box((middle, 599), (80, 34), "dx")
    drawing.text((middle - 50, 604), "(B, T, C)", 14, text_anchor="end")
    note = ["The three routes into x are added.", "\u03a3 sums over batch and time;", "nothing is averaged."]
    drawing.lines((404, 576), note, text_anchor="start", fill=QUIET)
    note = ["x and J come", "from the cache;", "W^T is W transposed."]
    drawing.lines((30, 576), note, text_anchor="start", fill=QUIET)


def _route(drawing: Drawing, lane: float, middle: float, route: tuple[str, str, str]) -> None:
    """From attention_backward down the lane and to the sum in the middle, with the weight gradient beside."""
    name, colour, dashes = route
    drawing.arrow((lane, 290), (lane, 332), colour=colour, dashes=dashes)
    drawing.text((lane + 12, 314), "(B, H, T, d)", 14, text_anchor="start")
    drawing.box((lane + 6, 348), (120, 32), "merge_heads")
    drawing.arrow((lane, 400), (lane + 106, 400), (lane + 106, 424), colour=colour, dashes=dashes)
    drawing.arrow((lane, 364), (lane, 424), colour=colour, dashes=dashes)
    drawing.add("circle", cx=lane, cy=400, r=4, fill=colour)
    drawing.text((lane + 12, 387), f"d{name} (B, T, C)", 14, text_anchor="start")
    drawing.box(
        (lane, 441), (84, 34), f"d{name} W_{name}^T", fill=tint(colour), stroke=colour, stroke_width=2
    )
    _gradient(drawing, (lane + 106, 454), f"dW_{name}", ("x", f"d{name}"), colour)
    side = (lane > middle) - (lane < middle)
    bend = [(lane, 534.0)] if side else []
    drawing.arrow(
        (lane, 458), *bend, (middle + 15 * side, 534 if side else 519), colour=colour, dashes=dashes
    )
    drawing.text((middle + 110 * side + (46 if not side else 0), 526 if side else 506), f"through {name}", 14)


def _gradient(drawing: Drawing, middle: Point, name: str, factors: tuple[str, str], colour: str) -> None:
    """The gradient of a matrix: where a branch ends."""
    drawing.box(middle, (112, 60), fill=PAPER, stroke=colour, stroke_width=2, rx=18)
    drawing.text((middle[0], middle[1] - 11), name, 15, font_weight="bold")
    drawing.text((middle[0], middle[1] + 6), f"\u03a3 outer({', '.join(factors)})", 13)
    drawing.text((middle[0], middle[1] + 22), "(C, C)", 13)


def growth(drawing: Drawing) -> None:
    """Parameters and scores for one, two and four heads."""
    batch, seq, d_model, side = 2, 5, 8, 56.0
    drawing.lines(
        (221, 36), ["Parameters: four matrices,", "4 \u00b7 C \u00b7 C whatever H is"], 15, font_weight="bold"
    )
    drawing.lines(
        (532, 36),
        ["Scores: a table for each head,", "B \u00b7 H \u00b7 T \u00b7 T grows with H"],
        15,
        font_weight="bold",
    )
    drawing.path("M20,76h660M376,20v476", stroke=EDGE)
    sheets = ["One sheet for each of the", f"B = {batch} sequences,", f"T = {seq} rows and columns."]
    drawing.lines((490, 126), sheets, text_anchor="start", fill=QUIET)
    for row, heads in enumerate((1, 2, 4)):
        top = 108 + 138 * row
        drawing.text((50, top + 25), f"H = {heads}", 17, font_weight="bold")
        drawing.text((50, top + 47), f"d = {d_model // heads}", 15)
        for place, name in enumerate("QKVO"):
            left = 92 + 68.0 * place
            drawing.text((left + side / 2, top - 9), f"W_{name}", 14)
            for head in range(heads):
                part, before = side / heads, (head + 0.5) * side / heads
                if name == "O":  # its rows belong to the heads, of the other three the columns
                    drawing.box((left + side / 2, top + before), (side, part), fill=drawing.head(head), rx=0)
                else:
                    drawing.box((left + before, top + side / 2), (part, side), fill=drawing.head(head), rx=0)
        for head in range(heads):
            left = 400 + 68.0 * head
            for behind in (8, 0):
                drawing.table((left + behind, top + 4 - behind), (seq, seq), 10.4, drawing.head(head))
            drawing.text((left + 28, top + side + 16), f"head {head}", 13)
        drawing.text((222, top + side + 39), f"4 \u00b7 {d_model} \u00b7 {d_model} = {4 * d_model**2}", 16)
        scores = f"{batch} \u00b7 {heads} \u00b7 {seq} \u00b7 {seq} = {batch * heads * seq**2}"
        drawing.text((400, top + side + 39), scores, 16, text_anchor="start")


FIGURES = (
    Figure(
        "axes_and_heads",
        626,
        "The four axes: batch, heads, seq and d_head",
        "An array (B, T, C) is cut along its last axis into H heads of d channels: (B, T, H, d). Then seq "
        "and heads are swapped: (B, H, T, d), in which one token has a row in the table of every head.",
        axes_and_heads,
    ),
    Figure(
        "direct_reshape",
        542,
        "The correct split beside a direct reshape",
        "Token 0 is 0, 1, 2, 3, token 1 is 4, 5, 6, 7. The correct split cuts between the channels: head 0 "
        "gets 0, 1 of token 0 and 4, 5 of token 1, head 1 gets 2, 3 and 6, 7. A direct reshape cuts between "
        "the tokens: head 0 gets 0, 1 and 2, 3, head 1 gets 4, 5 and 6, 7, so that four of the eight numbers "
        "lie in wrong places and each head sees one token alone.",
        direct_reshape,
    ),
    Figure(
        "four_projections",
        582,
        "Multi-head attention and its four projections",
        "x (B, T, C) times W_Q, W_K and W_V gives Q, K and V, which are split into (B, H, T, d); attention "
        "runs in every head on its own. The heads are merged into the joined J (B, T, C), and J times W_O "
        "is y (B, T, C).",
        four_projections,
    ),
    Figure(
        "three_routes",
        638,
        "The backward pass: three routes into x",
        "From dy come dW_O and, through W_O transposed, dJ; it is split, passes attention_backward and is "
        "merged into dQ, dK and dV. Each of these gives its own weight gradient and, through its own "
        "matrix transposed, a route into x; the three routes are added to dx.",
        three_routes,
    ),
    Figure(
        "growth",
        510,
        "What grows with the number of heads",
        "With C = 8 the four matrices hold 256 parameters for 1, 2 and 4 heads alike. With B = 2 and T = 5 "
        "the score tensor (B, H, T, T) holds 50, 100 and 200 numbers: it grows with the heads.",
        growth,
    ),
)


if __name__ == "__main__":
    main(FIGURES, "figures")
