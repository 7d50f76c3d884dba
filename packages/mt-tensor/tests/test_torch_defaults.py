"""Default arguments, compared with those of the arguments of the same name in torch."""

import inspect
from typing import Any

import pytest

import mt_tensor as mt

torch = pytest.importorskip("torch")

DIFFERENT = {
    "bernoulli-p": "the default takes the elements as probabilities",
    "meshgrid-indexing": "torch's None is 'ij', with a warning",
    **dict.fromkeys(
        ("trapezoid-dx", "trapz-dx", "cumulative_trapezoid-dx"), "1, unless x is given"
    ),
    **dict.fromkeys(
        ("std-unbiased", "std_mean-unbiased", "var-unbiased", "var_mean-unbiased"),
        "the default of correction is used",
    ),
    **dict.fromkeys(
        ("randint-dtype", "randperm-dtype", "tril_indices-dtype", "triu_indices-dtype"), "int64"
    ),
}
"""Defaults that are written differently in torch, with their meaning."""


def normalized(default: Any) -> Any:
    """Return a default for comparison: a list as a tuple, and an empty one as None."""
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
    defaults: dict[str, list[Any]] = {}
    for argument, default in arguments:
        defaults.setdefault(argument, []).append(normalized(default))
    return defaults


DEFAULTS = [
    pytest.param(parameter.default, theirs[parameter.name], id=f"{prefix}{name}-{parameter.name}")
    for ours, module, prefix in ((mt, torch, ""), (mt.linalg, torch.linalg, "linalg_"))
    for name, function in inspect.getmembers(ours, inspect.isfunction)
    if not name.startswith("_")
    for theirs in [defaults_of_torch(module, prefix, name)]
    for parameter in inspect.signature(function).parameters.values()
    if parameter.default is not parameter.empty
    and parameter.name in theirs
    and f"{prefix}{name}-{parameter.name}" not in DIFFERENT
]


@pytest.mark.parametrize(("ours", "theirs"), DEFAULTS)
def test_default_argument_equals_torch(ours: Any, theirs: list[Any]) -> None:
    assert normalized(ours) in theirs


def test_more_than_200_defaults_are_compared() -> None:
    assert len(DEFAULTS) > 200
