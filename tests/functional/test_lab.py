"""``autograder lab`` trains, stores, goes on after a stop, names faults; ``autograder data`` takes a copy."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.cli.main import main
from autograder.usecases import lab as usecase

pytestmark = pytest.mark.functional

ROOT = Path(__file__).parents[2]
BASE = ("lab", "weighted_attention", "--course", str(ROOT))


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("What is in a name? That which we call a rose\nby any other name. " * 60)
    return path


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main([*BASE, *map(str, words)])
    done = capsys.readouterr()
    return code, done.out, done.err


def test_it_trains_each_choice_with_each_seed_and_stores_everything(
    tmp_path: Path, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--data", text, "--steps", 4, "--replace", "none", "--replace", "key", "--seed", 1, "--seed", 2)
    code, out, err = run(capsys, *words, "--into", tmp_path / "lab", "--json", tmp_path / "out.json")
    assert (0, "") == (code, err)
    assert ["replace", *["none"] * 3, *["key"] * 3] == [line.split()[0] for line in out.splitlines()[:7]]
    names = [f"{choice}-seed-{seed}" for choice in ("key", "none") for seed in (1, 2)]
    stored = {*(f"maps-{name}.svg" for name in names), "curves.svg", "metrics.json"}
    stored |= {f"runs/text-replace-{name}-4-steps.npz" for name in names}
    found = {path.relative_to(tmp_path / "lab").as_posix() for path in (tmp_path / "lab").rglob("*.*")}
    assert stored == found
    metrics = json.loads((tmp_path / "lab/metrics.json").read_text())
    assert metrics == json.loads((tmp_path / "out.json").read_text())
    assert [("none", 1), ("none", 2), ("key", 1), ("key", 2)] == [
        (one["choice"], one["seed"]) for one in metrics["outcomes"]
    ]


def test_json_may_go_to_standard_output(
    tmp_path: Path, text: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    words = ["--data", str(text), "--steps", "2", "--replace", "value", "--into", str(tmp_path / "lab")]
    assert 0 == main([*BASE, *words, "--json", "-"])
    assert "weighted_attention" == json.loads(capsysbinary.readouterr().out)["lab"]


def test_a_stopped_lab_goes_on_and_ends_as_if_it_had_not_been_stopped(
    tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = usecase.plan_lab(
        ROOT, "weighted_attention", data=str(text), chosen={"replace": ["query"]}, steps=12
    )

    def stop(_title: str, done: int, _total: int, _loss: float) -> None:
        if done == 5:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match="stopped after 5 of 12 steps"):
        usecase.run_plan(plan, tmp_path / "stopped", stop)
    done: list[int] = []
    (resumed,) = usecase.run_plan(plan, tmp_path / "stopped", lambda _title, step, *_: done.append(step))
    (whole,) = usecase.run_plan(plan, tmp_path / "whole")
    assert list(range(6, 13)) == done
    assert (whole.curve, whole.loss, whole.sample) == (resumed.curve, resumed.loss, resumed.sample)


FAULTS: dict[str, tuple[tuple[Any, ...], str]] = {
    "an option of another lab": (("--heads", "2"), "has no --heads: what it varies is --replace."),
    "a choice that there is not": (
        ("--replace", "scale"),
        "has no --replace scale; there are none, query, key, value.",
    ),
    "a missing text": (("--data", "gone.txt"), "gone.txt cannot be read: No such file or directory."),
    "no number of steps": (("--steps", "0"), "'0' is no number of 1 or more"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_use_is_said_in_one_message(fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, message = FAULTS[fault]
    code, out, err = run(capsys, *words)
    assert (2, "", 1) == (code, out, err.count("\n"))
    assert message in err


def test_a_text_that_was_not_fetched_yet_names_the_command(tmp_path: Path) -> None:
    course = tmp_path / "course"
    (course / "source").mkdir(parents=True)
    (course / "source/weighted_attention").symlink_to(ROOT / "source/weighted_attention")
    with pytest.raises(usecase.CourseError, match="Fetch it once: autograder data tinyshakespeare"):
        usecase.plan_lab(course, "weighted_attention", data="tinyshakespeare")


def test_an_assignment_without_a_lab_names_one_with(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["lab", "multihead", "--course", str(ROOT)])
    assert "'multihead' has no lab" in capsys.readouterr().err


def test_a_checkpoint_of_another_run_is_said_in_one_message(
    tmp_path: Path, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--data", text, "--steps", 2, "--replace", "none", "--into", tmp_path / "lab")
    assert 0 == run(capsys, *words)[0]
    text.write_text(text.read_text() + "!" * 40)
    code, _, err = run(capsys, *words)
    assert 2 == code
    assert "belongs to another run: it differs in text" in err


def test_data_takes_a_copy_and_refuses_another_file(
    tmp_path: Path, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "source").mkdir()
    words = ["data", "tinyshakespeare", "--from", str(text), "--course", str(tmp_path)]
    assert 2 == main(words)
    assert "text.txt is not tinyshakespeare: its SHA-256 is" in capsys.readouterr().err


def test_the_lab_of_heads_trains_the_references_layer(
    tmp_path: Path, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "--data",
        str(text),
        "--steps",
        "2",
        "--heads",
        "2",
        "--heads",
        "1",
        "--into",
        str(tmp_path / "lab"),
    ]
    assert 0 == main(["lab", "gpt", "--course", str(ROOT), *words])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [["2", "104,213"], ["1", "104,213"]] == [line[:2] for line in lines[1:3]]
    outcomes = json.loads((tmp_path / "lab/metrics.json").read_text())["outcomes"]
    assert [(2, 2, 32, 32), (2, 1, 32, 32)] == [np.shape(one["weights"]) for one in outcomes]
