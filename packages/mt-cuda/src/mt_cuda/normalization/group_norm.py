"""Group normalization: one launch forward, and three backward.

The elements of a group are contiguous, so its statistics and the gradient of its elements are those
of layer normalization; weight and bias are per channel. For their gradients, one launch sums the
planes of all channels, and another these sums.
"""

from __future__ import annotations

from typing import Any

from mt_cuda.core.elements import computed
from mt_cuda.normalization.layer_norm import added_up, given, gradient_of_rows, normalized_rows
from mt_cuda.rows.kernels import Operand, RowLayout, Rows, planned
from mt_cuda.rows.teams import Team
from mt_cuda.tensors import FloatKernel, elements_of, new, number_of, ops_of, tensor_of
from mt_tensor import DType, Tensor
from mt_tensor.extending import Gradients, Needs, Saved

# --- Kernels ------------------------------------------------------------------------------------

COUNTS = ("groups", "members", "plane")

CHANNEL = "own % groups * members + index32(j) // index32(plane)"
"""The channel of an element, if rows are groups of `members` channels of `plane` elements."""


def sums_of_planes(dtype: DType, team: Team) -> Rows:
    """Return the kernel of each plane's sums for the gradients of weight and bias.

    `members` is the number of planes that share a mean and a scale.
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


class GroupNorm(FloatKernel):
    """Group normalization: input, weight, bias, number of groups, eps."""

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the result; saved are mean and scale of each group."""
        x, weight, bias, groups, eps = arguments
        affine, ops, out = given(weight, bias), ops_of(x), new(x)
        rows, members = x.shape[0] * groups, x.shape[1] // groups
        layout = RowLayout(rows, x.numel() // rows)
        recipe = (normalized_rows, x.dtype, True, tuple(affine), CHANNEL, COUNTS)
        plan = planned(ops, recipe, layout, counts=(groups, members, layout.length // members))
        statistics = [new(x, (rows,), computed(x.dtype)) for _ in range(2)]
        views = [elements_of(x), *map(elements_of, affine.values()), out, *statistics]
        ops.launch(plan, views, [number_of(eps, x.dtype)])
        return tensor_of(out, x), tuple(statistics)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of input, weight and bias."""
        x, weight, _, groups, _ = arguments
        ops, (samples, channels), out = ops_of(x), x.shape[:2], new(x)
        members, plane = channels // groups, x.numel() // (samples * channels)
        elements, upstream = elements_of(x), elements_of(grad)
        weights = [] if weight is None else [elements_of(weight)]
        names = ("weight",) * len(weights)
        recipe = (gradient_of_rows, x.dtype, True, names, CHANNEL, COUNTS)
        layout = RowLayout(samples * groups, members * plane)
        plan = planned(ops, recipe, layout, counts=(groups, members, plane))
        ops.launch(plan, [elements, upstream, *weights, *saved, out])
        needed = [place for place in (1, 2) if needs[place]]
        if not needed:
            return tensor_of(out, x), None, None, None, None

        layout = RowLayout(samples * channels, plane)
        plan = planned(ops, (sums_of_planes, x.dtype), layout, counts=(members,))
        sums = [new(x, (samples, channels), computed(x.dtype)) for _ in range(2)]
        ops.launch(plan, [elements, upstream, *saved, *sums])
        found = added_up(x, [sums[place % 2] for place in needed], (channels,))
        others = {place: tensor_of(each, x) for place, each in zip(needed, found, strict=True)}
        return tensor_of(out, x), others.get(1), others.get(2), None, None


KERNELS = {"group_norm": GroupNorm()}
"""For `mt_tensor.extending.register_kernels`."""
