"""Calls of modules with other parameters, as functions of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mt_operators
from mt_nn.core.module import Module
from mt_nn.errors import InputError
from mt_tensor import Tensor

__all__ = ["functional_call"]


def functional_call(
    module: Module,
    parameters_and_buffers: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in place of its parameters and buffers.

    The result is a function of these tensors, which may themselves have been computed, so that an
    inner training step can be differentiated.

    Args:
        module: the module; it is changed during the call only.
        parameters_and_buffers: tensors by the names of `named_parameters()` and `named_buffers()`;
            or several such dictionaries.
        args: the argument, or a tuple of several.
        kwargs: keyword arguments.
        tie_weights: whether to replace a shared parameter under all its names if one is given.
        strict: whether all names must be given.

    Raises:
        InputError: a name is unknown; or, with `strict`, a name is missing.
    """
    many = isinstance(parameters_and_buffers, Mapping)
    parts = [parameters_and_buffers] if many else parameters_and_buffers
    given: dict[str, Any] = {name: value for part in parts for name, value in part.items()}  # type: ignore[union-attr]
    locations: dict[str, tuple[dict[str, Any], str]] = {
        f"{path}.{name}" if path else name: (members, name)
        for path, each in module.named_modules()
        for members in (each._parameters, each._buffers)
        for name in members
    }
    wrong = given.keys() ^ locations.keys() if strict else given.keys() - locations.keys()
    if wrong:
        raise InputError(
            f"functional_call() of {type(module).__name__}: unexpected or missing names "
            f"{sorted(wrong)}."
        )
    tied = {id(locations[name][0][name.rpartition(".")[2]]): value for name, value in given.items()}
    replaced: list[tuple[Any, str, Any]] = []
    try:
        for path, (members, name) in locations.items():
            member = members[name]
            value = given.get(path, tied.get(id(member)) if tie_weights else None)
            if value is not None:
                replaced.append((members, name, member))
                is_buffer = isinstance(member, mt_operators.Buffer)
                members[name] = mt_operators.Buffer(value) if is_buffer else value
        return module(*(args if isinstance(args, tuple) else (args,)), **(kwargs or {}))
    finally:
        for members, name, member in replaced:
            members[name] = member
