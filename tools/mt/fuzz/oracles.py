"""NumPy as an oracle: of steps whose operation has one in the tables of samples.

It says what values are, from operands of float64 and settings as in the sample; not what is
refused, where values lie, and what their gradients are. Without torch it is all there is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mt.fuzz.programs import Step
from mt_tensor.core.dtypes import Array

MOVED = 1e-7
"""By how much of themselves operands are moved, to see how much rounding has to be expected."""


class Oracle(NamedTuple):
    """What a step gives.

    Attributes:
        function: from arrays of float64 to the result.
        order: for each argument of the function, which operand of the step it is.
        shapes: those of the operands of the sample, of which the step's may differ in sizes that
            are not 1.
    """

    function: Callable[..., Any]
    order: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]


def expected(step: Step, elements: Mapping[str, Array]) -> tuple[Array, Array] | None:
    """Return what a step gives by its oracle, and how far off rounding may be; or None.

    Args:
        step: what is done.
        elements: those of all values, by their names.
    """
    oracle: Oracle | None = step.oracle
    operands = [elements.get(str(ref)) for ref in step.refs]
    if oracle is None or not all(map(_is_simple, operands, oracle.shapes)):
        return None
    arrays = [np.array(operands[i], np.float64) for i in oracle.order]
    rng = np.random.default_rng(0)
    moved = [array * (1 + MOVED * rng.uniform(-1, 1, array.shape)) for array in arrays]
    with np.errstate(all="ignore"):
        try:
            wanted, near = (np.asarray(oracle.function(*x), float) for x in (arrays, moved))
        except Exception:  # noqa: BLE001 - what NumPy refuses, and how, tells nothing
            return None
        if wanted.shape != near.shape or not np.isfinite(wanted).all():
            return None
        eps = np.finfo(np.float64).eps
        off = np.where(np.isfinite(near), abs(near - wanted), 0.0)
        return wanted, 64 * eps * (1 + abs(wanted) + off / MOVED)


def _is_simple(array: Array | None, shape: tuple[int, ...]) -> bool:
    return (
        array is not None
        and array.dtype in {np.dtype(float), np.dtype(int)}
        and [size == 1 for size in array.shape] == [size == 1 for size in shape]
        and bool(np.isfinite(array).all())
    )
