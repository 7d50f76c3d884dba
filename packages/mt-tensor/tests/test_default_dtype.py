"""The element type of numbers that nothing else decides, and that it can be chosen."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor.errors import DTypeError

DECIDED_BY_NOTHING: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda m: m.zeros(2),
    "ones": lambda m: m.ones(2),
    "empty": lambda m: m.empty(0),
    "full": lambda m: m.full((2,), 0.5),
    "eye": lambda m: m.eye(2),
    "linspace": lambda m: m.linspace(0, 1, 3),
    "logspace": lambda m: m.logspace(0, 1, 3),
    "arange": lambda m: m.arange(0.5, 2),
    "tensor": lambda m: m.tensor([1, 0.5]),
    "nothing": lambda m: m.tensor([]),
    "Tensor": lambda m: m.Tensor([1]),
    "rand": lambda m: m.rand(2),
    "randn": lambda m: m.randn(2),
    "normal": lambda m: m.normal(0.0, 1.0, size=(2,)),
    "division": lambda m: m.arange(3) / 2,
    "number": lambda m: m.arange(3) + 0.5,
    "number of a scalar": lambda m: m.tensor(3) * 0.5,
    "truth": lambda m: m.tensor([True]) * 0.5,
    "root": lambda m: m.arange(3).sqrt(),
    "sigmoid": lambda m: m.tensor([True]).sigmoid(),
    "where": lambda m: m.where(m.tensor([True]), 0.5, 1.0),
    "result_type": lambda m: m.zeros(1, dtype=m.result_type(m.tensor(1), 0.5)),
    "cov": lambda m: m.tensor([[1, 2], [3, 5]]).cov(),
    "logsumexp": lambda m: m.arange(3).logsumexp(0),
    "trapezoid": lambda m: m.trapezoid(m.arange(3), m.arange(3)),
}
"""Calls whose results have the default type, of mt-tensor or of torch."""

DECIDED: dict[str, Callable[[Any], Any]] = {
    "float": lambda m: m.zeros(2).float(),
    "double": lambda m: m.zeros(2).double(),
    "half": lambda m: m.ones(2, dtype=m.float16) * 0.5,
    "FloatTensor": lambda m: m.FloatTensor([1.0]),
    "integers": lambda m: m.arange(3) + 1,
    "from NumPy": lambda m: m.from_numpy(np.ones(2, np.float32)) * 0.5,
    "from an array": lambda m: m.tensor(np.ones(2)) + 1.5,
    "like": lambda m: m.zeros_like(m.ones(2, dtype=m.float16)),
    "new_tensor": lambda m: m.arange(3).new_tensor([0.5]),
    "randint": lambda m: m.randint(0, 3, (2,)),
    "finfo": lambda m: m.zeros(1, dtype=m.float16).exp(),
}
"""Calls whose results have a type of their own."""


@pytest.fixture(params=["float16", "float32", "float64"])
def default(request: pytest.FixtureRequest) -> Iterator[str]:
    mt.set_default_dtype(request.param)
    yield request.param
    mt.set_default_dtype(mt.float32)


@pytest.mark.parametrize("name", DECIDED_BY_NOTHING)
def test_numbers_have_the_default_type(name: str, default: str) -> None:
    assert DECIDED_BY_NOTHING[name](mt).dtype.name == default
    assert mt.get_default_dtype().name == default


@pytest.mark.parametrize("name", DECIDED)
def test_other_types_do_not_change(name: str) -> None:
    before = DECIDED[name](mt).dtype
    mt.set_default_dtype(mt.float64)
    try:
        assert DECIDED[name](mt).dtype is before
    finally:
        mt.set_default_dtype(mt.float32)


@pytest.mark.parametrize("name", [*DECIDED_BY_NOTHING, *DECIDED])
def test_torch_gives_the_same_types(name: str, default: str) -> None:
    torch = pytest.importorskip("torch")
    call = {**DECIDED_BY_NOTHING, **DECIDED}[name]
    torch.set_default_dtype(getattr(torch, default))
    try:
        assert str(call(torch).dtype) == f"torch.{call(mt).dtype.name}"
    finally:
        torch.set_default_dtype(torch.float32)


def test_what_is_shown_leaves_out_the_default(default: str) -> None:
    assert "dtype" not in repr(mt.ones(2))
    assert repr(mt.ones(2, dtype="float32")).count("dtype=mt_tensor.float32") == (
        default != "float32"
    )
    assert mt.finfo().dtype == default


def test_the_default_is_a_floating_point_type() -> None:
    with pytest.raises(DTypeError, match="default dtype must be floating-point; int64 was given"):
        mt.set_default_dtype(mt.int64)
    with pytest.raises(DTypeError, match="no dtype 'float3'"):
        mt.set_default_dtype("float3")
    assert mt.get_default_dtype() is mt.float32


@pytest.mark.parametrize("backend", ["simple", "numpy"])
def test_gradients_keep_to_it(backend: str) -> None:
    mt.set_default_dtype(mt.float64)
    try:
        with mt.use_backend(backend):
            x = mt.tensor([0.5, 2.0], requires_grad=True)
            loss = (x.exp() * mt.arange(2) + mt.where(x > 1, x, 0.0)).var()
            (gradient,) = mt.autograd.grad(loss, x, create_graph=True)
            gradient.sum().backward()
            assert loss.dtype is gradient.dtype is x.grad.dtype is mt.float64
    finally:
        mt.set_default_dtype(mt.float32)
