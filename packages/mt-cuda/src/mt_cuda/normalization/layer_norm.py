"""Layer and RMS normalization: one launch forward, two backward.

A mean and a scale per row are saved; the gradient recomputes the normalized elements. With
normalized elements y and upstream gradients g (times the weight), the gradient is `scale * (g -
mean(g) - y * mean(g * y))` (Ioffe and Szegedy, Batch normalization, 2015). RMS normalization scales
a row to a mean square of 1 without centering it: its mean is taken as 0, and its gradient lacks
`mean(g)`.

The gradients of weight and bias are sums over columns. The kernels treat columns as rows that are
side by side in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mt_cuda.core.backend import Plan
from mt_cuda.core.elements import computed
from mt_cuda.core.machine import Size
from mt_cuda.rows.kernels import Operand, RowLayout, Rows, planned, rows_along
from mt_cuda.rows.teams import Team
from mt_cuda.tensors import FloatKernel, elements_of, new, number_of, ops_of, tensor_of
from mt_tensor import DType, Tensor, TensorData
from mt_tensor.extending import Gradients, Needs, Saved, Shape, size_of

# --- Kernels ------------------------------------------------------------------------------------


def normalized_rows(
    dtype: DType,
    centered: bool,
    names: tuple[str, ...],
    place: str,
    counts: tuple[str, ...],
    team: Team,
) -> Rows:
    """Return the kernel that normalizes rows, and stores the mean and the scale of each.

    Args:
        dtype: the dtype of the elements.
        centered: whether to subtract the mean of a row.
        names: "weight", "bias", both or neither.
        place: the position of the elements of weight and bias; see `Operand`.
        counts: the names of the integers that `place` refers to.
        team: the threads that share a row.
    """
    compute, affine = computed(dtype), dict.fromkeys(names, Operand(dtype, place))
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
    """Return the expression of a value times the weight, plus the bias, if there are any."""
    value = f"{value} * {{weight}}" if "weight" in affine else value
    return f"{value} + {{bias}}" if "bias" in affine else value


def gradient_of_rows(
    dtype: DType,
    centered: bool,
    names: tuple[str, ...],
    place: str,
    counts: tuple[str, ...],
    team: Team,
) -> Rows:
    """Return the kernel of the gradient of the elements; arguments as in `normalized_rows`."""
    compute, affine = computed(dtype), dict.fromkeys(names, Operand(dtype, place))
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
    dtype: DType, centered: bool, needed: Sequence[str], parts: bool, team: Team
) -> Rows:
    """Return the kernel of the gradients of weight and bias, or of one of them.

    Args:
        dtype: the dtype of the elements.
        centered: whether the mean of a row was subtracted.
        needed: "weight", "bias" or both.
        parts: whether columns are split into chunks.
        team: the threads that share a column.
    """
    compute = computed(dtype)
    out = Operand(compute, "part") if parts else Operand(dtype, "row")
    operands = {
        "x": Operand(dtype),
        "grad": Operand(dtype),
        **_statistics(compute, centered, "column"),
        **{f"of_{name}": out for name in needed},
    }
    name = _named("norm_gradient_of", centered, needed) + "_parts" * parts
    rows = Rows(name, operands, team, compute, chunked=parts)
    distance = "({x} - {mean})" if centered else "{x}"
    terms = {"weight": f"{{grad}} * ({distance} * {{scale}})", "bias": "{grad}"}
    rows.sums(**{f"{name}_total": terms[name] for name in needed})
    for name in needed:
        rows.store(f"of_{name}", f"{name}_total")
    return rows


def sums_of_columns(dtype: DType, count: int, team: Team) -> Rows:
    """Return the kernel that sums the columns of `count` matrices of parts."""
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
    """Return the weight and the bias by name, except those that are None."""
    both = {"weight": weight, "bias": bias}
    return {name: tensor for name, tensor in both.items() if tensor is not None}


@dataclass(frozen=True, slots=True)
class Normalized:
    """Rows of a tensor that are normalized.

    Attributes:
        layout: the layout of the rows.
        centered: whether to subtract the mean of a row.
        place: the position of the elements of weight and bias; see `Operand`.
        counts: the integers that `place` refers to, by name.
    """

    layout: RowLayout
    centered: bool = True
    place: str = "column"
    counts: dict[str, int] = field(default_factory=dict)

    def value(self, x: Tensor, affine: dict[str, Tensor], eps: float) -> tuple[Tensor, Saved]:
        """Return the normalized tensor, and the mean (if centered) and scale of each row."""
        out, compute = new(x), computed(x.dtype)
        statistics = [new(x, (self.layout.rows,), compute) for _ in range(1 + self.centered)]
        views = [elements_of(x), *map(elements_of, affine.values()), out, *statistics]
        plan = self._planned(normalized_rows, x, tuple(affine))
        ops_of(x).launch(plan, views, [number_of(eps, x.dtype)])
        return tensor_of(out, x), tuple(statistics)

    def gradient(self, x: Tensor, grad: TensorData, weight: Tensor | None, saved: Saved) -> Tensor:
        """Return the gradient of the tensor."""
        out, weights = new(x), [] if weight is None else [elements_of(weight)]
        plan = self._planned(gradient_of_rows, x, ("weight",) * len(weights))
        ops_of(x).launch(plan, [elements_of(x), grad, *weights, *saved, out])
        return tensor_of(out, x)

    def _planned(self, make: Any, x: Tensor, names: tuple[str, ...]) -> Plan:
        recipe = (make, x.dtype, self.centered, names, self.place, tuple(self.counts))
        return planned(ops_of(x), recipe, self.layout, counts=tuple(self.counts.values()))


class LastDimensions(FloatKernel):
    """Normalization over the last dimensions.

    The arguments are input, weight, bias, number of dimensions and eps.

    Attributes:
        centered: whether to subtract the mean; if not, the arguments have no bias.
    """

    def __init__(self, centered: bool) -> None:
        self.centered = centered

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the result; save the mean (if centered) and the scale of each row."""
        x, affine, shape, eps = self._taken(arguments)
        return self._rows(x, shape).value(x, affine, eps)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of input, weight and bias."""
        x, affine, shape, _ = self._taken(arguments)
        read, of_x = [elements_of(x), elements_of(grad)], None
        if needs[0]:
            of_x = self._rows(x, shape).gradient(x, read[1], affine.get("weight"), saved)
        names = ("weight", "bias") if self.centered else ("weight",)
        needed = [name for name, need in zip(names, needs[1:], strict=False) if need]
        found = self._of_affine(x, [*read, *saved], needed, shape) if needed else {}
        others = [tensor_of(found[name], x) if name in found else None for name in names]
        return of_x, *others, None, None

    def _taken(self, arguments: Any) -> tuple[Tensor, dict[str, Tensor], Shape, float]:
        """Return the input, weight and bias, the normalized shape, and eps."""
        x, weight, *bias, folded, eps = arguments
        return x, given(weight, *bias or (None,)), x.shape[x.ndim - folded :], eps

    def _rows(self, x: Tensor, shape: Shape) -> Normalized:
        """Return the rows to normalize, each with the elements of `shape`."""
        length = size_of(shape)
        return Normalized(RowLayout(x.numel() // length, length), self.centered)

    def _of_affine(
        self, x: Tensor, read: list[TensorData], needed: Sequence[str], shape: Shape
    ) -> dict[str, TensorData]:
        ops, length = ops_of(x), size_of(shape)
        layout = rows_along((x.numel() // length, length), 0)
        team = layout.teams(ops.machine.size.threads)
        chunks = layout.chunks(team, ops.machine.size) if _is_much(layout, ops.machine.size) else 1
        parts = chunks > 1
        recipe = (gradient_of_columns, x.dtype, self.centered, tuple(needed), parts)
        if parts:
            results = [new(x, (chunks, length), computed(x.dtype)) for _ in needed]
        else:
            results = [new(x, shape) for _ in needed]
        plan = planned(ops, recipe, layout, chunks if parts else None)
        ops.launch(plan, [*read, *results])
        return dict(zip(needed, added_up(x, results, shape) if parts else results, strict=True))


def added_up(like: Tensor, parts: Sequence[TensorData], shape: Shape) -> list[TensorData]:
    """Return the sums of the columns of matrices of one shape, in the dtype of a tensor.

    Args:
        like: the tensor.
        parts: the matrices.
        shape: the shape of each of the results.
    """
    ops, recipe = ops_of(like), (sums_of_columns, like.dtype, len(parts))
    results = [new(like, shape) for _ in parts]
    ops.launch(planned(ops, recipe, rows_along(parts[0].shape, 0)), [*parts, *results])
    return results


WORTH = 16
"""The number of elements per thread of the GPU above which columns are split, at the cost of a
second launch."""


def _is_much(layout: RowLayout, size: Size) -> bool:
    return layout.rows * layout.length > size.parallel * size.threads * WORTH


KERNELS = {"layer_norm": LastDimensions(True), "rms_norm": LastDimensions(False)}
"""For `mt_tensor.extending.register_kernels`."""
