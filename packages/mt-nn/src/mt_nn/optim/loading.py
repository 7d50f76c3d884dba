"""Loading the state of an optimizer."""

from __future__ import annotations

import copy
import functools
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from mt_nn.core.extensions import check, extends
from mt_nn.core.optimizer import Optimizer, with_plain_rate
from mt_nn.optim.checks import IMPLEMENTATION
from mt_operators import StateDictError
from mt_tensor import Tensor, tensor


@extends("loading the state of an optimizer")
def load_state_dict(optimizer: Optimizer, state_dict: Mapping[str, Any]) -> None:
    """Load a state; see `Optimizer.load_state_dict`.

    Numbers of parameters may be strings, as JSON makes them.
    """
    hooks = optimizer._hooks
    form: Any = state_dict if hooks is None else hooks.changed("loading", optimizer, state_dict)
    if not isinstance(form, Mapping) or not {"state", "param_groups"} <= {*form}:
        raise misfit(optimizer, "it is a dictionary with 'state' and 'param_groups'")
    saved = list(form["param_groups"])
    sizes = [len(group["params"]) for group in saved]
    own = [len(group["params"]) for group in optimizer.param_groups]
    if sizes != own:
        raise misfit(optimizer, f"it has groups of {sizes} parameters, and the optimizer of {own}")
    groups = [
        _loaded_group(optimizer, mine, its)
        for mine, its in zip(optimizer.param_groups, saved, strict=True)
    ]
    states = {_number(number): state for number, state in form["state"].items()}
    loaded = {}
    for group, its in zip(groups, saved, strict=True):
        settings = with_plain_rate(group)
        for parameter, number in zip(group["params"], its["params"], strict=True):
            state = states.pop(_number(number), None)
            if state:
                loaded[parameter] = loaded_state(optimizer, parameter, settings, state, number)
    if states:
        raise misfit(optimizer, f"it remembers parameters that are in no group: {[*states]}")
    optimizer.param_groups, optimizer.state = groups, defaultdict(dict, loaded)
    if hooks is not None:
        hooks.call("loaded", optimizer)


def _loaded_group(
    optimizer: Optimizer, mine: dict[str, Any], saved: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the parameters of a group with saved settings, and those that schedulers add."""
    required = [name for name in optimizer.defaults if name not in IMPLEMENTATION]
    missing = [name for name in required if name not in saved]
    if missing:
        raise misfit(optimizer, f"a group lacks {', '.join(missing)}")
    own = ("params", *filter(mine.__contains__, IMPLEMENTATION))
    group = {**saved, **{name: mine[name] for name in own}}
    if "param_names" in mine:
        group.setdefault("param_names", mine["param_names"])
    check("settings of an optimizer", optimizer, group)
    optimizer.check_settings(group)
    return group


@functools.singledispatch
def loaded_state(
    optimizer: Optimizer,
    parameter: Tensor,
    group: dict[str, Any],
    saved: Mapping[str, Any],
    number: Any,
) -> dict[str, Any]:
    """Return a saved state, each value converted to the type of that in a new state."""
    if type(optimizer).initial_state is Optimizer.initial_state:  # its step makes the state
        return copy.deepcopy(dict(saved))
    new = optimizer.initial_state(parameter, group)
    values = {name: value for name, value in saved.items() if value is not None}
    if values and new.keys() != values.keys():
        raise misfit(
            optimizer,
            f"of parameter {number} it remembers {', '.join(values)}, and the optimizer "
            f"{', '.join(new) or 'nothing'}",
        )
    for name, value in values.items():
        like = parameter if new[name] is None else new[name]
        shape, expected = getattr(value, "shape", ()), getattr(like, "shape", ())
        if tuple(shape) != expected:
            raise misfit(
                optimizer,
                f"{name} of parameter {number} has shape {tuple(shape)} instead of {expected}",
            )
        if isinstance(like, Tensor):
            new[name] = tensor(value, like.dtype, like.backend)
        else:
            new[name] = type(like)(value)
    return new if values else {}


def _number(key: Any) -> Any:
    """Return the number of a parameter, which may be a string."""
    return int(key) if isinstance(key, str) and key.isdigit() else key


def misfit(optimizer: Optimizer, why: str) -> StateDictError:
    """Return the error for a state that does not fit."""
    return StateDictError(
        f"the state dictionary does not fit {type(optimizer).__name__}: {why}. Pass what "
        "state_dict() of an optimizer of the same kind and parameters returned."
    )
