"""`Module`: stage 0's tree of parameters, for parameters that are tensors.

What it adds are torch's methods for all tensors of a network at once (another element type or
backend, no gradients, nothing to train), those that find something by its dotted name, and hooks,
which see what goes into a module and what comes out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import mt_operators
from mt_operators.errors import no_attribute
from mt_tensor import Tensor, float16, float32, float64
from mt_tensor.backends.devices import Backend, Device
from mt_tensor.recording.graph import RemovableHandle

if TYPE_CHECKING:
    from mt_nn.parameter import Parameter


class _Hooks(NamedTuple):
    """The hooks of a module, by number: those that run before `forward`, and those after it."""

    before: dict[int, Callable[..., Any]]
    after: dict[int, Callable[..., Any]]


class Module(mt_operators.Module):
    """A layer or a network; subclass it as in torch, and define `forward`."""

    _hooks: _Hooks | None = None

    # --- Running, and watching that -------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`, and the hooks around it."""
        if self._hooks is None:
            return self.forward(*args, **kwargs)
        for hook in tuple(self._hooks.before.values()):
            args, kwargs = hook(self, args, kwargs)
        output = self.forward(*args, **kwargs)
        for hook in tuple(self._hooks.after.values()):
            changed = hook(self, args, kwargs, output)
            output = output if changed is None else changed
        return output

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call a function before each call of `forward`.

        Args:
            hook: called with the module and the tuple of its positional arguments. It returns None,
                or what `forward` is given instead: a tuple of arguments, or a single one.
            prepend: whether it comes before the hooks that are there already, not after them.
            with_kwargs: whether it is called with the dictionary of keyword arguments as well; it
                then returns None or both.

        Returns:
            A handle, whose `remove()` takes the hook away.

        Raises:
            TypeError: `hook` cannot be called, or does not return what it must.
        """
        _check_callable(hook)

        def before(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            changed = hook(module, args, kwargs) if with_kwargs else hook(module, args)
            if changed is None:
                return args, kwargs
            if not with_kwargs:
                return (changed if isinstance(changed, tuple) else (changed,)), kwargs
            if not isinstance(changed, tuple) or len(changed) != 2:
                raise TypeError(
                    "a hook with_kwargs returns None or a tuple of arguments and keyword "
                    f"arguments; {changed!r} was returned."
                )
            return changed

        return registered(self._all_hooks().before, before, prepend)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call a function after each call of `forward`.

        Args:
            hook: called with the module, the tuple of its positional arguments and its output. It
                returns None, or what is the output instead.
            prepend: whether it comes before the hooks that are there already, not after them.
            with_kwargs: whether it is called with the dictionary of keyword arguments as well,
                before the output.

        Returns:
            A handle, whose `remove()` takes the hook away.

        Raises:
            TypeError: `hook` cannot be called.
        """
        _check_callable(hook)

        def after(
            module: Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any
        ) -> Any:
            given = (module, args, kwargs) if with_kwargs else (module, args)
            return hook(*given, output)

        return registered(self._all_hooks().after, after, prepend)

    def _all_hooks(self) -> _Hooks:
        """Return the hooks, of which there may be none yet."""
        if self._hooks is None:
            self._hooks = _Hooks({}, {})
        return self._hooks

    # --- Finding by name ------------------------------------------------------------------------

    def get_submodule(self, target: str) -> mt_operators.Module:
        """Return the module of a dotted name, such as "encoder.0"; of "", this module.

        Raises:
            AttributeError: there is none; the message names the nearest.
        """
        found: mt_operators.Module = self
        for name in target.split(".") if target else []:
            if name not in found._modules:
                raise no_attribute(found, name)
            found = found._modules[name]
        return found

    def get_parameter(self, target: str) -> Any:
        """Return the parameter of a dotted name, such as "encoder.0.weight".

        Raises:
            AttributeError: there is none; the message names the nearest.
        """
        return self._held("_parameters", target)

    def get_buffer(self, target: str) -> Any:
        """Return the value of the buffer of a dotted name, such as "norm.running_mean".

        Raises:
            AttributeError: there is none; the message names the nearest.
        """
        return self._held("_buffers", target).value

    def _held(self, store: str, target: str) -> Any:
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        held = getattr(owner, store)
        if name not in held:
            raise no_attribute(owner, name)
        return held[name]

    if TYPE_CHECKING:  # parameters are tensors here, which stage 0 does not know

        def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
            """Iterate over the parameters, each one once; see stage 0's `Module`."""

        def named_parameters(
            self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
        ) -> Iterator[tuple[str, Parameter]]:
            """Iterate over the parameters with their dotted names; see stage 0's `Module`."""

    # --- All tensors at once --------------------------------------------------------------------

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

        Integers keep their element type. Optimizers made before know the parameters still; what
        they remember of them is not converted.

        Args:
            target: an element type, a device, a backend, or the name of one; see
                `mt_tensor.Tensor.to`.
            dtype: an element type.
            non_blocking: whether moving may go on after the call. Here it never does.
            backend: a backend or its name.
            device: a device or its name.

        Raises:
            UnknownBackendError: a name is that of no element type, backend or device.
            DTypeError: there is no such element type.
        """

        def converted(value: Tensor) -> Tensor:
            found = value.detach().to(
                target, dtype, backend=backend, device=device, non_blocking=non_blocking
            )
            if value.is_floating_point():
                return found
            return value.detach().to(backend=found.backend)

        for module in self.modules():
            for name, buffer in module._buffers.items():
                if isinstance(buffer.value, Tensor):
                    setattr(module, name, converted(buffer.value))
        for holder in self.parameters():
            parameter = holder.value
            grad, needed = parameter.grad, parameter.requires_grad
            parameter._become(converted(parameter))
            parameter.requires_grad_(needed)
            if grad is not None:
                parameter.grad = converted(grad)
        return self

    def cpu(self) -> Self:
        """Move all tensors to the memory of this machine; those that are there stay as they are."""
        return self.to(device="cpu")

    def cuda(self, device: Device = None) -> Self:
        """Move all tensors to the GPU.

        Raises:
            BackendUnavailableError: there is no GPU; the message says why.
            UnknownBackendError: mt-cuda is not installed.
        """
        return self.to(device="cuda" if device is None else device)

    def half(self) -> Self:
        """Convert all floating-point numbers to float16."""
        return self.to(float16)

    def float(self) -> Self:
        """Convert all floating-point numbers to float32."""
        return self.to(float32)

    def double(self) -> Self:
        """Convert all floating-point numbers to float64."""
        return self.to(float64)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to zero."""
        for holder in self.parameters():
            parameter = holder.value
            if set_to_none or parameter.grad is None:
                parameter.grad = None
            else:
                parameter.grad.detach().zero_()

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Train all parameters, or none of them; return the module."""
        for holder in self.parameters():
            holder.value.requires_grad_(requires_grad)
        return self


def _check_callable(hook: object) -> None:
    if not callable(hook):
        raise TypeError(f"a hook is a function of the module and its arguments; got {hook!r}.")


def registered(
    hooks: dict[int, Callable[..., Any]], hook: Callable[..., Any], prepend: bool
) -> RemovableHandle:
    """Enter a hook after the others, or before them."""
    earlier = dict(hooks) if prepend else {}
    handle = RemovableHandle(hooks, hook)
    for number in earlier:
        hooks[number] = hooks.pop(number)
    return handle
