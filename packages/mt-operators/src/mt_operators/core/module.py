"""`Module`: a tree of parameters, buffers and submodules, with torch's names and order.

Assigning a member to an attribute registers it.
"""

from __future__ import annotations

import reprlib
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Self

from mt_operators.core.errors import (
    MemberError,
    MemberNameError,
    ModuleError,
    StateDictError,
    no_attribute,
)
from mt_operators.core.parameter import Buffer, Holder, Parameter


class IncompatibleKeys(NamedTuple):
    """The names that only the module has, and those that only the state dictionary has."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class Module:
    """A node of a tree of modules.

    Assigning a `Parameter`, a `Buffer` or a `Module` to an attribute adds it to the tree.

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

    # --- Members as attributes ------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute: register a member, or update the value of a buffer.

        Raises:
            AttributeError: `Module.__init__` has not been called.
            MemberNameError: the name is invalid for a member.
            MemberError: a member would become a value of another kind, or a module would contain
                itself.
        """
        if "_modules" not in self.__dict__:
            raise self._not_initialized(name)
        current = self._member(name)
        kind = next((kind for kind in _STORES if isinstance(value, kind)), None)
        if kind is not None:
            self._check_name(name)
            if current is not None and not isinstance(current, kind):
                raise self._kind_changes(name, current, value)
            if isinstance(value, Module):
                self._check_no_cycle(name, value)
            self.__dict__.pop(name, None)
            self.__dict__[_STORES[kind]][name] = value
        elif isinstance(current, Buffer):
            current.update(value)
        elif current is not None and value is not None:
            raise self._kind_changes(name, current, value)
        elif name in _STORES.values():
            raise self._bad_name(name, "which keeps its members there: choose another name")
        else:
            if current is not None:
                delattr(self, name)
            object.__setattr__(self, name, value)

    def _member(self, name: str) -> Any:
        """Return the member of this name, or None."""
        for store in _STORES.values():
            members = self.__dict__.get(store)
            if members and name in members:
                return members[name]
        return None

    def __getattr__(self, name: str) -> Any:
        """Return a member, or the value of a buffer, if there is no ordinary attribute."""
        attributes = self.__dict__
        if "_modules" not in attributes:
            raise self._not_initialized(name)
        for store in _STORES.values():
            if name in attributes[store]:
                member = attributes[store][name]
                return member.value if store == "_buffers" else member
        raise no_attribute(self, name)

    def __delattr__(self, name: str) -> None:
        """Remove a member or an attribute."""
        for store in _STORES.values():
            if self.__dict__.get(store, {}).pop(name, None) is not None:
                return
        object.__delattr__(self, name)

    def __dir__(self) -> Iterable[str]:
        members = (self.__dict__.get(store, {}) for store in _STORES.values())
        return sorted({*object.__dir__(self)}.union(*members))

    def _check_name(self, name: object) -> None:
        if not isinstance(name, str) or not name or "." in name:
            rule = "whose members have non-empty strings without dots as names"
            raise self._bad_name(name, rule)
        if name in _STORES.values() or any(name in vars(c) for c in type(self).__mro__):
            rule = "whose class has an attribute of that name: choose another name"
            raise self._bad_name(name, rule)

    def _check_no_cycle(self, name: str, module: Module) -> None:
        for path, descendant in module.named_modules(prefix=name):
            if descendant is self:
                raise MemberError(
                    f"{type(self).__name__}.{path} would be the {type(self).__name__} itself. Pass "
                    "it to forward(), or keep it in a tuple, which is not part of the tree."
                )

    def _not_initialized(self, name: str) -> AttributeError:
        owner = type(self).__name__
        return AttributeError(
            f"{owner}.{name} cannot be used yet: call super().__init__() first in {owner}.__init__."
        )

    def _kind_changes(self, name: str, member: Any, value: Any) -> MemberError:
        kind = next(kind for kind in _STORES if isinstance(member, kind)).__name__
        return MemberError(
            f"{type(self).__name__}.{name} is a {kind} and cannot become a {type(value).__name__}: "
            f"assign a {kind} or None, or delete it first."
        )

    def _bad_name(self, name: object, reason: str) -> MemberNameError:
        return MemberNameError(f"{name!r} cannot name a member of {type(self).__name__}, {reason}.")

    # --- Members by name ------------------------------------------------------------------------

    def add_module(self, name: str, module: Module) -> None:
        """Add a submodule under a name.

        Args:
            name: a non-empty string without dots that is not an attribute of the class.
            module: the submodule.

        Raises:
            MemberError: `module` is not a module, or would contain itself.
            MemberNameError: the name is invalid, or already in use for something else.
        """
        if not isinstance(module, Module):
            raise _wrong_kind("add_module", "a Module", module)
        self._add(Module, name, module)

    def add_parameter(self, name: str, value: Any) -> Parameter:
        """Add a `Parameter`, or wrap a value in one, and return it.

        Raises:
            MemberError: `value` is a buffer or a module.
            MemberNameError: the name is invalid, or already in use for something else.
        """
        if isinstance(value, (Buffer, Module)):
            raise _wrong_kind("add_parameter", "a Parameter or the value for one", value)
        parameter = value if isinstance(value, Parameter) else Parameter(value, name)
        self._add(Parameter, name, parameter)
        return parameter

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter, or None for an absent one.

        Raises:
            MemberError: `param` is neither a `Parameter` nor None.
            MemberNameError: the name is invalid, or already in use for something else.
        """
        if param is not None and not isinstance(param, Parameter):
            raise _wrong_kind("register_parameter", "a Parameter or None", param)
        self._add(Parameter, name, param)

    def register_buffer(self, name: str, value: Any, persistent: bool = True) -> None:
        """Add a `Buffer`, or wrap a value in one; the attribute returns the value.

        >>> counter = Module()
        >>> counter.register_buffer("steps", 0)
        >>> counter.steps += 1
        >>> counter.state_dict()
        {'steps': 1}

        Args:
            name: the name of the buffer.
            value: a `Buffer`, or the value for one.
            persistent: whether the state dictionary includes the value; ignored for a `Buffer`,
                which has its own setting.

        Raises:
            MemberError: `value` is a parameter or a module.
            MemberNameError: the name is invalid, or already in use for something else.
        """
        if isinstance(value, (Parameter, Module)):
            raise _wrong_kind("register_buffer", "a Buffer or the value for one", value)
        buffer = value if isinstance(value, Buffer) else Buffer(value, persistent)
        self._add(Buffer, name, buffer)

    def _add(self, kind: type, name: str, member: Parameter | Buffer | Module | None) -> None:
        self._check_name(name)
        old = self._member(name)
        if (old is not None and not isinstance(old, kind)) or self.__dict__.get(name) is not None:
            raise self._bad_name(name, "which has an attribute of that name: delete it first")
        setattr(self, name, member)

    # --- Iteration over the tree ----------------------------------------------------------------

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterate over the direct submodules with their names, without duplicates."""
        first: dict[int, tuple[str, Module]] = {}
        for name, module in self._modules.items():
            first.setdefault(id(module), (name, module))
        return iter(first.values())

    def children(self) -> Iterator[Module]:
        """Iterate over the direct submodules, without duplicates."""
        return (module for _, module in self.named_children())

    def named_modules(
        self, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Iterate over this module and its descendants with their dotted names, in preorder.

        All names start with `prefix`. Without `remove_duplicate`, a shared module appears under
        each of its names.
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
        """Iterate over this module and its descendants, without duplicates."""
        return (module for _, module in self.named_modules())

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Iterate over the parameters with dotted names; without `recurse`, skip submodules.

        `prefix` and `remove_duplicate` are those of `named_modules`.
        """
        return self._named_holders("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Iterate over the parameters, without duplicates."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Iterate over the values of buffers that are not None; see `named_parameters`."""
        named = self._named_holders("_buffers", prefix, recurse, remove_duplicate)
        return ((name, buffer.value) for name, buffer in named if buffer.value is not None)

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """Iterate over the values of the buffers, without duplicates."""
        return (value for _, value in self.named_buffers(recurse=recurse))

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

    def train(self, mode: bool = True) -> Self:
        """Set the training mode of the whole tree and return self; submodules may override it.

        Raises:
            ModuleError: `mode` is not a bool.
        """
        if not isinstance(mode, bool):
            raise ModuleError(f"train() takes True or False; {mode!r} was given.")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Self:
        """Set the whole tree to evaluation mode and return self."""
        return self.train(False)

    # --- Saving and loading ---------------------------------------------------------------------

    def state_dict(self, prefix: str = "") -> dict[str, Any]:
        """Return the values of all parameters and persistent buffers by dotted name.

        Names start with `prefix`. Values are detached, but not copied; buffers whose value is None
        are left out.
        """
        return {prefix + name: holder.state() for name, holder in self._saved_holders()}

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True
    ) -> IncompatibleKeys:
        """Load copies of the values of a state dictionary; if one is invalid, change nothing.

        With `strict` the names must match exactly; otherwise only common ones are loaded. Return
        the missing and the unexpected names.

        Raises:
            StateDictError: the names do not match, or a value has the wrong shape or type.
            TypeError: `state_dict` is not a dictionary.
        """
        holders = dict(self._saved_holders())
        keys = _incompatible_keys(holders, state_dict)
        if strict and any(keys):
            kinds = zip(("missing", "unexpected"), keys, strict=True)
            problems = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds if names)
            raise StateDictError(
                f"the state dictionary does not fit {type(self).__name__} ({problems}). Load it "
                "into the architecture it was saved from, or pass strict=False to load the rest."
            )
        values = {}
        for name, holder in holders.items():  # check all before changing the first
            if name in state_dict:
                try:
                    values[name] = holder.checked_copy(state_dict[name])
                except StateDictError as error:
                    raise StateDictError(f"{name}: {error}") from error
        for name, value in values.items():
            holders[name].load(value)
        return keys

    def _saved_holders(self) -> list[tuple[str, Holder]]:
        """Return the saved members of the tree, with dotted names."""
        return [
            (_joined(path, name), holder)
            for path, module in self.named_modules(remove_duplicate=False)
            for name, holder in module._saved_members().items()
        ]

    def _saved_members(self) -> dict[str, Holder]:
        """Return the saved members of this module by name, without submodules."""
        saved = {n: b for n, b in self._buffers.items() if b.persistent and b.value is not None}
        return {**self._parameters, **saved}

    # --- Calls and text -------------------------------------------------------------------------

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the module's output; defined by subclasses.

        Raises:
            NotImplementedError: the class does not define this method.
        """
        raise NotImplementedError(
            f"{type(self).__name__} defines no forward method, so it cannot be called."
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`."""
        return self.forward(*args, **kwargs)

    def extra_repr(self) -> str:
        """Return the text in parentheses of `repr`: by default the parameters and buffers."""
        holders = {**self._parameters, **self._buffers}
        shown = {name: " ".join(_SHORT.repr(h.value).split()) for name, h in holders.items()}
        return ", ".join(f"{name}={value}" for name, value in shown.items())

    def __repr__(self) -> str:
        """Return the tree as text, one line per module."""
        text = self.extra_repr()
        if not self._modules and "\n" not in text:
            return f"{type(self).__name__}({text})"
        children = [f"({name}): {child!r}" for name, child in self._modules.items()]
        lines = textwrap.indent("\n".join([text, *children] if text else children), "  ")
        return f"{type(self).__name__}(\n{lines}\n)"


_STORES: dict[type, str] = {Parameter: "_parameters", Buffer: "_buffers", Module: "_modules"}
"""The types of members, and the attributes that store them."""


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _incompatible_keys(known: Mapping[str, Holder], state: object) -> IncompatibleKeys:
    if not isinstance(state, Mapping):
        raise TypeError(
            f"load_state_dict() takes a dictionary of values by name; {type(state).__name__} was "
            "given. Pass the result of state_dict() of another model."
        )
    for name in state:
        if not isinstance(name, str):
            raise StateDictError(f"load_state_dict() takes strings as names; {name!r} was found.")
    return IncompatibleKeys(
        [name for name in known if name not in state], [name for name in state if name not in known]
    )


def _wrong_kind(method: str, expected: str, value: object) -> MemberError:
    return MemberError(f"{method}() takes {expected}; {reprlib.repr(value)} was given.")


_SHORT = reprlib.Repr()
_SHORT.maxother = 60
