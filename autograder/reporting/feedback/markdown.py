"""Markdown as HTML in which nothing can run or load, whoever wrote it.

Raw HTML is shown as it was typed; in the lesson's own text a few tags without attributes keep their meaning.
Links lead to http and https alone. Pictures are the lesson's figures, looked up by their exact names, and
what is attached to the cell. Text that defeats the parser, or takes too long, is shown as plain text.
"""

import html
import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser

from markupsafe import Markup
from mistune import HTMLRenderer, Markdown
from mistune.plugins import import_plugin
from nbconvert.filters.markdown_mistune import MathBlockParser, MathInlineParser

from autograder.checking.cpu_limit import CpuTimeExceeded, cpu_limit
from autograder.reporting.feedback.formulas import formula
from autograder.reporting.feedback.harmless import harmless
from autograder.reporting.feedback.pictures import picture

#: Longer cells are shown as they were typed: parsing some texts takes the square of their length.
MAX_LENGTH = 20_000
MAX_SECONDS = 2.0
#: Below the page's title and its section's: where headings of cells begin.
HEADINGS_BELOW = 2
_PLUGINS = ("strikethrough", "table", "url")
_WEB = re.compile(r"https?://[^\s\x00-\x1f]+", re.IGNORECASE)
_LESSON_TAG_NAMES = "details summary b i em strong sub sup br kbd code p ul ol li figure figcaption small"
_LESSON_TAGS = frozenset(_LESSON_TAG_NAMES.split())
_ATTACHMENT = "attachment:"

Attachments = Mapping[str, Mapping[str, str]]


class SafeMarkdown:
    """Renders Markdown; ``figures`` are the lesson's pictures by name, as ``data:`` addresses."""

    def __init__(self, figures: Mapping[str, str]) -> None:
        self._foreign = _parser(_Renderer(figures, is_lesson=False))
        self._lesson = _parser(_Renderer(figures, is_lesson=True))

    def foreign(self, text: str, attachments: Attachments | None = None) -> Markup:
        """Text of a student or a grader as HTML."""
        return _rendered(*self._foreign, text, attachments or {})

    def lesson(self, text: str, attachments: Attachments | None = None) -> Markup:
        """The lesson's own text as HTML."""
        return _rendered(*self._lesson, text, attachments or {})


class _Renderer(HTMLRenderer):
    """Writes HTML from harmless parts; ``attachments`` are those of the cell at hand."""

    def __init__(self, figures: Mapping[str, str], *, is_lesson: bool) -> None:
        super().__init__(escape=True)
        self._figures = figures
        self._is_lesson = is_lesson
        self.attachments: Attachments = {}

    def text(self, text: str) -> str:
        return html.escape(html.unescape(text), quote=False)

    def heading(self, text: str, level: int, **attrs: object) -> str:
        level = min(level + HEADINGS_BELOW, 6)
        return f"<h{level}>{text}</h{level}>\n"

    def link(self, text: str, url: str, title: str | None = None) -> str:
        if not _WEB.fullmatch(url):
            return text
        return f'<a href="{html.escape(url)}" rel="noopener noreferrer nofollow">{text}</a>'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        return self._picture(url, html.unescape(re.sub(r"<[^>]*>", "", text)))

    def _picture(self, url: str, words: str) -> str:
        address = self._figures.get(url.removeprefix("./"))
        if url.startswith(_ATTACHMENT):
            bundle = self.attachments.get(url.removeprefix(_ATTACHMENT), {})
            found = (picture(kind, data) for kind, data in bundle.items())
            address = next((one for one in found if one is not None), None)
        if address is None:
            return f"<em>[picture not shown: {html.escape(words or 'without a description')}]</em>"
        return f'<img src="{address}" alt="{html.escape(words or "A picture without a description")}">'

    def block_code(self, code: str, info: str | None = None) -> str:
        return f"<pre><code>{html.escape(code)}</code></pre>\n"

    def block_html(self, html: str) -> str:
        return self._html(html) + "\n" if self._is_lesson else super().block_html(html)

    def inline_html(self, html: str) -> str:
        return self._html(html) if self._is_lesson else super().inline_html(html)

    def _html(self, typed: str) -> str:
        known = _KnownTags(self._picture)
        known.feed(typed)
        known.close()
        return "".join(known.written)

    def table(self, text: str) -> str:
        return f'<div class="scroll"><table>\n{text}</table></div>\n'

    def table_cell(self, text: str, align: str | None = None, head: bool = False) -> str:
        tag = "th" if head else "td"
        aligned = f' class="align-{align}"' if align in ("center", "right") else ""
        return f"<{tag}{aligned}>{text}</{tag}>\n"

    def inline_math(self, body: str) -> str:
        return str(formula(body, block=False))

    def block_math(self, body: str) -> str:
        return str(formula(body, block=True))

    def latex_environment(self, name: str, body: str) -> str:
        return str(formula(rf"\begin{{{name}}}{body}\end{{{name}}}", block=True))


class _KnownTags(HTMLParser):
    """Keeps the tags of ``_LESSON_TAGS``, without attributes, and figures; of all others their content."""

    def __init__(self, show_picture: Callable[[str, str], str]) -> None:
        super().__init__(convert_charrefs=True)
        self._show_picture = show_picture
        self.written: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            given = dict(attrs)
            self.written.append(self._show_picture(given.get("src") or "", given.get("alt") or ""))
        elif tag in _LESSON_TAGS:
            self.written.append(f"<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        if tag in _LESSON_TAGS and tag != "br":
            self.written.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.written.append(html.escape(data))


def _parser(renderer: _Renderer) -> tuple[Markdown, _Renderer]:
    plugins = [import_plugin(name) for name in _PLUGINS]
    parser = Markdown(renderer, MathBlockParser(), MathInlineParser(hard_wrap=False), plugins)
    # After the plugin, which has brought writers of its own: ours need no style, and scroll if need be.
    renderer.register("table", lambda _, text: renderer.table(text))
    renderer.register("table_cell", lambda _, text, **more: renderer.table_cell(text, **more))
    return parser, renderer


def _rendered(parser: Markdown, renderer: _Renderer, text: str, attachments: Attachments) -> Markup:
    text = harmless(text)
    if len(text) > MAX_LENGTH:
        return _as_typed(text)
    renderer.attachments = attachments
    try:
        with cpu_limit(MAX_SECONDS):
            return Markup(str(parser(text)))  # written by ``_Renderer``, which escapes
    except CpuTimeExceeded:
        return _as_typed(text)
    except Exception:  # noqa: BLE001 (a student may type anything; it is then shown as it was typed)
        return _as_typed(text)


def _as_typed(text: str) -> Markup:
    return Markup("<pre>{}</pre>").format(text)
