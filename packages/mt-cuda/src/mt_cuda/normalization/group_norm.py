"""Group normalization: one launch forward, and three back.

A group lies in a row, so that its statistics are those of a layer; weight and bias belong to its
channels. Back, the first launch adds up the planes of all channels; from these come both what the
second takes from each element, and the gradients of weight and bias. The formula of the gradient is
that of `fused/normalization.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_cuda.core.kernel import computed
from mt_cuda.normalization.layer_norm import added_up, given, normalized_rows
from mt_cuda.rows.kernels import Operand, RowLayout, Rows, planned
from mt_cuda.rows.teams import Team
from mt_cuda.tensors import (
    elements_of,
    is_floating,
    new,
    number_of,
    ops_of,
    tensor_of,
)
from mt_tensor import DType, Tensor
from mt_tensor.extending import FusedKernel

# --- Kernels ------------------------------------------------------------------------------------

CHANNEL = "own % groups * members + index32(j) // index32(plane)"
"""The channel of an element, where rows are groups of `members` channels of `plane` elements."""


def sums_of_planes(dtype: DType, team: Team) -> Rows:
    """Return the kernel of each plane's gradients, and of their products with what is normalized.

    `members` says how many planes share a mean and a scale.
    """
    compute = computed(dtype)
    group, row = Operand(compute, "own // members"), Operand(compute, "row")
    operands = {
        "x": Operand(dtype),
        "grad": Operand(dtype),
        "mean": group,
        "scale": group,
        "totals": row,
        "products": row,
    }
    rows = Rows("group_norm_sums", operands, team, compute, counts=("members",))
    rows.let("middle", "{mean}").let("factor", "{scale}")
    rows.sums(total="{grad}", product="{grad} * (({x} - middle) * factor)")
    return rows.store("totals", "total").store("products", "product")


def gradient_of_planes(dtype: DType, team: Team, weighted: bool) -> Rows:
    """Return the kernel of the gradient of the elements, from the sums of the planes of a group.

    There are `members` planes in a group, and `channels` in a sample.
    """
    compute = computed(dtype)
    plane = "own // members * members + part"
    group, part = Operand(compute, "own // members"), Operand(compute, plane)
    weights = {
        "weight": Operand(dtype, "own % channels"),
        "weight_of_part": Operand(dtype, f"({plane}) % channels"),
    }
    operands = {
        "x": Operand(dtype),
        "grad": Operand(dtype),
        "mean": group,
        "scale": group,
        "totals": part,
        "products": part,
        **(weights if weighted else {}),
        "out": Operand(dtype),
    }
    name = "group_norm_gradient" + "_weighted" * weighted
    rows = Rows(name, operands, team, compute, counts=("members", "channels"))
    times = " * {weight_of_part}" if weighted else ""
    rows.sums_of_parts("members", total="{totals}" + times, product="{products}" + times)
    rows.let("middle", "{mean}").let("factor", "{scale}")
    rows.let("count", f"{compute.name}(members * length)")
    rows.let("offset", "total / count").let("slope", "product / count")
    rows.let("share", "{weight}" if weighted else f"{compute.name}(1)")
    return rows.store("out", "factor * ({grad} * share - offset - ({x} - middle) * factor * slope)")


# --- The operation on tensors -------------------------------------------------------------------


class GroupNorm(FusedKernel):
    """Groups of channels normalized: input, weight, bias, how many groups, eps."""

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing to the composition."""
        return is_floating(arguments[0])

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return the result; the gradient reads mean and scale of each group."""
        x, weight, bias, groups, eps = arguments
        affine, ops, out = given(weight, bias), ops_of(x), new(x)
        rows, members = x.shape[0] * groups, x.shape[1] // groups
        layout = RowLayout(rows, x.numel() // rows)

        def plan() -> Any:
            team = layout.teams(ops.machine.size.threads)
            operands = dict.fromkeys(affine, Operand(x.dtype, CHANNEL))
            kernel = normalized_rows(x.dtype, team, True, operands, ("groups", "members", "plane"))
            return planned(ops, kernel, layout, counts=(groups, members, layout.length // members))

        statistics = [new(x, (rows,), computed(x.dtype)) for _ in range(2)]
        ready = ops.remembered(("group norm", x.dtype, x.shape, groups, *affine), plan)
        views = [elements_of(x), *map(elements_of, affine.values()), out, *statistics]
        ops.launch(ready, views, [number_of(eps, x.dtype)])
        return tensor_of(out, x), tuple(statistics)

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradients of the elements, the weight and the bias."""
        x, weight, _, groups, _ = arguments
        ops, (samples, channels), out = ops_of(x), x.shape[:2], new(x)
        members, rows = channels // groups, samples * channels
        layout = RowLayout(rows, x.numel() // rows)

        def plan() -> Any:
            team = layout.teams(ops.machine.size.threads)
            sums, elements = (
                sums_of_planes(x.dtype, team),
                gradient_of_planes(x.dtype, team, weight is not None),
            )
            return (
                planned(ops, sums, layout, counts=(members,)),
                planned(ops, elements, layout, counts=(members, channels)),
            )

        key = ("group norm gradient", x.dtype, x.shape, groups, weight is None)
        first, second = ops.remembered(key, plan)
        both = [elements_of(x), elements_of(grad)]
        sums = [new(x, (samples, channels), computed(x.dtype)) for _ in range(2)]
        ops.launch(first, [*both, *saved, *sums])
        weights = [] if weight is None else [elements_of(weight)] * 2
        ops.launch(second, [*both, *saved, *sums, *weights, out])
        wanted = [place for place in (1, 2) if needs[place]]
        found = added_up(x, [sums[place % 2] for place in wanted], (channels,)) if wanted else []
        others = {place: tensor_of(each, x) for place, each in zip(wanted, found, strict=True)}
        return tensor_of(out, x), others.get(1), others.get(2), None, None


KERNELS = {"group_norm": GroupNorm()}
"""For `mt_tensor.extending.register_kernels`."""
