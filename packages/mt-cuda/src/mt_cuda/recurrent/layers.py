"""The operations of recurrent layers: all steps of `rnn`, `gru` and `lstm`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mt_cuda.recurrent import cells as steps_of
from mt_cuda.recurrent.steps import Step, Steps, at, gradient_of_weight
from mt_cuda.tensors import elements_of, is_floating, new, ops_of, tensor_of
from mt_tensor import Tensor, TensorData, int64
from mt_tensor.extending import FusedKernel, Gradients, Needs, Saved

Make = Callable[..., Step]


class Recurrent(FusedKernel):
    """A recurrent layer: all steps of `rnn`, `gru` or `lstm`.

    Attributes:
        names: the arguments in order: `projected`, the products with the inputs, shape (steps,
            batch, n), `hidden`, the first hidden state, `weight`, the matrix that hidden states are
            multiplied by, `lengths` of sequences or None, `backwards`, and the other arguments of
            the cell.
        forward: returns the kernel of a step.
        backward: returns the kernel of a backward step.
        gates: the number of values that a step saves per feature.
    """

    def __init__(self, names: str, forward: Make, backward: Make, gates: int = 0) -> None:
        self.names = names.split()
        self.forward = forward
        self.backward = backward
        self.gates = gates
        self.has_cell = "cell" in self.names
        self.has_bias = "bias" in self.names

    def _named(self, arguments: Sequence[Any]) -> dict[str, Any]:
        return dict(zip(self.names, arguments, strict=True))

    def _recipe(self, make: Make, named: dict[str, Any]) -> tuple[Any, ...]:
        """Return the function that returns the kernel of a step, and its option, if it has one."""
        if "is_relu" in named:
            return make, named["is_relu"]
        return (make, named.get("bias") is not None) if make is steps_of.gru_step else (make,)

    def fits(self, *arguments: Any) -> bool:
        """Return whether there is one float dtype, and no projection of hidden states."""
        named = self._named(arguments)
        others = map(named.get, ("hidden", "weight", "cell", "bias"))
        return (
            named.get("shrink") is None
            and is_floating(named["projected"], *others)
            and (named["lengths"] is None or named["lengths"].dtype is int64)
        )

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the hidden state after each step, followed by the last cell state, if any."""
        named = self._named(arguments)
        steps, hidden = _steps(named), named["hidden"]
        ops, count, shape = ops_of(hidden), len(steps.projected), hidden.shape
        kept = count if True in needs else 0
        result = new(hidden, (count + self.has_cell, *shape))
        cells = new(hidden, (kept or 2, *shape)) if self.has_cell else None
        gates = None
        if self.gates:
            gates = new(hidden, (kept or 1, shape[0], self.gates * shape[1]))
        products, turned = elements_of(steps.projected), named["weight"]._tensor.permute(1, 0)
        fixed = {} if named.get("bias") is None else {"bias": elements_of(named["bias"])}
        recipe = self._recipe(self.forward, named)
        for time, before in steps.times():
            previous_hidden = elements_of(hidden) if before is None else at(result, before)
            views = {
                **fixed,
                **self._kept(named, gates, cells, time, before),
                "projected": at(products, time),
                "products": ops.matmul(previous_hidden, turned),
                "hidden": previous_hidden,
                "states": at(result, time),
            }
            if self.has_cell:
                views["last"] = at(result, count)
            steps.launch(recipe, time, views)
        found = tensor_of(result, hidden, (result.size,) if self.has_cell else result.shape)
        # The result of a single step may be changed in place before the gradient reads it.
        reads = count > 1 or not self.gates
        return found, (found if reads else None, cells, gates)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of the tensors among the arguments."""
        named, (result, cells, gates) = self._named(arguments), saved
        steps, hidden, weight = _steps(named), named["hidden"], named["weight"]
        ops, count, shape = ops_of(hidden), len(steps.projected), hidden.shape
        both = (count + self.has_cell, *shape)
        given = elements_of(grad.reshape(*both))
        found = None if result is None else result.view(*both)[:count]
        states = None if found is None else elements_of(found)
        of_products = new(hidden, steps.projected.shape)
        of_projected = new(hidden, of_products.shape) if self.has_bias else of_products
        by_products = ops.full(shape, hidden.dtype, 0)
        fixed = {}
        if self.has_bias or named["lengths"] is not None:
            fixed["carried"] = ops.full(shape, hidden.dtype, 0)
        if self.has_cell:
            fixed["of_cell"] = new(hidden, shape)
            fixed["of_cell_after"] = at(given, count)
        recipe = self._recipe(self.backward, named)
        for time, before in steps.times(back=True):
            previous_hidden = elements_of(hidden)
            if before is not None and states is not None:
                previous_hidden = at(states, before)
            views = {
                **fixed,
                **self._kept(named, gates, cells, time, before),
                "grad": at(given, time),
                "by_products": by_products,
                "hidden": previous_hidden,
                "of_products": at(of_products, time),
                "of_projected": at(of_projected, time),
            }
            if states is not None:
                views["states"] = at(states, time)
            steps.launch(recipe, time, views)
            by_products = ops.matmul(views["of_products"], weight._tensor)
            if self.has_cell:
                fixed["of_cell_after"] = fixed["of_cell"]
        of_hidden = tensor_of(by_products, hidden)
        if "carried" in fixed:
            of_hidden = of_hidden + tensor_of(fixed["carried"], hidden)
        gradients = {
            "projected": tensor_of(of_projected, hidden, of_projected.shape),
            "hidden": of_hidden,
        }
        if self.has_cell:
            gradients["cell"] = tensor_of(fixed["of_cell"], hidden)
        if needs[self.names.index("weight")]:
            gradients["weight"] = gradient_of_weight(of_products, hidden, found, steps.backwards)
        if self.has_bias and needs[self.names.index("bias")]:
            gradients["bias"] = tensor_of(of_products, hidden).sum((0, 1))
        return [gradients.get(name) for name in self.names]

    def _kept(
        self,
        named: dict[str, Any],
        gates: TensorData | None,
        cells: TensorData | None,
        time: int,
        before: int | None,
    ) -> dict[str, TensorData]:
        """Return the views of a step that are saved for its gradient."""
        views = {} if gates is None else {"gates": at(gates, time)}
        if cells is not None:
            views["cell"] = elements_of(named["cell"]) if before is None else at(cells, before)
            views["cells"] = at(cells, time)
        return views


def _steps(named: dict[str, Any]) -> Steps:
    """Return the launches of the steps of a layer, given its arguments by name."""
    return Steps(*(named[name] for name in ("projected", "hidden", "lengths", "backwards")))


KERNELS = {
    "rnn": Recurrent(
        "projected hidden weight lengths backwards is_relu",
        steps_of.rnn_step,
        steps_of.rnn_gradient_step,
    ),
    "gru": Recurrent(
        "projected hidden weight bias lengths backwards",
        steps_of.gru_step,
        steps_of.gru_gradient_step,
        gates=4,
    ),
    "lstm": Recurrent(
        "projected hidden cell weight shrink lengths backwards",
        steps_of.lstm_step,
        steps_of.lstm_gradient_step,
        gates=4,
    ),
}
"""For `mt_tensor.extending.register_kernels`."""
