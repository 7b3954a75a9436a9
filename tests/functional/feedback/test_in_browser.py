"""Feedback pages in a real browser: nothing runs, nothing is fetched, nothing overflows a phone."""

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.functional, pytest.mark.browser]

STUDENTS = ("zoë hostile", "noisy", "mistaken", "empty", "fault-after")


class Visit:
    """One page, opened, with everything that it did."""

    def __init__(self, browser: Any, path: Path, **options: Any):
        self.tab = browser.new_page(**options)
        self.happened: list[str] = []
        self.tab.on("request", lambda request: self.happened.append(request.url))
        self.tab.on("dialog", self._dialog)
        self.tab.on("console", lambda message: self.happened.append(f"{message.type} {message.text}"))
        self.tab.on("pageerror", lambda error: self.happened.append(f"error {error}"))
        self.tab.goto(path.as_uri(), wait_until="load")
        self.tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        self.tab.wait_for_timeout(100)
        self.address = path.as_uri()

    def _dialog(self, dialog: Any) -> None:
        self.happened.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def beyond_data(self) -> list[str]:
        """What happened besides opening the page itself and the pictures inside it."""
        return [one for one in self.happened if one != self.address and not one.startswith("data:image/")]


def page_of(course: Path, student: str) -> Path:
    return course / "feedback" / student / "multihead" / "multihead.html"


@pytest.mark.parametrize("student", STUDENTS)
def test_a_page_runs_nothing_and_asks_for_nothing(browser: Any, fed: Path, student: str) -> None:
    visit = Visit(browser, page_of(fed, student))
    assert [] == visit.beyond_data()
    assert f"multihead: feedback for {student}" == visit.tab.title()
    visit.tab.close()


def test_the_control_without_the_policy_and_the_escapes_the_page_is_taken_over(
    browser: Any, fed: Path, tmp_path: Path
) -> None:
    page = page_of(fed, "zoë hostile").read_text(encoding="utf-8")
    bare = (
        re.sub(r"<meta http-equiv[^>]*>", "", page)
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&#34;", '"')
    )
    path = tmp_path / "bare.html"
    path.write_text(bare.replace("&#39;", "'"), encoding="utf-8")
    visit = Visit(browser, path)
    assert "HOSTILE" == visit.tab.title()
    visit.tab.close()


def test_the_policy_alone_would_stop_what_got_through(browser: Any, fed: Path, tmp_path: Path) -> None:
    page = page_of(fed, "zoë hostile").read_text(encoding="utf-8")
    attack = '<script>document.title="HOSTILE"</script><img src="x" onerror="document.title=\'HOSTILE\'">'
    path = tmp_path / "injected.html"
    path.write_text(page.replace("<main>", f"<main>{attack}"), encoding="utf-8")
    visit = Visit(browser, path)
    assert "HOSTILE" != visit.tab.title()
    visit.tab.close()


@pytest.mark.parametrize("student", STUDENTS)
def test_a_page_fits_a_phone(browser: Any, fed: Path, student: str) -> None:
    visit = Visit(browser, page_of(fed, student), viewport={"width": 360, "height": 780})
    wide, room = visit.tab.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    visit.tab.close()
    assert wide <= room


CONTRAST = """
() => {
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const behind = element => {
    for (let one = element; one; one = one.parentElement) {
      const found = numbers(getComputedStyle(one).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found.slice(0, 3);
    }
    return numbers(getComputedStyle(document.body).backgroundColor).slice(0, 3);
  };
  const faint = new Set();
  for (const one of document.body.querySelectorAll('*')) {
    if (![...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())) continue;
    const [a, b] = [light(numbers(getComputedStyle(one).color)), light(behind(one))].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) faint.add(`${one.tagName}.${one.className} ${ratio.toFixed(2)}`);
  }
  return [...faint];
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("student", STUDENTS)
def test_all_text_stands_out_enough_to_be_read(browser: Any, fed: Path, student: str, scheme: str) -> None:
    visit = Visit(browser, page_of(fed, student), color_scheme=scheme)
    faint = visit.tab.evaluate(CONTRAST)
    visit.tab.close()
    assert [] == faint


@pytest.mark.parametrize("student", STUDENTS)
def test_headings_descend_one_by_one_and_pictures_have_descriptions(
    browser: Any, fed: Path, student: str
) -> None:
    visit = Visit(browser, page_of(fed, student))
    own = "[...document.querySelectorAll('h1, h2, h3')].filter(one => !one.closest('.cell'))"
    levels = [int(name[1]) for name in visit.tab.evaluate(f"{own}.map(one => one.tagName)")]
    described = visit.tab.evaluate("[...document.images].every(one => one.alt.length > 5)")
    visit.tab.close()
    assert 1 == levels[0]
    assert 1 == levels.count(1)
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))
    assert described


def test_nothing_of_the_page_gets_lost_in_print(browser: Any, fed: Path) -> None:
    visit = Visit(browser, page_of(fed, "mistaken"))
    visit.tab.emulate_media(media="print")
    printed = visit.tab.evaluate("document.body.innerText")
    pre = visit.tab.evaluate(
        "[...document.querySelectorAll('pre')].map(one => getComputedStyle(one).whiteSpaceCollapse)"
    )
    visit.tab.close()
    for part in ("Points", "Where to start", "split_heads", "def merge_heads", "reshape"):
        assert part in printed
    assert {"preserve"} == set(pre)
