"""A dataset comes from a file or the network and is always checked; without a network one message says so."""

import hashlib
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.errors import CourseError
from autograder.usecases.datasets import DATASETS, Dataset, find_dataset, obtain, place_of

TEXT = b"ROMEO:\nBut, soft!\n"
PLAY = Dataset("play", "play.txt", "https://example.org/play", hashlib.sha256(TEXT).hexdigest())


def pooch(retrieve: object) -> SimpleNamespace:
    """What stands for the library: ``retrieve`` gets address, checksum, name and folder."""
    return SimpleNamespace(retrieve=retrieve, get_logger=lambda: SimpleNamespace(setLevel=lambda _: None))


def test_a_copy_is_checked_and_laid_into_the_course(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(TEXT)
    place = obtain(tmp_path / "", PLAY, tmp_path / "mine")
    assert (tmp_path / "data/play.txt", TEXT) == (place, place.read_bytes())
    assert place == place_of(tmp_path, PLAY) == obtain(tmp_path, PLAY, tmp_path / "gone")


def test_another_file_is_refused_and_what_was_damaged_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(TEXT[:-1])
    with pytest.raises(CourseError, match=f"mine is not play: its SHA-256 is .*, not {PLAY.sha256}"):
        obtain(tmp_path, PLAY, tmp_path / "mine")
    assert not (tmp_path / "data").exists()
    with pytest.raises(CourseError, match=r"minr cannot be read: No such file.*Did you mean .*mine\?"):
        obtain(tmp_path, PLAY, tmp_path / "minr")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/play.txt").write_bytes(b"cut sh")
    (tmp_path / "mine").write_bytes(TEXT)
    assert TEXT == obtain(tmp_path, PLAY, tmp_path / "mine").read_bytes()


def test_it_is_fetched_by_its_checksum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def retrieve(url: str, known_hash: str, fname: str, path: str) -> str:
        assert (PLAY.url, f"sha256:{PLAY.sha256}") == (url, known_hash)
        (Path(path) / fname).write_bytes(TEXT)
        return str(Path(path) / fname)

    monkeypatch.setitem(sys.modules, "pooch", pooch(retrieve))  # type: ignore[arg-type]
    assert TEXT == obtain(tmp_path, PLAY).read_bytes()


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (OSError("no route\nto host"), r"cannot be fetched: no answer from \S+/play\. Give a copy"),
        (ValueError("SHA256 hash does not match"), r"What \S+/play gave is not play\. Give a copy"),
    ],
)
def test_without_a_network_one_message_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception, message: str
) -> None:
    def retrieve(*_words: str, **_named: str) -> str:
        raise fault

    monkeypatch.setitem(sys.modules, "pooch", pooch(retrieve))  # type: ignore[arg-type]
    with pytest.raises(CourseError, match=message):
        obtain(tmp_path, PLAY)


def test_without_pooch_the_message_names_the_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(CourseError, match="install the group 'labs'"):
        obtain(tmp_path, PLAY)


def test_known_datasets_are_found_by_name() -> None:
    assert DATASETS["tinyshakespeare"] is find_dataset("tinyshakespeare")
    with pytest.raises(CourseError, match=r"no dataset 'tinyshakespear'\. Did you mean 'tinyshakespeare'\?"):
        find_dataset("tinyshakespear")
    with pytest.raises(CourseError, match=r"no dataset 'wiki'\. Known: tinyshakespeare"):
        find_dataset("wiki")
