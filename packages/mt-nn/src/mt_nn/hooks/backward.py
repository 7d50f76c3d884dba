"""Backward hooks of a module: they get the gradients of all its outputs, and of all its inputs.

A hook of a tensor is called with one gradient, and hooks of a module need all at once. So the
inputs of a call are joined into one tensor, and split again; the gradient of the joined tensor is
complete when all of theirs are. The outputs are treated alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from mt_tensor import Tensor, cat

Gradients = tuple[Tensor | None, ...]


class BackwardPass:
    """The way of gradients back through one call of a module.

    Args:
        module: the module.
        before: hooks of the module and the gradients of its outputs, by number.
        after: hooks of the module, and the gradients of its inputs and of its outputs.
    """

    def __init__(
        self,
        module: Any,
        before: Mapping[int, Callable[..., Any]],
        after: Mapping[int, Callable[..., Any]],
    ) -> None:
        self._module, self._before, self._after = module, before, after
        self._inputs = 0
        self._is_input_watched = False
        self._of_outputs: Gradients = ()

    def watched_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of a call, whose gradients the hooks will be told."""
        self._inputs = len(args)
        watched, self._is_input_watched = _watched(args, self._at_inputs)
        return watched

    def watched_output(self, output: Any) -> Any:
        """Return the output of a call, a tensor or several, whose gradients hooks will be told."""
        if isinstance(output, tuple | list):
            watched, _ = _watched(tuple(output), self._at_outputs)
            is_named = hasattr(output, "_fields")
            return type(output)(*watched) if is_named else type(output)(watched)
        return _watched((output,), self._at_outputs)[0][0]

    def _at_outputs(self, gradients: Gradients) -> Gradients:
        for hook in tuple(self._before.values()):
            gradients = _replaced(gradients, hook(self._module, gradients))
        self._of_outputs = gradients
        if not self._is_input_watched:
            for hook in tuple(self._after.values()):
                hook(self._module, (None,) * self._inputs, gradients)
        return gradients

    def _at_inputs(self, gradients: Gradients) -> Gradients:
        for hook in tuple(self._after.values()):
            gradients = _replaced(gradients, hook(self._module, gradients, self._of_outputs))
        return gradients


def _watched(
    values: tuple[Any, ...], hook: Callable[[Gradients], Gradients]
) -> tuple[tuple[Any, ...], bool]:
    """Return values with a hook on the gradients of all tensors among them, if there is any."""
    places = [i for i, x in enumerate(values) if isinstance(x, Tensor) and x.requires_grad]
    if not places:
        return values, False
    sizes = [values[i].numel() for i in places]
    whole = cat([values[i].reshape(-1) for i in places])

    def at_whole(gradient: Tensor) -> Tensor:
        gradients: list[Tensor | None] = [None] * len(values)
        for i, part in zip(places, gradient.split(sizes), strict=True):
            gradients[i] = part.view(*values[i].shape)
        passed = hook(tuple(gradients))
        flat = [
            values[i].new_zeros(math.prod(values[i].shape)) if x is None else x.reshape(-1)
            for i, x in zip(places, (passed[i] for i in places), strict=True)
        ]
        return cat(flat)

    whole.register_hook(at_whole)
    watched = list(values)
    for i, part in zip(places, whole.split(sizes), strict=True):
        watched[i] = part.view(*values[i].shape).to(values[i].dtype)
    return tuple(watched), True


def _replaced(gradients: Gradients, returned: Any) -> Gradients:
    """Return the gradients that a hook wants to go on: its own, or if it returned None the same.

    Raises:
        TypeError: it returned something else, or more or fewer gradients.
    """
    if returned is None:
        return gradients
    passed = returned if isinstance(returned, tuple) else (returned,)
    fits = len(passed) == len(gradients) and all(x is None or isinstance(x, Tensor) for x in passed)
    if not fits:
        raise TypeError(
            f"a backward hook returns None or {len(gradients)} gradient(s); {returned!r} was "
            "returned."
        )
    return passed
