"""Draw NumPy's random numbers on all threads, in a fifth of NumPy's time.

Each block of bits is a function of its number alone (`mt_tensor.randomness.blocks`), so each thread
computes its share of the blocks: Philox4x64-10, of Salmon et al., Parallel Random Numbers: As Easy
as 1, 2, 3, 2011. The bits of some blocks are computed first, with the rounds of the cipher
unrolled, and then converted to numbers in a vectorized loop.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.typing import templates
from numba.extending import intrinsic

from mt_fast.core.kernel import Kernel, defined
from mt_fast.core.lowering import NAMESPACE
from mt_fast.core.source import function, indented
from mt_fast.core.tables import SPECIAL_CASES
from mt_tensor import DType, TensorData, float32, float64
from mt_tensor.backends.extending import take_blocks, used_blocks
from mt_tensor.extending import Array, Shape, size_of

ROUNDS = 10
MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
KEY_STEPS = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
"""The multipliers of the words in each round, and the values added to the key after it."""

BLOCKS_AT_ONCE = 256
"""The number of blocks whose bits are computed before they are converted: 8 KB, a fraction of the
cache."""

_WORD = 2**64
"""The number of values of a word."""

KERNEL_FROM = 8192
"""The number of elements from which this is faster: advancing a NumPy generator takes as long as
drawing this many."""


@intrinsic
def product_halves(_context: Any, x: Any, y: Any) -> Any:
    """Return the upper and the lower half of a product of 128 bits: one instruction."""
    word = types.uint64

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        int64, int128 = ir.IntType(64), ir.IntType(128)
        product = builder.mul(*(builder.zext(each, int128) for each in args))
        upper = builder.lshr(product, ir.Constant(int128, 64))
        halves = [builder.trunc(each, int64) for each in (upper, product)]
        return context.make_tuple(builder, signature.return_type, halves)

    signature = templates.signature(types.UniTuple(word, 2), x, y)  # type: ignore[no-untyped-call]
    return (signature, generate) if x == y == word else None


@functools.cache
def _uniform(dtype: DType) -> Kernel:
    """Return the kernel that draws numbers of a dtype; its units are blocks from `first`."""
    wide = dtype is float64
    digits, bits = (53, 64) if wide else (24, 32)
    per_block = 256 // bits
    keys = [f"a{r}, b{r} = keys[{r}, 0], keys[{r}, 1]" for r in range(ROUNDS)]
    rounds = [
        line
        for r in range(ROUNDS)
        for line in (
            "high0, low0 = product_halves(multiplier0, w0)",
            "high1, low1 = product_halves(multiplier1, w2)",
            f"w0, w1, w2, w3 = high1 ^ w1 ^ a{r}, low1, high0 ^ w3 ^ b{r}, low0",
        )
    ]
    body = [
        f"words = np.empty({4 * BLOCKS_AT_ONCE}, np.uint64)",
        f"parts = words.view(np.uint{bits})",
        *(f"multiplier{k} = np.uint64({value})" for k, value in enumerate(MULTIPLIERS)),
        *keys,
        f"for start in range(lo, hi, {BLOCKS_AT_ONCE}):",
        f"    end = min(start + {BLOCKS_AT_ONCE}, hi)",
        "    for i in range(end - start):",
        "        w0 = first + np.uint64(start + i)",
        "        w1 = w2 = w3 = np.uint64(0)",
        *indented(rounds, 2),
        *(f"        words[4 * i + {k}] = w{k}" for k in range(4)),
        # The last block may be too long.
        f"    results = out[start * {per_block} : end * {per_block}]",
        "    for i in range(results.size):",
        f"        digits = np.int{bits}(parts[i] >> np.uint{bits}({bits - digits}))",
        f"        results[i] = np.{dtype.name}(digits) * np.{dtype.name}({2.0**-digits!r})",
    ]
    source = function(f"uniform_{dtype.name}", ("keys", "first", "out"), body)
    names = {**NAMESPACE, "np": np, "product_halves": product_halves}
    return Kernel(source, defined(source.name, source.text, names), allocates=True)


@functools.lru_cache(64)
def _round_keys(key: tuple[int, int]) -> Array:
    """Return the two words of each round's key."""
    steps = np.arange(ROUNDS, dtype=np.uint64)[:, None] * np.array(KEY_STEPS, np.uint64)
    keys: Array = np.array(key, np.uint64) + steps
    return keys


def random(
    backend: Any, numbers: np.random.Generator, shape: Shape, dtype: DType
) -> TensorData | None:
    """Return uniform numbers as the backend's `random` does; None if the backend should draw them.

    Args:
        backend: the backend, which allocates the view.
        numbers: NumPy's Philox, at the start of a block.
        shape: the shape of the result.
        dtype: a floating-point dtype.
    """
    if dtype not in (float32, float64) or size_of(shape) < KERNEL_FROM:
        return None
    per_block = 32 // dtype.itemsize
    blocks = -(-size_of(shape) // per_block)
    if used_blocks(numbers) + blocks >= _WORD:  # the kernel counts in one word of four
        return None
    out = backend.empty(shape, dtype)
    key, first = take_blocks(numbers, blocks)
    arguments = _round_keys(key), np.uint64(first), out.storage
    _uniform(dtype).run(blocks, out.size >= backend.parallel_from, *arguments)
    return out  # type: ignore[no-any-return]


SPECIAL_CASES["random"] = random
