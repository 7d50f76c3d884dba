"""`Module`: stage 0's tree of parameters, for the parameters above, which are tensors.

What it adds are torch's methods for all tensors of a network at once (another element type or
backend, no gradients, nothing to train), those that find something by its dotted name, hooks,
which see what goes into a module and what comes out of it, forwards and backwards, and a state of
a module's own beside its tensors. With it a network can be written; what it is made of, comes next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import mt_operators
from mt_nn.backward_hooks import BackwardPass
from mt_nn.parameter import Parameter
from mt_operators import IncompatibleKeys
from mt_operators.core.errors import no_attribute
from mt_operators.core.parameter import Holder
from mt_tensor import Tensor, bfloat16, float16, float32, float64, is_grad_enabled
from mt_tensor.extending import Backend, Device, RemovableHandle


class _Hooks(NamedTuple):
    """The hooks of a module, by number: those that run before and after `forward`, and backward."""

    before: dict[int, Callable[..., Any]]
    after: dict[int, Callable[..., Any]]
    before_backward: dict[int, Callable[..., Any]]
    after_backward: dict[int, Callable[..., Any]]


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
        backward = None
        if is_grad_enabled() and (self._hooks.before_backward or self._hooks.after_backward):
            backward = BackwardPass(self, self._hooks.before_backward, self._hooks.after_backward)
            args = backward.watched_inputs(args)
        output = self.forward(*args, **kwargs)
        for hook in tuple(self._hooks.after.values()):
            changed = hook(self, args, kwargs, output)
            output = output if changed is None else changed
        return output if backward is None else backward.watched_output(output)

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
            inputs = (args, kwargs) if with_kwargs else (args,)
            return hook(module, *inputs, output)

        return registered(self._all_hooks().after, after, prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call a function before gradients go back through the module.

        Args:
            hook: called with the module and the tuple of the gradients of its outputs. It returns
                None, or what goes back instead: a tuple of as many, or a single one.
            prepend: whether it comes before the hooks that are there already, not after them.

        Returns:
            A handle, whose `remove()` takes the hook away.

        Raises:
            TypeError: `hook` cannot be called, or, when it is, returns something else.
        """
        _check_callable(hook)
        return registered(self._all_hooks().before_backward, hook, prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call a function when the gradients of the module's inputs are known.

        It is called once for each call of the module that `backward()` goes back through.

        Args:
            hook: called with the module, the tuple of the gradients of its positional arguments and
                that of its outputs, with None for what is no tensor or needs no gradient. It
                returns None, or what goes back instead of the first: a tuple of as many, or a
                single one.
            prepend: whether it comes before the hooks that are there already, not after them.

        Returns:
            A handle, whose `remove()` takes the hook away.

        Raises:
            TypeError: `hook` cannot be called, or, when it is, returns something else.
        """
        _check_callable(hook)
        return registered(self._all_hooks().after_backward, hook, prepend)

    def _all_hooks(self) -> _Hooks:
        """Return the hooks, of which there may be none yet."""
        hooks: _Hooks = vars(self).setdefault("_hooks", _Hooks({}, {}, {}, {}))
        return hooks

    # --- Finding by name ------------------------------------------------------------------------

    def get_submodule(self, target: str) -> mt_operators.Module:
        """Return the module of a dotted name, such as "encoder.0"; of "", this module.

        Raises:
            AttributeError: there is none; the message names the nearest.
        """
        module: mt_operators.Module = self
        for name in target.split(".") if target else []:
            if name not in module._modules:
                raise no_attribute(module, name)
            module = module._modules[name]
        return module

    def set_submodule(self, target: str, module: mt_operators.Module, strict: bool = False) -> None:
        """Put a module in the place of a dotted name, such as "encoder.0".

        Args:
            target: the name.
            module: what is found there from now on.
            strict: whether there must be a module there already.

        Raises:
            AttributeError: what should hold it is not there, or `strict` and it is not.
            MemberError: it is no module.
            MemberNameError: the name cannot be one.
        """
        path, _, name = target.rpartition(".")
        if strict:
            self.get_submodule(target)
        owner = self.get_submodule(path)
        owner.add_module(name, module)

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

    # --- Saving and loading ---------------------------------------------------------------------

    def get_extra_state(self) -> Any:
        """Return what to save beside parameters and buffers, under the name `_extra_state`.

        Define it, and `set_extra_state`, in a module that has such a state: a tensor, or for
        `mt_nn.save` anything else that it can write.
        """
        raise _no_extra_state(self, "get_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Take over what `get_extra_state` returned."""
        raise _no_extra_state(self, "set_extra_state")

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Take over the values of a state dictionary. If anything does not fit, nothing changes.

        Args:
            state_dict: values by dotted name, as `state_dict` returns them.
            strict: whether the names must match exactly; otherwise only common ones are loaded.
            assign: whether parameters and buffers become the tensors of the dictionary, with their
                memory, element types and backends, instead of taking over their elements.

        Returns:
            The names that are missing in `state_dict`, and those in it that the module lacks.

        Raises:
            StateDictError: names are missing or unexpected, or a value does not fit.
        """
        keys = super().load_state_dict(state_dict, strict)
        if assign:
            for name, holder in self._saved_holders():
                value = state_dict.get(name)
                if isinstance(holder, Parameter) and isinstance(value, Tensor):
                    needed = holder.requires_grad
                    holder._become(value.detach())
                    holder.requires_grad_(needed)
                elif isinstance(holder, mt_operators.Buffer) and isinstance(value, Tensor):
                    holder.update(value.detach())
        return keys

    def _own_saved(self) -> dict[str, Holder]:
        """Return what is saved of this module itself, by name, with its extra state at the end."""
        saved = super()._own_saved()
        if type(self).get_extra_state is not _NO_EXTRA_STATE:
            saved[_EXTRA_STATE] = _ExtraState(self)
        return saved

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
            moved = value.detach().to(
                target, dtype, backend=backend, device=device, non_blocking=non_blocking
            )
            if value.is_floating_point():
                return moved
            return value.detach().to(backend=moved.backend)

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

    def bfloat16(self) -> Self:
        """Convert all floating-point numbers to bfloat16."""
        return self.to(bfloat16)

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


_EXTRA_STATE = "_extra_state"
_NO_EXTRA_STATE = Module.get_extra_state


class _ExtraState(Holder):
    """What a module saves beside its parameters and buffers, in the place of one of them."""

    def __init__(self, module: Module) -> None:
        self._module = module
        super().__init__(None)

    def state(self) -> Any:
        """Return the state to save."""
        return self._module.get_extra_state()

    def fitting(self, saved: Any) -> Any:
        """Return a saved state; whether it fits, only the module knows."""
        return saved

    def load(self, fitting: Any) -> None:
        """Let the module take over a state."""
        self._module.set_extra_state(fitting)


def _no_extra_state(module: Module, name: str) -> TypeError:
    return TypeError(
        f"{type(module).__name__} defines no {name}(); define both get_extra_state() and "
        "set_extra_state() in a module that has a state of its own."
    )


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
