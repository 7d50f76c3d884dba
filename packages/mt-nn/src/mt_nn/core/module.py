"""`Module`: stage 0's modules, with tensors as parameters.

Stage 0 registers, names and saves parameters and submodules. `mt_nn/methods.py` lists further
methods of torch, such as conversion, moving to a GPU, search by name, and hooks.
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
else:  # that file registers its methods when it is imported
    Methods = object


class Module(mt_operators.Module, Methods):
    """Base class of layers and networks. Define `forward` in a subclass, as in torch."""

    _hooks: Any = None  # set by `mt_nn.hooks` when a hook is registered

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` and the hooks of the module."""
        if self._hooks is None:
            return self.forward(*args, **kwargs)
        return self._hooks.run(self, args, kwargs)

    if TYPE_CHECKING:  # stage 0's methods, for parameters that are tensors

        def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
            """Iterate over the parameters, without duplicates; see stage 0's `Module`."""

        def named_parameters(
            self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
        ) -> Iterator[tuple[str, Parameter]]:
            """Iterate over the parameters with their dotted names; see stage 0's `Module`."""

    def state_dict(self, prefix: str = "", **settings: Any) -> dict[str, Any]:
        """Return the values of all parameters and persistent buffers by dotted name."""
        if settings or any(each._hooks for each in self.modules()):
            return extension("saving with hooks")(self, prefix, **settings)  # type: ignore[no-any-return]
        return super().state_dict(prefix)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Load a state dictionary, completely or, if there is an error, not at all.

        Args:
            state_dict: values by dotted name, as `state_dict` returns them.
            strict: whether the names must match exactly; otherwise only common ones are loaded.
            assign: whether to replace parameters and buffers by the tensors of the dictionary, with
                their memory, dtypes and backends, instead of copying their elements.

        Returns:
            The missing and the unexpected names.

        Raises:
            StateDictError: names are missing or unexpected, or a value is invalid.
        """
        if any(each._hooks for each in self.modules()):
            return extension("loading with hooks")(self, state_dict, strict, assign)  # type: ignore[no-any-return]
        keys = super().load_state_dict(state_dict, strict)
        if assign:
            extension("assignment of a state dictionary")(self, state_dict)
        return keys

    def _saved_members(self) -> dict[str, Holder]:
        """Return the members of this module that are saved, with its extra state if it has one."""
        saved = super()._saved_members()
        if "extra state" in EXTENSIONS:
            EXTENSIONS["extra state"](self, saved)
        return saved
