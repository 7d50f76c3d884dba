"""`Module`: stage 0's tree of modules, with tensors as parameters.

Stage 0 finds parameters and submodules, names them and saves them. A module of tensors can do more
than this core needs: it can be converted, moved to a GPU, searched by name and watched by hooks.
`mt_nn/methods.py` lists these methods, all with torch's names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import mt_operators
from mt_nn.core.extensions import EXTENSIONS, extension
from mt_nn.core.parameter import Parameter
from mt_operators import IncompatibleKeys
from mt_operators.core.parameter import Holder

if TYPE_CHECKING:
    from mt_nn.methods import Methods
else:  # that file adds its methods when it is imported
    Methods = object


class Module(mt_operators.Module, Methods):
    """A layer or a network. Subclass it as in torch, and define `forward`."""

    _hooks: Any = None  # those of `mt_nn.hooks`, once one is registered

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`, and the hooks before and after it."""
        if self._hooks is None:
            return self.forward(*args, **kwargs)
        return self._hooks.run(self, args, kwargs)

    if TYPE_CHECKING:  # stage 0's methods, for parameters that are tensors

        def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
            """Iterate over the parameters, each one once; see stage 0's `Module`."""

        def named_parameters(
            self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
        ) -> Iterator[tuple[str, Parameter]]:
            """Iterate over the parameters with their dotted names; see stage 0's `Module`."""

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Load the values of a state dictionary. If anything does not fit, nothing changes.

        Args:
            state_dict: values by dotted name, as `state_dict` returns them.
            strict: whether the names must match exactly; otherwise only common ones are loaded.
            assign: whether parameters and buffers become the tensors of the dictionary, with their
                memory, dtypes and backends, instead of copying their elements.

        Returns:
            The names missing in `state_dict`, and those in it that the module lacks.

        Raises:
            StateDictError: names are missing or unexpected, or a value does not fit.
        """
        keys = super().load_state_dict(state_dict, strict)
        if assign:
            extension("assignment of a state dictionary")(self, state_dict)
        return keys

    def _own_saved(self) -> dict[str, Holder]:
        """Return what is saved of this module itself, with an extra state if it defines one."""
        saved = super()._own_saved()
        if "extra state" in EXTENSIONS:
            EXTENSIONS["extra state"](self, saved)
        return saved
