"""What a notebook shows of a lab: a table, curves, attention maps, samples."""

import base64
import html
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autodiff import charts
from autodiff.lab import SHORT, Lab, Outcome, Text, embedded_text, train
from autodiff.progress import ProgressLine, is_graded
from autodiff.training import Settings

LEFT_OUT = "Nothing is trained while a notebook is graded or validated."


class Shown:
    """Text for every screen and, in a notebook with matplotlib, an image with an alternative text."""

    def __init__(self, text: str, chart: charts.Chart | None = None):
        self.text, self.chart = text, chart

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_choice: Any) -> dict[str, str]:
        bundle = {"text/plain": self.text}
        if self.chart is not None:
            source = f"data:image/svg+xml;base64,{base64.b64encode(self.chart.svg).decode()}"
            image = f'<img src="{source}" alt="{html.escape(self.chart.alt)}" style="max-width: 100%">'
            bundle["text/html"] = f"<pre>{html.escape(self.text)}</pre>{image}"
        return bundle


class Comparison:
    """The outcomes of a lab, choice by choice. In a notebook it shows itself as a table with curves.

    ``remark`` is a sentence that is shown below the table.
    """

    def __init__(self, lab: Lab, outcomes: Sequence[Outcome], remark: str = ""):
        self.lab, self.outcomes, self.remark = lab, tuple(outcomes), remark

    def __repr__(self) -> str:
        return self.table()

    def _repr_mimebundle_(self, **choice: Any) -> dict[str, str]:
        return self.curves()._repr_mimebundle_(**choice)

    def __getitem__(self, choice: str) -> Outcome:
        """The outcome of a choice; raises KeyError where it was not trained."""
        return next((one for one in self.outcomes if one.choice == choice), None) or self._missing(choice)

    def _missing(self, choice: str) -> Outcome:
        raise KeyError(f"{self.lab.option} {choice!r} was not trained")

    def table(self) -> str:
        """Losses, and how far they are from the best; of several seeds the mean, too. No times: they vary."""
        if not self.outcomes:
            return LEFT_OUT
        best = min(self._mean(one.choice) for one in self.outcomes)
        has_seeds = len({one.seed for one in self.outcomes}) > 1
        knows_senses = all(one.sense_loss is not None for one in self.outcomes)
        rows = [[self.lab.option, "seed", "parameters", "test loss", "above the best", "where meaning shows"]]
        for one in self.outcomes:
            mean = self._mean(one.choice)
            is_last = one is [other for other in self.outcomes if other.choice == one.choice][-1]
            above = f"{mean - best:+.4f}" if is_last else ""
            row = [one.choice, str(one.seed), f"{one.parameters:,}", f"{one.loss:.4f}"]
            senses = "" if one.sense_loss is None else f"{one.sense_loss:.4f}"
            rows.append([*row, "" if has_seeds else above, senses])
            if has_seeds and is_last:
                rows.append([one.choice, "mean", "", f"{mean:.4f}", above, ""])
        kept = [0, *([1] if has_seeds else []), 2, 3, 4, *([5] if knows_senses else [])]
        table = aligned([[row[column] for column in kept] for row in rows])
        return f"{table}\n\n{textwrap.fill(self.remark, 80)}" if self.remark else table

    def _mean(self, choice: str) -> float:
        """The mean test loss of a choice over its seeds."""
        losses = [one.loss for one in self.outcomes if one.choice == choice]
        return sum(losses) / len(losses)

    def times(self) -> str:
        """The median time of a step, and how much longer it is than the shortest."""
        if not self.outcomes:
            return LEFT_OUT
        least = min(one.milliseconds for one in self.outcomes)
        rows = [[self.lab.option, "ms a step", "times the quickest"]]
        rows += [
            [one.choice, f"{one.milliseconds:.2f}", f"{one.milliseconds / least:.2f}"]
            for one in self.outcomes
        ]
        return aligned(rows)

    def curves(self) -> Shown:
        """The table, and the losses over the steps."""
        return Shown(self.table(), _drawn(charts.curves, self.outcomes, self.lab.option))

    def maps(self, choice: str) -> Shown:
        """What each head of one model looks at in one sentence; raises KeyError where it was not trained."""
        if not self.outcomes:
            return Shown(LEFT_OUT)
        outcome = self[choice]
        text = f"{self.lab.option} {choice}: attention on {outcome.probe!r}"
        if outcome.weights is None:
            return Shown(f"{text}: this layer does not keep its weights")
        chart = _drawn(charts.maps, outcome, self.lab.option)
        return Shown(text if chart else f"{text}: matplotlib would draw it", chart)

    def samples(self) -> str:
        """What each model makes up."""
        if not self.outcomes:
            return LEFT_OUT
        return "\n\n".join(f"--- {self.lab.option} {one.choice}\n{one.sample}" for one in self.outcomes)


def compare(
    lab: Lab,
    text: Text | None = None,
    settings: Settings = SHORT,
    folder: Path | None = None,
    remark: str = "",
) -> Comparison:
    """Train one model for each choice of a lab, with a line that tells how far it is.

    ``text`` is the embedded one by default. ``folder`` keeps checkpoints, from which the same call goes on
    after a stop. While a notebook is graded nothing is trained. ``remark`` is shown below the table.
    """
    if is_graded():
        return Comparison(lab, ())
    text = text or embedded_text()
    outcomes = []
    with ProgressLine() as line:
        for number, choice in enumerate(lab.choices, start=1):
            line.begin(f"{number} of {len(lab.choices)}: {lab.option} {choice}")
            checkpoint = folder / f"{lab.name}-{lab.option}-{choice}.npz" if folder else None
            outcomes.append(train(lab, choice, text, settings, checkpoint=checkpoint, progress=line))
    return Comparison(lab, outcomes, remark)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns of text: the first to the left, numbers to the right.

    >>> print(aligned([["heads", "loss"], ["1", "2.25"]]))
    heads  loss
    1      2.25
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _drawn(draw: Any, *what: Any) -> charts.Chart | None:
    """The chart, or None without matplotlib or without anything to draw."""
    if not what[0]:
        return None
    try:
        chart: charts.Chart = draw(*what)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        return None
    return chart
