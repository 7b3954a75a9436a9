"""The watch sees all that must fail a page's test."""

from collections.abc import Callable
from typing import Any

import pytest

OpenPage = Callable[[], tuple[Any, list[str]]]


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("console.error('oh no')", "console: oh no"),
        ("setTimeout(() => { throw new Error('broken') })", "script failed: broken"),
        ("fetch('https://tracker.example/x').catch(() => 0)", "request to another machine: https://tracker"),
        ("new Image().src = 'http://10.1.2.3/x.png'", "request to another machine: http://10.1.2.3/x.png"),
        ("new WebSocket('wss://tracker.example/')", "request to another machine: wss://tracker.example/"),
        ("open('https://tracker.example/')", "request to another machine: https://tracker.example/"),
    ],
)
def test_what_must_not_happen_is_noticed(open_page: OpenPage, script: str, problem: str) -> None:
    page, problems = open_page()
    page.set_content("<p>hello</p>")
    page.evaluate(f"() => {{ {script} }}")
    page.wait_for_timeout(1000)
    assert any(one.startswith(problem) for one in problems), problems


def test_a_page_that_behaves_has_no_problems(open_page: OpenPage) -> None:
    page, problems = open_page()
    page.set_content("<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>")
    page.evaluate("() => { console.log('hello'); console.warn('hm') }")
    page.wait_for_timeout(500)
    assert [] == problems
