"""Blocks of random bits: how NumPy's Philox counts them, and how others take them in its place.

A block is four words of 64 bits. Number n of a sequence is the cipher of the counter n under a key
that belongs to the seed, so whoever knows key and counter can make it. NumPy increments the counter
first: the first block of a sequence is number 1. What NumPy draws evenly from 0 to 1 are the
highest bits of words: 53 of each for float64, and 24 of each half of one for float32, the lower
half first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mt_tensor.core.generator import used_blocks


class Blocks(NamedTuple):
    """Blocks that somebody takes from a sequence.

    Attributes:
        key: of the cipher, two words.
        first: the number of the first of them.
    """

    key: tuple[int, int]
    first: int


def take_blocks(numbers: np.random.Generator, count: int) -> Blocks:
    """Take blocks from a sequence, which goes on behind them as if they had been drawn from."""
    bits: Any = numbers.bit_generator
    with bits.lock:
        key, used = bits.state["state"]["key"].tolist(), used_blocks(numbers)
        bits.advance(count)
    return Blocks((key[0], key[1]), used + 1)
