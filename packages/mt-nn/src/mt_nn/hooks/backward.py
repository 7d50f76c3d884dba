"""Backward hooks of a module, which get the gradients of all inputs and outputs of a call.

A hook of a tensor gets one gradient, but hooks of a module need all of them. So the inputs of a
call are concatenated to one tensor, and split again: the gradient of the concatenated tensor is
complete when those of all inputs are. The outputs are treated in the same way.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from mt_tensor import Tensor, cat

Gradients = tuple[Tensor | None, ...]


class BackwardPass:
    """The hooks of one call of a module.

    Args:
        module: the module.
        before: hooks by id; they get the module and the gradients of the outputs.
        after: hooks by id; they get the module and the gradients of the inputs and outputs.
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
        self._of_outputs: Gradients | None = None  # None until they are computed

    def watched_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return arguments with hooks on their gradients."""
        self._inputs = len(args)
        watched, self._is_input_watched = _watched(args, self._at_inputs)
        return watched

    def watched_output(self, output: Any) -> Any:
        """Return an output, one tensor or several, with hooks on its gradients."""
        if not isinstance(output, Tensor | tuple | list):
            warnings.warn(
                "backward hooks are not called: forward must return a tensor, or a tuple or list "
                f"of tensors, for them; {type(self._module).__name__} returned a "
                f"{type(output).__name__}.",
                stacklevel=4,
            )
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
        of_outputs, self._of_outputs = self._of_outputs, None
        if of_outputs is not None:  # None if the inputs have gradients without the outputs
            for hook in tuple(self._after.values()):
                gradients = _replaced(gradients, hook(self._module, gradients, of_outputs))
        return gradients


def _watched(
    values: tuple[Any, ...], hook: Callable[[Gradients], Gradients]
) -> tuple[tuple[Any, ...], bool]:
    """Return values with a hook on the gradients of tensors, and whether any requires grad."""
    indices = [i for i, x in enumerate(values) if isinstance(x, Tensor) and x.requires_grad]
    if not indices:
        return values, False
    sizes = [values[i].numel() for i in indices]
    joined = cat([values[i].reshape(-1) for i in indices])

    def on_gradient(gradient: Tensor) -> Tensor:
        gradients: list[Tensor | None] = [None] * len(values)
        for i, part in zip(indices, gradient.split(sizes), strict=True):
            gradients[i] = part.view(*values[i].shape)
        replaced = hook(tuple(gradients))
        flat = []
        for i in indices:
            new = replaced[i]
            flat.append(values[i].new_zeros(values[i].numel()) if new is None else new.reshape(-1))
        return cat(flat)

    joined.register_hook(on_gradient)
    watched = list(values)
    for i, part in zip(indices, joined.split(sizes), strict=True):
        watched[i] = part.view(*values[i].shape).to(values[i].dtype)
    return tuple(watched), True


def _replaced(gradients: Gradients, returned: Any) -> Gradients:
    """Return the gradients that a hook returned, or `gradients` if it returned None.

    Raises:
        TypeError: the hook returned another type, or another number of gradients.
    """
    if returned is None:
        return gradients
    new = returned if isinstance(returned, tuple) else (returned,)
    if len(new) != len(gradients) or not all(x is None or isinstance(x, Tensor) for x in new):
        raise TypeError(
            f"a backward hook must return None or {len(gradients)} gradient(s); {returned!r} was "
            "returned."
        )
    return new
