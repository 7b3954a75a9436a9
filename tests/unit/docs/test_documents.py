"""Documents refer to what exists, are found from the README, and decisions have numbers of their own."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[3]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
DECISIONS = sorted((ROOT / "docs/decisions").iterdir())
LINK = re.compile(r"\]\(([^()\s]+)\)|(?:src|href)=\"([^\"]+)\"")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def prose(path: Path) -> str:
    """A document without its blocks of code."""
    return FENCE.sub("", path.read_text(encoding="utf-8"))


def links(path: Path) -> Iterator[tuple[Path, str]]:
    """The files or folders that a document refers to by relative links, and the headings within."""
    for found in LINK.findall(CODE.sub("", prose(path))):
        address, _, heading = unquote("".join(found)).partition("#")
        if not re.match(r"[a-z]+:", address):
            yield (path.parent / address).resolve() if address else path, heading


def anchors(path: Path) -> set[str]:
    """The names by which headings of a document are linked to."""
    titles = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def is_there(target: Path, heading: str) -> bool:
    return target.is_relative_to(ROOT) and target.exists() and (not heading or heading in anchors(target))


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    broken = [f"{target}#{heading}" for target, heading in links(path) if not is_there(target, heading)]
    assert [] == broken


def test_a_broken_link_would_be_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "[a](gone.md) [b](#no-such-heading) [c](https://example.org/gone) `[d](code.md)`\n# Here\n"
    )
    assert [(tmp_path / "gone.md", ""), (page, "no-such-heading")] == list(links(page))
    assert {"here"} == anchors(page)


def test_every_document_is_found_from_the_readme() -> None:
    found, new = set(), {ROOT / "README.md"}
    while new:
        found |= new
        targets = {target for path in new for target, _ in links(path)}
        pages = {page for one in targets for page in (one.glob("*.md") if one.is_dir() else [one])}
        new = {page for page in pages if page.suffix == ".md"} - found
    assert [] == [name_of(path) for path in DOCUMENTS if path not in found]


def test_decisions_are_numbered_without_gaps_and_without_clashes() -> None:
    numbers = [int(path.name[:4]) for path in DECISIONS]
    assert list(range(1, len(DECISIONS) + 1)) == numbers


@pytest.mark.parametrize("path", DECISIONS, ids=name_of)
def test_a_decision_says_its_number(path: Path) -> None:
    assert path.read_text(encoding="utf-8").startswith(f"# {int(path.name[:4])}. ")
