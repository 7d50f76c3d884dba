"""What a network remembers of a text, in checkpoints: so training goes on in the middle of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mt_nn.parallel.group import Group
from mt_nn.train.trainer import Callback, Trainer
from mt_tensor import stack


class Memory(Callback):
    """Keeps the states of an `LSTMLanguageModel` after each window, and reminds it of them.

    Several ranks learn each from some columns of the text: of N, rank r from column r and every
    Nth after it. What is kept are the states of all columns.
    """

    everywhere = True

    def __init__(self) -> None:
        self._group = Group()
        self._network: Any = None
        self._remembered: Any = None

    def on_fit_start(self, trainer: Trainer) -> None:
        """Remind the network."""
        self._group, self._network = trainer.group, trainer.network
        every = slice(self._group.rank, None, self._group.size)
        whole = self._remembered
        self._network.learning = None if whole is None else tuple(each[:, every] for each in whole)

    def consolidate_state_dict(self) -> None:
        """Ask all ranks what they remember."""
        own = None if self._network is None else self._network.learning
        everybodys = [own] if self._group.size == 1 else self._group.gather(own, "memory of a text")
        if None not in everybodys:
            columns = zip(*everybodys, strict=True)
            self._remembered = [stack(each, 2).flatten(1, 2) for each in columns]

    def state_dict(self) -> dict[str, Any]:
        """Return what was remembered when all were asked."""
        return {"remembered": self._remembered}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what `state_dict` has returned."""
        self._remembered = state["remembered"]
