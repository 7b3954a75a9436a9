"""Text as numbers, cut into windows: what the model reads, and what it shall say."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


class Vocabulary:
    """The different characters of a text in sorted order, each with its number.

    >>> vocabulary = Vocabulary("banana")
    >>> vocabulary.characters, vocabulary.encode("nab").tolist(), vocabulary.decode([2, 0, 1])
    ('abn', [2, 0, 1], 'nab')
    """

    def __init__(self, text: str):
        self.characters = "".join(sorted(set(text)))
        self._numbers = {character: number for number, character in enumerate(self.characters)}

    def __len__(self) -> int:
        return len(self.characters)

    def encode(self, text: str) -> Numbers:
        """The number of each character; raises ValueError naming the first that is not in the vocabulary."""
        try:
            return np.array([self._numbers[character] for character in text], dtype=np.int64)
        except KeyError as error:
            raise ValueError(
                f"The character {error.args[0]!r} does not occur in the training text."
            ) from error

    def decode(self, numbers: Sequence[int] | Numbers) -> str:
        """The text of these numbers."""
        return "".join(self.characters[number] for number in numbers)


class Windows:
    """Windows of ``context`` characters, one beginning every ``stride`` characters, in batches.

    The last batch is left out where windows are lacking for it. Each target is the character after its input.

    Args:
        numbers: the text as numbers.
        context: how long a window is.
        stride: how far it is from the beginning of one to the beginning of the next.
        batch: how many windows are taken at once.

    Raises ValueError where the text is too short for one batch.

    >>> windows = Windows(np.arange(100), context=8, stride=4, batch=3)
    >>> len(windows)
    7
    >>> inputs, targets = windows[0]
    >>> inputs.shape, inputs[1].tolist()
    ((3, 8), [4, 5, 6, 7, 8, 9, 10, 11])
    >>> targets[1].tolist()
    [5, 6, 7, 8, 9, 10, 11, 12]
    """

    def __init__(self, numbers: Numbers, *, context: int = 32, stride: int = 16, batch: int = 4):
        self._numbers = numbers
        self.characters = len(numbers)
        self.context, self.stride, self.batch = context, stride, batch
        self._starts = np.arange(0, len(numbers) - context, stride)
        self._places = np.arange(context + 1)
        self._order = np.arange(len(self._starts))
        if len(self) == 0:
            raise ValueError(
                f"{len(numbers)} characters are too few: a batch of {batch} windows of {context} characters, "
                f"one every {stride}, takes {context + 1 + stride * (batch - 1)}."
            )

    def __len__(self) -> int:
        """How many batches there are."""
        return len(self._starts) // self.batch

    def __getitem__(self, number: int) -> tuple[Numbers, Numbers]:
        """Batch ``number``: inputs and targets, each (batch, context)."""
        if not 0 <= number < len(self):
            raise IndexError(f"There is no batch {number}: they have the numbers 0 to {len(self) - 1}.")
        chosen = self._order[number * self.batch : (number + 1) * self.batch]
        windows = self._numbers[self._starts[chosen][:, None] + self._places]
        return windows[:, :-1], windows[:, 1:]

    def shuffle(self, *seed: int) -> None:
        """Deal the windows anew into batches: always the same way for the same seed."""
        self._order = np.random.default_rng(seed).permutation(len(self._starts))


class Characters:
    """A text for training and testing: its first part for the one, the rest for the other.

    >>> characters = Characters("a small text " * 100)
    >>> len(characters.vocabulary), len(characters.training), len(characters.test)
    (8, 18, 1)
    """

    def __init__(
        self, text: str, *, context: int = 32, stride: int = 16, batch: int = 4, training_share: float = 0.9
    ):
        self.vocabulary = Vocabulary(text)
        self.sha256 = hashlib.sha256(text.encode()).hexdigest()
        numbers = self.vocabulary.encode(text)
        cut = int(len(numbers) * training_share)
        self.training = Windows(numbers[:cut], context=context, stride=stride, batch=batch)
        self.test = Windows(numbers[cut:], context=context, stride=stride, batch=batch)
