"""Blocks of random bits of NumPy's Philox generator, for backends that compute them themselves.

A block is four words of 64 bits. Block n of a sequence is the Philox cipher of the counter n with a
key that is derived from the seed, so a device can compute it from key and counter. NumPy increments
the counter first, so the first block of a sequence is number 1. Uniform numbers from 0 to 1 are the
highest bits of words: 53 of each for float64, and 24 of each half for float32, the lower half
first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mt_tensor.core.generator import used_blocks


class Blocks(NamedTuple):
    """A range of blocks of a sequence.

    Attributes:
        key: the key of the cipher, two words.
        first: the number of the first block.
    """

    key: tuple[int, int]
    first: int


def take_blocks(numbers: np.random.Generator, count: int) -> Blocks:
    """Reserve blocks of a sequence, and advance the generator past them."""
    bits: Any = numbers.bit_generator
    with bits.lock:
        key, used = bits.state["state"]["key"].tolist(), used_blocks(numbers)
        bits.advance(count)
    return Blocks((key[0], key[1]), used + 1)
