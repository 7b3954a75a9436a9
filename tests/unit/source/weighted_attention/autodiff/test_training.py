"""Training is repeatable, can be stopped and taken up again bit by bit, learns, and keeps its memory."""

import os
import signal
import threading
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attention_layer import WeightedAttention
from autodiff.checkpoints import CheckpointError
from autodiff.corpus import make_corpus
from autodiff.data import Characters
from autodiff.model import Model
from autodiff.training import Settings, Trainer

SETTINGS = Settings(steps=30, warmup=5)


@pytest.fixture(scope="module")
def characters() -> Characters:
    return Characters(make_corpus(4000).text)


def trainer(characters: Characters, checkpoint: Path | None = None, settings: Settings = SETTINGS) -> Trainer:
    model = Model(len(characters.vocabulary), make_attention=WeightedAttention, d_model=8, seed=settings.seed)
    return Trainer(model, characters, settings, checkpoint)


def parameters(one: Trainer) -> bytes:
    return b"".join(parameter.data.tobytes() for parameter in one.model.parameters().values())


def test_the_same_seed_gives_the_same_bits_and_another_one_others(characters: Characters) -> None:
    first, second, other = (
        trainer(characters, settings=replace(SETTINGS, seed=seed)) for seed in (42, 42, 43)
    )
    assert [True] * 3 == [one.run() for one in (first, second, other)]
    assert (first.losses, parameters(first)) == (second.losses, parameters(second))
    assert first.losses != other.losses
    assert first.test() == second.test()


def test_it_learns(characters: Characters) -> None:
    one = trainer(characters, settings=replace(SETTINGS, steps=400, rate=0.01))
    one.run()
    assert np.mean(one.losses[-20:]) < np.mean(one.losses[:20]) - 0.4


def test_a_stopped_run_goes_on_as_if_nothing_had_been(characters: Characters, tmp_path: Path) -> None:
    whole = trainer(characters)
    whole.run()
    assert not trainer(characters, tmp_path / "new/run.npz").run(until=13)
    resumed = trainer(characters, tmp_path / "new/run.npz")
    assert 13 == resumed.done
    assert resumed.run()
    assert (whole.losses, parameters(whole)) == (resumed.losses, parameters(resumed))
    again = trainer(characters, tmp_path / "new/run.npz")
    assert again.run()
    assert parameters(whole) == parameters(again)


def test_epochs_are_shuffled_anew_and_a_run_can_stop_between_them(
    characters: Characters, tmp_path: Path
) -> None:
    settings = Settings(epochs=2, warmup=5)
    whole = trainer(characters, settings=settings)
    assert 2 * len(characters.training) == whole.steps
    whole.run()
    trainer(characters, tmp_path / "run.npz", settings).run(until=len(characters.training) + 3)
    resumed = trainer(characters, tmp_path / "run.npz", settings)
    resumed.run()
    assert whole.losses == resumed.losses


def test_ctrl_c_ends_a_run_after_a_whole_step_and_keeps_it(characters: Characters, tmp_path: Path) -> None:
    def stop_at_seven(done: int, _total: int, _loss: float) -> None:
        if done == 7:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    stopped = trainer(characters, tmp_path / "run.npz")
    with pytest.raises(KeyboardInterrupt, match=r"stopped after 7 of 30 steps; .*taken up from .*run\.npz"):
        stopped.run(stop_at_seven)
    assert before is signal.getsignal(signal.SIGINT)
    resumed, whole = trainer(characters, tmp_path / "run.npz"), trainer(characters)
    assert 7 == resumed.done
    resumed.run()
    whole.run()
    assert parameters(whole) == parameters(resumed)


def test_a_second_ctrl_c_interrupts_at_once(characters: Characters) -> None:
    def insist(done: int, _total: int, _loss: float) -> None:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError(f"step {done} was not interrupted")

    with pytest.raises(KeyboardInterrupt):
        trainer(characters).run(insist)


def test_it_trains_outside_of_the_main_thread(characters: Characters) -> None:
    one = trainer(characters)
    thread = threading.Thread(target=one.run)
    thread.start()
    thread.join()
    assert 30 == one.done


@pytest.mark.parametrize("change", [{"seed": 1}, {"rate": 0.1}, {"steps": 31}])
def test_a_checkpoint_of_another_run_is_refused(
    characters: Characters, tmp_path: Path, change: dict[str, float]
) -> None:
    trainer(characters, tmp_path / "run.npz").run(until=2)
    with pytest.raises(CheckpointError, match="belongs to another run: it differs in settings"):
        trainer(characters, tmp_path / "run.npz", replace(SETTINGS, **change))  # type: ignore[arg-type]


def test_a_checkpoint_of_another_text_is_refused(characters: Characters, tmp_path: Path) -> None:
    trainer(characters, tmp_path / "run.npz").run(until=2)
    with pytest.raises(CheckpointError, match="differs in text"):
        trainer(Characters(make_corpus(4000, seed=2).text), tmp_path / "run.npz")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut short", b"\x80\x04K\x01."])
def test_what_is_no_checkpoint_is_refused(characters: Characters, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.npz").write_bytes(content)
    with pytest.raises(CheckpointError, match=r"run\.npz is no checkpoint that can be read"):
        trainer(characters, tmp_path / "run.npz")


def test_a_pickle_inside_a_checkpoint_is_never_loaded(characters: Characters, tmp_path: Path) -> None:
    np.savez(tmp_path / "run.npz", description=np.array([print], dtype=object))
    with pytest.raises(CheckpointError, match="no checkpoint that can be read"):
        trainer(characters, tmp_path / "run.npz")


def test_memory_stays_as_it_is(characters: Characters) -> None:
    one = trainer(characters, settings=replace(SETTINGS, steps=400))
    one.run(until=100)
    tracemalloc.start()
    try:
        one.run(until=110)
        before = tracemalloc.get_traced_memory()[0]
        one.run(until=400)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 290 * 50  # a single tensor a step would be more
