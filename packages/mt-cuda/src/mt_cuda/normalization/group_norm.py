"""Group normalization: one launch forward, and three back.

A group lies in a row, so that its statistics and the gradient of its elements are those of a layer;
weight and bias belong to its channels. For their gradients, one launch adds up the planes of all
channels, and another these sums.
"""

from __future__ import annotations

from typing import Any

from mt_cuda.core.elements import computed
from mt_cuda.normalization.layer_norm import (
    added_up,
    given,
    gradient_of_rows,
    normalized_rows,
)
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
from mt_tensor.extending import FusedKernel, Gradients, Needs, Saved

# --- Kernels ------------------------------------------------------------------------------------

COUNTS = ("groups", "members", "plane")

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


# --- The operation on tensors -------------------------------------------------------------------


class GroupNorm(FusedKernel):
    """Groups of channels normalized: input, weight, bias, how many groups, eps."""

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing to the composition."""
        return is_floating(arguments[0])

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the result; the gradient reads mean and scale of each group."""
        x, weight, bias, groups, eps = arguments
        affine, ops, out = given(weight, bias), ops_of(x), new(x)
        rows, members = x.shape[0] * groups, x.shape[1] // groups
        layout = RowLayout(rows, x.numel() // rows)

        def plan() -> Any:
            team = layout.teams(ops.machine.size.threads)
            operands = dict.fromkeys(affine, Operand(x.dtype, CHANNEL))
            kernel = normalized_rows(x.dtype, team, True, operands, COUNTS)
            return planned(ops, kernel, layout, counts=(groups, members, layout.length // members))

        statistics = [new(x, (rows,), computed(x.dtype)) for _ in range(2)]
        ready = ops.remembered(("group norm", x.dtype, x.shape, groups, *affine), plan)
        views = [elements_of(x), *map(elements_of, affine.values()), out, *statistics]
        ops.launch(ready, views, [number_of(eps, x.dtype)])
        return tensor_of(out, x), tuple(statistics)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of the elements, the weight and the bias."""
        x, weight, _, groups, _ = arguments
        ops, (samples, channels), out = ops_of(x), x.shape[:2], new(x)
        members, plane = channels // groups, x.numel() // (samples * channels)
        elements, upstream = elements_of(x), elements_of(grad)
        weights = [] if weight is None else [elements_of(weight)]

        def plan() -> Any:
            layout = RowLayout(samples * groups, members * plane)
            team = layout.teams(ops.machine.size.threads)
            operands = {"weight": Operand(x.dtype, CHANNEL)} if weights else {}
            kernel = gradient_of_rows(x.dtype, team, True, operands, COUNTS)
            return planned(ops, kernel, layout, counts=(groups, members, plane))

        ready = ops.remembered(
            ("group norm gradient", x.dtype, x.shape, groups, weight is None), plan
        )
        ops.launch(ready, [elements, upstream, *weights, *saved, out])
        wanted = [place for place in (1, 2) if needs[place]]
        if not wanted:
            return tensor_of(out, x), None, None, None, None

        def plan_sums() -> Any:
            layout = RowLayout(samples * channels, plane)
            team = layout.teams(ops.machine.size.threads)
            return planned(ops, sums_of_planes(x.dtype, team), layout, counts=(members,))

        ready = ops.remembered(("group norm sums", x.dtype, x.shape, groups), plan_sums)
        sums = [new(x, (samples, channels), computed(x.dtype)) for _ in range(2)]
        ops.launch(ready, [elements, upstream, *saved, *sums])
        found = added_up(x, [sums[place % 2] for place in wanted], (channels,))
        others = {place: tensor_of(each, x) for place, each in zip(wanted, found, strict=True)}
        return tensor_of(out, x), others.get(1), others.get(2), None, None


KERNELS = {"group_norm": GroupNorm()}
"""For `mt_tensor.extending.register_kernels`."""
