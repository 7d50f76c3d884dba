"""A cache of the keys and values of attention, for generating sequences step by step.

With a causal mask, the result of a step depends only on this step and earlier ones. Appending a
step therefore leaves the keys and values of earlier steps unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass

from mt_nn.core.module import Module
from mt_nn.core.settings import integer
from mt_nn.errors import InputError
from mt_tensor import Tensor, is_grad_enabled, no_grad


@dataclass
class _Entry:
    """The buffers of a layer, shape (batch, heads, max_steps, width), and their number of steps."""

    keys: Tensor
    values: Tensor
    steps: int = 0


class KeyValueCache:
    """Cache the keys and values of the steps that a transformer has processed.

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
        """The number of steps that all layers have processed: the position of the next one."""
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
            raise InputError("KeyValueCache records no gradients: call the model within no_grad().")
        entry = self._entries.get(layer)
        if entry is None:
            entry = self._entries[layer] = _Entry(self._buffer(keys), self._buffer(values))
        if keys.shape[:2] != entry.keys.shape[:2]:
            raise InputError(
                f"KeyValueCache contains a batch of {entry.keys.shape[0]} sequences; "
                f"{keys.shape[0]} were given. Create another cache."
            )
        start, end = entry.steps, entry.steps + keys.shape[2]
        if end > self.max_steps:
            raise InputError(
                f"KeyValueCache with max_steps={self.max_steps} contains {start} step(s), and "
                f"{keys.shape[2]} more were given. Create one with a larger max_steps."
            )
        entry.steps = end
        with no_grad():
            entry.keys[:, :, start:end] = keys
            entry.values[:, :, start:end] = values
        return entry.keys[:, :, :end], entry.values[:, :, :end]

    def steps_of(self, layer: Module) -> int:
        """Return the number of steps that a layer has processed."""
        entry = self._entries.get(layer)
        return 0 if entry is None else entry.steps

    def _buffer(self, like: Tensor) -> Tensor:
        batch, heads, _, width = like.shape
        return like.new_zeros((batch, heads, self.max_steps, width))
