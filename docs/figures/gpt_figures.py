"""Draws the figures of the lesson ``gpt`` as static SVG files.

    python docs/figures/gpt_figures.py source/gpt/figures

What it writes, and how, stands in ``writing.py``.
"""

from drawing import BLUE, EDGE, INK, PALE, PAPER, QUIET, VERMILLION, Drawing, Point, tint
from writing import Figure, main

#: A sentence in which one noun means two things; where each word stands, and how wide it is.
SENTENCE = (
    ("The", 47, 44),
    ("cook", 110, 54),
    ("peeled", 183, 64),
    ("an apple,", 270, 92),
    ("the", 366, 42),
    ("clerk", 428, 54),
    ("charged", 506, 74),
    ("an apple.", 599, 92),
)
#: The words from which each head gathers for each apple.
LOOKS = ((270.0, (110.0, 183.0)), (599.0, (428.0, 506.0)))
HEAD_DASHES = ("", "8 4")


def two_readings(drawing: Drawing) -> None:
    """Two heads look from the same word at two others."""
    line = 122.0
    for word, middle, width in SENTENCE:
        strong = "apple" in word
        drawing.box(
            (middle, line), (width, 34), fill=PALE if strong else PAPER, stroke=INK if strong else EDGE
        )
        drawing.text((middle, line + 5), word, 15, font_weight="bold" if strong else "")
    for apple, (who, what) in LOOKS:
        _arc(drawing, (apple + 8, line - 20), who, 74, BLUE, HEAD_DASHES[0])
        _arc(drawing, (apple - 12, line - 20), what, 40, VERMILLION, HEAD_DASHES[1])
    for apple, sense in ((270, "fruit"), (599, "brand")):
        drawing.text((apple, line + 40), sense, 15, fill=QUIET, font_style="italic")
    for row, (words, colour, dashes) in enumerate(
        (
            ("head 0 asks: who speaks of it?", BLUE, HEAD_DASHES[0]),
            ("head 1 asks: what is done with it?", VERMILLION, HEAD_DASHES[1]),
        )
    ):
        left, at = 52.0 + 312 * row, 210.0
        drawing.path(f"M{left},{at - 5}h44", stroke=colour, stroke_width=2, stroke_dasharray=dashes)
        drawing.text((left + 54, at), words, 15, text_anchor="start")


def _arc(drawing: Drawing, start: Point, end: float, height: float, colour: str, dashes: str) -> None:
    """A look from one word back at another."""
    (x, y), top, tip = start, start[1] - height, start[1] - 9
    course = f"M{x},{y}C{x},{top} {end},{top} {end},{tip}"
    drawing.path(course, stroke=colour, stroke_width=2, stroke_dasharray=dashes)
    drawing.add("polygon", points=f"{end},{y} {end - 5},{y - 10} {end + 5},{y - 10}", fill=colour)


#: Each step of the layer: what is done, what that means, and the shape that comes of it.
STEPS = (
    ("query, key, value", "three linear layers", "(B, T, C)", "(4, 32, 64)"),
    ("reshape", "cut 64 channels into 2 times 32", "(B, T, H, d)", "(4, 32, 2, 32)"),
    ("transpose", "swap time and heads", "(B, H, T, d)", "(4, 2, 32, 32)"),
    ("Q K^T \u00f7 \u221ad", "scores: a table for each head", "(B, H, T, T)", "(4, 2, 32, 32)"),
    ("mask, softmax", "weights: each row sums to 1", "(B, H, T, T)", "(4, 2, 32, 32)"),
    ("weights times V", "what each head gathers", "(B, H, T, d)", "(4, 2, 32, 32)"),
    ("transpose", "swap back", "(B, T, H, d)", "(4, 32, 2, 32)"),
    ("reshape", "join the heads", "(B, T, C)", "(4, 32, 64)"),
    ("output", "a linear layer mixes the heads", "(B, T, C)", "(4, 32, 64)"),
)


def shapes(drawing: Drawing) -> None:
    """The layer from top to bottom, with the shape after each step."""
    middle, top, step = 200.0, 44.0, 64.0
    drawing.box((middle, top), (60, 40), "x")
    _shape(drawing, top, "(B, T, C)", "(4, 32, 64)")
    for row, (name, meaning, letters, numbers) in enumerate(STEPS, start=1):
        at = top + step * row
        if "H" in letters:
            drawing.box((middle + 6, at - 6), (250, 40), fill=PAPER)
        drawing.box((middle, at), (250, 40))
        drawing.text((middle, at - 2), name, 15, font_weight="bold")
        drawing.text((middle, at + 14), meaning, 13, fill=QUIET)
        _shape(drawing, at, letters, numbers)
        drawing.arrow((middle, at - step + 20), (middle, at - 20))
    note = [
        "B = 4 sequences, T = 32 characters, C = 64 channels, H = 2 heads, d = C/H = 32.",
        "T and d are both 32 by chance: with 4 heads, d is 16.",
    ]
    drawing.lines((350, top + step * (len(STEPS) + 1) - 8), note, fill=QUIET)


def _shape(drawing: Drawing, at: float, letters: str, numbers: str) -> None:
    drawing.text((400, at + 5), letters, 16, font_weight="bold", text_anchor="start")
    drawing.text((530, at + 5), numbers, 15, text_anchor="start", fill=QUIET)


def one_square(drawing: Drawing) -> None:
    """The same matrix for 1, 2 and 4 heads."""
    side, top = 160.0, 78.0
    for column, heads in enumerate((1, 2, 4)):
        left = 45.0 + 225 * column
        for head in range(heads):
            width = side / heads
            drawing.box(
                (left + width * (head + 0.5), top + side / 2), (width, side), fill=drawing.head(head), rx=0
            )
        label = "1 head" if heads == 1 else f"{heads} heads"
        drawing.text((left + side / 2, 34), label, 17, font_weight="bold")
        each = "64 columns" if heads == 1 else f"{64 // heads} columns each"
        drawing.text((left + side / 2, 60), each, 14)
        drawing.text((left - 10, top + side / 2 + 5), "64", 14, text_anchor="end", fill=QUIET)
        drawing.text((left + side / 2, top + side + 22), "64 \u00d7 64 = 4096 weights", 14, fill=QUIET)
    drawing.text(
        (350, top + side + 54), "Heads share the columns of W_Q, W_K and W_V out among themselves.", 15
    )


#: What the model is made of, from bottom to top: a name, what it holds, how many numbers.
PARTS = (
    ("embeddings", "65 characters and 32 places, 64 each", "6,208"),
    ("attention", "query, key, value, output: 64 \u2192 64", "16,640"),
    ("feed-forward", "64 \u2192 256, GELU, 256 \u2192 64", "33,088"),
    ("attention", "query, key, value, output: 64 \u2192 64", "16,640"),
    ("feed-forward", "64 \u2192 256, GELU, 256 \u2192 64", "33,088"),
    ("output", "64 \u2192 65 characters", "4,225"),
)


def inside(drawing: Drawing) -> None:
    """The model, with the shape between its parts and the number of parameters in each."""
    middle, top, step = 250.0, 82.0, 66.0
    drawing.text((middle, 30), "characters (B, T)", 15)
    drawing.text((560, 30), "parameters", 15, font_weight="bold")
    drawing.arrow((middle, 38), (middle, top - 21))
    for row, (name, meaning, count) in enumerate(PARTS):
        at, is_attention = top + step * row, name == "attention"
        fill, stroke = (tint(BLUE), BLUE) if is_attention else (PALE, INK)
        drawing.box(
            (middle, at), (290, 42), fill=fill, stroke=stroke, stroke_width=3 if is_attention else 1.5
        )
        drawing.text((middle, at - 3), name, 15, font_weight="bold")
        drawing.text((middle, at + 14), meaning, 13, fill=QUIET)
        drawing.text((560, at + 5), count, 15)
        if is_attention:
            drawing.text(
                (middle - 157, at + 5), "heads", 14, text_anchor="end", fill=BLUE, font_weight="bold"
            )
        drawing.arrow((middle, at + 21), (middle, at + step - 21))
        if row + 1 < len(PARTS):
            drawing.text((middle + 12, at + step / 2 + 5), "(B, T, 64)", 13, text_anchor="start")
    bottom = top + step * len(PARTS)
    drawing.text((middle, bottom - 4), "scores (B, T, 65)", 15)
    drawing.path(f"M500,{bottom - 30}h120", stroke=QUIET)
    drawing.text((560, bottom - 4), "109,889", 16, font_weight="bold")


FIGURES = (
    Figure(
        "two_readings",
        240,
        "One word, two readings",
        "The cook peeled an apple, the clerk charged an apple. The first apple is the fruit, the second one "
        "the brand. From each apple head 0 looks back at who speaks of it, the cook and the clerk; head 1 "
        "looks at what is done with it, peeled and charged.",
        two_readings,
    ),
    Figure(
        "shapes",
        726,
        "The shape after each step",
        "x has the shape (B, T, C) = (4, 32, 64); query, key and value too. Reshape cuts the 64 channels "
        "into 2 times 32: (B, T, H, d) = (4, 32, 2, 32). Transpose swaps time and heads: (B, H, T, d) = "
        "(4, 2, 32, 32). Scores, mask and softmax make a table for each head: (B, H, T, T) = (4, 2, 32, 32). "
        "Weights times V: (B, H, T, d) = (4, 2, 32, 32). Transpose swaps back: (4, 32, 2, 32). Reshape joins "
        "the heads: (4, 32, 64). The output layer mixes them: (4, 32, 64). T and d are both 32 by chance.",
        shapes,
    ),
    Figure(
        "one_square",
        314,
        "The same weights in 1, 2 and 4 heads",
        "Three squares of 64 times 64 weights. One head has all 64 columns; two heads have 32 columns each; "
        "four heads have 16 columns each. The heads share the columns of W_Q, W_K and W_V out among "
        "themselves: in each square there are 4096 weights.",
        one_square,
    ),
    Figure(
        "inside",
        496,
        "All of it happens inside the attention layer",
        "The model from top to bottom, with the number of parameters: characters (B, T); embeddings, 6,208; "
        "attention, 16,640; feed-forward, 33,088; attention, 16,640; feed-forward, 33,088; output, 4,225; "
        "scores (B, T, 65). Together 109,889. Between two parts the shape is always (B, T, 64). Heads are "
        "inside the two attention layers.",
        inside,
    ),
)


if __name__ == "__main__":
    main(FIGURES, "gpt_figures")
