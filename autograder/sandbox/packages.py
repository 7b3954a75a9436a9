"""Which of the installed packages a notebook may find: those that its assignment declares, and their closure.

A distribution says itself what it requires, and which files are its own (``importlib.metadata``). Conditions
other than extras are not looked at: what is required on another system and installed all the same does no
harm.
"""

import importlib.metadata
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import Distribution
from pathlib import Path

from autograder.model import Environment

#: What every notebook imports, and what runs it.
ALWAYS = ("numpy", "ipython")
#: Never to be found, whoever requires it.
KIT = "autograder"

_REQUIREMENT = re.compile(r"\s*([\w.-]+)\s*(?:\[([^\]]*)\])?[^;]*;?(.*)", re.DOTALL)
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")

#: The names of files and folders to be seen in each folder of packages.
Entries = Mapping[str, frozenset[str]]


def entries(environment: Environment, folders: Sequence[str]) -> Entries:
    """What may be seen in each of the folders in which packages are installed."""
    seen: dict[str, set[str]] = {folder: set() for folder in folders}
    for distribution, folder in _closure(environment, folders):
        seen[folder] |= _own_entries(distribution, Path(folder))
    return {folder: frozenset(names) for folder, names in seen.items()}


def _closure(environment: Environment, folders: Sequence[str]) -> Iterator[tuple[Distribution, str]]:
    """All distributions that are declared, or required by those, and where each is installed."""
    waiting = [(name, "") for name in (*ALWAYS, *environment.packages, *environment.optional)]
    met: set[tuple[str, str]] = set()
    while waiting:
        name, extra = waiting.pop()
        if _plain(name) == KIT or (_plain(name), extra) in met:
            continue
        met.add((_plain(name), extra))
        found = _find(name, folders)
        if found is not None:
            waiting += _required(found[0], extra)
            yield found


def _find(name: str, folders: Sequence[str]) -> tuple[Distribution, str] | None:
    """The distribution that Python would find, if there is one."""
    for folder in folders:
        for distribution in importlib.metadata.distributions(name=name, path=[folder]):
            return distribution, folder
    return None


def _required(distribution: Distribution, extra: str) -> Iterator[tuple[str, str]]:
    """Names and extras of what a distribution requires, by itself or for one of its extras."""
    for line in distribution.requires or ():
        found = _REQUIREMENT.match(line)
        if found is None:
            continue
        name, extras, marker = found.groups()
        for_extras = {_plain(one) for one in _EXTRA.findall(marker)}
        if (extra in for_extras) if extra else not for_extras:
            yield name, ""
            yield from ((name, _plain(one.strip())) for one in (extras or "").split(",") if one.strip())


def _own_entries(distribution: Distribution, folder: Path) -> set[str]:
    """The files and folders that a distribution has in the folder of packages, without links to elsewhere.

    Where an installer keeps no record, as Debian's, they are told by their names.
    """
    record = distribution.read_text("RECORD")
    if record is not None:
        names = {line.strip('"').partition("/")[0].partition(",")[0] for line in record.splitlines()}
    else:
        modules = {_plain(one) for one in (distribution.read_text("top_level.txt") or "").split()}
        modules.add(_plain(distribution.metadata["Name"]))
        names = {name for name in os.listdir(folder) if _plain(re.split(r"[.-]", name)[0]) in modules}  # noqa: PTH208
    return {name for name in names - {"..", "", "__pycache__"} if (folder / name).exists()}


def _plain(name: str) -> str:
    """A name as all its spellings are compared.

    >>> _plain("Typing.Extensions") == _plain("typing_extensions")
    True
    """
    return re.sub(r"[-_.]+", "-", name).lower()
