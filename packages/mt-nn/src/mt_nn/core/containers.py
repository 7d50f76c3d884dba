"""`Sequential`: modules applied in order.

`mt_nn/layers/lists.py` adds the methods of a list, such as `append`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mt_operators
from mt_nn.core.module import Module
from mt_operators import MemberError

if TYPE_CHECKING:
    from mt_nn.layers.lists import Methods as Base
else:  # that file registers its methods when it is imported
    Base = Module


class Sequential(Base):
    """Apply modules in order.

    Their names are "0", "1", ..., or the keys of a dictionary:
    `Sequential(OrderedDict(hidden=Linear(3, 2), activation=Tanh()))`. A slice keeps the names.
    """

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            for name, module in modules[0].items():
                self.add_module(name, checked_module(self, f"member {name!r}", module))
            return
        for position, module in enumerate(modules):
            self.add_module(str(position), checked_module(self, f"argument {position}", module))

    def forward(self, input: Any) -> Any:
        """Apply all modules in order."""
        for module in self._modules.values():
            input = module(input)
        return input


def checked_module(owner: Module, what: str, member: object) -> mt_operators.Module:
    """Return a member if it is a module, else raise MemberError."""
    if not isinstance(member, mt_operators.Module):
        raise MemberError(
            f"{type(owner).__name__} takes modules; {what} is {member!r}. Wrap functions "
            "in a Module with a forward method."
        )
    return member
