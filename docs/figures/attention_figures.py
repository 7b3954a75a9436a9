"""Draws the figures of the lesson ``weighted_attention`` as static SVG files.

    python docs/figures/attention_figures.py source/weighted_attention/figures

What it writes, and how, stands in ``writing.py``.
"""

from collections.abc import Sequence

from drawing import (
    EDGE,
    INK,
    PALE,
    PAPER,
    QUIET,
    ROUTES,
    Drawing,
    mix,
    tint,
)
from writing import Figure, main

#: What each role says of a token.
ROLES = (("query", "What do I need?"), ("key", "What can I offer?"), ("value", "What do I bring?"))
#: The example of the visible checks: scores, and weights under the causal mask.
SCORES = ((5, 2, 1), (2, 1, 1), (1, 1, 2))
WEIGHTS = ((1.0, 0.0, 0.0), (0.67, 0.33, 0.0), (0.25, 0.25, 0.5))
#: The blue of Okabe and Ito, for weights.
BLUE = "#0072B2"


def three_roles(drawing: Drawing) -> None:
    """One vector, three matrices, three roles."""
    drawing.box((90, 150), (110, 44), "x")
    drawing.lines((90, 196), ["one vector", "for each token"], fill=QUIET)
    for row, ((name, colour, dashes), (role, question)) in enumerate(zip(ROUTES, ROLES, strict=True)):
        top = 60.0 + 90 * row
        drawing.arrow((145, 150), (238, top), colour=colour, dashes=dashes)
        drawing.box((280, top), (84, 44), f"W_{name}", fill=tint(colour), stroke=colour, stroke_width=2)
        drawing.arrow((322, top), (388, top), colour=colour, dashes=dashes)
        drawing.box((450, top), (124, 44), role, fill=PAPER, stroke=colour, stroke_width=2, rx=18)
        drawing.text((528, top + 5), question, 15, text_anchor="start")
    drawing.lines(
        (280, 296), ["Queries meet keys in the scores;", "values are what is gathered."], fill=QUIET
    )


def from_scores_to_weights(drawing: Drawing) -> None:
    """Three tables: products, scores under the mask, weights."""
    allowed = [[column <= row for column in range(3)] for row in range(3)]
    products = [[str(one) for one in row] for row in SCORES]
    scores = [[f"{one / 2**0.5:.2f}" for one in row] for row in SCORES]
    weights = [[f"{one:.2f}" for one in row] for row in WEIGHTS]
    _table(drawing, 44, "Q K^T", products, None)
    _table(drawing, 292, "scores", scores, allowed)
    _table(drawing, 540, "weights", weights, allowed, shades=WEIGHTS)
    for left, words in (
        (226.0, ["divide by \u221ad,", "hide what", "is later"]),
        (474.0, ["softmax,", "row by row"]),
    ):
        drawing.arrow((left - 24, 130), (left + 24, 130))
        drawing.lines((left, 164), words, 13)
    drawing.lines(
        (350, 262),
        [
            "Row: the query, who listens. Column: the key, who is listened to.",
            "Each row of weights sums to 1. Weights times V is what each token gathers.",
        ],
        fill=QUIET,
    )


def _table(
    drawing: Drawing,
    left: float,
    title: str,
    texts: Sequence[Sequence[str]],
    allowed: Sequence[Sequence[bool]] | None,
    shades: Sequence[Sequence[float]] | None = None,
) -> None:
    """A table of three queries and three keys; what is not allowed is crossed out."""
    side, top = 44.0, 64.0
    drawing.text((left + 1.5 * side, 36), title, 17, font_weight="bold")
    for row, line in enumerate(texts):
        drawing.text((left - 8, top + side * (row + 0.5) + 5), str(row), 13, text_anchor="end", fill=QUIET)
        drawing.text((left + side * (row + 0.5), top - 7), str(row), 13, fill=QUIET)
        for column, text in enumerate(line):
            middle = (left + side * (column + 0.5), top + side * (row + 0.5))
            hidden = allowed is not None and not allowed[row][column]
            share = 0.0 if shades is None else 0.6 * shades[row][column]
            fill = PALE if hidden else mix(PAPER, BLUE, share)
            drawing.box(middle, (side, side), fill=fill, stroke=EDGE, rx=0)
            if hidden:
                drawing.path(f"M{middle[0] - 9},{middle[1] + 9}l18,-18", stroke=QUIET)
            else:
                drawing.text((middle[0], middle[1] + 5), text, 15)


def way_back(drawing: Drawing) -> None:
    """The backward pass of attention, from dout to the three gradients."""
    (_, blue, _), (_, red, _), (_, green, _) = ROUTES
    drawing.box((350, 40), (130, 38), "dout (T, d)")
    drawing.arrow((285, 40), (150, 40), (150, 91), colour=green, dashes=ROUTES[2][2])
    _gradient(drawing, (150, 120), "dV", "W^T dout", green)
    drawing.arrow((350, 59), (350, 91))
    drawing.box((350, 110), (190, 38), "dW = dout V^T")
    drawing.arrow((350, 129), (350, 161))
    drawing.box((350, 192), (330, 62), fill=PAPER, stroke_width=2)
    drawing.text((350, 186), "dS = W \u2299 (dW \u2212 \u03a3 W \u2299 dW)", 16)
    drawing.text((350, 208), "the sum runs over the keys of each row", 13, fill=QUIET)
    drawing.arrow((350, 223), (350, 255))
    drawing.box((350, 274), (150, 38), "\u00f7 \u221ad")
    drawing.arrow((275, 274), (150, 274), (150, 325), colour=blue)
    _gradient(drawing, (150, 354), "dQ", "dS K", blue)
    drawing.arrow((425, 274), (550, 274), (550, 325), colour=red, dashes=ROUTES[1][2])
    _gradient(drawing, (550, 354), "dK", "dS^T Q", red)
    drawing.lines((350, 340), ["Where a key is hidden", "its weight is 0,", "and so is its dS."], fill=QUIET)


def _gradient(drawing: Drawing, middle: tuple[float, float], name: str, formula: str, colour: str) -> None:
    """A gradient: where a branch ends."""
    drawing.box(middle, (124, 56), fill=PAPER, stroke=colour, stroke_width=2, rx=18)
    drawing.text((middle[0], middle[1] - 6), name, 15, font_weight="bold")
    drawing.text((middle[0], middle[1] + 16), formula, 14, fill=INK)


FIGURES = (
    Figure(
        "three_roles",
        330,
        "One vector, three roles",
        "The vector x of one token is multiplied by three matrices. W_Q makes its query: What do I need? W_K "
        "makes its key: What can I offer? W_V makes its value: What do I bring? Queries meet keys in the "
        "scores; values are what is gathered.",
        three_roles,
    ),
    Figure(
        "from_scores_to_weights",
        300,
        "From scores to weights",
        "Three tables of three queries and three keys. The products Q K^T are 5, 2, 1; 2, 1, 1; 1, 1, 2. "
        "Divided by the root of d, with what comes later crossed out, they are the scores 3.54; 1.41, 0.71; "
        "0.71, 0.71, 1.41. The softmax of each row gives the weights 1; 0.67, 0.33; 0.25, 0.25, 0.50.",
        from_scores_to_weights,
    ),
    Figure(
        "way_back",
        404,
        "The way back through attention",
        "From dout come dV, which is W transposed times dout, and dW, which is dout times V transposed. The "
        "softmax turns dW into dS: W times the difference of dW and the sum over the keys of W times dW. "
        "Divided by the root of d, dS times K is dQ, and dS transposed times Q is dK. Where a key is hidden "
        "its weight is 0, and so is its dS.",
        way_back,
    ),
)


if __name__ == "__main__":
    main(FIGURES, "attention_figures")
