"""Where things lie on the grading machine, taken out of what students read.

Tracebacks, warnings and messages name files: of a run, of Python, of packages. A student's own Jupyter would
show other folders, and where the grading machine has them is nobody's business.
"""

import re
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

#: A prefix such as /usr is everybody's, and tells nothing of this machine.
_ROOT_PARTS = 2
#: What may not follow a folder's name, if the name is to end there.
_END = r"(?![\w.-])"


class MachinePaths:
    """The folders of one run; ``shown`` names them as a student would.

    ``folders`` are further ones with what stands for them, such as the run's own with ``.``.
    """

    def __init__(self, folders: Mapping[str, str]):
        known = {**_python_folders(), **folders}
        self._names = {path.rstrip("/"): name for path, name in known.items() if path.strip("/")}
        longest_first = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile(f"({'|'.join(map(re.escape, longest_first))}){_END}(/?)")

    def shown(self, text: str) -> str:
        """The text with short names in place of folders of this machine.

        >>> MachinePaths({"/scratch/run-1": "."}).shown("File /scratch/run-1/given.py:3, in /scratch/run-1")
        'File given.py:3, in .'
        """
        return self._pattern.sub(self._short, text)

    def _short(self, found: re.Match[str]) -> str:
        name = self._names[found[1]]
        return "" if name == "." and found[2] else name + found[2]


def _python_folders() -> dict[str, str]:
    """Where Python lies, its modules, its packages and this program."""
    program = Path(__file__).parents[2]
    folders = {str(program): program.name}
    for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix):
        if len(Path(prefix).parts) > _ROOT_PARTS:
            folders[prefix] = "python"
    for kind in ("stdlib", "platstdlib", "purelib", "platlib"):
        path = sysconfig.get_path(kind)
        folders[path] = Path(path).name
    return {path: name for one, name in folders.items() for path in (one, str(Path(one).resolve()))}
