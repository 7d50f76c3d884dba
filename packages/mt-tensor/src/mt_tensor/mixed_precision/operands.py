"""Convert 16-bit operands for `autocast`, or for numbers that 16-bit floats would round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_tensor.core.conversion import cast
from mt_tensor.core.dtypes import Number
from mt_tensor.core.elementwise import ElementwiseOperation
from mt_tensor.core.extensions import AUTOCAST_BLOCKS, EXTENSIONS, extends
from mt_tensor.core.tensor import Tensor
from mt_tensor.emulation.exactness import is_exact

SCALED = ("mul", "div")
"""The operators whose second operand is not rounded if it is one element of another dtype."""


@extends("operands of 16 bits")
def computed_wider(
    operation: ElementwiseOperation, args: Sequence[Any], operands: Sequence[Tensor]
) -> Tensor | None:
    """Compute an operation in a wider dtype; return None if 16 bits suffice.

    Args:
        operation: the operation.
        args: its arguments, tensors and numbers.
        operands: the arguments as 16-bit tensors.
    """
    operator, dtype = operation.operator, operands[-1].dtype
    if AUTOCAST_BLOCKS.count:
        convert = EXTENSIONS["argument under autocast"]
        wide = [convert(operator.name, operand) for operand in operands]
        if wide[-1].dtype is not dtype:
            numbers = [isinstance(arg, Number) for arg in args]
            return operation(*[a if n else w for a, n, w in zip(args, numbers, wide, strict=True)])
    if not (operation.rules.has_condition or operator.result == "bool"):
        inexact = [isinstance(arg, Number) and not is_exact(arg, dtype) for arg in args]
        if operator.name in SCALED and isinstance(args[1], Tensor):
            inexact[1] = args[1].dtype is not dtype and args[1].numel() == 1
        if True in inexact:  # compute in float32, and round the result instead
            wide = [
                arg if rounds else cast(x, dtype.computed)
                for arg, rounds, x in zip(args, inexact, operands, strict=True)
            ]
            return cast(operation(*wide), dtype)
    return None
