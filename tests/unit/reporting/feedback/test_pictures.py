import base64
from pathlib import Path

import pytest

from autograder.reporting.feedback.pictures import MAX_PICTURE_BYTES, lesson_figures, picture

STARTS = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff\xe0",
    "image/gif": b"GIF89a",
    "image/webp": b"RIFF\x00\x00\x00\x00WEBP",
}


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(("kind", "start"), STARTS.items())
def test_a_picture_is_kept_whatever_its_line_breaks(kind: str, start: bytes) -> None:
    text = encoded(start + b"rest of it")
    assert f"data:{kind};base64,{text}" == picture(kind, text[:8] + "\n" + text[8:])


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("image/svg+xml", encoded(b"<svg onload='alert(1)'/>")),
        ("text/html", encoded(b"<script>alert(1)</script>")),
        ("image/png", encoded(b"<svg/>")),
        ("image/png", encoded(STARTS["image/jpeg"])),
        ("image/png", '"><script>'),
        ("image/png", ""),
        ("image/png", encoded(STARTS["image/png"])[:-2] + "!!"),
        ("image/png", encoded(STARTS["image/png"] + bytes(MAX_PICTURE_BYTES))),
    ],
)
def test_what_is_no_picture_without_scripts_is_refused(kind: str, text: str) -> None:
    assert picture(kind, text) is None


def test_figures_of_the_source_are_found_by_the_names_that_notebooks_use(tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "a.svg").write_bytes(b"<svg/>")
    (tmp_path / "b.PNG").write_bytes(STARTS["image/png"])
    (tmp_path / "notes.txt").write_text("no picture")
    (tmp_path / "link.png").symlink_to("/etc/passwd")
    figures = lesson_figures(tmp_path)
    assert {
        "figures/a.svg": f"data:image/svg+xml;base64,{encoded(b'<svg/>')}",
        "b.PNG": f"data:image/png;base64,{encoded(STARTS['image/png'])}",
    } == figures
