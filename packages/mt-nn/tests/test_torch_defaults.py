"""Arguments have the same defaults as in torch."""

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
    """Yield functions, classes and the methods that these have of their own, with torch's."""
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
    except (TypeError, ValueError):  # one of C, or what is no function
        return {}


def default_of(parameter: inspect.Parameter) -> Any:
    """Return a default; of a function its name."""
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
    if (called, name) != ("random_split", "generator")  # torch's is the one that None stands for
]


@pytest.mark.parametrize(("ours", "theirs"), DEFAULTS)
def test_a_default_is_torchs(ours: Any, theirs: Any) -> None:
    assert ours == theirs


def test_most_functions_and_layers_are_compared() -> None:
    assert len(DEFAULTS) > 700
