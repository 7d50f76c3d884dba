"""Cross-entropy: the loss of all samples in two launches, and its gradient in one.

Each row of scores yields its loss at once, and the logarithm of the sum of its exponentials, from
which the gradient makes the softmax anew. The composition writes both softmax and its logarithm,
and as many zeros as there are scores.
"""

from __future__ import annotations

from typing import Any

from mt_cuda.core.elements import computed
from mt_cuda.core.kernel import indented
from mt_cuda.indexing.checks import ASKED, launch_checking, noting
from mt_cuda.rows.kernels import Operand, RowLayout, Rows, planned, rows_along
from mt_cuda.rows.teams import Team
from mt_cuda.tensors import (
    elements_of,
    is_floating,
    new,
    ops_of,
    tensor_of,
)
from mt_tensor import DType, Tensor, TensorData, int64
from mt_tensor.extending import FusedKernel, Gradients, Needs, Saved


def losses_of_rows(dtype: DType, losses: DType, team: Team) -> Rows:
    """Return the kernel of each row's loss, and of the logarithm of its sum of exponentials.

    A target that is ignored has a loss of 0; one outside of the row is noted, and has one of nan.
    """
    compute = computed(dtype)
    operands = {
        "x": Operand(dtype),
        "target": Operand(int64, "row"),
        "losses": Operand(losses, "row"),
        "logarithms": Operand(compute, "row"),
        "notice": Operand(int64, "whole", array=True),
    }
    rows = Rows("cross_entropy", operands, team, compute, counts=("ignored",), asked=ASKED)
    rows.fold("largest", "larger", "-inf", "{x}")
    rows.sums(total="math.exp({x} - largest)")
    rows.let("logarithm", "math.log(total)")
    rows.let("wanted", "{target}")
    inside, nan = "(wanted >= 0) & (wanted < length)", f"{compute.name}(nan)"
    rows.let("chosen", f"{rows.element('x', 'wanted')} if {inside} else {nan}")
    rows.lines += [
        "if (row < rows) & (lane == 0) & (wanted != ignored):",
        *indented(noting("wanted", "0", "length")),
    ]
    loss = "logarithm - (chosen - largest)"
    rows.store("losses", f"{loss} if wanted != ignored else {compute.name}(0)")
    rows.store("logarithms", "logarithm + largest")
    return rows


def gradient_of_rows(dtype: DType, reduction: str, team: Team) -> Rows:
    """Return the kernel of the gradient, `(softmax(x) - 1 at the target) * grad`.

    The upstream gradient is one for all losses if they are reduced; of a mean, it is divided by how
    many targets count.

    Args:
        dtype: the element type.
        reduction: how the losses are put together.
        team: who works on a row.
    """
    compute = computed(dtype)
    operands = {
        "x": Operand(dtype),
        "target": Operand(int64, "row"),
        "logarithms": Operand(compute, "row"),
        "grad": Operand(dtype, "row" if reduction == "none" else "whole"),
        **({"counted": Operand(compute, "whole")} if reduction == "mean" else {}),
        "out": Operand(dtype),
    }
    name = f"cross_entropy_gradient_{reduction}"
    rows = Rows(name, operands, team, compute, counts=("ignored",))
    rows.let("wanted", "{target}").let("logarithm", "{logarithms}")
    rows.let("share", "{grad} / {counted}" if reduction == "mean" else "{grad}")
    zero = f"{compute.name}(0)"
    value = f"math.exp({{x}} - logarithm) - ({compute.name}(1) if j == wanted else {zero})"
    return rows.store("out", f"({value}) * share if wanted != ignored else {zero}")


def total_of_losses(compute: DType, dtype: DType, mean: bool, team: Team) -> Rows:
    """Return the kernel of the sum of all losses, which are one row, or of their mean.

    The mean is that of the losses that count; how many these are is stored, too.
    """
    row = Operand(compute, "row")
    operands = {"losses": Operand(compute), "target": Operand(int64), "out": Operand(dtype, "row")}
    name = "mean_of_losses" if mean else "sum_of_losses"
    rows = Rows(name, {**operands, "counted": row}, team, compute, counts=("ignored",))
    one, zero = f"{compute.name}(1)", f"{compute.name}(0)"
    rows.sums(total="{losses}", number=f"{one} if {{target}} != ignored else {zero}")
    return rows.store("out", "total / number" if mean else "total").store("counted", "number")


class CrossEntropy(FusedKernel):
    """Scores of shape (samples, classes, *rest), classes, and how losses are put together.

    Between the last two is the target of samples that do not count.
    """

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing to the composition."""
        return is_floating(arguments[0])

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the loss; saved are the logarithms of the sums, and how many targets count.

        That a class does not exist is said when somebody waits: see `mt_cuda.indexing.checks`.
        """
        x, classes, ignored, reduction = arguments
        ops, compute, target = ops_of(x), computed(x.dtype), elements_of(classes)
        each = x.dtype if reduction == "none" else compute
        losses, logarithms = new(x, classes.shape, each), new(x, classes.shape, compute)

        def plan() -> Any:
            layout = rows_along(x.shape, 1)
            team = layout.teams(ops.machine.size.threads)
            rows = losses_of_rows(x.dtype, each, team)
            return planned(ops, rows, layout, counts=(ignored,))

        ready = ops.remembered(("cross_entropy", x.shape, x.dtype, each, ignored), plan)
        where = ("cross_entropy()", "dimension 1")
        launch_checking(ops, ready, [elements_of(x), target, losses, logarithms], where)
        if reduction == "none":
            return tensor_of(losses, x), (logarithms,)
        out, counted = _total(losses, target, x, ignored, reduction)
        return tensor_of(out, x), (logarithms, *([counted] if reduction == "mean" else []))

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of the scores."""
        (logarithms, *counted), (x, classes, ignored, reduction) = saved, arguments
        ops, out = ops_of(x), new(x)

        def plan() -> Any:
            layout = rows_along(x.shape, 1)
            team = layout.teams(ops.machine.size.threads)
            rows = gradient_of_rows(x.dtype, reduction, team)
            return planned(ops, rows, layout, counts=(ignored,))

        key = ("cross_entropy gradient", x.shape, x.dtype, ignored, reduction)
        views = [elements_of(x), elements_of(classes), logarithms, elements_of(grad)]
        ops.launch(ops.remembered(key, plan), [*views, *counted, out])
        return tensor_of(out, x), None, None, None


def _total(
    losses: TensorData, target: TensorData, x: Tensor, ignored: int, reduction: str
) -> list[TensorData]:
    """Return the sum or the mean of the losses in the type of scores, and how many count."""
    ops, compute = ops_of(x), losses.dtype
    results = [new(x, ()), new(x, (), compute)]

    def plan() -> Any:
        threads = ops.machine.size.threads
        rows = total_of_losses(compute, x.dtype, reduction == "mean", Team(threads, threads))
        return planned(ops, rows, RowLayout(1, losses.size), counts=(ignored,))

    ready = ops.remembered(("losses", losses.size, x.dtype, reduction, ignored), plan)
    ops.launch(ready, [losses, target, *results])
    return results


KERNELS = {"cross_entropy": CrossEntropy()}
"""For `mt_tensor.extending.register_kernels`."""
