"""Where the random numbers of checks come from.

A course's secret and what is being checked give the seed, so that nobody can guess the inputs and every
grade can be reproduced. Students share 16 variants, so that the reference's answers need not be computed
once per student.
"""

import hashlib
import hmac

import numpy as np

VARIANTS = 16


def rng(
    secret: bytes, assignment: str, exercise: str, check: str, variant: int, attempt: int = 0
) -> np.random.Generator:
    """The generator of one check of one exercise; another ``attempt`` gives a fresh fork other inputs."""
    digest = _digest(secret, "rng", assignment, exercise, check, str(variant), str(attempt))
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest)))


def variant_of(secret: bytes, student: str) -> int:
    """Which of the variants a student gets: 0 .. 15."""
    return int.from_bytes(_digest(secret, "variant", student)) % VARIANTS


def _digest(secret: bytes, *words: str) -> bytes:
    """A keyed hash of the words, each preceded by its length, so that no two lists of words look alike."""
    # surrogatepass: the name of a folder may hold bytes that are no text.
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    message = b"".join(len(word).to_bytes(8) + word for word in encoded)
    return hmac.digest(secret, message, hashlib.sha256)
