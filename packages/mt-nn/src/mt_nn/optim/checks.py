"""Checks of the settings, parameters and loaded states of optimizers."""

from __future__ import annotations

import copy
import functools
import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

from mt_nn.core.errors import SettingError, SettingTypeError
from mt_nn.core.extensions import check, extends
from mt_nn.core.optimizer import Optimizer, with_plain_rate
from mt_operators import StateDictError
from mt_tensor import Tensor, tensor
from mt_tensor.core.dtypes import Settings

# --- Settings -------------------------------------------------------------------------------------


def _is_number(value: Any, low: float = -math.inf, high: float = math.inf) -> bool:
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    return is_real and bool(low <= value <= high)


def _is_sequence(value: Any, length: int) -> bool:
    return isinstance(value, tuple | list) and len(value) == length


def _are_numbers(value: Any, count: int) -> bool:
    return _is_sequence(value, count) and all(map(_is_number, value))


KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "a number": ("dampening lambd t0", _is_number),
    "at least 0": (
        "eps initial_accumulator_value lr_decay momentum momentum_decay tolerance_change "
        "tolerance_grad weight_decay",
        lambda value: _is_number(value, 0),
    ),
    "at most 0": ("beta2_decay", lambda value: _is_number(value, high=0)),
    "at least 1": ("d", lambda value: _is_number(value, 1)),
    "from 0 to 1": ("alpha rho", lambda value: _is_number(value, 0, 1)),
    "True or False": (
        "amsgrad centered decoupled_weight_decay maximize nesterov",
        lambda value: isinstance(value, bool),
    ),
    "None, True or False": ("foreach fused", lambda x: x is None or isinstance(x, bool)),
    "two numbers": ("step_sizes", lambda value: _are_numbers(value, 2)),
    "three numbers": ("ns_coefficients", lambda value: _are_numbers(value, 3)),
    "two numbers, of which the first may be None": ("", lambda value: _is_sequence(value, 2)),
    "two numbers, one between 0 and 1 and one above 1": (
        "etas",
        lambda value: _are_numbers(value, 2) and 0 < value[0] < 1 < value[1],
    ),
    "two numbers in [0, 1)": (
        "betas",
        lambda value: _are_numbers(value, 2) and all(0 <= beta < 1 for beta in value),
    ),
    "None or 'strong_wolfe'": ("line_search_fn", lambda value: value in (None, "strong_wolfe")),
    "'original', 'match_rms_adamw' or None": (
        "adjust_lr_fn",
        lambda value: value in (None, "original", "match_rms_adamw"),
    ),
}
"""For each requirement, as error messages state it: the names of its settings, and a predicate."""

DEFAULT_KINDS = {name: kind for kind, (names, _) in KINDS.items() for name in names.split()}
"""The requirement of each setting, unless the `kinds` of an optimizer override it."""


def check_kinds(settings: Mapping[str, Any], kinds: Mapping[str, str]) -> None:
    """Raise SettingError unless settings, if present, satisfy the requirements in `kinds`."""
    for name, kind in kinds.items():
        if name in settings and not KINDS[kind][1](settings[name]):
            raise SettingError(f"{name} must be {kind}; got {settings[name]!r}.")


@extends("settings of an optimizer")
def check_settings(optimizer: Optimizer, settings: Mapping[str, Any]) -> None:
    """Raise SettingError unless each setting of a group satisfies its requirement.

    The rate `lr` is a non-negative number, or a tensor of one element.
    """
    if "lr" in settings:
        rate = settings["lr"]
        if isinstance(rate, Tensor) and rate.numel() != 1:
            raise SettingError(f"lr must be a number or a tensor of one element; got {rate!r}.")
        check_kinds(with_plain_rate({"lr": rate}), {"lr": "at least 0"})
    if optimizer.kinds is not None:
        check_kinds(settings, {**DEFAULT_KINDS, **optimizer.kinds})


IMPLEMENTATION = ("foreach", "fused", "capturable", "differentiable")
"""torch's settings that choose an implementation; accepted if they do not change the result."""


def check_implementation(settings: Mapping[str, Any]) -> None:
    """Raise SettingError for implementations that exist only in torch."""
    if settings.get("foreach") and settings.get("fused"):
        raise SettingError("foreach and fused cannot both be True: remove one of them.")
    for name, why in (
        ("capturable", "steps are not captured in CUDA graphs"),
        ("differentiable", "steps are not recorded, so gradients cannot flow through them"),
    ):
        if settings.get(name):
            raise SettingError(f"{name}=True is not supported: {why}. Remove it.")


# --- Parameters -----------------------------------------------------------------------------------


@extends("a group of an optimizer")
def check_group(optimizer: Optimizer, group: Any) -> None:
    """Raise SettingError unless a group has ordered parameters and only known settings."""
    name = type(optimizer).__name__
    if not isinstance(group, dict):
        raise SettingError(f"a group for {name} must be a dictionary; {group!r} was given.")
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
            f"{name} takes parameters in order, so that a saved state can be matched to them; got "
            "a set. Pass a list."
        )


@extends("parameters of an optimizer")
def check_parameters(optimizer: Optimizer, new: Mapping[str, Any]) -> None:
    """Raise SettingError unless a group's parameters are distinct floating-point leaves."""
    seen = {id(parameter) for parameter in optimizer._parameters()}
    named = len(new.get("param_names", ()))
    if named not in (0, len(new["params"])):
        raise SettingError("some parameters have names, others do not: name all of them.")
    for parameter in new["params"]:
        if not isinstance(parameter, Tensor):
            raise SettingTypeError(f"an optimizer takes tensors; {parameter!r} was given.")
        if not parameter.is_leaf or not parameter.is_floating_point():
            kind = "leaf" if parameter.is_leaf else "non-leaf"
            raise SettingError(
                f"a {kind} tensor of {parameter.dtype.name} cannot be optimized: only "
                "floating-point leaves receive gradients."
            )
        if id(parameter) in seen:
            raise SettingError(
                f"{type(optimizer).__name__} was given a parameter of shape {parameter.shape} "
                "twice; pass each parameter once."
            )
        seen.add(id(parameter))
    check_implementation(new)
    if any(bool(named) is not ("param_names" in group) for group in optimizer.param_groups):
        raise SettingError(
            f"this group has parameters {'with' if named else 'without'} names, unlike previous "
            "groups: name the parameters of all groups or of none."
        )


# --- States ---------------------------------------------------------------------------------------


@extends("loading the state of an optimizer")
def load_state_dict(optimizer: Optimizer, state_dict: Mapping[str, Any]) -> None:
    """Load a state; see `Optimizer.load_state_dict`.

    Indices of parameters may be strings, as in JSON.
    """
    hooks = optimizer._hooks
    given: Any = state_dict if hooks is None else hooks.changed("loading", optimizer, state_dict)
    if not isinstance(given, Mapping) or not {"state", "param_groups"} <= {*given}:
        raise misfit(optimizer, "it must be a dictionary with 'state' and 'param_groups'")
    saved_groups = list(given["param_groups"])
    sizes = [len(group["params"]) for group in saved_groups]
    expected_sizes = [len(group["params"]) for group in optimizer.param_groups]
    if sizes != expected_sizes:
        raise misfit(
            optimizer, f"it has groups of {sizes} parameters, the optimizer of {expected_sizes}"
        )
    groups = [
        _loaded_group(optimizer, group, saved)
        for group, saved in zip(optimizer.param_groups, saved_groups, strict=True)
    ]
    states = {_index(key): state for key, state in given["state"].items()}
    loaded = {}
    for group, saved in zip(groups, saved_groups, strict=True):
        settings = with_plain_rate(group)
        for parameter, key in zip(group["params"], saved["params"], strict=True):
            state = states.pop(_index(key), None)
            if state:
                state = loaded_state(optimizer, parameter, settings, state, key)
                loaded[parameter] = Settings(state)
    if states:
        raise misfit(optimizer, f"it has states for parameters that are in no group: {[*states]}")
    optimizer.param_groups, optimizer.state = groups, defaultdict(dict, loaded)
    if hooks is not None:
        hooks.call("loaded", optimizer)


def _loaded_group(
    optimizer: Optimizer, group: dict[str, Any], saved: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a group's parameters with saved settings, including those added by schedulers."""
    missing = [name for name in optimizer.defaults if name not in (*IMPLEMENTATION, *saved)]
    if missing:
        raise misfit(optimizer, f"a group lacks {', '.join(missing)}")
    current = {name: group[name] for name in ("params", *IMPLEMENTATION) if name in group}
    loaded = Settings({**saved, **current})
    if "param_names" in group:
        loaded.setdefault("param_names", group["param_names"])
    check("settings of an optimizer", optimizer, loaded)
    optimizer.check_settings(loaded)
    return loaded


@functools.singledispatch
def loaded_state(
    optimizer: Optimizer,
    parameter: Tensor,
    group: dict[str, Any],
    saved: Mapping[str, Any],
    key: Any,
) -> dict[str, Any]:
    """Return a saved state of a parameter, with values of the same types as in a new state.

    `key` identifies the parameter in error messages.
    """
    if type(optimizer).initial_state is Optimizer.initial_state:  # its `step` creates the state
        return copy.deepcopy(dict(saved))
    new = optimizer.initial_state(parameter, group)
    values = {name: value for name, value in saved.items() if value is not None}
    if values and new.keys() != values.keys():
        expected = ", ".join(new) or "nothing"
        raise misfit(optimizer, f"parameter {key} has {', '.join(values)}; expected: {expected}")
    for name, value in values.items():
        reference = parameter if new[name] is None else new[name]
        shape, expected_shape = tuple(getattr(value, "shape", ())), getattr(reference, "shape", ())
        if shape != expected_shape:
            why = f"{name} of parameter {key} has shape {shape} instead of {expected_shape}"
            raise misfit(optimizer, why)
        if isinstance(reference, Tensor):
            new[name] = tensor(value, reference.dtype, reference.backend)
        else:
            new[name] = type(reference)(value)
    return new if values else {}


def _index(key: Any) -> Any:
    """Convert the index of a parameter, if it is a string of digits, to an integer."""
    return int(key) if isinstance(key, str) and key.isdigit() else key


def misfit(optimizer: Optimizer, why: str) -> StateDictError:
    """Return the error for a state that does not fit the optimizer."""
    return StateDictError(
        f"the state dictionary does not fit {type(optimizer).__name__}: {why}. Pass the result of "
        "state_dict() of an optimizer of the same class with the same parameters."
    )
