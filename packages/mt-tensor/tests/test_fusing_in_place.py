"""Functions that change tensors in place, in one pass: what they take and refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_tensor.errors import BackendMismatchError, DTypeError, FusionError, InPlaceError, ShapeError


@mt.fuse_in_place("place", "velocity")
def roll(place: Any, velocity: Any, slope: Any, rate: Any, *, heavy: bool = False) -> Any:
    if velocity is None:
        return place - rate * slope, None
    velocity = velocity * 0.5 + slope
    return place - rate * (velocity * 2 if heavy else velocity), velocity


def test_settings_and_arguments_that_are_none_choose_the_formula() -> None:
    place, velocity, slope = mt.ones(2), mt.ones(2), mt.ones(2)
    roll(place, velocity, slope, 1.0)
    assert (place.tolist(), velocity.tolist()) == ([-0.5, -0.5], [1.5, 1.5])
    roll(place, velocity, slope, 1.0, heavy=True)
    assert (place.tolist(), velocity.tolist()) == ([-4, -4], [1.75, 1.75])
    assert roll(place, None, slope, 1) is None
    assert place.tolist() == [-5, -5]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            lambda x: roll(x, mt.ones(3), x, 1.0),
            ShapeError,
            r"shape \(2,\) and float32 of .*\(3,\)",
        ),
        (lambda x: roll(x, mt.ones(2).double(), x, 1.0), ShapeError, "float32 of shape"),
        (lambda x: roll(x, 1.0, x, 1.0), DTypeError, "floating-point tensors in place, not 1.0"),
        (lambda x: roll(mt.arange(2), None, x, 1.0), DTypeError, "in place, not int64"),
        (lambda x: roll(x, None, x), TypeError, "takes 4 positional"),
        (lambda x: roll(x, None, "steep", 1.0), TypeError, "steep"),
        (
            lambda x: roll(x, None, mt.ones(2, backend="simple"), 1.0),
            BackendMismatchError,
            "tensors of backends",
        ),
        (lambda x: roll(x.requires_grad_(), None, x, 1.0), InPlaceError, "leaf"),
        (
            lambda x: roll(x, None, mt.ones(2, requires_grad=True), 1.0),
            InPlaceError,
            "call it under no_grad",
        ),
    ],
)
def test_what_is_refused_changes_nothing(change: Any, error: Any, message: str) -> None:
    x = mt.ones(2)
    with pytest.raises(error, match=message):
        change(x)
    assert x.tolist() == [1, 1]


def test_unrecorded_changes_of_leaves_are_allowed() -> None:
    x = mt.ones(2, requires_grad=True)
    with mt.no_grad():
        roll(x, None, x, 0.5)
    assert x.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("names", "function", "message"),
    [
        (("y",), lambda x: x, "names of positional arguments"),
        ((), lambda x: x, "none was given"),
    ],
)
def test_names_must_be_those_of_arguments(names: Any, function: Any, message: str) -> None:
    with pytest.raises(FusionError, match=message):
        mt.fuse_in_place(*names)(function)


@pytest.mark.parametrize("results", [lambda x, y: x, lambda x, y: (x, None), lambda x, y: (x, 1.0)])
def test_results_must_be_as_many_as_what_is_changed(results: Any) -> None:
    with pytest.raises(FusionError):
        mt.fuse_in_place("x", "y")(results)(mt.ones(1), mt.ones(1))


@pytest.mark.parametrize("shape", [(2, 3), (1, 1), (2, 1)])
def test_what_is_read_must_broadcast_to_what_is_changed(shape: tuple[int, ...]) -> None:
    move = mt.fuse_in_place("x")(lambda x, y, z: x + y * z)
    with pytest.raises(ShapeError, match="does not broadcast"):
        move(mt.zeros(3), mt.ones(*shape), 1.0)


def test_what_is_changed_must_not_share_memory() -> None:
    follow = mt.fuse_in_place("x", "y")(lambda x, y, z: (y + z, x + z))
    memory, y = mt.arange(5, dtype="float32"), mt.zeros(3)
    with pytest.raises(InPlaceError, match="share memory"):
        follow(memory[1:4], memory[:3], y)
    with pytest.raises(InPlaceError, match="of its elements share memory"):
        follow(memory[:1].expand(3), y, 1.0)


def test_a_function_that_looks_at_elements_is_refused() -> None:
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
    """Draw the steps of a function of two tensors and a number, each of earlier values."""
    steps: list[tuple[str, list[int]]] = []
    for _ in range(draw(st.integers(1, 12))):
        name = draw(st.sampled_from(sorted(OPERATIONS)))
        operands = [draw(st.integers(0, 3 + len(steps))) for _ in range(OPERATIONS[name])]
        steps.append((name, operands))
    return steps


@settings(deadline=None, max_examples=60)
@given(programs(), st.lists(st.integers(0, 30), min_size=3, max_size=3), st.booleans())
def test_any_program_does_what_its_steps_do(
    steps: list[tuple[str, list[int]]], results: list[int], long: bool
) -> None:
    """Rows, memory that is used again, and results that are arguments or equal to another."""

    def program(x: Any, y: Any, z: Any, number: Any) -> Any:
        values = [x, y, z, number]
        for name, places in steps:
            first, *others = (values[place] for place in places)
            first = first + 0.0 * x  # which is no number, whatever it was
            function = getattr(mt, name)
            values.append(function(first > 0.5 if name == "where" else first, *others))
        return tuple(values[place % len(values)] + 0.0 * x for place in results)

    size = 40_005 if long else 7
    rng = np.random.default_rng(0)
    given_ = [mt.tensor(rng.standard_normal(size)) for _ in range(3)]
    wanted = program(*given_, 0.25)
    mt.fuse_in_place("x", "y", "z")(program)(*given_, 0.25)
    for ours, right in zip(given_, wanted, strict=True):
        np.testing.assert_allclose(ours.numpy(), right.numpy(), rtol=1e-9, atol=1e-12)
