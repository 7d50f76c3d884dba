"""Batch normalization: two launches each way.

The elements of a channel are a row that lies in planes, one in each sample. There are few channels
and many elements, so that rows are cut into chunks. The first launch finds the mean of each chunk,
and the sum of its squared distances from that; the second puts them together, as Chan, Golub and
LeVeque do (Updating formulae and a pairwise algorithm for computing sample variances, 1979), and
normalizes. Back, the parts are sums. The formula of the gradient is that of
`fused/normalization.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_cuda.core.elements import computed
from mt_cuda.normalization.layer_norm import given, shifted
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
from mt_tensor import DType, Tensor, TensorData
from mt_tensor.extending import FusedKernel, Gradients, Needs, Saved, size_of

# --- Kernels ------------------------------------------------------------------------------------


def moments(dtype: DType, team: Team) -> Rows:
    """Return the kernel of the mean of each chunk, and of its squared distances from it."""
    compute = computed(dtype)
    part = Operand(compute, "part")
    operands = {"x": Operand(dtype), "centers": part, "squares": part}
    rows = Rows("batch_moments", operands, team, compute, chunked=True)
    rows.sums(total="{x}").let("middle", f"total / {compute.name}(stop - begin)")
    rows.sums(square="({x} - middle) * ({x} - middle)")
    return rows.store("centers", "middle").store("squares", "square")


def normalized(dtype: DType, team: Team, affine: Sequence[str]) -> Rows:
    """Return the kernel that puts parts together, and normalizes.

    Args:
        dtype: the element type.
        team: who works on a chunk.
        affine: "weight", "bias", both or none.
    """
    compute = computed(dtype)
    kind, part, row = compute.name, Operand(compute, "part"), Operand(compute, "row")
    operands = {
        "x": Operand(dtype),
        "centers": part,
        "squares": part,
        **dict.fromkeys(affine, Operand(dtype, "row")),
        "out": Operand(dtype),
        "mean": row,
        "variance": row,
        "scale": row,
    }
    name = "_".join(["batch_norm", *affine])
    rows = Rows(name, operands, team, compute, values=("eps",), chunked=True)
    count = f"{kind}(min(span, length - part * span))"
    rows.sums_of_parts("chunks", total=f"{{centers}} * {count}")
    rows.let("middle", f"total / {kind}(length)")
    distance = "({centers} - middle)"
    rows.sums_of_parts("chunks", square=f"{{squares}} + {distance} * {distance} * {count}")
    rows.let("spread", f"square / {kind}(length)")
    rows.let("factor", f"{kind}(1) / math.sqrt(spread + eps)")
    rows.store("mean", "middle").store("variance", "spread").store("scale", "factor")
    return rows.store("out", shifted("({x} - middle) * factor", affine))


def sums_of_gradients(dtype: DType, team: Team) -> Rows:
    """Return the kernel of each chunk's gradients, and of their products with the distances."""
    compute = computed(dtype)
    part = Operand(compute, "part")
    operands = {
        "x": Operand(dtype),
        "grad": Operand(dtype),
        "mean": Operand(compute, "row"),
        "totals": part,
        "products": part,
    }
    rows = Rows("batch_norm_sums", operands, team, compute, chunked=True)
    rows.let("middle", "{mean}")
    rows.sums(total="{grad}", product="{grad} * ({x} - middle)")
    return rows.store("totals", "total").store("products", "product")


def gradients(dtype: DType, team: Team, weighted: bool, wanted: Sequence[str]) -> Rows:
    """Return the kernel that puts sums together, and writes all gradients.

    Args:
        dtype: the element type.
        team: who works on a chunk.
        weighted: whether there is a weight.
        wanted: which gradients of "weight" and "bias" are wanted.
    """
    compute = computed(dtype)
    kind, part, row = compute.name, Operand(compute, "part"), Operand(compute, "row")
    operands = {
        "x": Operand(dtype),
        "grad": Operand(dtype),
        "mean": row,
        "scale": row,
        "totals": part,
        "products": part,
        **({"weight": Operand(dtype, "row")} if weighted else {}),
        "out": Operand(dtype),
        **{f"of_{name}": Operand(dtype, "row") for name in wanted},
    }
    name = "_".join(["batch_norm_gradient", *("weighted",) * weighted, *wanted])
    rows = Rows(name, operands, team, compute, chunked=True)
    rows.let("middle", "{mean}").let("factor", "{scale}")
    rows.sums_of_parts("chunks", total="{totals}", product="{products}")
    rows.let("normalized", "product * factor")
    sums = {"weight": "normalized", "bias": "total"}
    for name in wanted:
        rows.store(f"of_{name}", sums[name])
    rows.let("offset", f"total / {kind}(length)")
    rows.let("slope", f"normalized * factor / {kind}(length)")
    rows.let("share", "factor * {weight}" if weighted else "factor")
    return rows.store("out", "share * ({grad} - offset - ({x} - middle) * slope)")


# --- The operation on tensors -------------------------------------------------------------------


class BatchNorm(FusedKernel):
    """Channels normalized: input, weight, bias, eps, and a list for mean and variance."""

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing to the composition."""
        return is_floating(arguments[0])

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the result; the gradient reads mean and scale of each channel."""
        x, weight, bias, eps, statistics = arguments
        affine, dtype, compute = given(weight, bias), x.dtype, computed(x.dtype)
        ops, (layout, team, chunks) = ops_of(x), _cut(x)

        def plan() -> Any:
            kernels = moments(dtype, team), normalized(dtype, team, tuple(affine))
            return [planned(ops, kernel, layout, chunks) for kernel in kernels]

        first, second = ops.remembered(("batch norm", dtype, layout, *affine), plan)
        elements, parts = elements_of(x), _parts(x, layout, chunks)
        ops.launch(first, [elements, *parts])
        out, found = new(x), [new(x, (layout.rows,), compute) for _ in range(3)]
        views = [elements, *parts, *map(elements_of, affine.values()), out, *found]
        ops.launch(second, views, [number_of(eps, dtype)])
        mean, variance, scale = found
        statistics[:] = [tensor_of(each, x) for each in (mean, variance)]
        return tensor_of(out, x), (mean, scale)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of the elements, the weights and the biases."""
        x, weight, *_ = arguments
        names, dtype = ("weight", "bias"), x.dtype
        wanted = tuple(name for name, need in zip(names, needs[1:3], strict=True) if need)
        ops, (layout, team, chunks) = ops_of(x), _cut(x)

        def plan() -> Any:
            second = gradients(dtype, team, weight is not None, wanted)
            kernels = sums_of_gradients(dtype, team), second
            return [planned(ops, kernel, layout, chunks) for kernel in kernels]

        key = ("batch norm gradient", dtype, layout, weight is None, wanted)
        first, second = ops.remembered(key, plan)
        both, parts = [elements_of(x), elements_of(grad)], _parts(x, layout, chunks)
        ops.launch(first, [*both, saved[0], *parts])
        out, found = new(x), {name: new(x, (layout.rows,)) for name in wanted}
        weights = [] if weight is None else [elements_of(weight)]
        ops.launch(second, [*both, *saved, *parts, *weights, out, *found.values()])
        others = [tensor_of(found[name], x) if name in found else None for name in names]
        return tensor_of(out, x), *others, None, None


def _cut(x: Tensor) -> tuple[RowLayout, Team, int]:
    """Return how channels lie, who works on them, and how many chunks each has."""
    samples, channels, *rest = x.shape
    plane, size = size_of(tuple(rest)), ops_of(x).machine.size
    layout = RowLayout(channels, samples * plane, channels, plane)
    team = layout.teams(size.threads)
    return layout, team, layout.chunks(team, size)


def _parts(x: Tensor, layout: RowLayout, chunks: int) -> list[TensorData]:
    """Return memory for two numbers for each chunk of each channel."""
    return [new(x, (chunks, layout.rows), computed(x.dtype)) for _ in range(2)]


KERNELS = {"batch_norm": BatchNorm()}
"""For `mt_tensor.extending.register_kernels`."""
