"""L-BFGS, a quasi-Newton method, with a line search for the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from mt_nn.core.optimizer import with_plain_rate
from mt_nn.core.settings import integer
from mt_nn.errors import SettingError
from mt_nn.optim.checks import loaded_state, misfit
from mt_nn.optim.formula import DeclaredOptimizer
from mt_nn.utils.clipping import parameters_to_vector, vector_to_parameters
from mt_tensor import Tensor, enable_grad, no_grad, zeros_like

# --- Line search ----------------------------------------------------------------------------------


DECREASE = 1e-4
"""Sufficient decrease: the loss must fall by this fraction of what the initial slope predicts."""

CURVATURE = 0.9
"""Curvature condition: the slope must fall to this fraction of the initial slope."""


class Point(NamedTuple):
    """A point on the search line.

    Attributes:
        length: the step length, a multiple of the direction.
        loss: the loss at the point.
        grad: the gradient at the point.
        slope: the derivative of the loss along the direction.
    """

    length: float
    loss: float
    grad: Tensor
    slope: float


def strong_wolfe(
    evaluate: Callable[[float], Point],
    start: Point,
    length: float,
    largest: float,
    tolerance: float,
    max_evaluations: int,
) -> Point:
    """Return a point that satisfies the strong Wolfe conditions, or the best one found.

    Nocedal and Wright 2006, algorithms 3.5 and 3.6: lengthen the step until an interval brackets
    such points, then shrink the interval. Lengths come from cubic interpolation, with the bounds of
    Schmidt's minFunc.

    Args:
        evaluate: returns the point at a step length.
        start: the point at length 0.
        length: the first step length.
        largest: the largest absolute value in the direction.
        tolerance: stop when no parameter changes by more than this within the interval.
        max_evaluations: the largest number of evaluations after the first.
    """

    def is_too_high(point: Point) -> bool:
        return point.loss > start.loss + DECREASE * point.length * start.slope

    def is_flat(point: Point) -> bool:
        return abs(point.slope) <= -CURVATURE * start.slope

    previous, current = start, evaluate(length)
    evaluations = 0
    while evaluations < max_evaluations:
        if is_too_high(current) or (evaluations > 1 and current.loss >= previous.loss):
            break
        if is_flat(current):
            return current
        if current.slope >= 0:
            break
        nearest = current.length + 0.01 * (current.length - previous.length)
        length = interpolated(previous, current, nearest, 10 * current.length)
        previous, current = current, evaluate(length)
        evaluations += 1
    else:
        previous = start
    ends = [previous, current]
    small_change = False
    while evaluations < max_evaluations:
        low = _lower(ends)
        shortest, longest = sorted(point.length for point in ends)
        if (longest - shortest) * largest < tolerance:
            break
        length = interpolated(ends[0], ends[1], shortest, longest)
        margin = 0.1 * (longest - shortest)
        near_end = min(longest - length, length - shortest) < margin
        if near_end and (small_change or not shortest < length < longest):
            is_near_longest = abs(length - longest) < abs(length - shortest)
            length = longest - margin if is_near_longest else shortest + margin
            near_end = False
        small_change = near_end
        current = evaluate(length)
        evaluations += 1
        if is_too_high(current) or current.loss >= ends[low].loss:
            ends[1 - low] = current
            continue
        if is_flat(current):
            return current
        if current.slope * (ends[1 - low].length - ends[low].length) >= 0:
            ends[1 - low] = ends[low]
        ends[low] = current
    return ends[_lower(ends)]


def _lower(ends: list[Point]) -> int:
    return 0 if ends[0].loss <= ends[1].loss else 1


def interpolated(a: Point, b: Point, low: float, high: float) -> float:
    """Return the step length that minimizes the cubic through two points with their slopes.

    It is clamped to the bounds `low` and `high`; their middle if the cubic has no minimum. See
    Nocedal and Wright, equation 3.59.
    """
    first, second = sorted((a, b), key=lambda point: point.length)
    width = second.length - first.length
    d1 = first.slope + second.slope - 3 * (first.loss - second.loss) / -width if width else 0.0
    square = d1 * d1 - first.slope * second.slope
    if not (width and square >= 0):
        return (low + high) / 2
    d2 = math.sqrt(square)
    rise, change = second.slope + d2 - d1, second.slope - first.slope + 2 * d2
    if not change:  # a straight line, which has no minimum
        return high if rise < 0 else low
    return min(max(second.length - width * rise / change, low), high)


# --- The optimizer --------------------------------------------------------------------------------


_COUNTS = ("func_evals", "n_iter")
_STATE = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")
"""The state after a step, besides counts: the last direction, the step length, the history of
gradient changes and steps, the inverses of their products, the scale of the initial inverse
Hessian, the last gradient and the last loss."""


class LBFGS(DeclaredOptimizer):
    """Limited-memory BFGS (Nocedal and Wright 2006, algorithm 7.4), for full-batch gradients.

    The direction is minus an approximation of the inverse Hessian times the gradient. The
    approximation is computed from the last steps and the changes of the gradient. A call of `step`
    makes several iterations, each of which calls the closure at least once.

    Args:
        params: parameters; only one group is supported.
        lr: the step length along the direction, non-negative.
        max_iter: the largest number of iterations per step.
        max_eval: the largest number of calls to the closure per step; `1.25 * max_iter` if None.
        tolerance_grad: stop when no element of the gradient is larger.
        tolerance_change: stop when the parameters or the loss change by no more.
        history_size: the number of iterations that the approximation is computed from.
        line_search_fn: `"strong_wolfe"` to search for the step length; None to use `lr`.
    """

    lr: float | Tensor = 1
    max_iter: int = 20
    max_eval: int | None = None
    tolerance_grad: float = 1e-7
    tolerance_change: float = 1e-9
    history_size: int = 100
    line_search_fn: str | None = None

    def _configure(self, settings: dict[str, Any]) -> None:
        if settings["max_eval"] is None:
            settings["max_eval"] = integer("max_iter", settings["max_iter"], 1) * 5 // 4
        super()._configure(settings)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add the only group of parameters.

        Raises:
            SettingError: there is a group already; or as for other optimizers.
        """
        if self.param_groups:
            raise SettingError("LBFGS supports one group of parameters; a second was given.")
        super().add_param_group(param_group)

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise `SettingError` unless the counts are positive integers."""
        for name in ("max_iter", "max_eval", "history_size"):
            integer(name, settings[name], 1)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Make up to `max_iter` iterations.

        Args:
            closure: sets the gradients to zero, computes the loss and its gradients, and returns
                the loss. Required: it is called several times, with different parameters.

        Returns:
            The result of the first call of the closure.

        Raises:
            TypeError: there is no closure.
        """
        if closure is None:
            raise TypeError(
                "LBFGS evaluates the loss several times per step: pass a closure that computes it "
                "and its gradients."
            )
        with no_grad():
            return self._iterate(closure)

    def _iterate(self, closure: Callable[[], Any]) -> Any:
        """Implement `step`; gradients are recorded only inside the closure."""
        group = with_plain_rate(self.param_groups[0])
        first_parameter = self._parameters()[0]  # holds the state, as in torch
        if not self.state.get(first_parameter):
            self.state[first_parameter] = self.initial_state(first_parameter, group)
        state = self.state[first_parameter]
        calls = 0

        def evaluate() -> tuple[Any, Tensor]:
            nonlocal calls
            calls += 1
            state["func_evals"] += 1
            with enable_grad():
                loss = closure()
            return loss, self._gradient()

        first, grad = evaluate()
        loss = float(first)
        for number in range(1, group["max_iter"] + 1):
            if float(grad.abs().max()) <= group["tolerance_grad"]:
                break
            direction = self._direction(state, grad, group["history_size"])
            state |= {"n_iter": state["n_iter"] + 1, "d": direction, "t": group["lr"]}
            if state["n_iter"] == 1:
                state["t"] *= min(1.0, 1 / float(grad.abs().sum()))
            state |= {"prev_flat_grad": grad, "prev_loss": loss}
            slope = float(grad.dot(direction))
            if slope > -group["tolerance_change"]:
                break
            previous = loss
            if group["line_search_fn"]:
                start = Point(0.0, loss, grad, slope)
                point = self._search(evaluate, start, state, group["max_eval"] - calls)
                state["t"], loss, grad, _ = point
            else:
                values = parameters_to_vector(self._parameters())
                vector_to_parameters(values.add(direction, alpha=state["t"]), self._parameters())
            if number == group["max_iter"]:
                break
            if not group["line_search_fn"]:
                result, grad = evaluate()
                loss = float(result)
            change = float((direction * state["t"]).abs().max())
            if (
                calls >= group["max_eval"]
                or change <= group["tolerance_change"]
                or abs(loss - previous) < group["tolerance_change"]
            ):
                break
        return first

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return the counts of calls to the closure and of iterations."""
        return {"func_evals": 0, "n_iter": 0}

    def _direction(self, state: dict[str, Any], grad: Tensor, size: int) -> Tensor:
        """Add the last iteration to the history, and return the search direction.

        This is Nocedal and Wright's two-loop recursion over the stored changes of the gradient `y`
        and the steps `s`, with `rho = 1 / (y s)`.
        """
        q: Tensor = -grad
        if "d" not in state:
            state |= {"old_dirs": [], "old_stps": [], "ro": [], "H_diag": 1.0}
            return q
        y, s = grad - state["prev_flat_grad"], state["d"] * state["t"]
        product = float(y.dot(s))
        if product > 1e-10:  # otherwise the approximation would not be positive definite
            for name, new in (("old_dirs", y), ("old_stps", s), ("ro", 1 / product)):
                state[name] = [*state[name], new][-size:]
            state["H_diag"] = product / float(y.dot(y))
        history = [*zip(state["old_dirs"], state["old_stps"], state["ro"], strict=True)]
        weights = []
        for y, s, rho in reversed(history):
            weights.append(float(s.dot(q)) * rho)
            q.sub_(y, alpha=weights[-1])
        q.mul_(state["H_diag"])
        for (y, s, rho), weight in zip(history, reversed(weights), strict=True):
            q.add_(s, alpha=weight - float(y.dot(q)) * rho)
        return q

    def _search(
        self,
        evaluate: Callable[[], tuple[Any, Tensor]],
        start: Point,
        state: dict[str, Any],
        max_evaluations: int,
    ) -> Point:
        """Move the parameters to the result of a line search, and return that point."""
        direction, parameters = state["d"], self._parameters()
        values = parameters_to_vector(parameters)

        def evaluate_at(length: float) -> Point:
            vector_to_parameters(values.add(direction, alpha=length), parameters)
            loss, grad = evaluate()
            return Point(length, float(loss), grad, float(grad.dot(direction)))

        largest = float(direction.abs().max())
        found = strong_wolfe(evaluate_at, start, state["t"], largest, 1e-9, max_evaluations)
        vector_to_parameters(values.add(direction, alpha=found.length), parameters)
        return found

    def _gradient(self) -> Tensor:
        """Return all gradients as one vector, with zeros for parameters that have none."""
        parameters = self._parameters()
        return parameters_to_vector(zeros_like(p) if p.grad is None else p.grad for p in parameters)


@loaded_state.register
def _loaded_state(
    optimizer: LBFGS,
    parameter: Tensor,
    _: dict[str, Any],
    saved: Mapping[str, Any],
    __: Any,
) -> dict[str, Any]:
    """Check a saved state, and convert numbers that torch stores as tensors."""
    size = sum(member.numel() for member in optimizer._parameters())
    names = (*_COUNTS, *_STATE) if "d" in saved else _COUNTS
    missing = [name for name in names if name not in saved]
    if missing:
        raise misfit(optimizer, f"its state lacks {', '.join(missing)}")

    def loaded(name: str, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [loaded(name, each) for each in value]
        if name in _COUNTS:
            return int(value)
        if name in ("t", "ro", "H_diag", "prev_loss"):
            return float(value)
        if tuple(getattr(value, "shape", ())) != (size,):
            raise misfit(optimizer, f"{name} is not a vector of {size} elements")
        return parameter.detach().new_zeros(size).copy_(value)

    return {name: loaded(name, saved[name]) for name in names}
