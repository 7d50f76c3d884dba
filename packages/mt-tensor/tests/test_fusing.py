"""fuse: values and gradients compared with the unfused function; errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_operators import OPERATORS
from mt_tensor.errors import BackendMismatchError, FusionError


@mt.fuse
def gaussian(x: Any, width: Any) -> Any:
    return mt.exp(-x * x / width)


FUNCTIONS: list[Callable[..., Any]] = [
    lambda x, y: mt.tanh(x) * y + x,
    lambda x, y: mt.gelu(x + y) * 0.5 - mt.gelu(x, approximate="tanh"),
    lambda x, y: mt.where(x > y, x.sigmoid(), y) / (1.0 + y * y),
    lambda x, y: x.clamp(-1, 1) ** 2 + mt.softplus(y, beta=2.0),
    lambda x, y: ((x > 0) & (y < 1)).to(x.dtype) * x.exp() + mt.maximum(x, y),
    lambda x, y: mt.relu(x).lerp(y, 0.3) - abs(y) * -x,
    lambda x, y: gaussian(x, 2.0) * y + gaussian(y, x * x + 1.0),  # nested
    lambda x, y: mt.where(x > 0, 2.0, 1.0) * mt.sin(y),
    lambda x, y: x,
    lambda x, y: 2.0 * y + 0 * x,
]


@pytest.mark.parametrize("backend", ["numpy", "simple"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_fused_function_has_values_and_gradients_of_the_unfused(
    function: Callable[..., Any], backend: str
) -> None:
    fused = mt.fuse(function)
    x, y = (
        mt.tensor(a, backend=backend, requires_grad=True)
        for a in (np.linspace(-2.1, 2.3, 6).reshape(2, 3), np.array([0.7, -0.4, 1.3]))
    )
    results = []
    for run in (fused, function):
        out = run(x, y)
        gradients = mt.autograd.grad(out.square().sum(), [x, y], allow_unused=True)
        results.append([out.detach(), *gradients])
    for actual, expected in zip(*results, strict=True):
        if expected is None:
            assert actual is None or not np.any(np.array(actual))
        else:
            np.testing.assert_allclose(np.array(actual), np.array(expected), rtol=1e-12, atol=1e-14)
    assert mt.gradgradcheck(lambda x, y: fused(x, y) + 0.0 * (x * y), [x, y])


def test_number_in_where_does_not_change_dtype_of_gradient() -> None:
    leaky = mt.fuse(lambda x, slope: mt.where(x > 0, x, x / slope))
    x = mt.tensor([-1.0, 2.0], dtype=mt.float64, requires_grad=True)
    (gradient,) = mt.autograd.grad(leaky(x, 3.0).sum(), x, create_graph=True)
    assert gradient.dtype is mt.float64
    assert gradient.tolist() == [1 / 3, 1.0]


@st.composite
def chains(draw: Any) -> Callable[[Any, Any], Any]:
    """Draw a function of a few operators, each applied to earlier values."""
    unary = st.sampled_from(["tanh", "sigmoid", "sin", "exp", "relu", "neg", "square", "erf"])
    binary = st.sampled_from(["add", "mul", "sub", "maximum", "hypot"])
    steps = draw(st.lists(st.tuples(st.one_of(unary, binary), st.integers(), st.integers())))

    def function(x: Any, y: Any) -> Any:
        values = [x, y, x * 0.5]
        for name, *positions in steps:
            operands = [values[i % len(values)] for i in positions]
            values.append(getattr(mt, name)(*operands[: OPERATORS[name].arity]).clamp(-9, 9))
        return values[-1]

    return function


@settings(deadline=None, max_examples=60)
@given(chains())
def test_random_fused_functions_match_unfused_ones(function: Callable[..., Any]) -> None:
    arrays = np.random.default_rng(0).standard_normal((2, 5))
    results = []
    for run in (mt.fuse(function), function):
        x, y = (mt.tensor(array, requires_grad=True) for array in arrays)
        out = run(x, y)
        out.backward(mt.tensor(np.arange(5.0)))
        zeros = [np.zeros(5) if t.grad is None else np.array(t.grad) for t in (x, y)]
        results.append([np.array(out.detach()), *zeros])
    np.testing.assert_allclose(*results, rtol=1e-10, atol=1e-12)


def test_fused_function_is_one_operation_and_traced_once() -> None:
    traces = []

    @mt.fuse
    def scaled(x: Any, y: Any) -> Any:
        """Return the scaled sum."""
        traces.append(None)
        return (x + y) * 2.0

    assert scaled.__name__ == "scaled"
    assert scaled.__doc__ == "Return the scaled sum."
    x = mt.ones(2, 1, requires_grad=True)
    out = scaled(x, mt.tensor([1, 2, 3]))
    assert str(out.grad_fn) == "<scaled>"
    assert out.tolist() == [[4.0, 6.0, 8.0]] * 2
    assert scaled(mt.tensor([1, 2]), 1).dtype is mt.float32
    assert scaled(mt.ones(2, dtype="float64"), 1).dtype is mt.float64
    assert len(traces) == 1


NOT_ELEMENTWISE: list[tuple[Callable[..., Any], str]] = [
    (lambda x: x / x.sum(), "reduces.* pass it as another argument"),
    (lambda x: x if x > 0 else -x, r"reads an element.* with where\(\)"),
    (lambda x: x * x.item(), "reads an element"),
    (lambda x: 3, "returns 3"),
    (lambda x: x > 0, "returns bool"),
    (lambda x: x.add_(1), "in place"),
    (lambda x: x.long(), "int64"),
    (lambda x: x[None].exp(), "view"),
    (lambda x: x.reshape(1), "view"),
    (lambda x: mt.ones(3), "instead of a tensor computed from its arguments"),
]


@pytest.mark.parametrize(("function", "message"), NOT_ELEMENTWISE)
def test_fuse_rejects_operations_that_are_not_elementwise(
    function: Callable[..., Any], message: str
) -> None:
    with pytest.raises(FusionError, match=message):
        mt.fuse(function)(mt.ones(3))


def test_fuse_rejects_varargs_other_backends_and_extra_arguments() -> None:
    with pytest.raises(FusionError, match="positional"):
        mt.fuse(lambda *xs: xs[0])
    with pytest.raises(BackendMismatchError):
        mt.fuse(lambda x: x + mt.ones(3))(mt.ones(3))
    with pytest.raises(TypeError, match="takes 1 argument"):
        mt.fuse(mt.exp)(mt.ones(3), mt.ones(3))


@pytest.mark.parametrize(
    "name", ["_bump", "__bump__", "softplus", "class", "two words", "<lambda>"]
)
def test_fuse_takes_functions_of_any_name(name: str) -> None:
    def bump(x: mt.Tensor) -> mt.Tensor:
        return mt.softplus(x) * x

    bump.__name__ = name
    x = mt.tensor([0.5, 2.0], requires_grad=True)
    expected = mt.softplus(x) * x
    fused = mt.fuse(bump)(x)
    assert mt.allclose(fused, expected)
    (slope,) = mt.autograd.grad(fused.sum(), x)
    assert mt.allclose(slope, mt.autograd.grad(expected.sum(), x)[0])
