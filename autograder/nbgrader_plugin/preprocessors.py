"""What `nbgrader autograde` runs in place of its own preprocessors: one class, for both of its steps.

In nbgrader_config.py::

    c.Autograde.exporter_class = "autograder.nbgrader_plugin.preprocessors.UnreadNotebook"
    c.Autograde.sanitize_preprocessors = ["autograder.nbgrader_plugin.preprocessors.JudgeSubmission"]
    c.Autograde.autograde_preprocessors = ["autograder.nbgrader_plugin.preprocessors.JudgeSubmission"]

nbgrader converts a notebook twice: from ``submitted/`` to ``autograded/`` and there once more. What it hands
to a preprocessor does not matter here, so the exporter does not even open the file: nbgrader alone would stop
at one that is no clean notebook. At the first notebook of a submission the whole submission is graded and
recorded, from the files that were handed in, exactly as by `autograder grade --force`; each conversion is
then given the page that this has written.
"""

from typing import Any
from weakref import WeakKeyDictionary, finalize

import nbformat
from nbconvert.exporters import NotebookExporter
from nbconvert.preprocessors import Preprocessor
from nbformat.v4 import new_notebook
from traitlets import Bool

from autograder.nbgrader_plugin.session import Session


class UnreadNotebook(NotebookExporter):
    """Writes notebooks, and leaves reading them to the judge."""

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> tuple[Any, Any]:
        """Convert an empty notebook in place of the one in the file."""
        empty = new_notebook()  # type: ignore[no-untyped-call]
        convert: Any = self.from_notebook_node
        text, resources = convert(empty, resources=resources, **kw)
        return text, resources


class JudgeSubmission(Preprocessor):
    """Grades a submission outside of any kernel; never raises, since nbgrader would delete what is there."""

    enabled = Bool(True, help="Whether submissions are judged; otherwise they get no score.").tag(config=True)
    unsafe = Bool(
        False,
        help="Whether students' code runs without the sandbox, with all your rights; every result says so.",
    ).tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Give back the autograded notebook in place of the one that nbgrader has read."""
        names = resources["nbgrader"]
        exporter: Any = self.parent
        session = _session_of(exporter.parent, unsafe=self.unsafe)
        page = session.page(names["student"], names["assignment"], names["notebook"], self.log)
        return nbformat.from_dict(page), resources  # type: ignore[no-untyped-call]


#: Ends with the converter, and thus with the command or the click that it was made for.
_sessions: WeakKeyDictionary[Any, Session] = WeakKeyDictionary()


def _session_of(converter: Any, *, unsafe: bool) -> Session:
    """The session of nbgrader's converter, which makes new preprocessors for every notebook."""
    session = _sessions.get(converter)
    if session is None:
        session = _sessions[converter] = Session(converter.coursedir, unsafe=unsafe)
        finalize(converter, session.close)
    return session
