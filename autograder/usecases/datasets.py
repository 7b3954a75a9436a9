"""Texts to train on that are not part of the kit: fetched once, or brought along, and always checked.

On disk: ``data/<file>`` in the course's folder, not committed.
"""

import hashlib
import logging
import tempfile
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import CourseError, did_you_mean
from autograder.files import did_you_mean_path, write_atomically


@dataclass(frozen=True)
class Dataset:
    """A file that is known by its SHA-256, and where it can be had."""

    name: str
    file: str
    url: str
    sha256: str


DATASETS = {
    "tinyshakespeare": Dataset(
        name="tinyshakespeare",
        file="tinyshakespeare.txt",
        url="https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
        sha256="86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
    )
}


def find_dataset(name: str) -> Dataset:
    """A dataset by its name; raises CourseError that names the known ones."""
    if name not in DATASETS:
        hint = did_you_mean(name, DATASETS) or f" Known: {', '.join(DATASETS)}."
        raise CourseError(f"There is no dataset {name!r}.{hint}")
    return DATASETS[name]


def place_of(course: Path, dataset: Dataset) -> Path:
    """Where a dataset lies, or will lie, in a course."""
    return course / "data" / dataset.file


def obtain(course: Path, dataset: Dataset, local: Path | None = None) -> Path:
    """Bring a dataset into the course, from the file ``local`` or else from the network; returns its place.

    What lies there already and is right stays.

    Raises:
        CourseError: the file is another one, cannot be read or written, or cannot be fetched.
    """
    place = place_of(course, dataset)
    if place.is_file() and _is_right(place.read_bytes(), dataset):
        return place
    data = _fetched(dataset) if local is None else _read(local)
    if not _is_right(data, dataset):
        raise CourseError(
            f"{local} is not {dataset.name}: its SHA-256 is {hashlib.sha256(data).hexdigest()}, "
            f"not {dataset.sha256}."
        )
    try:
        place.parent.mkdir(exist_ok=True)
        write_atomically(place, data)
    except OSError as error:
        raise CourseError(f"{place} cannot be written: {error.strerror}.") from error
    return place


def _is_right(data: bytes, dataset: Dataset) -> bool:
    return hashlib.sha256(data).hexdigest() == dataset.sha256


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}.{did_you_mean_path(path)}") from error


def _fetched(dataset: Dataset) -> bytes:
    """The file from the network, its checksum checked by pooch."""
    otherwise = f"Give a copy that you have: autograder data {dataset.name} --from FILE"
    try:
        import pooch  # noqa: PLC0415 - an optional dependency
    except ModuleNotFoundError as error:
        raise CourseError(
            f"To fetch {dataset.name}, install the group 'labs' "
            f"(in the kit's folder: pip install -e '.[labs]'). {otherwise}"
        ) from error
    pooch.get_logger().setLevel(logging.WARNING)
    try:
        with tempfile.TemporaryDirectory(prefix="autograder-data-") as scratch:
            found = pooch.retrieve(dataset.url, f"sha256:{dataset.sha256}", fname=dataset.file, path=scratch)
            return Path(found).read_bytes()
    except OSError as error:
        raise CourseError(
            f"{dataset.name} cannot be fetched: no answer from {dataset.url}. {otherwise}"
        ) from error
    except ValueError as error:  # the checksum
        raise CourseError(f"What {dataset.url} gave is not {dataset.name}. {otherwise}") from error
