"""Group normalization: one launch forward, and three backward.

The elements of a group are contiguous, so its statistics and the gradient of its elements are those
of layer normalization; weight and bias are per channel. For their gradients, one launch sums the
planes of all channels, and another these sums.
"""

from __future__ import annotations

from typing import Any

from mt_cuda.core.elements import computed
from mt_cuda.normalization.layer_norm import Normalized, added_up, given
from mt_cuda.rows.kernels import Operand, RowLayout, Rows, planned
from mt_cuda.rows.teams import Team
from mt_cuda.tensors import FloatKernel, elements_of, new, ops_of, tensor_of
from mt_tensor import DType, Tensor
from mt_tensor.extending import Gradients, Needs, Saved

# --- Kernels ------------------------------------------------------------------------------------

CHANNEL = "own % groups * members + index32(j) // index32(plane)"
"""The channel of an element, if rows are groups of `members` channels of `plane` elements."""


def sums_of_planes(dtype: DType, team: Team) -> Rows:
    """Return the kernel that sums each plane, for the gradients of weight and bias.

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
    """Group normalization; the arguments are input, weight, bias, number of groups and eps."""

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the result; save the mean and the scale of each group."""
        x, weight, bias, groups, eps = arguments
        return _rows(x, groups).value(x, given(weight, bias), eps)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of input, weight and bias."""
        x, weight, _, groups, _ = arguments
        ops, (samples, channels), upstream = ops_of(x), x.shape[:2], elements_of(grad)
        of_x = _rows(x, groups).gradient(x, upstream, weight, saved)
        needed = [place for place in (1, 2) if needs[place]]
        if not needed:
            return of_x, None, None, None, None

        layout = RowLayout(samples * channels, x.numel() // (samples * channels))
        plan = planned(ops, (sums_of_planes, x.dtype), layout, counts=(channels // groups,))
        sums = [new(x, (samples, channels), computed(x.dtype)) for _ in range(2)]
        ops.launch(plan, [elements_of(x), upstream, *saved, *sums])
        found = added_up(x, [sums[place % 2] for place in needed], (channels,))
        others = {place: tensor_of(each, x) for place, each in zip(needed, found, strict=True)}
        return of_x, others.get(1), others.get(2), None, None


def _rows(x: Tensor, groups: int) -> Normalized:
    """Return a tensor's groups as rows to normalize."""
    members = x.shape[1] // groups
    layout = RowLayout(x.shape[0] * groups, x.numel() // (x.shape[0] * groups))
    counts = {"groups": groups, "members": members, "plane": layout.length // members}
    return Normalized(layout, place=CHANNEL, counts=counts)


KERNELS = {"group_norm": GroupNorm()}
"""For `mt_tensor.extending.register_kernels`."""
