"""What the figures have in common: paper, palette, letters, and the few shapes that they are made of.

The width is 700, the background their own (notebooks may be dark), the palette that of Okabe and Ito. No
meaning lies in colour alone: heads differ by pattern, tokens by form, routes by dashes, and all have labels.
"""

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

WIDTH = 700
SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"
MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
INK, QUIET, PAPER, EDGE, PALE = "#1a1a1a", "#454545", "#fdfdfb", "#c4c4c0", "#ececea"
ORANGE, SKY, PURPLE, YELLOW = "#E69F00", "#56B4E9", "#CC79A7", "#F0E442"
BLUE, VERMILLION, GREEN = "#0072B2", "#D55E00", "#009E73"

#: Colour of each head, and the strokes that tell it from the others in grey (in a tile of 8 by 8).
HEADS = (
    (ORANGE, ""),
    (SKY, "M-2,2L2,-2M0,8L8,0M6,10L10,6"),
    (PURPLE, "M1,2h2M5,6h2"),
    (YELLOW, "M0,0L8,8M8,0L0,8"),
)
#: Name, colour and dashes of the three routes between x and the attention.
ROUTES = (("Q", BLUE, ""), ("K", VERMILLION, "8 4"), ("V", GREEN, "3 3"))

Point = tuple[float, float]
Attribute = str | float
Attributes = dict[str, Attribute]


def mix(colour: str, other: str, share: float) -> str:
    """The colour that holds ``share`` of ``other``; both are written #rrggbb."""
    pairs = [(int(colour[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def tint(colour: str) -> str:
    """The light version, for areas on which text stands."""
    return mix(colour, "#ffffff", 0.78)


class Drawing:
    """The elements of one figure, in the order in which they are painted."""

    def __init__(self, name: str):
        self.name = name
        self.elements: list[str] = []
        self.heads_in_use: set[int] = set()

    def add(self, tag: str, content: str = "", /, **attributes: Attribute) -> None:
        """One element; underscores in names become hyphens, empty attributes are left out."""
        written = {
            name.replace("_", "-"): _number(value) for name, value in attributes.items() if value != ""
        }
        listed = "".join(f" {name}={quoteattr(value)}" for name, value in written.items())
        self.elements.append(f"<{tag}{listed}>{content}</{tag}>" if content else f"<{tag}{listed}/>")

    def text(self, at: Point, words: str, size: float = 15, /, **attributes: Attribute) -> None:
        """Text on the base line ``at``; a capital after _ or ^ is set low or high, as in W_Q^T."""
        pieces, raised = [], 0.0
        for mark, letter, plain in re.findall(r"([_^])([A-Z])|((?:(?![_^][A-Z]).)+)", words):
            level = {"_": 0.25, "^": -0.38, "": 0.0}[mark] * size
            small = f' font-size="{_number(size * 0.72)}"' if mark else ""
            piece = escape(letter or plain)
            shift = f' dy="{_number(level - raised)}"' if level != raised else ""
            pieces.append(f"<tspan{shift}{small}>{piece}</tspan>" if shift or small else piece)
            raised = level
        self.add("text", "".join(pieces), x=at[0], y=at[1], font_size=size, **attributes)

    def lines(self, at: Point, rows: Sequence[str], size: float = 14, **attributes: Attribute) -> None:
        """Several rows of text, the first on the base line ``at``."""
        for number, row in enumerate(rows):
            self.text((at[0], at[1] + 1.35 * size * number), row, size, **attributes)

    def path(self, course: str, /, **attributes: Attribute) -> None:
        """A line without an area."""
        style: Attributes = {"fill": "none", "stroke": INK, "stroke_width": 1.5}
        self.add("path", d=course, **style | attributes)

    def arrow(self, *points: Point, colour: str = INK, dashes: str = "") -> None:
        """A line through the points whose tip touches the last one."""
        (x0, y0), (x, y) = points[-2:]
        length = ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5
        dx, dy = (x - x0) / length, (y - y0) / length
        shaft = _joined([*points[:-1], (x - 8 * dx, y - 8 * dy)], "L")
        self.path(f"M{shaft}", stroke=colour, stroke_width=2, stroke_dasharray=dashes)
        corners = [
            (x, y),
            (x - 10 * dx - 5 * dy, y - 10 * dy + 5 * dx),
            (x - 10 * dx + 5 * dy, y - 10 * dy - 5 * dx),
        ]
        self.add("polygon", points=_joined(corners, " "), fill=colour)

    def box(self, middle: Point, size: Point, label: str = "", **attributes: Attribute) -> None:
        """A rectangle around ``middle`` with a label in it."""
        (x, y), (width, height) = middle, size
        style: Attributes = {"rx": 6, "fill": PALE, "stroke": INK, "stroke_width": 1.5}
        style |= attributes
        self.add("rect", x=x - width / 2, y=y - height / 2, width=width, height=height, **style)
        if label:
            is_code = len(label) > 2 and label.islower()  # the name of a function or an argument
            self.text((x, y + 5), label, 14 if is_code else 16, font_family=MONO if is_code else "")

    def cards(self, middle: Point, size: Point, label: str = "") -> None:
        """A box with more of its kind behind it, the last one 12 higher: one for each head."""
        for behind in (12, 6):
            self.box((middle[0] + behind, middle[1] - behind), size, fill=PAPER)
        self.box(middle, size, label)

    def mark(self, middle: Point, radius: float, colour: str, *, right: bool) -> None:
        """A tick or a cross in a disc."""
        x, y, arm = *middle, 0.4 * radius
        self.add("circle", cx=x, cy=y, r=radius, fill=colour, stroke=PAPER)
        tick = [(x - 1.2 * arm, y), (x - 0.3 * arm, y + 0.9 * arm), (x + 1.2 * arm, y - 0.9 * arm)]
        cross = [(x - arm, y - arm), (x + arm, y + arm), (x, y), (x + arm, y - arm), (x - arm, y + arm)]
        self.path("M" + _joined(tick if right else cross, "L"), stroke="#ffffff", stroke_width=0.24 * radius)

    def head(self, number: int) -> str:
        """The fill of a head: its colour and its pattern."""
        self.heads_in_use.add(number)
        return f"url(#{self.name}-head{number})"

    def table(self, corner: Point, cells: tuple[int, int], size: float, fill: str) -> None:
        """An array of (rows, columns) square cells whose upper left corner is given."""
        (x, y), (rows, columns) = corner, cells
        width, height = columns * size, rows * size
        self.add("rect", x=x, y=y, width=width, height=height, fill=fill)
        inner = "".join(f"M{_number(x + i * size)},{_number(y)}v{_number(height)}" for i in range(1, columns))
        inner += "".join(f"M{_number(x)},{_number(y + i * size)}h{_number(width)}" for i in range(1, rows))
        self.path(inner, stroke=mix(INK, PAPER, 0.55), stroke_width=0.8)
        self.path(f"M{_number(x)},{_number(y)}h{_number(width)}v{_number(height)}h{_number(-width)}z")

    def above(self, x: float, y: float, width: float, label: str) -> None:
        """A bracket over something ``width`` wide, with its label."""
        self.path(f"M{_number(x)},{_number(y)}v-6h{_number(width)}v6", stroke=QUIET)
        self.text((x + width / 2, y - 12), label, 14)

    def beside(self, x: float, y: float, height: float, *rows: str) -> None:
        """A bracket to the left of something ``height`` high, with its label of two rows."""
        self.path(f"M{_number(x)},{_number(y)}h-6v{_number(height)}h6", stroke=QUIET)
        self.lines((x - 13, y + height / 2 - 4), rows, text_anchor="end")

    def svg(self, height: int, title: str, description: str) -> str:
        """The whole file."""
        name, patterns = self.name, [_pattern(self.name, head) for head in sorted(self.heads_in_use)]
        size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
        words = f'role="img" aria-labelledby="{name}-title {name}-desc"'
        frame = f'x="1" y="1" width="{WIDTH - 2}" height="{height - 2}" rx="12"'
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {words}>',
            f'<title id="{name}-title">{escape(title)}</title>',
            f'<desc id="{name}-desc">{escape(description)}</desc>',
            *(["<defs>", *patterns, "</defs>"] if patterns else []),
            f'<rect {frame} fill="{PAPER}" stroke="{EDGE}"/>',
            f'<g font-family="{SANS}" fill="{INK}" text-anchor="middle" stroke-linejoin="round">',
            *self.elements,
            "</g>",
            "</svg>",
        ]
        return "\n".join(lines) + "\n"


def _number(value: Attribute) -> str:
    return value if isinstance(value, str) else f"{round(value, 2):g}"


def _joined(points: Sequence[Point], mark: str) -> str:
    return mark.join(f"{_number(x)},{_number(y)}" for x, y in points)


def _pattern(figure: str, head: int) -> str:
    """The definition of a head's fill; its name holds the figure's, for several figures may share a page."""
    colour, strokes = HEADS[head]
    ground = f'<rect width="8" height="8" fill="{mix(colour, "#ffffff", 0.55)}"/>'
    lines = f'<path d="{strokes}" stroke="{mix(colour, INK, 0.25)}" stroke-width="1.4"/>' if strokes else ""
    tile = f'id="{figure}-head{head}" width="8" height="8" patternUnits="userSpaceOnUse"'
    return f"<pattern {tile}>{ground}{lines}</pattern>"
