"""Random numbers drawn on the device: each thread computes whole blocks of bits.

A block is Philox4x64-10 of its number under the key of the seed (Salmon et al., Parallel Random
Numbers: As Easy as 1, 2, 3, 2011), so threads are independent, and the host provides only the key
and the number of the first block. The bits are converted to the numbers that NumPy draws from the
same blocks: see `mt_tensor.randomness.blocks`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mt_cuda.core.backend import CudaOps
from mt_cuda.core.elements import operand
from mt_cuda.core.kernel import Kernel, Lines, Parameter, define, indented, numbers
from mt_cuda.core.tables import SPECIAL_CASES
from mt_cuda.tensors import planned_over_grid
from mt_tensor import DType, TensorData, bfloat16, float16, float32, float64
from mt_tensor.backends.extending import NumberLike, take_blocks
from mt_tensor.extending import Shape, size_of

ROUNDS = 10
MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
KEY_STEPS = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
"""The multipliers of the words in each round, and the values added to the key after it."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """How 64-bit words are converted to random numbers of one dtype.

    Attributes:
        each: the number of values per word.
        digits: the number of bits of a value.
        lanes: the number of values that are stored at once.
    """

    each: int
    digits: int
    lanes: int

    @property
    def per_block(self) -> int:
        """The number of values of a block of four words."""
        return 4 * self.each


DRAWN = {
    float16: Drawn(2, 11, 1),
    bfloat16: Drawn(2, 8, 1),
    float32: Drawn(2, 24, 4),
    float64: Drawn(1, 53, 2),
}
"""The dtypes that can be drawn."""

_HIGH_PRODUCT = """\
def high_product(a, b):  # the upper half of a product of 128 bits
    wide = uint64(32)
    low = uint64(4294967295)
    middle = (a >> wide) * (b & low) + (((a & low) * (b & low)) >> wide)
    other = (a & low) * (b >> wide) + (middle & low)
    return (a >> wide) * (b >> wide) + (middle >> wide) + (other >> wide)
"""


def uniform(dtype: DType) -> Kernel:
    """Return the kernel that draws `n` numbers in [0, 1), from `blocks` blocks starting at `first`.

    Args:
        dtype: one of `DRAWN`.
    """
    drawn = DRAWN[dtype]
    body = [
        *_HIGH_PRODUCT.splitlines(),
        "",
        "i = cuda.grid(1)",
        "step = cuda.gridsize(1)",
        "while i < blocks:",
        *indented([*_block(), *_values(dtype, drawn), *_stores(drawn)]),
        "    i += step",
    ]
    keys = [Parameter("key0", "uint64"), Parameter("key1", "uint64")]
    parameters = [*numbers("blocks", "n", "first"), *keys, *operand("y", dtype)]
    return define(f"uniform_{dtype.name}", parameters, body)


def _block() -> Lines:
    """Return the lines that encrypt the number of block `i` into the words `w0` to `w3`."""
    first, second = (f"uint64({multiplier})" for multiplier in MULTIPLIERS)
    steps = [f"uint64({step})" for step in KEY_STEPS]
    return [
        "w0 = uint64(first + i)",
        *(f"w{k} = uint64(0)" for k in (1, 2, 3)),
        *(f"k{k} = key{k}" for k in (0, 1)),
        f"for r in range({ROUNDS}):",
        f"    high0 = high_product({first}, w0)",
        f"    high1 = high_product({second}, w2)",
        f"    low0 = {first} * w0",
        f"    low1 = {second} * w2",
        "    w0 = high1 ^ w1 ^ k0",
        "    w1 = low1",
        "    w2 = high0 ^ w3 ^ k1",
        "    w3 = low0",
        *(f"    k{k} = k{k} + {step}" for k, step in enumerate(steps)),
    ]


def _values(dtype: DType, drawn: Drawn) -> Lines:
    """Return the lines that convert the highest bits of words or half words to `v0`, `v1`, ..."""
    kind = "float64" if dtype is float64 else "float32"
    lines = []
    for k in range(drawn.per_block):
        word, shift = f"w{k // drawn.each}", 64 - drawn.digits
        if drawn.each == 2 and k % 2 == 0:
            word, shift = f"({word} & uint64(4294967295))", 32 - drawn.digits
        bits = f"{kind}({word} >> uint64({shift}))"
        value = f"{bits} * {kind}({2.0**-drawn.digits!r})"
        lines.append(f"v{k} = {f'bfloat16({value})' if dtype is bfloat16 else value}")
    return lines


def _stores(drawn: Drawn) -> Lines:
    """Return the lines that store the values of a block, of which the last may be partial."""
    values = [f"v{k}" for k in range(drawn.per_block)]
    ends = range(1, drawn.per_block)
    singly = ["y[at] = v0"]
    for k in ends:
        singly += [f"if at + {k} < end:", f"    y[at + {k}] = v{k}"]
    start = [f"at = y_at + i * {drawn.per_block}", "end = y_at + n"]
    if drawn.lanes == 1:
        return [*start, *singly]
    groups = [values[k : k + drawn.lanes] for k in range(0, len(values), drawn.lanes)]
    together = [
        f"store{drawn.lanes}(y, at + {k * drawn.lanes}, ({', '.join(group)}))"
        for k, group in enumerate(groups)
    ]
    return [
        *start,
        f"if at + {ends[-1]} < end:",
        *indented(together),
        "else:",
        *indented(singly),
    ]


def random(ops: CudaOps, generator: Any, shape: Shape, dtype: DType) -> TensorData | None:
    """Draw uniform numbers in [0, 1); None if the dtype is not in `DRAWN` or there are none.

    The host only counts the blocks.
    """
    drawn, size = DRAWN.get(dtype), size_of(shape)
    if drawn is None or size == 0:
        return None
    count = -(-size // drawn.per_block)
    later = isinstance(generator, NumberLike)  # calls are recorded: see `graphs/`
    counter = generator.later(counter_of, count) if later else counter_of(generator, count)
    plan = planned_over_grid(ops, (uniform, dtype), count)
    out = ops.empty(shape, dtype)
    ops.launch(plan, (out,), (np.int64(size), *counter))
    return out


def counter_of(generator: np.random.Generator, count: int) -> tuple[np.generic, ...]:
    """Advance a generator by `count` blocks; return the number of the first, and the key."""
    (key0, key1), first = take_blocks(generator, count)
    return np.int64(first), np.uint64(key0), np.uint64(key1)


SPECIAL_CASES["random"] = random
