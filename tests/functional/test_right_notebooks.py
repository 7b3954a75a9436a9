"""Right solutions as notebooks, in every style, before the real judge: all of them earn all points."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from autograder.assignments.candidates import Variant, right_variants
from autograder.assignments.catalog import KIT, load_assignment
from autograder.assignments.multihead import demo
from autograder.model import CheckResult, Verdict
from autograder.notebooks.reading import read_notebook
from autograder.sandbox.launcher import PlainLauncher
from autograder.usecases.judging import Judge

pytestmark = pytest.mark.functional

MULTIHEAD = load_assignment(KIT.parent, "multihead")
EXERCISES = tuple(one.name for one in MULTIHEAD.exercises)
ELSEWHERE = dict.fromkeys(EXERCISES, "# It stands in another cell.")

MAGICS = {
    "split_heads": "%%time\n" + demo.SPLIT,
    "merge_heads": "%%capture noise\n" + demo.MERGE + "\nprint('noise')",
    "multihead": "%precision 3\n" + demo.FORWARD + "\n!echo from the shell\nlines = !printf 'a\\nb'\nlines\n"
    "%timeit -n1 -r1 merge_heads(np.zeros((1, 1, 1, 1)))\n?split_heads",
    "multihead_backward": "%reload_ext autoreload\n%autoreload 2\n" + demo.BACKWARD + "\n%whos",
}
ASYNCHRONOUS = {
    "split_heads": "import asyncio\nawait asyncio.sleep(0)\n" + demo.SPLIT,
    "merge_heads": demo.MERGE + "\nasync def wait():\n    return 3\n\nawait wait()",
    "multihead": demo.FORWARD,
    "multihead_backward": "from IPython.display import HTML, display\n"
    + demo.BACKWARD
    + "\ndisplay(HTML('<b>done</b>'))",
}
WHOLE = f"import warnings\n\n{demo.SPLIT}\n\n{demo.MERGE}\n\n{demo.FORWARD}\n\n{demo.BACKWARD}"
ECHOING = re.sub(
    r"^(def .*)$", r"\1\n    print('called'); warnings.warn('careful')", WHOLE, flags=re.MULTILINE
)
SHIFTED = WHOLE.replace("np.", "xp.").replace(
    "def split", "import numpy as xp\nfrom attention import *\n\ndef split"
)


@pytest.fixture(scope="module")
def judged(notebooks: Any) -> Iterator[Callable[..., dict[str, CheckResult]]]:
    """All checks of a notebook that did not pass, or got a diagnosis, by exercise and check."""
    with Judge(MULTIHEAD, b"right notebooks", PlainLauncher) as judge:

        def run(cells: dict[str, str], **more: Any) -> dict[str, CheckResult]:
            submission = read_notebook(json.dumps(notebooks.filled(cells, **more)).encode())
            result = judge.judge("ada", submission, MULTIHEAD.notebooks[0])
            lost = {
                f"{exercise.name}.{check.name}": check
                for exercise in result.exercises
                for check in exercise.checks
                if check.verdict is not Verdict.PASSED or check.diagnosis is not None
            }
            assert lost or [one.max_points for one in MULTIHEAD.exercises] == [
                exercise.score for exercise in result.exercises
            ]
            return lost

        yield run


@pytest.mark.parametrize("variant", right_variants(MULTIHEAD), ids=lambda variant: variant.name)
def test_a_right_variant_in_one_cell(judged: Callable[..., Any], variant: Variant) -> None:
    cells = {**ELSEWHERE, "split_heads": variant.path.read_text(encoding="utf-8")}
    assert {} == judged(cells)


@pytest.mark.parametrize("cells", [MAGICS, ASYNCHRONOUS], ids=["magics", "asynchronous"])
def test_what_only_notebooks_can_do(judged: Callable[..., Any], cells: dict[str, str]) -> None:
    assert {} == judged(cells)


@pytest.mark.parametrize("text", [WHOLE, ECHOING, SHIFTED], ids=["plain", "echoing", "shifted"])
def test_everything_in_a_cell_of_ones_own_at_the_top(judged: Callable[..., Any], text: str) -> None:
    setup = "import numpy as np\nfrom attention import attention, attention_backward\n\n"
    assert {} == judged(ELSEWHERE, first=setup + text)


def test_a_wrong_notebook_loses_points_here(judged: Callable[..., Any]) -> None:
    wrong = demo.MERGE.replace("h.transpose(0, 2, 1, 3)", "h")
    assert "merge_heads.values" in judged({**demo.RIGHT, "merge_heads": wrong})
