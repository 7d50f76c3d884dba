"""fuse_in_place: values, random programs, and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_tensor.errors import BackendMismatchError, DTypeError, FusionError, InPlaceError, ShapeError


@mt.fuse_in_place("weight", "velocity")
def step(weight: Any, velocity: Any, grad: Any, rate: Any, *, double: bool = False) -> Any:
    if velocity is None:
        return weight - rate * grad, None
    velocity = velocity * 0.5 + grad
    return weight - rate * (velocity * 2 if double else velocity), velocity


def test_keywords_and_none_arguments_select_the_formula() -> None:
    weight, velocity, grad = mt.ones(2), mt.ones(2), mt.ones(2)
    step(weight, velocity, grad, 1.0)
    assert (weight.tolist(), velocity.tolist()) == ([-0.5, -0.5], [1.5, 1.5])
    step(weight, velocity, grad, 1.0, double=True)
    assert (weight.tolist(), velocity.tolist()) == ([-4, -4], [1.75, 1.75])
    assert step(weight, None, grad, 1) is None
    assert weight.tolist() == [-5, -5]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            lambda x: step(x, mt.ones(3), x, 1.0),
            ShapeError,
            r"shape \(2,\) and float32 of .*\(3,\)",
        ),
        (lambda x: step(x, mt.ones(2).double(), x, 1.0), ShapeError, "float32 of shape"),
        (lambda x: step(x, 1.0, x, 1.0), DTypeError, "floating-point tensors in place, not 1.0"),
        (lambda x: step(mt.arange(2), None, x, 1.0), DTypeError, "in place, not int64"),
        (lambda x: step(x, None, x), TypeError, "takes 4 positional"),
        (lambda x: step(x, None, "steep", 1.0), TypeError, "steep"),
        (
            lambda x: step(x, None, mt.ones(2, backend="simple"), 1.0),
            BackendMismatchError,
            "tensors of backends",
        ),
        (lambda x: step(x.requires_grad_(), None, x, 1.0), InPlaceError, "leaf"),
        (
            lambda x: step(x, None, mt.ones(2, requires_grad=True), 1.0),
            InPlaceError,
            "call it under no_grad",
        ),
    ],
)
def test_bad_arguments_raise_and_change_nothing(change: Any, error: Any, message: str) -> None:
    x = mt.ones(2)
    with pytest.raises(error, match=message):
        change(x)
    assert x.tolist() == [1, 1]


def test_leaf_can_be_changed_under_no_grad() -> None:
    x = mt.ones(2, requires_grad=True)
    with mt.no_grad():
        step(x, None, x, 0.5)
    assert x.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("names", "function", "message"),
    [
        (("y",), lambda x: x, "names of positional arguments"),
        ((), lambda x: x, "none were given"),
    ],
)
def test_names_must_be_positional_arguments(names: Any, function: Any, message: str) -> None:
    with pytest.raises(FusionError, match=message):
        mt.fuse_in_place(*names)(function)


@pytest.mark.parametrize("results", [lambda x, y: x, lambda x, y: (x, None), lambda x, y: (x, 1.0)])
def test_function_must_return_one_tensor_for_each_changed_argument(results: Any) -> None:
    with pytest.raises(FusionError):
        mt.fuse_in_place("x", "y")(results)(mt.ones(1), mt.ones(1))


@pytest.mark.parametrize("shape", [(2, 3), (1, 1), (2, 1)])
def test_other_arguments_must_broadcast_to_changed_ones(shape: tuple[int, ...]) -> None:
    move = mt.fuse_in_place("x")(lambda x, y, z: x + y * z)
    with pytest.raises(ShapeError, match="does not broadcast"):
        move(mt.zeros(3), mt.ones(*shape), 1.0)


def test_changed_arguments_must_not_share_memory() -> None:
    follow = mt.fuse_in_place("x", "y")(lambda x, y, z: (y + z, x + z))
    memory, y = mt.arange(5, dtype="float32"), mt.zeros(3)
    with pytest.raises(InPlaceError, match="share memory"):
        follow(memory[1:4], memory[:3], y)
    with pytest.raises(InPlaceError, match="of its elements share memory"):
        follow(memory[:1].expand(3), y, 1.0)


def test_function_that_reads_elements_raises() -> None:
    branching = mt.fuse_in_place("x")(lambda x: x if x > 0 else -x)
    x = mt.tensor([1.0, -1.0])
    with pytest.raises(FusionError, match="reads an element"):
        branching(x)
    assert x.tolist() == [1, -1]


OPERATIONS = {
    "neg": 1,
    "abs": 1,
    "sqrt": 1,
    "tanh": 1,
    "sign": 1,
    "erf": 1,
    **dict.fromkeys(("add", "sub", "mul", "div", "maximum", "minimum", "hypot"), 2),
    "where": 3,
}


@st.composite
def programs(draw: Any) -> list[tuple[str, list[int]]]:
    """Draw the steps of a program: names of operations and positions of their operands."""
    steps: list[tuple[str, list[int]]] = []
    for _ in range(draw(st.integers(1, 12))):
        name = draw(st.sampled_from(sorted(OPERATIONS)))
        operands = [draw(st.integers(0, 3 + len(steps))) for _ in range(OPERATIONS[name])]
        steps.append((name, operands))
    return steps


@settings(deadline=None, max_examples=60)
@given(programs(), st.lists(st.integers(0, 30), min_size=3, max_size=3), st.booleans())
def test_random_programs_match_their_eager_steps(
    steps: list[tuple[str, list[int]]], results: list[int], long: bool
) -> None:
    """Cover long arrays, reused buffers, and results that are arguments or equal to each other."""

    def program(x: Any, y: Any, z: Any, number: Any) -> Any:
        values = [x, y, z, number]
        for name, positions in steps:
            first, *others = (values[i] for i in positions)
            first = first + 0.0 * x  # a tensor, even if the operand is a number
            function = getattr(mt, name)
            values.append(function(first > 0.5 if name == "where" else first, *others))
        return tuple(values[i % len(values)] + 0.0 * x for i in results)

    size = 40_005 if long else 7
    rng = np.random.default_rng(0)
    tensors = [mt.tensor(rng.standard_normal(size)) for _ in range(3)]
    expected = program(*tensors, 0.25)
    mt.fuse_in_place("x", "y", "z")(program)(*tensors, 0.25)
    for actual, wanted in zip(tensors, expected, strict=True):
        np.testing.assert_allclose(actual.numpy(), wanted.numpy(), rtol=1e-9, atol=1e-12)
