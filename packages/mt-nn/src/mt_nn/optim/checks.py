"""Checks of what optimizers are given: settings, parameters, and states to load."""

from __future__ import annotations

import copy
import functools
from collections import defaultdict
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

from mt_nn.core.errors import SettingError, SettingTypeError
from mt_nn.core.extensions import check, extends
from mt_nn.core.optimizer import Optimizer, with_plain_rate
from mt_operators import StateDictError
from mt_tensor import Tensor, tensor

# --- Settings -------------------------------------------------------------------------------------


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_pair(value: Any) -> bool:
    """Return whether a setting is a pair of numbers."""
    pair = isinstance(value, tuple | list) and len(value) == 2
    return pair and _is_number(value[0]) and _is_number(value[1])


KINDS: dict[str, Callable[[Any], bool]] = {
    "a number": _is_number,
    "at least 0": lambda value: _is_number(value) and value >= 0,
    "at most 0": lambda value: _is_number(value) and value <= 0,
    "at least 1": lambda value: _is_number(value) and value >= 1,
    "from 0 to 1": lambda value: _is_number(value) and 0 <= value <= 1,
    "True or False": lambda value: isinstance(value, bool),
    "None, True or False": lambda value: value is None or isinstance(value, bool),
    "two numbers": _is_pair,
    "two numbers, of which the first may be None": lambda value: (
        isinstance(value, tuple | list) and len(value) == 2
    ),
    "three numbers": lambda value: isinstance(value, tuple | list) and len(value) == 3,
    "one between 0 and 1, and one above 1": lambda value: (
        _is_pair(value) and 0 < value[0] < 1 < value[1]
    ),
    "from 0 up to, but not, 1, both of them": lambda value: (
        _is_pair(value) and all(0 <= beta < 1 for beta in value)
    ),
    "None or 'strong_wolfe'": lambda value: value in (None, "strong_wolfe"),
    "'original', 'match_rms_adamw' or None": lambda value: (
        value in (None, "original", "match_rms_adamw")
    ),
}
"""Tests of settings, by what error messages say that these must be."""

USUAL = {
    name: kind
    for kind, names in {
        "a number": "dampening lambd t0",
        "at least 0": """eps initial_accumulator_value lr_decay momentum momentum_decay
            tolerance_change tolerance_grad weight_decay""",
        "at most 0": "beta2_decay",
        "at least 1": "d",
        "from 0 to 1": "alpha rho",
        "True or False": "amsgrad centered decoupled_weight_decay maximize nesterov",
        "None, True or False": "foreach fused",
        "two numbers": "step_sizes",
        "three numbers": "ns_coefficients",
        "one between 0 and 1, and one above 1": "etas",
        "from 0 up to, but not, 1, both of them": "betas",
        "None or 'strong_wolfe'": "line_search_fn",
        "'original', 'match_rms_adamw' or None": "adjust_lr_fn",
    }.items()
    for name in names.split()
}
"""What settings must be, by name, in every optimizer that does not say otherwise in `kinds`."""


def check_kinds(settings: Mapping[str, Any], kinds: Mapping[str, str]) -> None:
    """Raise SettingError unless settings are of these kinds."""
    for name, kind in kinds.items():
        if name in settings and not KINDS[kind](settings[name]):
            raise SettingError(f"{name} must be {kind}; got {settings[name]!r}.")


@extends("settings of an optimizer")
def check_settings(optimizer: Optimizer, settings: Mapping[str, Any]) -> None:
    """Raise SettingError unless each setting of a group is of its kind.

    A rate `lr` is a number that is not negative, or a tensor of one.
    """
    if "lr" in settings:
        rate = settings["lr"]
        if isinstance(rate, Tensor):
            if rate.numel() != 1:
                raise SettingError(
                    f"lr must be a number, or a tensor of one element; got {rate!r}."
                )
            rate = rate.item()
        check_kinds({"lr": rate}, {"lr": "at least 0"})
    if optimizer.kinds is not None:
        check_kinds(settings, {**USUAL, **optimizer.kinds})


IMPLEMENTATION = ("foreach", "fused", "capturable", "differentiable")
"""torch's choices of an implementation, which are accepted where they change no result."""


def check_implementation(settings: Mapping[str, Any]) -> None:
    """Raise SettingError for a choice of implementation that only torch has."""
    if settings.get("foreach") and settings.get("fused"):
        raise SettingError("foreach and fused cannot be True together: leave one of them out.")
    for name, why in (
        ("capturable", "nothing here records steps to run them again, as CUDA graphs do"),
        ("differentiable", "steps are not recorded, so that no gradient leads through them"),
    ):
        if settings.get(name):
            raise SettingError(f"{name}=True is not possible: {why}. Leave it out.")


# --- Parameters -----------------------------------------------------------------------------------


@extends("a group of an optimizer")
def check_group(optimizer: Optimizer, group: Any) -> None:
    """Raise SettingError unless a group has parameters, in order, and known settings."""
    name = type(optimizer).__name__
    if not isinstance(group, dict):
        raise SettingError(f"a group for {name} is a dictionary; {group!r} was given.")
    unknown = set(group) - set(optimizer.defaults) - {"params"}
    if unknown:
        raise SettingError(
            f"{name} has no setting {', '.join(sorted(unknown))}; it has "
            f"{', '.join(optimizer.defaults)}."
        )
    if "params" not in group:
        raise SettingError(f"a group for {name} lacks 'params'; it has {', '.join(group)}.")
    if isinstance(group["params"], set | frozenset):
        raise SettingError(
            "a set of parameters has no order, so that a saved state could not be told to whom it "
            "belongs: give a list."
        )


@extends("parameters of an optimizer")
def check_parameters(optimizer: Optimizer, new: Mapping[str, Any]) -> None:
    """Raise SettingError unless the parameters of a group can be optimized, each once."""
    known = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    seen = {id(parameter) for parameter in known}
    named = len(new.get("param_names", ()))
    if named not in (0, len(new["params"])):
        raise SettingError("some parameters were given with names, others without: name all.")
    for parameter in new["params"]:
        if not isinstance(parameter, Tensor):
            raise SettingTypeError(f"{parameter!r} is no tensor, so it cannot be optimized.")
        if not parameter.is_leaf or not parameter.is_floating_point():
            raise SettingError(
                f"a tensor of {parameter.dtype.name} that was "
                f"{'given' if parameter.is_leaf else 'computed from others'} cannot be "
                "optimized: only floating-point leaves receive gradients."
            )
        if id(parameter) in seen:
            raise SettingError("a parameter was given to the optimizer twice.")
        seen.add(id(parameter))
    check_implementation(new)
    if any(bool(named) is not ("param_names" in group) for group in optimizer.param_groups):
        raise SettingError(
            f"this group has parameters {'with' if named else 'without'} names, and those "
            "before are different: give names for all groups, or for none."
        )


# --- States ---------------------------------------------------------------------------------------


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
