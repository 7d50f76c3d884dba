"""Batch normalization: two launches each way.

The elements of a channel are a row that consists of planes, one per sample. There are few channels
and many elements, so rows are split into chunks. The first launch computes the mean of each chunk,
and the sum of its squared distances from the mean; the second combines them by the method of Chan,
Golub and LeVeque (Updating formulae and a pairwise algorithm for computing sample variances, 1979),
and normalizes. Backward, the parts are sums. The formula of the gradient is in mt-fast's
`fused/normalization.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_cuda.core.elements import computed
from mt_cuda.normalization.layer_norm import given, shifted
from mt_cuda.rows.kernels import Operand, RowLayout, Rows, planned
from mt_cuda.rows.teams import Team
from mt_cuda.tensors import FloatKernel, elements_of, new, number_of, ops_of, tensor_of
from mt_tensor import DType, Tensor, TensorData
from mt_tensor.extending import Gradients, Needs, Saved, size_of

# --- Kernels ------------------------------------------------------------------------------------


def moments(dtype: DType, team: Team) -> Rows:
    """Return the kernel of each chunk's mean, and of the sum of squared distances from it."""
    compute = computed(dtype)
    part = Operand(compute, "part")
    operands = {"x": Operand(dtype), "centers": part, "squares": part}
    rows = Rows("batch_moments", operands, team, compute, chunked=True)
    rows.sums(total="{x}").let("middle", f"total / {compute.name}(stop - begin)")
    rows.sums(square="({x} - middle) * ({x} - middle)")
    return rows.store("centers", "middle").store("squares", "square")


def normalized(dtype: DType, affine: Sequence[str], team: Team) -> Rows:
    """Return the kernel that combines the parts, and normalizes.

    Args:
        dtype: the dtype of the elements.
        affine: "weight", "bias", both or neither.
        team: the threads that share a chunk.
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
    """Return the kernel that sums gradients, and gradients times distances, over each chunk."""
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


def gradients(dtype: DType, weighted: bool, needed: Sequence[str], team: Team) -> Rows:
    """Return the kernel that combines the sums, and stores all gradients.

    Args:
        dtype: the dtype of the elements.
        weighted: whether there is a weight.
        needed: which gradients of "weight" and "bias" are needed.
        team: the threads that share a chunk.
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
        **{f"of_{name}": Operand(dtype, "row") for name in needed},
    }
    name = "_".join(["batch_norm_gradient", *("weighted",) * weighted, *needed])
    rows = Rows(name, operands, team, compute, chunked=True)
    rows.let("middle", "{mean}").let("factor", "{scale}")
    rows.sums_of_parts("chunks", total="{totals}", product="{products}")
    rows.let("normalized", "product * factor")
    sums = {"weight": "normalized", "bias": "total"}
    for name in needed:
        rows.store(f"of_{name}", sums[name])
    rows.let("offset", f"total / {kind}(length)")
    rows.let("slope", f"normalized * factor / {kind}(length)")
    rows.let("gain", "factor * {weight}" if weighted else "factor")
    return rows.store("out", "gain * ({grad} - offset - ({x} - middle) * slope)")


# --- The operation on tensors -------------------------------------------------------------------


class BatchNorm(FloatKernel):
    """Batch normalization; the arguments are input, weight, bias, eps and a list.

    The list receives the mean and the variance of each channel.
    """

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the result; save the mean and the scale of each channel."""
        x, weight, bias, eps, statistics = arguments
        affine, dtype, compute = given(weight, bias), x.dtype, computed(x.dtype)
        ops, (layout, chunks) = ops_of(x), _cut(x)
        elements, parts = elements_of(x), _parts(x, layout, chunks)
        ops.launch(planned(ops, (moments, dtype), layout, chunks), [elements, *parts])
        out, found = new(x), [new(x, (layout.rows,), compute) for _ in range(3)]
        views = [elements, *parts, *map(elements_of, affine.values()), out, *found]
        second = planned(ops, (normalized, dtype, tuple(affine)), layout, chunks)
        ops.launch(second, views, [number_of(eps, dtype)])
        mean, variance, scale = found
        statistics[:] = [tensor_of(each, x) for each in (mean, variance)]
        return tensor_of(out, x), (mean, scale)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of input, weight and bias."""
        x, weight, *_ = arguments
        names, dtype = ("weight", "bias"), x.dtype
        needed = tuple(name for name, need in zip(names, needs[1:3], strict=True) if need)
        ops, (layout, chunks) = ops_of(x), _cut(x)
        both, parts = [elements_of(x), elements_of(grad)], _parts(x, layout, chunks)
        first = planned(ops, (sums_of_gradients, dtype), layout, chunks)
        ops.launch(first, [*both, saved[0], *parts])
        recipe = (gradients, dtype, weight is not None, needed)
        out, found = new(x), {name: new(x, (layout.rows,)) for name in needed}
        weights = [] if weight is None else [elements_of(weight)]
        views = [*both, *saved, *parts, *weights, out, *found.values()]
        ops.launch(planned(ops, recipe, layout, chunks), views)
        others = [tensor_of(found[name], x) if name in found else None for name in names]
        return tensor_of(out, x), *others, None, None


def _cut(x: Tensor) -> tuple[RowLayout, int]:
    """Return the layout of the channels, and the number of chunks of each."""
    samples, channels, *rest = x.shape
    plane, size = size_of(tuple(rest)), ops_of(x).machine.size
    layout = RowLayout(channels, samples * plane, channels, plane)
    return layout, layout.chunks(layout.teams(size.threads), size)


def _parts(x: Tensor, layout: RowLayout, chunks: int) -> list[TensorData]:
    """Allocate two numbers for each chunk of each channel."""
    return [new(x, (chunks, layout.rows), computed(x.dtype)) for _ in range(2)]


KERNELS = {"batch_norm": BatchNorm()}
"""For `mt_tensor.extending.register_kernels`."""
