"""Layer normalization, and by the mean square alone: one launch forward, two back.

Kept are a mean and a scale for each row; the gradient works the normalized elements out again. Its
formula is that of Ioffe and Szegedy, Batch normalization, 2015: with normalized elements y and
upstream gradients g (times the weight), `scale * (g - mean(g) - y * mean(g * y))`. A row that is
only scaled, to a mean square of 1, has 0 for its mean, and its gradient no `mean(g)`.

The gradients of weight and bias are sums over the columns of all rows: rows of their own, which lie
side by side.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from mt_cuda.core.elements import computed
from mt_cuda.core.machine import Size
from mt_cuda.rows.kernels import Operand, RowLayout, Rows, planned, rows_along
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
from mt_tensor.extending import FusedKernel, Gradients, Needs, Saved, Shape, size_of

# --- Kernels ------------------------------------------------------------------------------------


def normalized_rows(
    dtype: DType,
    team: Team,
    centered: bool,
    affine: dict[str, Operand],
    counts: tuple[str, ...] = (),
) -> Rows:
    """Return the kernel of rows normalized, which stores the mean and the scale of each.

    Args:
        dtype: the element type.
        team: who works on a row.
        centered: whether the mean of a row is made 0.
        affine: the weight, the bias, both or none.
        counts: the names of numbers in what says where these have their elements.
    """
    compute = computed(dtype)
    length = f"{compute.name}(length)"
    statistics = dict.fromkeys((*("mean",) * centered, "scale"), Operand(compute, "row"))
    operands = {"x": Operand(dtype), **affine, "out": Operand(dtype), **statistics}
    name = _named("norm", centered, affine) + "_of_groups" * bool(counts)
    rows = Rows(name, operands, team, compute, values=("eps",), counts=counts)
    if centered:
        rows.sums(total="{x}").let("middle", f"total / {length}").store("mean", "middle")
    distance = "({x} - middle)" if centered else "{x}"
    rows.sums(square=f"{distance} * {distance}")
    rows.let("factor", f"{compute.name}(1) / math.sqrt(square / {length} + eps)")
    return rows.store("scale", "factor").store("out", shifted(f"{distance} * factor", affine))


def shifted(value: str, affine: Collection[str]) -> str:
    """Return the expression of a value times the weight, plus the bias, where there are any."""
    value = f"{value} * {{weight}}" if "weight" in affine else value
    return f"{value} + {{bias}}" if "bias" in affine else value


def gradient_of_rows(
    dtype: DType,
    team: Team,
    centered: bool,
    affine: dict[str, Operand],
    counts: tuple[str, ...] = (),
) -> Rows:
    """Return the kernel of the gradient of the elements; the arguments are those of the value."""
    compute = computed(dtype)
    operands = {
        "x": Operand(dtype),
        "grad": Operand(dtype),
        **affine,
        **_statistics(compute, centered, "row"),
        "out": Operand(dtype),
    }
    name = _named("norm_gradient", centered, affine) + "_of_groups" * bool(counts)
    rows = Rows(name, operands, team, compute, counts=counts)
    upstream = "{grad} * {weight}" if "weight" in affine else "{grad}"
    rows.let("factor", "{scale}")
    if not centered:
        rows.sums(product=f"{upstream} * ({{x}} * factor)")
        rows.let("slope", f"product / {compute.name}(length)")
        return rows.store("out", f"factor * ({upstream} - {{x}} * factor * slope)")
    rows.let("middle", "{mean}")
    rows.sums(total=upstream, product=f"{upstream} * (({{x}} - middle) * factor)")
    rows.let("offset", f"total / {compute.name}(length)")
    rows.let("slope", f"product / {compute.name}(length)")
    return rows.store("out", f"factor * ({upstream} - offset - ({{x}} - middle) * factor * slope)")


def gradient_of_columns(
    dtype: DType, team: Team, centered: bool, wanted: Sequence[str], parts: bool
) -> Rows:
    """Return the kernel of the gradients of weight and bias, or those of `wanted`.

    Args:
        dtype: the element type.
        team: who works on a column.
        centered: whether the mean of a row was made 0.
        wanted: "weight", "bias" or both.
        parts: whether columns are cut into chunks.
    """
    compute = computed(dtype)
    out = Operand(compute, "part") if parts else Operand(dtype, "row")
    operands = {
        "x": Operand(dtype),
        "grad": Operand(dtype),
        **_statistics(compute, centered, "column"),
        **{f"of_{name}": out for name in wanted},
    }
    name = _named("norm_gradient_of", centered, wanted) + "_parts" * parts
    rows = Rows(name, operands, team, compute, chunked=parts)
    distance = "({x} - {mean})" if centered else "{x}"
    terms = {"weight": f"{{grad}} * ({distance} * {{scale}})", "bias": "{grad}"}
    rows.sums(**{f"{name}_total": terms[name] for name in wanted})
    for name in wanted:
        rows.store(f"of_{name}", f"{name}_total")
    return rows


def sums_of_columns(dtype: DType, team: Team, count: int) -> Rows:
    """Return the kernel that adds up the columns of `count` matrices of parts."""
    compute = computed(dtype)
    sources = {f"x{k}": Operand(compute) for k in range(count)}
    results = {f"y{k}": Operand(dtype, "row") for k in range(count)}
    rows = Rows(f"sums_of_columns{count}", {**sources, **results}, team, compute)
    rows.sums(**{f"total{k}": f"{{x{k}}}" for k in range(count)})
    for k in range(count):
        rows.store(f"y{k}", f"total{k}")
    return rows


def _statistics(compute: DType, centered: bool, place: str) -> dict[str, Operand]:
    names = ("mean", "scale") if centered else ("scale",)
    return dict.fromkeys(names, Operand(compute, place))


def _named(name: str, centered: bool, others: Iterable[str]) -> str:
    return "_".join([f"{'layer' if centered else 'rms'}_{name}", *others])


# --- Operations on tensors ----------------------------------------------------------------------


def given(weight: Tensor | None, bias: Tensor | None) -> dict[str, Tensor]:
    """Return those of weight and bias that there are."""
    both = {"weight": weight, "bias": bias}
    return {name: tensor for name, tensor in both.items() if tensor is not None}


class LastDimensions(FusedKernel):
    """The last dimensions normalized: input, weight, bias, how many dimensions, eps.

    Attributes:
        centered: whether the mean is made 0; without, there is no bias among the arguments.
    """

    def __init__(self, centered: bool) -> None:
        self.centered = centered

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing to the composition."""
        return is_floating(arguments[0])

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the result; the gradient reads mean and scale of each row."""
        x, affine, shape, eps = self._taken(arguments)
        ops, compute, length = ops_of(x), computed(x.dtype), size_of(shape)
        layout, out = RowLayout(x.numel() // length, length), new(x)
        statistics = [new(x, (layout.rows,), compute) for _ in range(1 + self.centered)]

        def plan() -> Any:
            team = layout.teams(ops.machine.size.threads)
            columns = dict.fromkeys(affine, Operand(x.dtype, "column"))
            return planned(ops, normalized_rows(x.dtype, team, self.centered, columns), layout)

        ready = ops.remembered(("norm", self.centered, *affine, x.dtype, layout), plan)
        views = [elements_of(x), *map(elements_of, affine.values()), out, *statistics]
        ops.launch(ready, views, [number_of(eps, x.dtype)])
        return tensor_of(out, x), tuple(statistics)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of the elements, the weight and the bias."""
        x, affine, shape, _ = self._taken(arguments)
        read = [elements_of(x), elements_of(grad)]
        of_x = self._of_elements(x, read, affine.get("weight"), saved, shape) if needs[0] else None
        names = ("weight", "bias") if self.centered else ("weight",)
        wanted = [name for name, need in zip(names, needs[1:], strict=False) if need]
        found = self._of_affine(x, [*read, *saved], wanted, shape) if wanted else {}
        others = [tensor_of(found[name], x) if name in found else None for name in names]
        return of_x, *others, None, None

    def _taken(self, arguments: Any) -> tuple[Tensor, dict[str, Tensor], Shape, float]:
        """Return the input, weight and bias, the shape of what is normalized together, and eps."""
        x, weight, *bias, folded, eps = arguments
        return x, given(weight, *bias or (None,)), x.shape[x.ndim - folded :], eps

    def _of_elements(
        self, x: Tensor, read: list[TensorData], weight: Tensor | None, saved: Saved, shape: Shape
    ) -> Tensor:
        ops, out = ops_of(x), new(x)
        layout = RowLayout(x.numel() // size_of(shape), size_of(shape))
        weights = [] if weight is None else [elements_of(weight)]

        def plan() -> Any:
            team = layout.teams(ops.machine.size.threads)
            columns = {"weight": Operand(x.dtype, "column")} if weights else {}
            return planned(ops, gradient_of_rows(x.dtype, team, self.centered, columns), layout)

        key = ("norm gradient", self.centered, weight is None, x.dtype, layout)
        ops.launch(ops.remembered(key, plan), [*read, *weights, *saved, out])
        return tensor_of(out, x)

    def _of_affine(
        self, x: Tensor, read: list[TensorData], wanted: Sequence[str], shape: Shape
    ) -> dict[str, TensorData]:
        ops, length = ops_of(x), size_of(shape)
        layout = rows_along((x.numel() // length, length), 0)
        team = layout.teams(ops.machine.size.threads)
        chunks = layout.chunks(team, ops.machine.size) if _is_much(layout, ops.machine.size) else 1
        parts = chunks > 1

        def plan() -> Any:
            kernel = gradient_of_columns(x.dtype, team, self.centered, wanted, parts)
            return planned(ops, kernel, layout, chunks if parts else None)

        key = ("norm gradient of", self.centered, *wanted, x.dtype, layout)
        if parts:
            results = [new(x, (chunks, length), computed(x.dtype)) for _ in wanted]
        else:
            results = [new(x, shape) for _ in wanted]
        ops.launch(ops.remembered(key, plan), [*read, *results])
        return dict(zip(wanted, added_up(x, results, shape) if parts else results, strict=True))


def added_up(like: Tensor, parts: Sequence[TensorData], shape: Shape) -> list[TensorData]:
    """Return the sums of the columns of matrices of one shape, in the type of a tensor.

    Args:
        like: the tensor.
        parts: the matrices.
        shape: that of each of the results.
    """
    ops, dtype, layout = ops_of(like), like.dtype, rows_along(parts[0].shape, 0)

    def plan() -> Any:
        team = layout.teams(ops.machine.size.threads)
        return planned(ops, sums_of_columns(dtype, team, len(parts)), layout)

    results = [new(like, shape) for _ in parts]
    ready = ops.remembered(("sums of columns", len(parts), dtype, layout), plan)
    ops.launch(ready, [*parts, *results])
    return results


WORTH = 16
"""Elements for each thread of a GPU from which on another launch is worth it, so that all of them
add up columns."""


def _is_much(layout: RowLayout, size: Size) -> bool:
    return layout.rows * layout.length > size.parallel * size.threads * WORTH


KERNELS = {"layer_norm": LastDimensions(True), "rms_norm": LastDimensions(False)}
"""For `mt_tensor.extending.register_kernels`."""
