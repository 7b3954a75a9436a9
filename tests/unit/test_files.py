import os
import stat
from pathlib import Path

import pytest

from autograder.files import (
    did_you_mean_path,
    place_new_file,
    plain_files,
    read_plain_file,
    readable,
    write_atomically,
)


def test_a_plain_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"text")
    assert read_plain_file(tmp_path / "a", max_bytes=4) == b"text"


def test_a_file_larger_than_allowed_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * (2**20 + 1))
    with pytest.raises(OSError, match="larger than 1 MB"):
        read_plain_file(tmp_path / "a", max_bytes=2**20)


def test_a_link_is_refused_though_its_target_could_be_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    assert (tmp_path / "link").read_bytes() == b"secret"
    with pytest.raises(OSError, match="it is a link"):
        read_plain_file(tmp_path / "link", max_bytes=100)


def test_a_fifo_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OSError, match="not a plain file"):
        read_plain_file(tmp_path / "fifo", max_bytes=100)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="not a plain file"):
        read_plain_file(tmp_path, max_bytes=100)


def test_writing_replaces_a_read_only_file_and_sets_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_atomically(path, b"old", mode=0o444)
    write_atomically(path, b"new", mode=0o600)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [path] == list(tmp_path.iterdir())


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [path] == list(tmp_path.iterdir())


def test_a_finished_file_never_takes_the_place_of_one_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "made").write_bytes(b"mine")
    (tmp_path / "taken").write_bytes(b"theirs")
    place_new_file(tmp_path / "made", tmp_path / "taken")
    place_new_file(tmp_path / "made", tmp_path / "free")
    assert (tmp_path / "taken").read_bytes() == b"theirs"
    assert (tmp_path / "free").read_bytes() == b"mine"


def test_a_finished_file_gets_its_name_also_without_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "made").write_bytes(b"mine")
    place_new_file(tmp_path / "made", tmp_path / "free")
    assert (tmp_path / "free").read_bytes() == b"mine"


def test_only_regular_files_are_listed_and_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "b").write_bytes(b"")
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    (tmp_path / "circle").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "fifo")
    assert [Path("a"), Path("folder/b")] == list(plain_files(tmp_path))


def test_listing_ends_at_its_limits_and_does_not_descend_for_ever(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_bytes(b"xx")
    deep = tmp_path
    for _ in range(60):
        deep /= "d"
        deep.mkdir()
    (deep / "z").write_bytes(b"")
    assert [Path("a"), Path("b"), Path("c")] == list(plain_files(tmp_path))
    assert [Path("a"), Path("b")] == list(plain_files(tmp_path, max_files=2))
    assert [Path("a")] == list(plain_files(tmp_path, max_bytes=3))


def test_a_path_that_would_be_too_long_elsewhere_is_passed_over(tmp_path: Path) -> None:
    deep = tmp_path
    for letter in "abcdef":
        deep /= letter * 200
        deep.mkdir()
        (deep / "z").write_bytes(b"")
    assert [2, 3, 4, 5] == sorted(len(path.parts) for path in plain_files(tmp_path))


def test_a_path_is_readable_whatever_its_bytes() -> None:
    assert "caf\ufffd/z" == readable(Path("caf\udce9/z"))


def test_a_path_that_is_misspelt_anywhere_is_told_what_exists(tmp_path: Path) -> None:
    (tmp_path / "submitted" / "ada").mkdir(parents=True)
    (tmp_path / "submitted" / "bob").write_bytes(b"")
    assert f" Did you mean {tmp_path}/submitted?" == did_you_mean_path(tmp_path / "submited/ada/x.ipynb")
    assert f" Did you mean {tmp_path}/submitted/ada?" == did_you_mean_path(tmp_path / "submitted/adda")
    assert "" == did_you_mean_path(tmp_path / "submitted/zoe")
    assert "" == did_you_mean_path(tmp_path / "submitted/bob/x.ipynb")
