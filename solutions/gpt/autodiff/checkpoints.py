"""A run of training in a file: arrays in NumPy's .npz format, without any pickle, and a description in JSON.

The file appears whole or not at all: it is written beside its place under another name first.
"""

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from autodiff.tensor import Array

#: The name under which the description is kept, among those of the arrays.
_DESCRIPTION = "description"


class CheckpointError(Exception):
    """A checkpoint that cannot be read, or belongs to another run."""


def write(path: Path, description: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Keep arrays, with what they belong to, in a file; the folder is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as file:
            kept: dict[str, Any] = {_DESCRIPTION: np.array(json.dumps(description)), **arrays}
            np.savez(file, **kept)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def read(path: Path, description: Mapping[str, Any]) -> dict[str, Array]:
    """The arrays of a checkpoint.

    Raises CheckpointError where it cannot be read, or was written with another description; the message names
    what is different.
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept_file:
            arrays = {name: kept_file[name] for name in kept_file.files}
        kept = json.loads(arrays.pop(_DESCRIPTION).item())
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise CheckpointError(
            f"{path} is no checkpoint that can be read: remove it, or name another."
        ) from error
    wanted = json.loads(json.dumps(description))
    different = [name for name in wanted if kept.get(name) != wanted[name]]
    if different:
        raise CheckpointError(
            f"{path} belongs to another run: it differs in {', '.join(different)}. Remove it, or name "
            "another."
        )
    return arrays
