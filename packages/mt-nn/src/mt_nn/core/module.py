"""`Module`: stage 0's tree of modules, with tensors as parameters.

Stage 0 finds parameters and submodules, names them and saves them. This class adds torch's methods
for all tensors of a network at once: convert them, move them, clear their gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

import mt_operators
from mt_nn.core.extensions import RemovableHandle, extension
from mt_nn.core.parameter import Parameter
from mt_operators import IncompatibleKeys
from mt_operators.core.parameter import Holder
from mt_tensor import bfloat16, float16, float32, float64
from mt_tensor.core.in_place import overwrite
from mt_tensor.core.registry import Backend, Device

Hook = Callable[..., Any]

_NO_EXTRA_STATE = (
    "{} defines no {}(); define both get_extra_state() and set_extra_state() in a module that has "
    "a state of its own."
)


class Module(mt_operators.Module):
    """A layer or a network. Subclass it as in torch, and define `forward`."""

    _hooks: Any = None  # those of `mt_nn.hooks`, once one is registered

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`, and the hooks before and after it."""
        if self._hooks is None:
            return self.forward(*args, **kwargs)
        return self._hooks.run(self, args, kwargs)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Remove the gradients of all parameters, or set them to zero."""
        for holder in self.parameters():
            parameter = holder.value
            if set_to_none or parameter.grad is None:
                parameter.grad = None
            else:
                overwrite(parameter.grad, parameter._full((), 0))

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Train all parameters, or none of them; return the module."""
        for parameter in self.parameters():
            parameter.value.requires_grad_(requires_grad)
        return self

    if TYPE_CHECKING:  # stage 0's methods, for parameters that are tensors

        def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
            """Iterate over the parameters, each one once; see stage 0's `Module`."""

        def named_parameters(
            self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
        ) -> Iterator[tuple[str, Parameter]]:
            """Iterate over the parameters with their dotted names; see stage 0's `Module`."""

    # --- Converting and moving ------------------------------------------------------------------

    def to(
        self,
        target: Any = None,
        dtype: Any = None,
        non_blocking: bool = False,
        *,
        backend: Backend = None,
        device: Device = None,
    ) -> Self:
        """Convert all parameters, gradients and buffers in place, and return the module.

        The arguments are those of `mt_tensor.Tensor.to`. Integer tensors keep their dtype. States
        of optimizers are not converted.
        """
        convert = extension("conversion of modules")
        return convert(  # type: ignore[no-any-return]
            self, target, dtype, backend=backend, device=device, non_blocking=non_blocking
        )

    def cpu(self) -> Self:
        """Move all tensors to the memory of this machine."""
        return self.to(device="cpu")

    def cuda(self, device: Device = None) -> Self:
        """Move all tensors to the GPU."""
        return self.to(device="cuda" if device is None else device)

    def half(self) -> Self:
        """Convert all floating-point numbers to float16."""
        return self.to(float16)

    def bfloat16(self) -> Self:
        """Convert all floating-point numbers to bfloat16."""
        return self.to(bfloat16)

    def float(self) -> Self:
        """Convert all floating-point numbers to float32."""
        return self.to(float32)

    def double(self) -> Self:
        """Convert all floating-point numbers to float64."""
        return self.to(float64)

    # --- Looking up dotted names ----------------------------------------------------------------

    def get_submodule(self, target: str) -> mt_operators.Module:
        """Return the module with a dotted name, such as "encoder.0"; for "" this module."""
        return extension("modules by name")(self, target)  # type: ignore[no-any-return]

    def set_submodule(self, target: str, module: mt_operators.Module, strict: bool = False) -> None:
        """Replace the module with a dotted name; or add it, unless `strict`."""
        extension("replacement by name")(self, target, module, strict)

    def get_parameter(self, target: str) -> Any:
        """Return the parameter with a dotted name, such as "encoder.0.weight"."""
        return extension("members by name")(self, target, "_parameters")

    def get_buffer(self, target: str) -> Any:
        """Return the value of the buffer with a dotted name, such as "norm.running_mean"."""
        return extension("members by name")(self, target, "_buffers").value

    # --- Saving and loading ---------------------------------------------------------------------

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

    def get_extra_state(self) -> Any:
        """Return a state to save beside parameters and buffers, under the name `_extra_state`.

        Define it, and `set_extra_state`, in a module that has such a state: a tensor, or for
        `mt_nn.save` anything else that it can write.
        """
        raise TypeError(_NO_EXTRA_STATE.format(type(self).__name__, "get_extra_state"))

    def set_extra_state(self, state: Any) -> None:
        """Load what `get_extra_state` returned."""
        raise TypeError(_NO_EXTRA_STATE.format(type(self).__name__, "set_extra_state"))

    def _own_saved(self) -> dict[str, Holder]:
        saved = super()._own_saved()
        if type(self).get_extra_state is not Module.get_extra_state:
            saved["_extra_state"] = extension("extra state")(self)
        return saved

    # --- Hooks ----------------------------------------------------------------------------------

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before each `forward`; it may return other arguments.

        `mt_nn.hooks` has the details of this and of the following methods.
        """
        return self._register_hook("before forward", hook, prepend, with_kwargs)

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after each `forward`; it may return another output."""
        return self._register_hook("after forward", hook, prepend, with_kwargs)

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, output_gradients)` before gradients go back through the module."""
        return self._register_hook("before backward", hook, prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, input_gradients, output_gradients)` when the former are known."""
        return self._register_hook("after backward", hook, prepend)

    def _register_hook(
        self, moment: str, hook: Hook, prepend: bool, with_kwargs: bool = False
    ) -> RemovableHandle:
        if self._hooks is None:
            vars(self)["_hooks"] = extension("hooks of modules")()
        return self._hooks.register(moment, hook, prepend, with_kwargs)  # type: ignore[no-any-return]
