"""Seeds, hidden inputs and hidden code: nowhere in what is graded, nor where students' code has run."""

import base64
import json
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.assignments.attention_layer import draws
from autograder.assignments.catalog import KIT, load_assignment
from autograder.assignments.private import course_secret
from autograder.checking.seeds import rng, variant_of
from autograder.notebooks.reading import read_notebook_file
from autograder.sandbox.launcher import PlainLauncher
from autograder.sandbox.worker.processes import descendants
from autograder.usecases import judging

pytestmark = pytest.mark.functional

HIDDEN = (KIT / "assignments" / "multihead", KIT / "checking", KIT.parent / "solutions")
MIN_LINE = 25


def forms(secret: bytes) -> set[bytes]:
    """Bytes in the ways in which they might be written down."""
    plain = base64.b64encode(secret)
    return {secret, secret.hex().encode(), secret.hex().upper().encode(), plain, repr(secret).encode(),
            base64.urlsafe_b64encode(secret), plain.rstrip(b"=")}  # fmt: skip


def hidden_lines(public: str) -> set[bytes]:
    """The lines of hidden code that are long enough to be told from others and stand nowhere in public."""
    files = [path for folder in HIDDEN for path in folder.rglob("*.py")]
    lines = {line.strip() for path in files for line in path.read_text(encoding="utf-8").splitlines()}
    code = {line for line in lines if len(line) >= MIN_LINE and not line.startswith(("#", '"', "f'", 'f"'))}
    return {line.encode() for line in code if line not in public}


def texts(path: Path) -> Iterator[bytes]:
    """A file's bytes; of a notebook its texts and outputs as well, as people see them."""
    data = path.read_bytes()
    yield data
    if path.suffix == ".ipynb":
        yield from (text.encode("utf-8", "replace") for text in strings(json.loads(data)))


def strings(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for one in data.values() if isinstance(data, dict) else data:
            yield from strings(one)


def found(markers: set[bytes], text: bytes) -> set[bytes]:
    return {marker for marker in markers if marker in text}


@pytest.fixture(scope="module")
def public(graded: Any) -> str:
    """All that students have or wrote themselves."""
    source = graded.course.folder / "source" / "multihead"
    parts = [path.read_text(encoding="utf-8") for path in source.glob("*.py")]
    for path in (graded.course.folder / "submitted").rglob("*.ipynb"):
        if path.stat().st_size:
            parts += strings(json.loads(path.read_bytes()))
    return "\n".join(parts)


@pytest.fixture(scope="module")
def written(graded: Any) -> set[bytes]:
    """Everything in ``autograded/``, in every form in which it can be read."""
    files = [path for path in (graded.course.folder / "autograded").rglob("*") if path.is_file()]
    assert len(files) > 40
    return {text for path in files for text in texts(path)}


def test_the_secret_is_in_no_file_that_is_handed_out(graded: Any, written: set[bytes]) -> None:
    secret = course_secret(graded.course.folder)
    assert set() == set().union(*(found(forms(secret), text) for text in written))
    assert set() == found(forms(secret), json.dumps(graded.results).encode())
    assert secret in (graded.course.folder / ".autograder" / "secret").read_bytes()


def test_no_line_of_hidden_code_is_in_any_file(written: set[bytes], public: str) -> None:
    markers = hidden_lines(public)
    assert len(markers) > 500
    assert set() == set().union(*(found(markers, text) for text in written))


def test_the_hidden_calls_are_in_no_file(graded: Any, written: set[bytes]) -> None:
    source = (graded.course.folder / "source/multihead/multihead.ipynb").read_bytes()
    markers = {b"HIDDEN TESTS", b"in_kernel", b"BEGIN SOLUTION", b"autograder.usecases"}
    assert markers == found(markers, source)
    assert set() == set().union(*(found(markers, text) for text in written))


def test_what_functions_are_called_with_is_never_seen_again(graded: Any, written: set[bytes]) -> None:
    secret = course_secret(graded.course.folder)
    variant = variant_of(secret, "recorder")
    generator = rng(secret, "multihead", "multihead", "masked", variant)
    (size,) = draws.sizes(generator, 1)
    case = draws.case(generator, size)
    numbers = {f"{number:.8f}".encode() for number in case.x.ravel()}
    numbers |= {f"{number:.6g}".encode() for number in case.x.ravel()}
    markers = numbers | {case.x.tobytes(), b"RECORDED", *forms(case.x[0, 0].tobytes())}
    assert set() == set().union(*(found(markers, text) for text in written))
    page = graded.course.folder / "autograded" / "recorder" / "multihead" / "multihead.ipynb"
    assert b"def record(*values)" in page.read_bytes()
    assert 20 == graded.result("recorder")["score"]


# The memory of the processes that have run a student's code, before anything is examined.

#: Names of hidden code and sentences of hidden checks: what an interpreter would keep of them.
NAMES = (b"bad_head_counts", b"large_scores_case", b"_check_gradient", b"expect_kept", b"CheckFailure",
         b"autograder.assignments", b"autograder.checking", b"LocalStudent", b"run_check",
         b"Every number goes to the right head", b"The gradient dx for x is right")  # fmt: skip
#: What must be there: the given file's docstring, and a text of the student's own.
OPEN = {b"Scaled dot-product attention with its backward pass", b"../recorded.txt"}


def memory(pid: int) -> Iterator[bytes]:
    """What a process can write to, and so all that it has computed or been told."""
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as file:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            area = re.match(r"(\w+)-(\w+) rw", line)
            if area is not None:
                start, end = (int(number, 16) for number in area.groups())
                file.seek(start)
                yield file.read(end - start)


def test_a_worker_holds_nothing_hidden_when_the_notebook_has_run(
    graded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assignment = load_assignment(graded.course.folder, "multihead")
    secret = secrets.token_bytes(32)
    markers = OPEN.union(NAMES, forms(secret))
    seen: list[set[bytes]] = []
    run_notebook = judging.run_notebook
    others = descendants(os.getpid())

    def run_and_look(*args: Any) -> Any:
        result = run_notebook(*args)
        forks = [pid for pid in descendants(os.getpid()) if pid not in others]
        seen.extend(set().union(*(found(markers, area) for area in memory(pid))) for pid in forks)
        return result

    monkeypatch.setattr(judging, "run_notebook", run_and_look)
    notebook = read_notebook_file(graded.course.notebook_of("recorder"))
    with judging.Judge(assignment, secret, PlainLauncher) as judge:
        judged = judge.judge("recorder", notebook, assignment.notebooks[0])
    assert 20 == sum(one.score or 0 for one in judged.exercises)
    assert [set(), OPEN, OPEN, OPEN, OPEN] == sorted(seen, key=len)  # the zygote, a fork for each exercise
