"""Cross-entropy: the loss of all samples in two launches, and its gradient in one.

Each row of scores yields its loss at once, and the logarithm of the sum of its exponentials, from
which the gradient makes the softmax anew. The composition writes both softmax and its logarithm,
and as many zeros as there are scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_cuda.kernel import computed
from mt_cuda.library.fused.tensors import (
    elements_of,
    is_floating,
    new,
    number_of,
    ops_of,
    tensor_of,
)
from mt_cuda.library.rows import Operand, RowLayout, Rows, planned, rows_along
from mt_cuda.library.teams import Team
from mt_tensor import DType, Tensor, TensorData, int64
from mt_tensor.extending import FUSED, FusedKernel


def losses_of_rows(dtype: DType, losses: DType, team: Team) -> Rows:
    """Return the kernel of each row's loss, and of the logarithm of its sum of exponentials.

    A target outside of the row, which nobody passes on, would have a loss of nan.
    """
    compute = computed(dtype)
    operands = {
        "x": Operand(dtype),
        "target": Operand(int64, "row"),
        "losses": Operand(losses, "row"),
        "logarithms": Operand(compute, "row"),
    }
    rows = Rows("cross_entropy", operands, team, compute)
    rows.fold("largest", "larger", "-inf", "{x}")
    rows.sums(total="math.exp({x} - largest)")
    rows.let("logarithm", "math.log(total)")
    rows.let("wanted", "{target}")
    inside, nan = "(wanted >= 0) & (wanted < length)", f"{compute.name}(nan)"
    rows.let("chosen", f"{rows.element('x', 'wanted')} if {inside} else {nan}")
    rows.store("losses", "logarithm - (chosen - largest)")
    rows.store("logarithms", "logarithm + largest")
    return rows


def gradient_of_rows(dtype: DType, one: bool, team: Team) -> Rows:
    """Return the kernel of the gradient, `(softmax(x) - 1 at the target) * grad * factor`.

    Args:
        dtype: the element type.
        one: whether there is one upstream gradient for all losses.
        team: who works on a row.
    """
    compute = computed(dtype)
    operands = {
        "x": Operand(dtype),
        "target": Operand(int64, "row"),
        "logarithms": Operand(compute, "row"),
        "grad": Operand(dtype, "whole" if one else "row"),
        "out": Operand(dtype),
    }
    name = f"cross_entropy_gradient_{'one' if one else 'each'}"
    rows = Rows(name, operands, team, compute, values=("factor",))
    rows.let("wanted", "{target}").let("logarithm", "{logarithms}").let("share", "{grad} * factor")
    hit = f"({compute.name}(1) if j == wanted else {compute.name}(0))"
    return rows.store("out", f"(math.exp({{x}} - logarithm) - {hit}) * share")


def scaled_total(compute: DType, dtype: DType, team: Team) -> Rows:
    """Return the kernel of the sum of a row, times a factor."""
    operands = {"x": Operand(compute), "y": Operand(dtype, "row")}
    rows = Rows("scaled_total", operands, team, compute, values=("factor",))
    return rows.sums(total="{x}").store("y", "total * factor")


class CrossEntropy(FusedKernel):
    """Scores of shape (samples, classes, *rest), classes, and how losses are put together."""

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing to the composition."""
        return is_floating(arguments[0])

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return the loss; saved are the logarithms of the sums.

        Raises:
            IndexingError: a class does not exist.
        """
        x, classes, reduction = arguments
        _check(*arguments)
        ops, compute = ops_of(x), computed(x.dtype)
        each = x.dtype if reduction == "none" else compute
        losses, logarithms = new(x, classes.shape, each), new(x, classes.shape, compute)

        def plan() -> Any:
            layout = rows_along(x.shape, 1)
            team = layout.teams(ops.machine.size.threads)
            return planned(ops, losses_of_rows(x.dtype, each, team), layout)

        ready = ops.remembered(("cross_entropy", x.shape, x.dtype, each), plan)
        ops.launch(ready, [elements_of(x), elements_of(classes), losses, logarithms])
        if reduction == "none":
            return tensor_of(losses, x), (logarithms,)
        return tensor_of(_total(losses, x, reduction), x), (logarithms,)

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradient of the scores."""
        (logarithms,), (x, classes, reduction) = saved, arguments
        ops, one, out = ops_of(x), reduction != "none", new(x)

        def plan() -> Any:
            layout = rows_along(x.shape, 1)
            team = layout.teams(ops.machine.size.threads)
            return planned(ops, gradient_of_rows(x.dtype, one, team), layout)

        ready = ops.remembered(("cross_entropy gradient", x.shape, x.dtype, one), plan)
        views = [elements_of(x), elements_of(classes), logarithms, elements_of(grad), out]
        ops.launch(ready, views, [_factor(reduction, logarithms.size, x.dtype)])
        return tensor_of(out, x), None, None


def _total(losses: TensorData, x: Tensor, reduction: str) -> TensorData:
    """Return the sum or the mean of losses, in the type of scores."""
    ops, out = ops_of(x), new(x, ())

    def plan() -> Any:
        threads = ops.machine.size.threads
        rows = scaled_total(losses.dtype, x.dtype, Team(threads, threads))
        return planned(ops, rows, RowLayout(1, losses.size))

    ready = ops.remembered(("scaled_total", losses.size, x.dtype), plan)
    ops.launch(ready, [losses, out], [_factor(reduction, losses.size, x.dtype)])
    return out


def _factor(reduction: str, count: int, dtype: DType) -> Any:
    return number_of(1 / count if reduction == "mean" else 1, dtype)


def _check(x: Tensor, classes: Tensor, reduction: str) -> None:
    """Raise IndexingError, as the composition does, if a class does not exist."""
    array = classes.backend.to_host(classes._tensor)
    if array.min() < 0 or array.max() >= x.shape[1]:
        FUSED["cross_entropy"](x, classes, reduction)


CROSS_ENTROPY = CrossEntropy()
