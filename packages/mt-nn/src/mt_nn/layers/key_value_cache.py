"""Keys and values that attention has computed, kept while a text is continued.

With a causal mask, what a step computes depends on earlier steps only. When a step is added, the
keys and values of those before it stay what they were, and only the new step has to be computed.
"""

from __future__ import annotations

from dataclasses import dataclass

from mt_nn.core.module import Module
from mt_nn.core.settings import integer
from mt_nn.errors import InputError
from mt_tensor import Tensor, is_grad_enabled, no_grad


@dataclass
class _Entry:
    """The buffers of one layer, shape (batch, heads, max_steps, width), and the steps in them."""

    keys: Tensor
    values: Tensor
    steps: int = 0


class KeyValueCache:
    """The keys and values of the steps that a transformer has read.

    Pass it to each call of a causal transformer, with the new steps only. The layers append their
    keys and values to it, and attend to all of them.

    Args:
        max_steps: the largest number of steps. Each layer allocates memory for all of them at its
            first call.
    """

    def __init__(self, max_steps: int) -> None:
        self.max_steps = integer("max_steps", max_steps, 1)
        self._entries: dict[Module, _Entry] = {}

    @property
    def steps(self) -> int:
        """The number of steps that all layers have read: the position of the next one."""
        return min((entry.steps for entry in self._entries.values()), default=0)

    def append(self, layer: Module, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Append keys and values of new steps, and return those of all steps of a layer.

        Args:
            layer: the attention layer.
            keys: shape (batch, heads, new steps, width).
            values: shape (batch, heads, new steps, outputs).

        Raises:
            InputError: there are too many steps, the batch differs from that of earlier steps, or
                gradients are recorded.
        """
        if is_grad_enabled() and (keys.requires_grad or values.requires_grad):
            raise InputError("a KeyValueCache has no gradients: call the model within no_grad().")
        entry = self._entries.get(layer)
        if entry is None:
            entry = self._entries[layer] = _Entry(self._buffer(keys), self._buffer(values))
        if keys.shape[:2] != entry.keys.shape[:2]:
            raise InputError(
                f"a KeyValueCache holds steps of a batch of {entry.keys.shape[0]}; one of "
                f"{keys.shape[0]} was given: make another cache."
            )
        start, end = entry.steps, entry.steps + keys.shape[2]
        if end > self.max_steps:
            raise InputError(
                f"a KeyValueCache with max_steps={self.max_steps} has {start} step(s), and "
                f"{keys.shape[2]} more were given."
            )
        entry.steps = end
        with no_grad():
            entry.keys[:, :, start:end] = keys
            entry.values[:, :, start:end] = values
        return entry.keys[:, :, :end], entry.values[:, :, :end]

    def steps_of(self, layer: Module) -> int:
        """Return the number of steps that a layer has read."""
        entry = self._entries.get(layer)
        return 0 if entry is None else entry.steps

    def _buffer(self, like: Tensor) -> Tensor:
        batch, heads, _, width = like.shape
        return like.new_zeros((batch, heads, self.max_steps, width))
