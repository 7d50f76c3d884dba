"""NumPy as the oracle for steps whose operation has one in the tables of samples.

It computes values, from float64 operands with the settings of the sample; it says nothing about
errors, memory or gradients. It is the only oracle without torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mt.fuzz.programs import Step
from mt_tensor.core.dtypes import Array

MOVED = 1e-7
"""The relative perturbation of operands for estimating rounding errors."""


class Oracle(NamedTuple):
    """The reference implementation of a step.

    Attributes:
        function: a function from float64 arrays to the result.
        order: for each argument of the function, the index of the operand.
        shapes: the shapes of the sample's operands, from which those of the step may differ only in
            sizes that are not 1.
    """

    function: Callable[..., Any]
    order: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]


def expected(step: Step, elements: Mapping[str, Array]) -> tuple[Array, Array] | None:
    """Return the result of the oracle, and the allowed rounding error; or None.

    Args:
        step: the step.
        elements: the elements of all values, by name.
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
        except Exception:  # noqa: BLE001 - errors of NumPy are not compared
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
