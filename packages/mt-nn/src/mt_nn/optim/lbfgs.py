"""L-BFGS: steps along directions that know the curvature, as long as the Wolfe conditions ask."""

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

# --- How far to go along a direction --------------------------------------------------------------


DECREASE = 1e-4
"""What share of the decrease that the first slope promises a step must bring."""

CURVATURE = 0.9
"""To what share of the first slope that at the end must have become."""


class Place(NamedTuple):
    """What is known of a place on the line.

    Attributes:
        length: how far along the direction it is.
        loss: the loss there.
        grad: the gradient there.
        slope: the derivative of the loss along the direction.
    """

    length: float
    loss: float
    grad: Tensor
    slope: float


def strong_wolfe(
    evaluate: Callable[[float], Place],
    start: Place,
    length: float,
    reach: float,
    tolerance: float,
    most: int,
) -> Place:
    """Return a place where the loss has fallen enough, and its slope is nearly flat.

    Nocedal and Wright 2006, algorithms 3.5 and 3.6: steps become longer until such places lie
    between two of them, and then the interval shrinks. Lengths come from cubic interpolation, with
    the bounds of Schmidt's minFunc.

    Args:
        evaluate: looks at the place at a length.
        start: the place at length 0.
        length: where to look first.
        reach: the largest element of the direction.
        tolerance: it ends when the interval is no longer than that, measured in parameters.
        most: how often to look, besides the first time.
    """

    def is_too_high(place: Place) -> bool:
        return place.loss > start.loss + DECREASE * place.length * start.slope

    def is_flat(place: Place) -> bool:
        return abs(place.slope) <= -CURVATURE * start.slope

    before, here = start, evaluate(length)
    looks = 0
    while looks < most:
        if is_too_high(here) or (looks > 1 and here.loss >= before.loss):
            break
        if is_flat(here):
            return here
        if here.slope >= 0:
            break
        nearest = here.length + 0.01 * (here.length - before.length)
        length = interpolated(before, here, nearest, 10 * here.length)
        before, here = here, evaluate(length)
        looks += 1
    else:
        before = start
    ends = [before, here]
    small_change = False
    while looks < most:
        low = _lower(ends)
        shortest, longest = sorted(place.length for place in ends)
        if (longest - shortest) * reach < tolerance:
            break
        length = interpolated(ends[0], ends[1], shortest, longest)
        margin = 0.1 * (longest - shortest)
        near_end = min(longest - length, length - shortest) < margin
        if near_end and (small_change or not shortest < length < longest):
            towards_longest = abs(length - longest) < abs(length - shortest)
            length = longest - margin if towards_longest else shortest + margin
            near_end = False
        small_change = near_end
        here = evaluate(length)
        looks += 1
        if is_too_high(here) or here.loss >= ends[low].loss:
            ends[1 - low] = here
            continue
        if is_flat(here):
            return here
        if here.slope * (ends[1 - low].length - ends[low].length) >= 0:
            ends[1 - low] = ends[low]
        ends[low] = here
    return ends[_lower(ends)]


def _lower(ends: list[Place]) -> int:
    return 0 if ends[0].loss <= ends[1].loss else 1


def interpolated(a: Place, b: Place, low: float, high: float) -> float:
    """Return where the cubic through two places, with their slopes, has its minimum.

    That is equation 3.59 of Nocedal and Wright, kept between two bounds, and their middle if the
    cubic has no minimum.
    """
    first, second = sorted((a, b), key=lambda place: place.length)
    width = second.length - first.length
    d1 = first.slope + second.slope - 3 * (first.loss - second.loss) / -width if width else 0.0
    square = d1 * d1 - first.slope * second.slope
    if not (width and square >= 0):
        return (low + high) / 2
    d2 = math.sqrt(square)
    rise, change = second.slope + d2 - d1, second.slope - first.slope + 2 * d2
    if not change:  # a line, which falls for ever
        return high if rise < 0 else low
    return min(max(second.length - width * rise / change, low), high)


# --- The optimizer --------------------------------------------------------------------------------


_ROWS = ("d", "prev_flat_grad")
_LISTS = ("old_dirs", "old_stps")
_NUMBERS = ("t", "H_diag", "prev_loss")
"""What the state holds after a step, besides counts: the last direction and gradient; changes of
the gradient and steps, and in `ro` the inverses of their products; numbers."""


class LBFGS(DeclaredOptimizer):
    """Limited-memory BFGS (Nocedal and Wright 2006, algorithm 7.4), for gradients of all the data.

    The direction is minus the product of the gradient with an approximation of the inverse of the
    second derivatives, which follows from the last steps and the changes of the gradient in them.
    A step makes several iterations, each of which asks the closure for at least one gradient.

    Args:
        params: parameters; there is one group only.
        lr: what the direction is multiplied by, not negative.
        max_iter: how many iterations a step makes at most.
        max_eval: how often it calls the closure at most; `1.25 * max_iter` times if None.
        tolerance_grad: it ends when no element of the gradient is larger.
        tolerance_change: it ends when neither the parameters nor the loss change by more.
        history_size: how many iterations the approximation remembers.
        line_search_fn: `"strong_wolfe"` to look for the length of the step along the direction;
            None for `lr`.
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
        """Take the parameters, once.

        Raises:
            SettingError: there are some already; or as for other optimizers.
        """
        if self.param_groups:
            raise SettingError("LBFGS has one group of parameters: their curvature is one.")
        super().add_param_group(param_group)

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise SettingError for invalid settings."""
        for name in ("max_iter", "max_eval", "history_size"):
            integer(name, settings[name], 1)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Make up to `max_iter` iterations.

        Args:
            closure: sets the gradients to zero, computes the loss and its gradients, and returns
                the loss. Needed here: it is called several times, at different places.

        Returns:
            What the closure returned first.

        Raises:
            TypeError: there is no closure.
        """
        if closure is None:
            raise TypeError(
                "LBFGS asks for the loss at several places: pass a closure that computes it and "
                "its gradients."
            )
        with no_grad():
            return self._iterate(closure)

    def _iterate(self, closure: Callable[[], Any]) -> Any:
        """Do what `step` does, with nothing recorded but by the closure."""
        group = with_plain_rate(self.param_groups[0])
        state = self._curvature()
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
            before = loss
            if group["line_search_fn"]:
                start = Place(0.0, loss, grad, slope)
                place = self._search(evaluate, start, state, group["max_eval"] - calls)
                state["t"], loss, grad, _ = place
            else:
                places = parameters_to_vector(self._parameters())
                vector_to_parameters(places.add(direction, alpha=state["t"]), self._parameters())
            if number == group["max_iter"]:
                break
            if not group["line_search_fn"]:
                found, grad = evaluate()
                loss = float(found)
            change = float((direction * state["t"]).abs().max())
            if (
                calls >= group["max_eval"]
                or change <= group["tolerance_change"]
                or abs(loss - before) < group["tolerance_change"]
            ):
                break
        return first

    def _curvature(self) -> dict[str, Any]:
        """Return the state, which is that of the first parameter, as in torch."""
        first = self._parameters()[0]
        if not self.state.get(first):
            self.state[first] = self.initial_state(first, self.param_groups[0])
        return self.state[first]

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return how often the closure was called, and how many iterations there were."""
        return {"func_evals": 0, "n_iter": 0}

    def _direction(self, state: dict[str, Any], grad: Tensor, size: int) -> Tensor:
        """Remember the last iteration, and return minus the Newton step that follows from all.

        Nocedal and Wright's two loops, through the remembered changes of the gradient `y` and the
        steps `s` that led to them, with `rho = 1 / (y s)`.
        """
        q: Tensor = -grad
        if "d" not in state:
            state |= {"old_dirs": [], "old_stps": [], "ro": [], "H_diag": 1.0}
            return q
        y, s = grad - state["prev_flat_grad"], state["d"] * state["t"]
        product = float(y.dot(s))
        if product > 1e-10:  # or the second derivatives would not be positive
            for name, new in (("old_dirs", y), ("old_stps", s), ("ro", 1 / product)):
                state[name] = [*state[name], new][-size:]
            state["H_diag"] = product / float(y.dot(y))
        past = [*zip(state["old_dirs"], state["old_stps"], state["ro"], strict=True)]
        weights = []
        for y, s, rho in reversed(past):
            weights.append(float(s.dot(q)) * rho)
            q.sub_(y, alpha=weights[-1])
        q.mul_(state["H_diag"])
        for (y, s, rho), weight in zip(past, reversed(weights), strict=True):
            q.add_(s, alpha=weight - float(y.dot(q)) * rho)
        return q

    def _search(
        self,
        evaluate: Callable[[], tuple[Any, Tensor]],
        start: Place,
        state: dict[str, Any],
        most: int,
    ) -> Place:
        """Go along the direction as far as a line search says, and return that place."""
        direction, parameters = state["d"], self._parameters()
        places = parameters_to_vector(parameters)

        def look(length: float) -> Place:
            vector_to_parameters(places.add(direction, alpha=length), parameters)
            loss, grad = evaluate()
            return Place(length, float(loss), grad, float(grad.dot(direction)))

        reach = float(direction.abs().max())
        found = strong_wolfe(look, start, state["t"], reach, 1e-9, most)
        vector_to_parameters(places.add(direction, alpha=found.length), parameters)
        return found

    def _gradient(self) -> Tensor:
        """Return all gradients in a row; zero where there is none."""
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
    """Return a saved state; torch keeps more numbers as tensors."""
    size = sum(member.numel() for member in optimizer._parameters())

    def row(name: str, value: Any) -> Tensor:
        loaded = zeros_like(parameter).new_zeros(size)
        if tuple(getattr(value, "shape", ())) != (size,):
            raise misfit(optimizer, f"{name} is not a row of {size} elements")
        return loaded.copy_(value)

    state: dict[str, Any] = {name: int(saved[name]) for name in ("func_evals", "n_iter")}
    if "d" not in saved:
        return state
    missing = [name for name in (*_ROWS, *_LISTS, *_NUMBERS, "ro") if name not in saved]
    if missing:
        raise misfit(optimizer, f"its state lacks {', '.join(missing)}")
    state |= {name: row(name, saved[name]) for name in _ROWS}
    state |= {name: [row(name, value) for value in saved[name]] for name in _LISTS}
    state |= {name: float(saved[name]) for name in _NUMBERS}
    state["ro"] = [float(value) for value in saved["ro"]]
    return state
