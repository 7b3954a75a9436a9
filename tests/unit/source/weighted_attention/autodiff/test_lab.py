"""A lab trains each choice alike, and its outcomes can be written as JSON."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from autodiff.corpus import make_corpus
from autodiff.lab import SHORT, Lab, Text, embedded_text, text_of, to_json, train
from autodiff.layers import Linear
from experiment import make_lab

SETTINGS = replace(SHORT, steps=20, warmup=5)


@pytest.fixture(scope="module")
def text() -> Text:
    corpus = make_corpus(4000)
    return replace(embedded_text(), text=corpus.text, is_sense=corpus.is_sense)


def test_an_outcome_tells_all_that_came_of_a_training(text: Text) -> None:
    outcome = train(make_lab(), "key", text, SETTINGS)
    assert ("key", 42, 20, 5, (4, 32, 43)) == (
        outcome.choice,
        outcome.seed,
        outcome.steps,
        outcome.batches,
        outcome.shape,
    )
    assert outcome.curve[-1][0] == 20
    assert outcome.loss < np.log(43) + 0.1
    assert outcome.sense_loss is not None
    assert outcome.milliseconds > 0
    assert outcome.sample.startswith("Ada, the ")
    assert outcome.weights is not None
    assert (2, 1, 32, 32) == outcome.weights.shape


def test_it_is_json_in_the_end(text: Text) -> None:
    lab = make_lab()
    outcome = train(lab, "none", text, SETTINGS)
    told = json.loads(json.dumps(to_json(lab, text, SETTINGS, [outcome])))
    assert ("weighted_attention", "replace") == (told["lab"], told["option"])
    assert {"name": "embedded", "characters": 4000, "vocabulary": 43} == told["text"]
    assert 20 == told["settings"]["steps"]
    assert [[2, 1, 32, 32]] == [list(np.shape(one["weights"])) for one in told["outcomes"]]


def test_a_layer_that_keeps_no_weights_and_a_text_without_marks_are_fine(text: Text) -> None:
    lab = Lab("plain", "layer", {"linear": lambda d_model, rng: Linear(d_model, d_model, rng)})
    outcome = train(lab, "linear", replace(text, is_sense=None), SETTINGS)
    assert (None, None) == (outcome.weights, outcome.sense_loss)
    assert to_json(lab, text, SETTINGS, [outcome])["outcomes"][0]["weights"] is None


def test_a_choice_that_does_not_exist_is_named(text: Text) -> None:
    with pytest.raises(
        ValueError, match="weighted_attention has no replace 'scale'; there are none, query, key, value"
    ):
        train(make_lab(), "scale", text, SETTINGS)


def test_a_text_comes_from_a_file_in_utf_8(tmp_path: Path) -> None:
    (tmp_path / "play.txt").write_text("ROMEO:\nAh, Grüße.\n" * 10, encoding="utf-8")
    assert ("play", "ROMEO:") == (text_of(tmp_path / "play.txt").name, text_of(tmp_path / "play.txt").prompt)
    (tmp_path / "image").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="image is no text in UTF-8"):
        text_of(tmp_path / "image")
