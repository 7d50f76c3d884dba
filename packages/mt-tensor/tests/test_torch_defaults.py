"""What is left out means what it means in torch: arguments of one name have one default."""

import inspect
from typing import Any

import pytest

import mt_tensor as mt

torch = pytest.importorskip("torch")

OTHERWISE = {
    "bernoulli-p": "the elements are the probabilities",
    "meshgrid-indexing": "torch's None is 'ij', with a warning",
    **dict.fromkeys(
        ("trapezoid-dx", "trapz-dx", "cumulative_trapezoid-dx"), "1, unless x is given"
    ),
    **dict.fromkeys(
        ("std-unbiased", "std_mean-unbiased", "var-unbiased", "var_mean-unbiased"),
        "the correction says so",
    ),
    **dict.fromkeys(
        ("randint-dtype", "randperm-dtype", "tril_indices-dtype", "triu_indices-dtype"), "int64"
    ),
}
"""Defaults that are written otherwise, and what they mean."""


def shown(default: Any) -> Any:
    """Return a default as it is compared: a list as a tuple, and an empty one as None."""
    return (tuple(default) or None) if isinstance(default, list | tuple) else default


def defaults_of_torch(module: Any, prefix: str, name: str) -> dict[str, list[Any]]:
    """Return the defaults of each argument, of all overloads of a function."""
    operator = getattr(torch.ops.aten, prefix + name, None)
    arguments = [
        (argument.name, argument.default_value)
        for overload in (operator.overloads() if operator else ())
        for argument in getattr(operator, overload)._schema.arguments
        if argument.has_default_value()
    ]
    if inspect.isfunction(function := getattr(module, name, None)):
        parameters = inspect.signature(function).parameters.values()
        arguments += [(p.name, p.default) for p in parameters if p.default is not p.empty]
    found: dict[str, list[Any]] = {}
    for argument, default in arguments:
        found.setdefault(argument, []).append(shown(default))
    return found


DEFAULTS = [
    pytest.param(parameter.default, theirs[parameter.name], id=f"{prefix}{name}-{parameter.name}")
    for ours, module, prefix in ((mt, torch, ""), (mt.linalg, torch.linalg, "linalg_"))
    for name, function in inspect.getmembers(ours, inspect.isfunction)
    if not name.startswith("_")
    for theirs in [defaults_of_torch(module, prefix, name)]
    for parameter in inspect.signature(function).parameters.values()
    if parameter.default is not parameter.empty
    and parameter.name in theirs
    and f"{prefix}{name}-{parameter.name}" not in OTHERWISE
]


@pytest.mark.parametrize(("ours", "theirs"), DEFAULTS)
def test_a_default_is_torchs(ours: Any, theirs: list[Any]) -> None:
    assert shown(ours) in theirs


def test_most_functions_are_compared() -> None:
    assert len(DEFAULTS) > 200
