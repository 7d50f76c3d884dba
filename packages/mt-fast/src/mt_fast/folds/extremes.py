"""Reduce floats with a maximum or minimum without a test for nan at every step.

A flag records nan, and replaces the result at the end of a run: the maximum of two numbers is then
one instruction, which LLVM vectorizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_fast.core.lowering import NAMESPACE, Generate, instructions
from mt_fast.core.reductions import TEXTS, FoldText
from mt_fast.core.rendering import converted


def _of_numbers(comparison: str) -> Generate:
    """Return the generator of an instruction that selects one of two floats that are not nan."""

    def generate(builder: Any, _kind: Any, values: Sequence[Any]) -> Any:
        flags = ("nnan", "nsz")
        chosen = builder.fcmp_ordered(comparison, *values, flags=flags)
        return builder.select(chosen, *values, flags=flags)

    return generate


larger, smaller = instructions(_of_numbers(">"), 2), instructions(_of_numbers("<"), 2)


class Maximum(FoldText):
    """The statements that reduce floats with a maximum."""

    function = "larger"

    def begin(self, first: str) -> tuple[list[str], int]:
        """Return the statements that start a run, which may read the first element twice."""
        return [f"acc = {converted(first, self.dtype, self.acc_dtype)}", "has_nan = False"], 0

    def resume(self, total: str) -> list[str]:
        """Return the statements that continue from an earlier result, which may be nan."""
        return [*super().resume(total), "has_nan = acc != acc"]

    def each(self, element: str) -> list[str]:
        """Return the statements that add one element of a run."""
        step = f"acc = {self.function}(acc, value)"
        return [f"value = {element}", step, "has_nan |= value != value"]

    def end(self) -> list[str]:
        """Return the statement after a run."""
        return [f"acc = {self.computed.name}(nan) if has_nan else acc"]


class Minimum(Maximum):
    """The statements that reduce floats with a minimum."""

    function = "smaller"


NAMESPACE.update(larger=larger, smaller=smaller)
TEXTS.update(maximum=Maximum, minimum=Minimum)
