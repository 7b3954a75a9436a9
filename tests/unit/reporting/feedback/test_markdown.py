import base64
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from autograder.reporting.feedback.markdown import MAX_LENGTH, SafeMarkdown

Dangers = Callable[[str], list[str]]

FIGURE = "data:image/svg+xml;base64,PHN2Zy8+"
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nrest").decode()
ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<style>*{display:none}</style>",
    "</div></main></body>",
    "<!-- never closed",
    "<details>never closed",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java&#x73;cript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:x) [x](file:///etc/passwd) [x](//evil.example)",
    '[x](https://a.example "title\\" onclick=\\"alert(1)")',
    "<javascript:alert(1)>",
    "![x](http://evil.example/x.png)",
    "![x](data:image/svg+xml;base64,PHN2Zy8+)",
    "![x](../../secret.png)",
    '![" onerror="alert(1)](figures/a.svg)',
    "![x](attachment:bad.svg)",
    "[x]: javascript:alert(1)\n\n[x]",
    "$\\text{<script>}$",
    "```js\n</code></pre><script>alert(1)</script>\n```",
    "| <b> | <i> |\n|---|---|\n| <script> | ` <b> ` |",
    "# <script>alert(1)</script>",
    "&lt;script&gt;",
]


@pytest.fixture(scope="module")
def markdown() -> SafeMarkdown:
    return SafeMarkdown({"figures/a.svg": FIGURE})


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_of_a_students_text_can_run_or_load(
    markdown: SafeMarkdown, dangers: Dangers, attack: str
) -> None:
    shown = str(markdown.foreign(attack, {"bad.svg": {"image/svg+xml": "PHN2Zy8+"}}))
    assert [] == dangers(shown)
    assert "<script" not in shown
    assert "javascript:" not in shown.replace("&lt;javascript:", "").lower() or "href" not in shown


def test_the_control_that_an_ordinary_renderer_lets_the_attacks_through(dangers: Dangers) -> None:
    ordinary = IPythonRenderer(escape=False, attachments={"bad.svg": {"image/svg+xml": "PHN2Zy8+"}})
    caught = [attack for attack in ATTACKS if dangers(MarkdownWithMath(ordinary).render(attack))]
    assert len(caught) > len(ATTACKS) // 2


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from([*ATTACKS, "\n", "\n\n", "> ", "- ", "*", "`", "$", "| ", "text"]), max_size=8)
)
def test_no_mixture_of_attacks_gets_through_either(
    markdown: SafeMarkdown, dangers: Dangers, parts: list[str]
) -> None:
    assert [] == dangers(str(markdown.foreign("".join(parts))))


def test_markdown_is_laid_out_below_the_headings_of_the_page(markdown: SafeMarkdown) -> None:
    shown = markdown.foreign("# Title\n\nSome *text* with `code`, $a^2$ and ~~nothing~~.\n\n- one\n- two")
    for part in (
        "<h3>Title</h3>",
        "<em>text</em>",
        "<code>code</code>",
        "<math",
        "<del>nothing</del>",
        "<li>two</li>",
    ):
        assert part in shown


def test_entities_are_signs_and_never_markup(markdown: SafeMarkdown) -> None:
    assert "<p>1 &lt; 2 &amp; ä &lt;b&gt;</p>" == markdown.foreign("1 &lt; 2 &amp; &auml; &lt;b&gt;").strip()


def test_columns_of_a_table_are_aligned_without_a_style(markdown: SafeMarkdown) -> None:
    shown = markdown.foreign("| a | b |\n|:-|-:|\n| 1 | 2 |")
    assert '<div class="scroll"><table>' in shown
    assert '<td>1</td>\n<td class="align-right">2</td>' in shown


def test_links_to_the_web_are_kept_and_tell_nothing_to_where_they_lead(markdown: SafeMarkdown) -> None:
    expected = '<p><a href="https://a.example/?b=c&amp;d" rel="noopener noreferrer nofollow">here</a></p>'
    assert expected == markdown.foreign("[here](https://a.example/?b=c&d)").strip()


def test_pictures_are_those_of_the_lesson_and_of_the_cell(markdown: SafeMarkdown) -> None:
    text = "![a figure](figures/a.svg) ![mine](attachment:mine.png) ![far](http://evil.example/x.png)"
    shown = markdown.foreign(text, {"mine.png": {"image/png": PNG}})
    assert f'<img src="{FIGURE}" alt="a figure">' in shown
    assert f'<img src="data:image/png;base64,{PNG}" alt="mine">' in shown
    assert "<em>[picture not shown: far]</em>" in shown


def test_html_of_the_lesson_keeps_a_few_tags_and_no_attributes(markdown: SafeMarkdown) -> None:
    lesson = (
        '<details open onclick="x()"><summary>Hint</summary>\n\n**Think.**\n\n</details>\n\n'
        'H<sub>2</sub>O<br> <img src="figures/a.svg" alt="drops" onload="x()"> <font color="red">red</font>'
    )
    shown = markdown.lesson(lesson)
    assert "<details><summary>Hint</summary>" in shown
    assert "<strong>Think.</strong>" in shown
    assert "</details>" in shown
    assert f'H<sub>2</sub>O<br> <img src="{FIGURE}" alt="drops"> red' in shown


@pytest.mark.parametrize(
    "attack", ["<script>x</script>", "<img src=http://evil.example>", "<a href=javascript:x>y</a>"]
)
def test_not_even_the_lesson_brings_anything_that_runs(
    markdown: SafeMarkdown, dangers: Dangers, attack: str
) -> None:
    assert [] == dangers(str(markdown.lesson(attack)))


@pytest.mark.parametrize(
    "bomb",
    [
        "[",
        ">",
        "*a",
        "`",
        "$",
        "<",
        "\\begin{a}",
        "_",
        "<!--",
        "- ",
        "![",
        "[a](<",
        '[a](b "',
        "|",
        "&",
        "(((",
    ],
)
def test_no_text_keeps_the_grader_busy(markdown: SafeMarkdown, bomb: str) -> None:
    text = (bomb * MAX_LENGTH)[:MAX_LENGTH]
    start = time.process_time()
    markdown.foreign(text)
    assert time.process_time() - start < 5


def test_a_far_too_long_text_is_shown_as_it_was_typed(markdown: SafeMarkdown) -> None:
    text = "*x* " * MAX_LENGTH
    assert f"<pre>{text}</pre>" == markdown.foreign(text)
