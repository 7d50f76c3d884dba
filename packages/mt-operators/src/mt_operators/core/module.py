"""Trees of modules and what they hold.

The last file of the lesson, but for `__init__.py`. A `Module` is a node: it finds its parameters,
buffers and child modules by watching what is assigned to its attributes. What a `Parameter` or a
`Buffer` holds is open, so one `Module` serves every stage. Names and order are torch's.
"""

from __future__ import annotations

import reprlib
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Self

from mt_operators.core.errors import (
    MemberError,
    MemberNameError,
    ModuleError,
    no_attribute,
)
from mt_operators.core.parameter import Buffer, Holder, Parameter
from mt_operators.core.state_dict import IncompatibleKeys, load


class Module:
    """A node of a tree of modules.

    Assigning a `Parameter`, a `Buffer` or a `Module` to an attribute makes it part of the tree:

        >>> class Line(Module):
        ...     def __init__(self) -> None:
        ...         super().__init__()
        ...         self.slope = Parameter(2.0)
        ...
        ...     def forward(self, x: float) -> float:
        ...         return self.slope.value * x
        >>> line = Line()
        >>> line(3.0)
        6.0
        >>> [name for name, _ in line.named_parameters()]
        ['slope']
        >>> line
        Line(slope=2.0)

    Attributes:
        training: whether the module is in training mode; `train()` and `eval()` set it.
    """

    training: bool = True
    _parameters: dict[str, Parameter]
    _buffers: dict[str, Buffer]
    _modules: dict[str, Module]

    def __init__(self) -> None:
        for store in _STORES.values():
            self.__dict__[store] = {}

    # --- Attributes -----------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; parameters, buffers and modules become part of the tree.

        A plain value that is assigned to a buffer's name becomes the value of the buffer.

        Raises:
            AttributeError: `super().__init__()` has not been called yet.
            MemberError: a parameter, buffer or module would silently leave the tree, or a module
                would become part of itself.
            MemberNameError: nothing can be held, and found again, under this name.
        """
        if "_modules" not in self.__dict__:
            raise _not_initialized(self, name)
        if isinstance(value, (Parameter, Buffer, Module)):
            self._hold(name, value)
        elif name in self._buffers:
            self._buffers[name].update(value)
        elif name in self._parameters or name in self._modules:
            self._let_go(name, value)
        elif name in _STORES.values():
            raise _bad_name(self, name, "which keeps its members there: choose another name")
        else:
            object.__setattr__(self, name, value)

    def _hold(self, name: str, member: Parameter | Buffer | Module) -> None:
        """Make `member` part of the tree, in the place of a member of its kind if there is one."""
        self._check_name(name)
        kind = _kind_of(member)
        held = self._member(name)
        if held is not None and not isinstance(held, kind):
            raise _kind_changes(self, name, held, member)
        if isinstance(member, Module):
            self._check_no_cycle(name, member)
        self.__dict__.pop(name, None)
        self.__dict__[_STORES[kind]][name] = member

    def _let_go(self, name: str, value: Any) -> None:
        """Replace a parameter or module by None; by anything else it is probably a mistake."""
        if value is not None:
            raise _kind_changes(self, name, self._member(name), value)
        delattr(self, name)
        object.__setattr__(self, name, None)

    def _member(self, name: str) -> Any:
        """Return the member of this name, or None."""
        attributes = self.__dict__
        for store in _STORES.values():
            members = attributes.get(store)
            if members and name in members:
                return members[name]
        return None

    def __getattr__(self, name: str) -> Any:
        """Find a member of the tree; only called when there is no plain attribute.

        Raises:
            AttributeError: there is no such attribute; the message names the nearest.
        """
        member = self._member(name)
        if member is not None:
            return member.value if isinstance(member, Buffer) else member
        if "_modules" not in self.__dict__:
            raise _not_initialized(self, name)
        raise no_attribute(self, name)

    def __delattr__(self, name: str) -> None:
        """Remove an attribute or a member of the tree."""
        for store in _STORES.values():
            if self.__dict__.get(store, {}).pop(name, None) is not None:
                return
        object.__delattr__(self, name)

    def __dir__(self) -> Iterable[str]:
        """Names of attributes and of members of the tree."""
        members = (self.__dict__.get(store, {}) for store in _STORES.values())
        return sorted({*object.__dir__(self)}.union(*members))

    # --- Growing the tree -----------------------------------------------------------------------

    def add_module(self, name: str, module: Module) -> None:
        """Make `module` a child under `name`, which may be any string without a dot.

        Raises:
            MemberError: `module` is no module.
            MemberNameError: the name is taken or cannot be one.
        """
        if not isinstance(module, Module):
            raise _wrong_kind("add_module", "a Module", module)
        self._add(Module, name, module)

    def add_parameter(self, name: str, value: Any) -> Parameter:
        """Hold `value` as a new parameter under `name`, and return the parameter.

        Args:
            name: any string without a dot.
            value: a `Parameter`, which is held as it is, or the value for one.

        Raises:
            MemberError: `value` is a buffer or a module.
            MemberNameError: the name is taken or cannot be one.
        """
        if isinstance(value, (Buffer, Module)):
            raise _wrong_kind("add_parameter", "a Parameter or the value for one", value)
        parameter = value if isinstance(value, Parameter) else Parameter(value, name)
        self._add(Parameter, name, parameter)
        return parameter

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Make `param` a parameter under `name`; None says that there is none.

        Raises:
            MemberError: `param` is neither.
            MemberNameError: the name is taken or cannot be one.
        """
        if param is not None and not isinstance(param, Parameter):
            raise _wrong_kind("register_parameter", "a Parameter or None", param)
        self._add(Parameter, name, param)

    def register_buffer(self, name: str, value: Any, persistent: bool = True) -> None:
        """Hold `value` as a buffer under `name`.

        The attribute of that name then reads and writes the value:

            >>> counter = Module()
            >>> counter.register_buffer("steps", 0)
            >>> counter.steps += 1
            >>> counter.state_dict()
            {'steps': 1}

        Args:
            name: any string without a dot.
            value: a `Buffer`, which is held itself, or the value for one.
            persistent: whether the buffer is part of the state dictionary; a `Buffer` knows itself.

        Raises:
            MemberError: `value` is a parameter or a module.
            MemberNameError: the name is taken or cannot be one.
        """
        if isinstance(value, (Parameter, Module)):
            raise _wrong_kind("register_buffer", "a Buffer or the value for one", value)
        buffer = value if isinstance(value, Buffer) else Buffer(value, persistent)
        self._add(Buffer, name, buffer)

    def _add(self, kind: type, name: str, member: Parameter | Buffer | Module | None) -> None:
        """Hold a member under a name that is free, or that a member of its kind has."""
        self._check_name(name)
        held = self._member(name)
        changes_kind = held is not None and not isinstance(held, kind)
        if changes_kind or self.__dict__.get(name) is not None:
            raise _bad_name(self, name, "which has an attribute of that name: delete it first")
        setattr(self, name, member)

    def _check_name(self, name: object) -> None:
        if not isinstance(name, str) or not name or "." in name:
            raise _bad_name(
                self,
                name,
                "for it must be a string, must not be empty and must not hold a dot, which "
                "separates the levels in a state dictionary",
            )
        if name in _STORES.values() or any(name in vars(c) for c in type(self).__mro__):
            raise _bad_name(
                self,
                name,
                "whose class has an attribute of that name, which would hide it: choose another "
                "name, or remove it from the class",
            )

    def _check_no_cycle(self, name: str, module: Module) -> None:
        for path, below in module.named_modules(prefix=name):
            if below is self:
                raise MemberError(
                    f"{type(self).__name__}.{path} would be the {type(self).__name__} itself, in a "
                    "tree without end. Hand the module to forward(), or keep it out of the tree "
                    "in a tuple."
                )

    # --- Walking the tree -----------------------------------------------------------------------

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterate over the direct child modules with their names, each one once."""
        seen: set[int] = set()
        for name, module in self._modules.items():
            if id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self) -> Iterator[Module]:
        """Iterate over the direct child modules, each one once."""
        for _, module in self.named_children():
            yield module

    def named_modules(
        self, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Iterate over this module and all below it with their dotted names, parents first.

        Args:
            prefix: the name of this module, with which all others begin.
            remove_duplicate: whether a module with several names is listed under the first only.
        """
        seen: set[int] = set()
        pending: list[tuple[str, Module]] = [(prefix, self)]
        while pending:
            path, module = pending.pop()
            if remove_duplicate and id(module) in seen:
                continue
            seen.add(id(module))
            yield path, module
            for name, child in reversed(module._modules.items()):
                pending.append((_joined(path, name), child))

    def modules(self) -> Iterator[Module]:
        """Iterate over this module and all modules below it, each one once."""
        for _, module in self.named_modules():
            yield module

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Iterate over the parameters with their dotted names.

        Args:
            prefix: what all names begin with.
            recurse: whether those of the modules below are listed too.
            remove_duplicate: whether one with several names is listed under the first only.
        """
        return self._named_holders("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Iterate over the parameters, each one once; without `recurse`, this module's own."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Iterate over the values of the buffers with their dotted names; empty ones are left out.

        Args:
            prefix: what all names begin with.
            recurse: whether those of the modules below are listed too.
            remove_duplicate: whether one with several names is listed under the first only.
        """
        for name, buffer in self._named_holders("_buffers", prefix, recurse, remove_duplicate):
            if buffer.value is not None:
                yield name, buffer.value

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """Iterate over the values of the buffers, each one once; see `named_buffers`."""
        for _, value in self.named_buffers(recurse=recurse):
            yield value

    def _named_holders(
        self, store: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = self.named_modules(prefix, remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, holder in getattr(module, store).items():
                if remove_duplicate and id(holder) in seen:
                    continue
                seen.add(id(holder))
                yield _joined(path, name), holder

    def apply(self, fn: Callable[[Module], object]) -> Self:
        """Call `fn` with every module of the tree, children first, and return self."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    # --- Modes ----------------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Put the whole tree into training mode (or out of it) and return self.

        Every child's own `train` is called, so that a module can override it to stay as it is.

        Raises:
            ModuleError: `mode` is no bool.
        """
        if not isinstance(mode, bool):
            raise ModuleError(
                f"train() takes True or False; {mode!r} was given. To train a model, write the "
                "loop over the data, or use a function that has one."
            )
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Self:
        """Put the whole tree into evaluation mode and return self."""
        return self.train(False)

    # --- Saving and loading ---------------------------------------------------------------------

    def state_dict(self, prefix: str = "") -> dict[str, Any]:
        """Return the values of all parameters and persistent buffers by dotted name.

        What is shared is listed under each of its names. Values that record computations are
        detached; tensors share their memory with the module.

        Args:
            prefix: what all names begin with.
        """
        return {prefix + name: holder.state() for name, holder in self._saved_holders()}

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True
    ) -> IncompatibleKeys:
        """Take over the values of a state dictionary. If anything does not fit, nothing changes.

        Args:
            state_dict: values by dotted name, as `state_dict` returns them.
            strict: whether the names must match exactly; otherwise only common ones are loaded.

        Returns:
            The names that are missing in `state_dict`, and those in it that the module lacks.

        Raises:
            StateDictError: names are missing or unexpected, or a value does not fit.
        """
        return load(type(self).__name__, dict(self._saved_holders()), state_dict, strict)

    def _saved_holders(self) -> list[tuple[str, Holder]]:
        """Return what is saved of the tree, with dotted names."""
        return [
            (_joined(path, name), holder)
            for path, module in self.named_modules(remove_duplicate=False)
            for name, holder in module._own_saved().items()
        ]

    def _own_saved(self) -> dict[str, Holder]:
        """Return what is saved of this module itself, by name."""
        saved = {n: b for n, b in self._buffers.items() if b.persistent and b.value is not None}
        return {**self._parameters, **saved}

    # --- Running and showing --------------------------------------------------------------------

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the module's output. Every module defines its own."""
        raise NotImplementedError(
            f"{type(self).__name__} defines no forward method, so it cannot be called."
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`."""
        return self.forward(*args, **kwargs)

    def extra_repr(self) -> str:
        """Return what `repr` shows of the module itself: by default, its parameters and buffers.

        A layer shows its settings instead.
        """
        holders = {**self._parameters, **self._buffers}
        return ", ".join(f"{name}={_short(holder.value)}" for name, holder in holders.items())

    def __repr__(self) -> str:
        """Show the tree, one module a line."""
        own = self.extra_repr()
        if not self._modules and "\n" not in own:
            return f"{type(self).__name__}({own})"
        children = [f"({name}): {child!r}" for name, child in self._modules.items()]
        lines = textwrap.indent("\n".join([own, *children] if own else children), "  ")
        return f"{type(self).__name__}(\n{lines}\n)"


# --- Names, kinds and their errors --------------------------------------------------------------

_STORES: dict[type, str] = {
    Parameter: "_parameters",
    Buffer: "_buffers",
    Module: "_modules",
}
"""The kinds of members, and the attribute in which a module keeps those of each."""


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _kind_of(member: object) -> type:
    return next(kind for kind in _STORES if isinstance(member, kind))


def _not_initialized(module: Module, name: str) -> AttributeError:
    kind = type(module).__name__
    return AttributeError(
        f"{name!r} of {kind} cannot be used yet: call super().__init__() first in {kind}.__init__."
    )


def _kind_changes(module: Module, name: str, held: Any, value: Any) -> MemberError:
    kind = _kind_of(held).__name__
    return MemberError(
        f"{type(module).__name__}.{name} is a {kind} and cannot become a {type(value).__name__}: "
        f"assign a {kind} or None, or delete it first."
    )


def _wrong_kind(method: str, wanted: str, value: object) -> MemberError:
    return MemberError(f"{method}() takes {wanted}; {reprlib.repr(value)} was given.")


def _bad_name(module: Module, name: object, reason: str) -> MemberNameError:
    return MemberNameError(f"{name!r} cannot name a member of {type(module).__name__}, {reason}.")


_SHORT = reprlib.Repr()
_SHORT.maxother = 60


def _short(value: object) -> str:
    return " ".join(_SHORT.repr(value).split())
