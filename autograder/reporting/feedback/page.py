"""Feedback as one HTML page: what the template in ``templates/student_feedback/`` is given."""

import re
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from autograder.reporting.feedback.cells import Lesson, ShownNotebook
from autograder.reporting.feedback.facts import ALL_RIGHT, HELD_BACK, Feedback, points

#: Holds our template in a folder of its own, as nbconvert wants it.
TEMPLATES = Path(__file__).parent / "templates"

_CODE = re.compile(r"`([^`\n]+)`")


def page_values(feedback: Feedback, notebook: ShownNotebook, lesson: Lesson) -> dict[str, Any]:
    """The values that the template uses."""
    one_of_several = feedback.notebook != feedback.assignment
    return {
        "feedback": feedback,
        "notebook": notebook,
        "items": {item.name: item for item in feedback.items},
        "title": f"{feedback.assignment}, {feedback.notebook}" if one_of_several else feedback.assignment,
        "comments": [
            (item, lesson.markdown.foreign(item.comment)) for item in feedback.items if item.comment
        ],
        "held_back": HELD_BACK,
        "all_right": ALL_RIGHT,
    }


def with_code(text: str) -> Markup:
    """Our own words as HTML; what stands in backticks becomes code.

    >>> str(with_code("In `x`: 1 < 2"))
    'In <code>x</code>: 1 &lt; 2'
    """
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))


def breakable(name: str) -> Markup:
    """A name that may be broken after underscores where a screen is narrow."""
    return Markup("_<wbr>").join(name.split("_"))


FILTERS = {"points": points, "with_code": with_code, "breakable": breakable}
