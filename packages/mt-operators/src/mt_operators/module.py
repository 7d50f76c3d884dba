"""Trees of modules and the parameters they hold.

A `Module` is a node: it finds its parameters and child modules by watching what is assigned to its
attributes. What a `Parameter` holds is open: a float here, a recorded scalar in stage 1, a tensor
later. So one `Module` serves every stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Self

from mt_operators.errors import StateDictError, no_attribute


class Parameter:
    """A value that training changes.

    If the value records computations (it has `requires_grad_`), it is asked to.
    """

    def __init__(self, value: Any, name: str | None = None) -> None:
        self.name = name
        self.update(value)

    @property
    def value(self) -> Any:
        """The value held."""
        return self._value

    def update(self, value: Any) -> None:
        """Hold another value from now on."""
        self._value = value
        if hasattr(value, "requires_grad_"):
            value.requires_grad_(True)
            if self.name:
                value.name = self.name

    def check(self, value: Any) -> None:
        """Raise StateDictError if a saved value does not fit; here every value does."""

    def load(self, value: Any) -> None:
        """Take over a saved value that has passed `check`."""
        self.update(value)

    def __repr__(self) -> str:
        """Show the value."""
        return f"Parameter({self.value!r})"


class Module:
    """A node of a tree of modules.

    Assigning a `Parameter` or a `Module` to an attribute makes it part of the tree:

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

    Attributes:
        training: whether the module is in training mode; `train()` and `eval()` set it.
    """

    training: bool
    _modules: dict[str, Module]
    _parameters: dict[str, Parameter]

    def __init__(self) -> None:
        object.__setattr__(self, "_modules", {})
        object.__setattr__(self, "_parameters", {})
        object.__setattr__(self, "training", True)

    # --- Attributes -----------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; parameters and modules become part of the tree.

        Raises:
            AttributeError: `super().__init__()` has not been called yet.
            TypeError: a parameter or module would silently leave the tree.
        """
        if "_modules" not in self.__dict__:
            raise AttributeError(
                f"cannot set {name!r}: call super().__init__() first in "
                f"{type(self).__name__}.__init__."
            )
        member = Parameter if name in self._parameters else Module
        held = name in self._parameters or name in self._modules
        if held and value is not None and not isinstance(value, member):
            raise TypeError(
                f"{type(self).__name__}.{name} is a {member.__name__} and cannot become a "
                f"{type(value).__name__}: assign a {member.__name__} or None, or delete it first."
            )
        self._modules.pop(name, None)
        self._parameters.pop(name, None)
        if isinstance(value, Parameter):
            self.__dict__.pop(name, None)
            self._parameters[name] = value
        elif isinstance(value, Module):
            self.__dict__.pop(name, None)
            self._modules[name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        """Find a parameter or child module; only called when there is no plain attribute.

        Raises:
            AttributeError: there is no such attribute; the message names the nearest.
        """
        for members in ("_parameters", "_modules"):
            found = self.__dict__.get(members, {})
            if name in found:
                return found[name]
        raise no_attribute(self, name)

    def __delattr__(self, name: str) -> None:
        """Remove an attribute, parameter or child module."""
        for members in (self._parameters, self._modules):
            if name in members:
                del members[name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> Iterable[str]:
        """Names of attributes, parameters and child modules."""
        return sorted({*object.__dir__(self), *self._parameters, *self._modules})

    # --- The tree -------------------------------------------------------------------------------

    def add_module(self, name: str, module: Module) -> None:
        """Make `module` a child under `name`, which may be any string without a dot."""
        self._check_name(name)
        setattr(self, name, module)

    def add_parameter(self, name: str, value: Any) -> Parameter:
        """Hold `value` as a new parameter under `name`, and return the parameter."""
        self._check_name(name)
        parameter = value if isinstance(value, Parameter) else Parameter(value, name)
        setattr(self, name, parameter)
        return parameter

    def _check_name(self, name: str) -> None:
        if not name or "." in name:
            raise ValueError(
                f"{name!r} cannot name a member of {type(self).__name__}: the name must not be "
                "empty or hold a dot, which separates the levels in a state dictionary."
            )
        if hasattr(self, name) and name not in (*self._modules, *self._parameters):
            raise ValueError(
                f"{name!r} cannot name a member of {type(self).__name__}, which has an attribute "
                "of that name."
            )

    def children(self) -> Iterator[Module]:
        """Iterate over the direct child modules."""
        yield from self._modules.values()

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterate over the direct child modules with their names."""
        yield from self._modules.items()

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """Iterate over this module (named `prefix`) and all below it, each one once."""
        seen: set[int] = set()
        stack: list[tuple[str, Module]] = [(prefix, self)]
        while stack:
            name, module = stack.pop()
            if id(module) in seen:
                continue
            seen.add(id(module))
            yield name, module
            below = [(f"{name}.{n}" if name else n, m) for n, m in module._modules.items()]
            stack.extend(reversed(below))

    def modules(self) -> Iterator[Module]:
        """Iterate over this module and all modules below it, each one once."""
        for _, module in self.named_modules():
            yield module

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Iterate over all parameters with their dotted names, each one once."""
        seen: set[int] = set()
        for prefix, module in self.named_modules():
            for name, parameter in module._parameters.items():
                if id(parameter) not in seen:
                    seen.add(id(parameter))
                    yield (f"{prefix}.{name}" if prefix else name), parameter

    def parameters(self) -> Iterator[Parameter]:
        """Iterate over all parameters, each one once."""
        for _, parameter in self.named_parameters():
            yield parameter

    def apply(self, fn: Callable[[Module], object]) -> Self:
        """Call `fn` with every module of the tree, children first, and return self."""
        for module in reversed(list(self.modules())):
            fn(module)
        return self

    # --- Modes ----------------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Put the whole tree into training mode (or out of it) and return self."""
        for module in self.modules():
            object.__setattr__(module, "training", mode)
        return self

    def eval(self) -> Self:
        """Put the whole tree into evaluation mode and return self."""
        return self.train(False)

    # --- Saving and loading ---------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the values of all parameters by dotted name."""
        return {name: parameter.value for name, parameter in self.named_parameters()}

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> None:
        """Take over the values of a state dictionary.

        Args:
            state: values by dotted name, as `state_dict` returns them.
            strict: whether the names must match exactly; otherwise only common ones are loaded.

        Raises:
            StateDictError: names are missing or unexpected, or a value does not fit.
        """
        own = dict(self.named_parameters())
        missing = [name for name in own if name not in state]
        unexpected = [name for name in state if name not in own]
        if strict and (missing or unexpected):
            problems = [
                f"{kind}: {', '.join(names)}"
                for kind, names in (("missing", missing), ("unexpected", unexpected))
                if names
            ]
            raise StateDictError(
                f"the state dictionary does not fit {type(self).__name__}: "
                f"{'; '.join(problems)}. Load it into the architecture it was saved from, or "
                "pass strict=False to load what fits."
            )
        fitting = {name: own[name] for name in own if name in state}
        for name, parameter in fitting.items():  # all are checked before the first is changed
            try:
                parameter.check(state[name])
            except StateDictError as error:
                raise StateDictError(f"{name}: {error}") from error
        for name, parameter in fitting.items():
            parameter.load(state[name])

    # --- Running and showing --------------------------------------------------------------------

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the module's output. Every module defines its own."""
        raise TypeError(f"{type(self).__name__} defines no forward method, so it cannot be called.")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`."""
        return self.forward(*args, **kwargs)

    def extra_repr(self) -> str:
        """Return what `repr` shows between the parentheses; settings of a layer, for example."""
        return ""

    def __repr__(self) -> str:
        """Show the tree, one module a line."""
        lines = [
            f"({name}): " + repr(child).replace("\n", "\n  ")
            for name, child in self._modules.items()
        ]
        inside = self.extra_repr()
        if not lines:
            return f"{type(self).__name__}({inside})"
        body = "".join(f"\n  {line}" for line in ([inside] if inside else []) + lines)
        return f"{type(self).__name__}({body}\n)"
