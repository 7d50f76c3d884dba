"""Operands of 16 bits: converted for `autocast`, or because of a number that they would round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_tensor.core.conversion import cast
from mt_tensor.core.dtypes import Number
from mt_tensor.core.elementwise import ElementwiseOperation
from mt_tensor.core.extensions import BLOCKS, EXTENSIONS, extends
from mt_tensor.core.tensor import Tensor
from mt_tensor.emulation.exactness import is_exact


@extends("operands of 16 bits")
def computed_wider(
    operation: ElementwiseOperation, args: Sequence[Any], operands: Sequence[Tensor]
) -> Tensor | None:
    """Return the result of an operation in a wider dtype, or None if it has no need for one.

    Args:
        operation: what is computed.
        args: its arguments, tensors and numbers.
        operands: the same as tensors of 16 bits.
    """
    operator, dtype = operation.operator, operands[-1].dtype
    if BLOCKS.count:
        adjusted = EXTENSIONS["argument under autocast"]
        wide = [adjusted(operator.name, operand) for operand in operands]
        if wide[-1].dtype is not dtype:
            numbers = [isinstance(arg, Number) for arg in args]
            return operation(*[a if n else w for a, n, w in zip(args, numbers, wide, strict=True)])
    if not (operation.rules.chooses or operator.result == "bool"):
        finer = [isinstance(arg, Number) and not is_exact(arg, dtype) for arg in args]
        if True in finer:  # numbers that it would round: the result is rounded instead
            wide = [
                a if f else cast(x, dtype.computed)
                for a, f, x in zip(args, finer, operands, strict=True)
            ]
            return cast(operation(*wide), dtype)
    return None
