"""A text to train on that needs no download: short sentences in which words mean what their company says.

Every noun here has two meanings. Who speaks of it tells which one: a cook's apple is peeled or ripe, a
clerk's apple is charged or updated. So the last word of a sentence follows from two others, the person and
the noun, of which neither is enough; and in some sentences the name decides between "he" and "she" at the
same time. To look at several places at once for different reasons is what several heads are for.

The text is made up from lists by a fixed rule: the same characters on every machine.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

#: About as long as the text that the lesson reports on.
CHARACTERS = 1_000_000

PEOPLE = {
    "kitchen": ("cook", "baker", "waiter", "butcher"),
    "office": ("clerk", "boss", "typist", "agent"),
    "river": ("angler", "miller", "ferryman", "heron"),
    "forest": ("ranger", "hunter", "fox", "woodman"),
    "farm": ("farmer", "shepherd", "shearer", "groom"),
    "stadium": ("coach", "goalie", "referee", "striker"),
    "harbour": ("sailor", "docker", "captain", "pilot"),
    "concert": ("singer", "drummer", "fiddler", "conductor"),
    "court": ("judge", "lawyer", "bailiff", "juror"),
    "workshop": ("smith", "plumber", "joiner", "mechanic"),
    "school": ("teacher", "pupil", "dunce", "head"),
    "garden": ("gardener", "florist", "beekeeper", "weeder"),
}

#: For each noun, where it is met, and what is said of it there.
MEANINGS = {
    "apple": {
        "kitchen": ("peeled", "ripe", "sweet", "sliced"),
        "office": ("charged", "updated", "locked", "muted"),
    },
    "bank": {
        "river": ("muddy", "steep", "grassy", "flooded"),
        "court": ("robbed", "bankrupt", "guarded", "guilty"),
    },
    "bark": {"forest": ("mossy", "rough", "peeling", "brown"), "farm": ("hoarse", "angry", "loud", "brief")},
    "bat": {"stadium": ("cracked", "swung", "heavy", "oiled"), "forest": ("asleep", "furry", "blind", "fed")},
    "bill": {
        "river": ("orange", "flat", "snapping", "wet"),
        "office": ("paid", "overdue", "split", "signed"),
    },
    "bow": {
        "concert": ("rosined", "gentle", "quick", "drawn"),
        "forest": ("strung", "aimed", "carved", "bent"),
    },
    "court": {
        "school": ("swept", "paved", "empty", "chalked"),
        "court": ("adjourned", "seated", "lenient", "silent"),
    },
    "crane": {
        "harbour": ("rusty", "lifting", "swaying", "tall"),
        "river": ("nesting", "wading", "shy", "grey"),
    },
    "date": {"kitchen": ("sticky", "dried", "stoned", "brown"), "office": ("fixed", "missed", "near", "set")},
    "fan": {
        "stadium": ("cheering", "loyal", "upset", "hoarse"),
        "kitchen": ("spinning", "greasy", "noisy", "off"),
    },
    "file": {
        "office": ("saved", "deleted", "renamed", "shared"),
        "workshop": ("blunt", "coarse", "worn", "steel"),
    },
    "jam": {
        "kitchen": ("spread", "boiled", "fruity", "sealed"),
        "harbour": ("cleared", "long", "honking", "slow"),
    },
    "key": {
        "concert": ("minor", "major", "changed", "natural"),
        "workshop": ("cut", "turned", "lost", "copied"),
    },
    "letter": {
        "school": ("capital", "crooked", "mirrored", "missing"),
        "office": ("stamped", "posted", "urgent", "opened"),
    },
    "match": {"stadium": ("drawn", "won", "lost", "tense"), "kitchen": ("struck", "lit", "damp", "burnt")},
    "mouse": {
        "farm": ("trapped", "nibbling", "squeaky", "tiny"),
        "office": ("clicked", "wired", "dusty", "new"),
    },
    "note": {"concert": ("sharp", "held", "sung", "flat"), "school": ("passed", "torn", "pinned", "secret")},
    "organ": {
        "concert": ("pumped", "tuned", "booming", "piped"),
        "court": ("official", "partial", "abolished", "corrupt"),
    },
    "palm": {
        "garden": ("potted", "watered", "leafy", "green"),
        "court": ("greased", "bribed", "raised", "sworn"),
    },
    "pitch": {
        "concert": ("perfect", "low", "wavering", "high"),
        "stadium": ("mown", "frozen", "soggy", "level"),
    },
    "plant": {
        "garden": ("blooming", "wilted", "sown", "pruned"),
        "workshop": ("closed", "smoking", "running", "idle"),
    },
    "ring": {
        "court": ("stolen", "golden", "pawned", "returned"),
        "stadium": ("roped", "crowded", "lit", "square"),
    },
    "rock": {
        "concert": ("electric", "live", "heavy", "old"),
        "river": ("slippery", "mossy", "round", "sunken"),
    },
    "scale": {
        "concert": ("rising", "practised", "falling", "even"),
        "river": ("shiny", "loose", "silver", "wet"),
    },
    "seal": {
        "harbour": ("sleek", "diving", "fat", "barking"),
        "court": ("waxen", "broken", "royal", "forged"),
    },
    "spring": {"workshop": ("coiled", "tight", "oiled", "bent"), "farm": ("late", "mild", "early", "rainy")},
    "trunk": {
        "forest": ("hollow", "felled", "mossy", "thick"),
        "harbour": ("packed", "locked", "unloaded", "full"),
    },
    "watch": {
        "harbour": ("relieved", "sleepy", "doubled", "cold"),
        "school": ("ticking", "wound", "slow", "broken"),
    },
}

#: A name, and how its bearer is spoken of.
NAMES = (
    ("Ada", "she"),
    ("Ben", "he"),
    ("Clara", "she"),
    ("David", "he"),
    ("Emma", "she"),
    ("Felix", "he"),
    ("Greta", "she"),
    ("Hugo", "he"),
)
#: ``{sense}`` is what the person and the noun decide.
SENTENCES = (
    "the {person}'s {noun} is {sense}.",
    "the {person} saw {a} {noun}: {sense}.",
    "{a} {noun}, said the {person}, {sense}.",
    "is the {noun} of the {person} {sense}?",
    "{name} is {one} {person}; {pronoun} has {a} {noun}: {sense}.",
    "{name}, the {person}: {pronoun} calls the {noun} {sense}.",
)


class Corpus(NamedTuple):
    """A text, and for each of its characters whether it belongs to a word that shows a meaning."""

    text: str
    is_sense: NDArray[np.bool_]


def make_corpus(characters: int = CHARACTERS, seed: int = 1) -> Corpus:
    """So many characters of sentences; a shorter corpus is the beginning of a longer one.

    >>> make_corpus(28).text
    'The hunter saw a bat: furry.'
    """
    texts: list[str] = []
    marks: list[bool] = []
    length = 0
    for text, is_sense in _pieces(Random(seed)):  # noqa: S311 - no secret
        texts.append(text)
        marks += [is_sense] * len(text)
        length += len(text)
        if length >= characters:
            break
    return Corpus("".join(texts)[:characters], np.array(marks[:characters], dtype=bool))


def _pieces(rng: Random) -> Iterator[tuple[str, bool]]:
    """Sentences without end, each in up to three pieces; True marks what shows the meaning."""
    while True:
        noun = _choose(list(MEANINGS), rng)
        where = _choose(list(MEANINGS[noun]), rng)
        name, pronoun = _choose(NAMES, rng)
        before, after = _choose(SENTENCES, rng).split("{sense}")
        person = _choose(PEOPLE[where], rng)
        words = {"person": person, "noun": noun, "name": name, "pronoun": pronoun}
        sentence = before.format(**words, a=_article(noun), one=_article(person))
        yield sentence[0].upper() + sentence[1:], False
        yield _choose(MEANINGS[noun][where], rng), True
        yield after + _choose(("\n", " ", " "), rng), False


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


def _choose(things: Sequence[T], rng: Random) -> T:
    """One of them. ``Random.random`` alone is promised to give the same numbers in every Python to come."""
    return things[int(rng.random() * len(things))]
