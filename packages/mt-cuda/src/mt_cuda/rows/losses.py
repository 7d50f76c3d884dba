"""Cross-entropy: the loss of all samples in two launches, and its gradient in one.

Each row of scores yields its loss directly, and the log of the sum of its exponentials, from which
the gradient recomputes the softmax. The composition stores both softmax and log-softmax, and as
many zeros as there are scores.
"""

from __future__ import annotations

from typing import Any

from mt_cuda.core.elements import computed
from mt_cuda.core.kernel import indented
from mt_cuda.indexing.checks import NOTED, launch_checking, noting
from mt_cuda.rows.kernels import Operand, RowLayout, Rows, planned, rows_along
from mt_cuda.rows.teams import Team
from mt_cuda.tensors import FloatKernel, elements_of, new, ops_of, tensor_of
from mt_tensor import DType, Tensor, TensorData, int64
from mt_tensor.extending import Gradients, Needs, Saved


def losses_of_rows(dtype: DType, losses: DType, team: Team) -> Rows:
    """Return the kernel of each row's loss, and of the log of its sum of exponentials.

    The loss of an ignored target is 0; an invalid target is noted, and its loss is nan.
    """
    compute = computed(dtype)
    operands = {
        "x": Operand(dtype),
        "target": Operand(int64, "row"),
        "losses": Operand(losses, "row"),
        "logarithms": Operand(compute, "row"),
        "notice": Operand(int64, "whole", array=True),
    }
    rows = Rows("cross_entropy", operands, team, compute, counts=("ignored",), extra=NOTED)
    rows.fold("largest", "larger", "-inf", "{x}")
    rows.sums(total="math.exp({x} - largest)")
    rows.let("logarithm", "math.log(total)")
    rows.let("label", "{target}")
    inside, nan = "(label >= 0) & (label < length)", f"{compute.name}(nan)"
    rows.let("chosen", f"{rows.element('x', 'label')} if {inside} else {nan}")
    rows.lines += [
        "if (row < rows) & (lane == 0) & (label != ignored):",
        *indented(noting("label", "0", "length")),
    ]
    loss = "logarithm - (chosen - largest)"
    rows.store("losses", f"{loss} if label != ignored else {compute.name}(0)")
    rows.store("logarithms", "logarithm + largest")
    return rows


def gradient_of_rows(dtype: DType, reduction: str, team: Team) -> Rows:
    """Return the kernel of the gradient, `(softmax(x) - 1 at the target) * grad`.

    If the losses are reduced, there is one upstream gradient for all of them; for a mean, it is
    divided by the number of targets that are not ignored.

    Args:
        dtype: the dtype of the elements.
        reduction: the reduction of the losses.
        team: the threads that share a row.
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
    rows.let("label", "{target}").let("logarithm", "{logarithms}")
    rows.let("share", "{grad} / {counted}" if reduction == "mean" else "{grad}")
    zero = f"{compute.name}(0)"
    value = f"math.exp({{x}} - logarithm) - ({compute.name}(1) if j == label else {zero})"
    return rows.store("out", f"({value}) * share if label != ignored else {zero}")


def total_of_losses(compute: DType, dtype: DType, mean: bool, team: Team) -> Rows:
    """Return the kernel of the sum or the mean of all losses, which are one row.

    The mean is over losses that are not ignored; the kernel also stores their number.
    """
    team = Team(team.threads, team.threads)  # all threads of a block
    row = Operand(compute, "row")
    operands = {"losses": Operand(compute), "target": Operand(int64), "out": Operand(dtype, "row")}
    name = "mean_of_losses" if mean else "sum_of_losses"
    rows = Rows(name, {**operands, "counted": row}, team, compute, counts=("ignored",))
    one, zero = f"{compute.name}(1)", f"{compute.name}(0)"
    rows.sums(total="{losses}", number=f"{one} if {{target}} != ignored else {zero}")
    return rows.store("out", "total / number" if mean else "total").store("counted", "number")


class CrossEntropy(FloatKernel):
    """Cross-entropy; the arguments are scores, targets, the target to ignore and the reduction.

    Scores have the shape (samples, classes, *rest), targets (samples, *rest).
    """

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the loss; save the logs of the sums, and the number of targets if it is a mean.

        An invalid target raises an error at the next synchronization: see
        `mt_cuda.indexing.checks`.
        """
        x, classes, ignored, reduction = arguments
        ops, compute, target = ops_of(x), computed(x.dtype), elements_of(classes)
        each = x.dtype if reduction == "none" else compute
        losses, logarithms = new(x, classes.shape, each), new(x, classes.shape, compute)
        recipe, layout = (losses_of_rows, x.dtype, each), rows_along(x.shape, 1)
        plan = planned(ops, recipe, layout, counts=(ignored,))
        where = ("cross_entropy()", "dimension 1")
        launch_checking(ops, plan, [elements_of(x), target, losses, logarithms], where)
        if reduction == "none":
            return tensor_of(losses, x), (logarithms,)
        out, counted = _total(losses, target, x, ignored, reduction)
        return tensor_of(out, x), (logarithms, *([counted] if reduction == "mean" else []))

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of the scores."""
        (logarithms, *counted), (x, classes, ignored, reduction) = saved, arguments
        ops, out = ops_of(x), new(x)
        recipe, layout = (gradient_of_rows, x.dtype, reduction), rows_along(x.shape, 1)
        views = [elements_of(x), elements_of(classes), logarithms, elements_of(grad)]
        ops.launch(planned(ops, recipe, layout, counts=(ignored,)), [*views, *counted, out])
        return tensor_of(out, x), None, None, None


def _total(
    losses: TensorData, target: TensorData, x: Tensor, ignored: int, reduction: str
) -> list[TensorData]:
    """Return the sum or mean of the losses in the scores' dtype, and the number of targets."""
    ops, compute = ops_of(x), losses.dtype
    results = [new(x, ()), new(x, (), compute)]
    recipe = (total_of_losses, compute, x.dtype, reduction == "mean")
    plan = planned(ops, recipe, RowLayout(1, losses.size), counts=(ignored,))
    ops.launch(plan, [losses, target, *results])
    return results


KERNELS = {"cross_entropy": CrossEntropy()}
"""For `mt_tensor.extending.register_kernels`."""
