"""Modules that hold other modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mt_operators
from mt_nn.module import Module


class Sequential(Module):
    """Modules applied one after the other; they are called "0", "1", ... in state dictionaries."""

    def __init__(self, *modules: mt_operators.Module) -> None:
        super().__init__()
        for position, module in enumerate(modules):
            if not isinstance(module, mt_operators.Module):
                raise TypeError(
                    f"Sequential takes modules; argument {position} is {module!r}. Wrap functions "
                    "in a Module with a forward method."
                )
            self.add_module(str(position), module)

    def forward(self, input: Any) -> Any:
        """Pass the input through all modules."""
        for module in self._modules.values():
            input = module(input)
        return input

    def __len__(self) -> int:
        """Return how many modules there are."""
        return len(self._modules)

    def __iter__(self) -> Iterator[mt_operators.Module]:
        """Iterate over the modules."""
        return iter(self._modules.values())

    def __getitem__(self, position: int) -> mt_operators.Module:
        """Return the module at a position."""
        return list(self._modules.values())[position]
