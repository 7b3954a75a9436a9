"""One thread for a while, also after an error, and no harm without OpenBLAS."""

from pathlib import Path

import pytest

from autodiff import threads


def test_it_is_one_thread_for_a_while() -> None:
    found = threads._functions()
    if found is None:
        pytest.skip("this NumPy came without OpenBLAS")
    get, set_to = found
    before = get()
    set_to(2)
    try:
        with threads.one_thread():
            assert 1 == get()
        assert 2 == get()
    finally:
        set_to(before)


def test_without_openblas_nothing_is_changed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "libopenblas.so").write_bytes(b"no library")
    monkeypatch.setattr(threads, "_FOLDERS", (str(tmp_path), str(tmp_path / "gone")))
    threads._functions.cache_clear()
    try:
        with threads.one_thread():
            assert threads._functions() is None
    finally:
        threads._functions.cache_clear()
