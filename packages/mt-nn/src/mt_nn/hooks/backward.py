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
        pre_hooks: hooks by id; they get the module and the gradients of the outputs.
        post_hooks: hooks by id; they get the module and the gradients of the inputs and outputs.
    """

    def __init__(
        self,
        module: Any,
        pre_hooks: Mapping[int, Callable[..., Any]],
        post_hooks: Mapping[int, Callable[..., Any]],
    ) -> None:
        self._module, self._pre_hooks, self._post_hooks = module, pre_hooks, post_hooks
        self._inputs = 0
        self._has_input_hook = False
        self._output_gradients: Gradients | None = None  # None until they are computed

    def hook_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return arguments with hooks on their gradients."""
        self._inputs = len(args)
        hooked, self._has_input_hook = _hooked(args, self._on_input_gradients)
        return hooked

    def hook_output(self, output: Any) -> Any:
        """Return an output, one tensor or several, with hooks on its gradients."""
        if not isinstance(output, Tensor | tuple | list):
            warnings.warn(
                "backward hooks are not called: forward must return a tensor, or a tuple or list "
                f"of tensors, for them; {type(self._module).__name__} returned a "
                f"{type(output).__name__}.",
                stacklevel=4,
            )
        if isinstance(output, tuple | list):
            hooked, _ = _hooked(tuple(output), self._on_output_gradients)
            is_named = hasattr(output, "_fields")
            return type(output)(*hooked) if is_named else type(output)(hooked)
        return _hooked((output,), self._on_output_gradients)[0][0]

    def _on_output_gradients(self, gradients: Gradients) -> Gradients:
        for hook in tuple(self._pre_hooks.values()):
            gradients = _replaced(gradients, hook(self._module, gradients))
        self._output_gradients = gradients
        if not self._has_input_hook:
            for hook in tuple(self._post_hooks.values()):
                hook(self._module, (None,) * self._inputs, gradients)
        return gradients

    def _on_input_gradients(self, gradients: Gradients) -> Gradients:
        output_gradients, self._output_gradients = self._output_gradients, None
        if output_gradients is not None:  # None if the inputs have gradients without the outputs
            for hook in tuple(self._post_hooks.values()):
                gradients = _replaced(gradients, hook(self._module, gradients, output_gradients))
        return gradients


def _hooked(
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
    hooked = list(values)
    for i, part in zip(indices, joined.split(sizes), strict=True):
        hooked[i] = part.view(*values[i].shape).to(values[i].dtype)
    return tuple(hooked), True


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
