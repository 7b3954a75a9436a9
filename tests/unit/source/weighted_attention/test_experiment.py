"""What a notebook shows: a table, pictures with alternative texts, progress; nothing while graded."""

import re
import sys
import types
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import experiment
from autodiff import comparison, progress
from autodiff.corpus import make_corpus
from autodiff.lab import Text

SETTINGS = replace(experiment.SHORT, steps=20, warmup=5)


@pytest.fixture(scope="module")
def text() -> Text:
    corpus = make_corpus(4000)
    return replace(experiment.embedded_text(), text=corpus.text, is_sense=corpus.is_sense)


@pytest.fixture(scope="module")
def compared(text: Text) -> comparison.Comparison:
    return experiment.compare(text=text, settings=SETTINGS)


@pytest.fixture
def no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name in [name for name in sys.modules if name.startswith("matplotlib.")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[types.SimpleNamespace]:
    """What stands for IPython's shell: ``kernel`` makes it that of a notebook."""
    one = types.SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: one))  # type: ignore[arg-type]
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    return one


def test_the_table_has_a_row_for_each_choice(compared: comparison.Comparison) -> None:
    lines = compared.table().splitlines()
    assert ["replace", "none", "query", "key", "value"] == [line.split()[0] for line in lines]
    assert "test loss  above the best  where meaning shows" in lines[0]
    assert 1 == compared.table().count("+0.0000")
    assert len(compared.times().splitlines()) == 5
    assert 4 == compared.samples().count("--- replace ")


def test_curves_are_a_picture_with_an_alternative_text(compared: comparison.Comparison) -> None:
    bundle = compared._repr_mimebundle_()
    assert compared.table() == bundle["text/plain"]
    alt = re.search(r'alt="([^"]*)"', bundle["text/html"])
    assert alt is not None
    assert re.fullmatch(
        r"Training loss over 20 steps: (replace \w+ from [\d.]+ to [\d.]+(; )?){4}\.", alt.group(1)
    )
    chart = compared.curves().chart
    assert chart is not None
    assert ET.fromstring(chart.svg).tag.endswith("svg")  # noqa: S314 - our own
    assert chart.svg == compared.curves().chart.svg  # type: ignore[union-attr]


def test_maps_show_what_a_head_looks_at(compared: comparison.Comparison) -> None:
    shown = compared.maps("none")
    assert shown.chart is not None
    assert "block 1 head 0 looks from the last character mostly at" in shown.chart.alt
    with pytest.raises(KeyError, match="replace 'scale' was not trained"):
        compared.maps("scale")


@pytest.mark.usefixtures("no_matplotlib")
def test_without_matplotlib_there_is_the_table(compared: comparison.Comparison) -> None:
    assert {"text/plain": compared.table()} == compared._repr_mimebundle_()
    assert "matplotlib would draw it" in compared.maps("none").text


def test_a_students_functions_are_trained_with(text: Text) -> None:
    calls = []

    def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, str]:
        calls.append(allowed)
        return v * 1, "cache"

    def attention_backward(_cache: str, dout: np.ndarray) -> dict[str, np.ndarray]:
        return {"q": 0 * dout, "k": 0 * dout, "v": dout}

    compared = experiment.compare(attention, attention_backward, text=text, settings=SETTINGS)
    assert np.array_equal(calls[0], np.tri(32, dtype=bool))
    assert compared["none"].weights is None
    assert "does not keep its weights" in compared.maps("none").text
    with pytest.raises(ValueError, match="both attention and attention_backward"):
        experiment.compare(attention)


def test_slow_functions_are_spared(text: Text, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def attention(
        _q: np.ndarray, _k: np.ndarray, v: np.ndarray, _allowed: np.ndarray
    ) -> tuple[np.ndarray, str]:
        calls.append(v.shape)
        return v, ""

    monkeypatch.setattr(experiment, "SLOW_SECONDS", 0.0)
    compared = experiment.compare(attention, lambda _cache, dout: {"v": dout}, text=text, settings=SETTINGS)
    assert [(4, 32, 64)] * 5 == calls
    assert re.search(r"\n\nYour two functions take \d+ ms for one batch", compared.table())
    assert compared["none"].weights is not None


def test_a_stopped_comparison_goes_on_where_it_was(text: Text, tmp_path: Path) -> None:
    first = experiment.compare(text=text, settings=SETTINGS, folder=tmp_path)
    names = {f"weighted_attention-replace-{choice}.npz" for choice in ("none", "query", "key", "value")}
    assert names == {path.name for path in tmp_path.iterdir()}
    assert first.table() == experiment.compare(text=text, settings=SETTINGS, folder=tmp_path).table()


def test_nothing_is_trained_while_a_judge_runs_the_notebook(shell: types.SimpleNamespace) -> None:
    graded = experiment.compare()
    assert comparison.LEFT_OUT == repr(graded) == graded.times() == graded.samples()
    assert {"text/plain": comparison.LEFT_OUT} == graded._repr_mimebundle_()
    assert comparison.LEFT_OUT == graded.maps("none").text
    shell.kernel = object()
    assert not progress.is_graded()


def test_nothing_is_trained_while_nbgrader_runs_the_notebook(
    shell: types.SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.kernel = object()
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert progress.is_graded()
    assert progress.watching_shell() is None


def test_a_terminal_is_no_judge(shell: types.SimpleNamespace) -> None:
    shell.mainloop = lambda: None
    assert not progress.is_graded()


def test_progress_is_one_line_that_disappears(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(progress.ProgressLine, "EVERY_SECONDS", 0.0)
    with progress.ProgressLine() as line:
        line.begin("1 of 4: replace none")
        line(5, 20, 3.1415)
    written = capsys.readouterr().err
    assert "1 of 4: replace none  █████░░░░░░░░░░░░░░░  step 5 of 20  loss 3.14" in written
    assert written.endswith("\r\033[K")


def test_progress_in_a_notebook_is_an_output_that_changes(
    shell: types.SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.kernel = object()
    shown: list[str] = []

    def show(data: dict[str, str], **_how: object) -> types.SimpleNamespace:
        shown.append(data["text/plain"])
        return types.SimpleNamespace(update=show)

    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=show))  # type: ignore[arg-type]
    monkeypatch.setattr(progress.ProgressLine, "EVERY_SECONDS", 0.0)
    with progress.ProgressLine() as line:
        line.begin("key")
        line(10, 20, 2.0)
        line(20, 20, 1.0)
    assert ["key", "key", ""] == [text[:3] for text in shown]


def test_progress_elsewhere_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.ProgressLine() as line:
        line.begin("key")
        line(10, 20, 2.0)
    assert ("", "") == capsys.readouterr()
