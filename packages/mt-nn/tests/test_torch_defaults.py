"""Default values of arguments match torch."""

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

import mt_nn as nn

torch = pytest.importorskip("torch")

MODULES = [
    (nn, torch.nn),
    (nn.functional, torch.nn.functional),
    (nn.init, torch.nn.init),
    (nn.data, torch.utils.data),
    (nn.distributions, torch.distributions),
    (nn.utils, torch.nn.utils),
    (nn.utils.parametrizations, torch.nn.utils.parametrizations),
    (nn.utils.parametrize, torch.nn.utils.parametrize),
    (nn.utils.rnn, torch.nn.utils.rnn),
]


def pairs(ours: Any, theirs: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the public functions, classes and methods, with their torch counterparts."""
    for name, value in inspect.getmembers(ours, callable):
        if name[0] == "_" or not hasattr(theirs, name):
            continue
        yield name, value, getattr(theirs, name)
        for method in vars(value) if inspect.isclass(value) else ():
            if method[0] != "_" and callable(getattr(getattr(theirs, name), method, None)):
                yield (
                    f"{name}.{method}",
                    getattr(value, method),
                    getattr(getattr(theirs, name), method),
                )


def parameters_of(function: Any) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # a builtin, or not a function
        return {}


def default_of(parameter: inspect.Parameter) -> Any:
    """Return the default value, or the name if it is a function."""
    return getattr(parameter.default, "__name__", parameter.default)


DEFAULTS = [
    pytest.param(
        default_of(parameter), default_of(known[name]), id=f"{ours.__name__}.{called}-{name}"
    )
    for ours, theirs in MODULES
    for called, mine, other in pairs(ours, theirs)
    for known in [parameters_of(other)]
    for name, parameter in parameters_of(mine).items()
    if parameter.default is not parameter.empty and name in known
    if (called, name) != ("random_split", "generator")  # None means torch's default
]


@pytest.mark.parametrize(("ours", "theirs"), DEFAULTS)
def test_default_matches_torch(ours: Any, theirs: Any) -> None:
    assert ours == theirs


def test_more_than_700_defaults_are_compared() -> None:
    assert len(DEFAULTS) > 700
