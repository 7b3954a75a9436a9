"""Cells out of a file that is no valid JSON: an upload that broke off, a comma too few, a byte gone wrong."""

import json
import re
from typing import Any

#: How often reading starts again behind what makes no sense: each time may cost a look at the whole file.
RESTARTS_LIMIT = 20

_CELLS = re.compile(r'"cells"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")
_CELL = re.compile(r'\{\s*"(?:attachments|cell_type|execution_count|id|metadata)"\s*:')


def whole_cells(text: str, decoder: json.JSONDecoder) -> list[dict[str, Any]]:
    """The cells that stand whole in the text of a damaged notebook; none where nothing looks like a cell.

    Raises RecursionError where one is nested too deeply.
    """
    beginning = _CELLS.search(text)
    cells: list[dict[str, Any]] = []
    position = len(text) if beginning is None else beginning.end()
    restarts = 0
    while restarts < RESTARTS_LIMIT:
        position = _after_blanks(text, position)
        try:
            cell, position = decoder.raw_decode(text, position)
        except ValueError:
            cell = None
        if isinstance(cell, dict) and "cell_type" in cell and ("source" in cell or "input" in cell):
            cells.append(cell)
            continue
        restarts += 1
        following = _CELL.search(text, position + 1)
        if following is None:
            break
        position = following.start()
    return cells


def _after_blanks(text: str, position: int) -> int:
    between = _BETWEEN.match(text, position)
    return position if between is None else between.end()
