"""The operations of programs, with their samples, all derived from tables.

The samples of a public operation come from the rows of `mt_tensor.testing`, the operators of
`mt_operators.testing`, the calls of `mt_nn.conformance` and, for the rest, from `calls.py`. All
known values of a parameter are tried for parameters of the same name.
"""

from __future__ import annotations

import functools
import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import mt_nn
import mt_tensor as mt
from differential.calls import more_samples, spaced
from differential.programs import (
    IN_PLACE_OPERATORS,
    OPERATORS,
    Elements,
    Ref,
    Source,
    Step,
    mapped,
    operation_of,
    parts_of,
)
from differential.recording import Sample, recorded
from mt.tables import read_table
from mt_nn import torch_names
from mt_nn.conformance.calls import CALLS
from mt_operators import OPERATORS as TABLE
from mt_operators.testing import INTEGER_SPECS, SPECS
from mt_tensor.testing import BAD_CALLS, TENSOR_SPECS, arguments

_IN_FUNCTIONAL = """
    elu gelu glu hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish one_hot pad relu6 silu
    softmin softplus softshrink softsign tanhshrink
"""
IN_FUNCTIONAL = frozenset(_IN_FUNCTIONAL.split())
"""Functions of mt-tensor that torch has only in `torch.nn.functional`."""

NOT_A_METHOD = frozenset({"celu", "selu", "threshold"})
"""Other methods that torch does not have; the functions are used instead."""

LEFT_OUT: dict[str, str] = {
    name: entry["reason"]
    for entry in read_table(Path(__file__).with_name("left_out.toml"))["left_out"]
    for name in entry["names"].split()
}
"""Public names that programs do not use, with the reason."""

_RANDOM = """
    bernoulli bernoulli_ empty empty_like exponential_ multinomial new_empty normal normal_ rand
    rand_like randint randint_like randn randn_like random_ randperm uniform_
    nn.functional.alpha_dropout nn.functional.dropout nn.functional.dropout1d
    nn.functional.dropout2d nn.functional.dropout3d nn.functional.feature_alpha_dropout
    nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d
    nn.functional.gumbel_softmax nn.functional.rrelu nn.functional.scaled_dot_product_attention
"""
RANDOM = frozenset(_RANDOM.split())
"""Operations that draw random numbers, or leave elements uninitialized."""

DETERMINISTIC = {"training": (False,), "p": (0, 1, 0.0, 1.0), "dropout_p": (0, 0.0)}
"""Settings that make these operations deterministic."""


def is_random(step: Step) -> bool:
    """Return whether the result of a step is random."""
    if step.operation not in RANDOM:
        return False
    sample = Sample(step.form, step.args, dict(step.settings))
    named = {name: p.default for name, p in parameters_of(step.form).items()} | _by_name(sample)
    return not any(
        name in named and type(named[name]) in {bool, int, float} and named[name] in values
        for name, values in DETERMINISTIC.items()
    )


def has_signs(step: Step) -> bool:
    """Return whether the signs of zeros in a result are defined: for operators and views.

    Those of a sum depend on the order of summation and the initial value.
    """
    name = step.operation.removesuffix("_").removeprefix("nn.functional.")
    return name in TABLE or _moves(function_of(step.form))


def _moves(function: Any) -> bool:
    """Return whether a function only moves elements."""
    module = getattr(function, "__module__", "")
    return "movement" in module or module.endswith("core.views")


@dataclass(eq=False)
class Operation:
    """An operation, with all of its forms.

    Attributes:
        name: `add`, `linalg.norm`, `nn.functional.pad`, `getitem`.
        samples: calls of it.
    """

    name: str
    samples: list[Sample] = field(default_factory=list)

    @functools.cached_property
    def forms(self) -> tuple[str, ...]:
        """Its forms as a function or a method."""
        known = dict.fromkeys(sample.form for sample in self.samples)
        written = (f"torch.{self.name}()", f".{self.name}()")
        return tuple(form for form in written if form in known or function_of(form) is not None)


def function_of(form: str) -> Callable[..., Any] | None:
    """Return the function of this project that a form calls; None if torch has no such one."""
    if not form.endswith("()") or operation_of(form) in LEFT_OUT.keys() | IN_FUNCTIONAL:
        return None
    first, *path = form.removesuffix("()").split(".")
    if not first and path[0] in NOT_A_METHOD:
        return None
    found: Any = torch_names if first else mt.Tensor
    for part in path:
        found = getattr(found, part, None)
    return found if callable(found) and not isinstance(found, type) else None


@functools.cache
def parameters_of(form: str) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of the function that a form calls, by name."""
    function = function_of(form)
    try:
        return inspect.signature(function).parameters if function else {}
    except ValueError:
        return {}


# --- Samples --------------------------------------------------------------------------------------


def _of_operators() -> Iterator[Sample]:
    """Yield a call of each operator of the table on numbers in its range."""
    for operator, spec in SPECS.items():
        name = {"inv": "reciprocal"}.get(operator, operator)
        for shapes in ([(2, 3)] * 3, [(2, 3), (3,), ()]):
            operands = [
                Elements(spaced(shape, *interval))
                for shape, interval in zip(shapes, spec.ranges, strict=False)
            ]
            yield Sample(f"torch.{name}()", tuple(operands))
    for name in INTEGER_SPECS:
        operands = [Elements(np.arange(1, 7).reshape(2, 3)), Elements(np.array([2, 3, 1]))]
        yield Sample(f"torch.{name}()", tuple(operands[: TABLE[name].arity]))


def _of_rows() -> Iterator[Sample]:
    """Yield the calls in the rows for tensors, valid and invalid."""
    for row in TENSOR_SPECS:
        call = row.torch if callable(row.torch) else row.call
        for shapes in row.samples:
            yield from recorded(call, arguments(row, shapes, "float64"))
    for bad in BAD_CALLS:
        yield from recorded(bad.call, [np.arange(1, 7, dtype="float32").reshape(2, 3)])


def _of_networks() -> Iterator[Sample]:
    """Yield the calls of functions of networks."""
    for call in CALLS:
        if call.is_function and not any(map(callable, call.settings.values())):
            settings = {**call.settings, **call.options, **call.constants}
            args, settings = mapped((call.inputs, settings), np.ndarray, Elements)
            yield Sample(f"torch.nn.{call.name}()", args, settings)


# --- The catalogue --------------------------------------------------------------------------------


@functools.cache
def catalogue() -> dict[str, Operation]:
    """Return all operations by name."""
    known: dict[str, Operation] = {}
    for samples in (_of_operators(), _of_rows(), _of_networks(), more_samples()):
        for sample in samples:
            _enter(known, sample)
    for name in public_names():
        if name not in known:
            _enter_alias(known, name)
    return dict(sorted(known.items()))


def _enter(known: dict[str, Operation], sample: Sample) -> None:
    name = operation_of(sample.form)
    if name in IN_FUNCTIONAL and sample.form in {f"torch.{name}()", f".{name}()"}:
        name = f"nn.functional.{name}"
        sample.form = f"torch.{name}()"
    elif name in NOT_A_METHOD and sample.form == f".{name}()":
        sample.form = f"torch.{name}()"
    if name not in LEFT_OUT:
        known.setdefault(name, Operation(name)).samples.append(sample)


def _enter_alias(known: dict[str, Operation], name: str) -> None:
    """Give an alias the samples of the function that it refers to."""
    own = function_of(f"torch.{name}()") or function_of(f".{name}()")
    for other in (name.removesuffix("_"), *known):
        if other in known and (
            own in (function_of(f"torch.{other}()"), function_of(f".{other}()"))
            or f"{other}_" == name
        ):
            form = f".{name}()" if function_of(f".{name}()") else f"torch.{name}()"
            for sample in known[other].samples:
                if sample.form.endswith("()"):
                    known.setdefault(name, Operation(name)).samples.append(
                        Sample(form, sample.args, sample.settings)
                    )
            return


def public_names() -> list[str]:
    """Return the names of functions, also of `linalg` and `nn`, of methods and attributes."""
    names = {name for name in vars(mt)["__all__"] if callable(getattr(mt, name))}
    names |= {f"linalg.{name}" for name in mt.linalg.__all__ if name.islower()}
    names |= {name for name in dir(mt.Tensor) if not name.startswith("_")}
    functional = {f"nn.functional.{name}" for name in vars(mt_nn.functional)["__all__"]}
    return sorted((names - IN_FUNCTIONAL - LEFT_OUT.keys()) | (functional - LEFT_OUT.keys()))


@functools.cache
def settings_pool() -> dict[str, list[Any]]:
    """Return the values of each parameter in samples and defaults, by name."""
    pool: dict[str, dict[str, Any]] = defaultdict(dict)
    for operation in catalogue().values():
        for sample in operation.samples:
            for name, value in _by_name(sample).items():
                if not list(parts_of(value, Elements)) and not isinstance(value, Ref):
                    pool[name].setdefault(repr(value), value)
        for form in operation.forms:
            for name, parameter in parameters_of(form).items():
                if parameter.default is not parameter.empty and _is_plain(parameter.default):
                    pool[name].setdefault(repr(parameter.default), parameter.default)
                if isinstance(parameter.default, bool):
                    pool[name].setdefault(repr(not parameter.default), not parameter.default)
    return {name: list(values.values()) for name, values in pool.items()}


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str | tuple | Source)


def _by_name(sample: Sample) -> dict[str, Any]:
    """Return the arguments of a sample by parameter name."""
    function = function_of(sample.form)
    if function is None:
        return dict(sample.settings)
    try:
        bound = inspect.signature(function).bind(*sample.args, **sample.settings).arguments
    except (TypeError, ValueError):
        return dict(sample.settings)
    return {
        name: value
        for name, value in bound.items()
        if parameters_of(sample.form)[name].kind
        not in {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    }


OPERATOR_FORMS: dict[str, str] = {
    name: form for form, name in (*OPERATORS.items(), *IN_PLACE_OPERATORS.items())
}
"""Python's operator for an operation, by name."""
