"""The default dtype: where it applies, and how it is set."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor.errors import DTypeError

DEFAULT_DTYPE_CALLS: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda m: m.zeros(2),
    "ones": lambda m: m.ones(2),
    "empty": lambda m: m.empty(0),
    "full": lambda m: m.full((2,), 0.5),
    "eye": lambda m: m.eye(2),
    "linspace": lambda m: m.linspace(0, 1, 3),
    "logspace": lambda m: m.logspace(0, 1, 3),
    "arange": lambda m: m.arange(0.5, 2),
    "tensor": lambda m: m.tensor([1, 0.5]),
    "empty list": lambda m: m.tensor([]),
    "Tensor": lambda m: m.Tensor([1]),
    "rand": lambda m: m.rand(2),
    "randn": lambda m: m.randn(2),
    "normal": lambda m: m.normal(0.0, 1.0, size=(2,)),
    "division": lambda m: m.arange(3) / 2,
    "integers plus float": lambda m: m.arange(3) + 0.5,
    "0-D integer times float": lambda m: m.tensor(3) * 0.5,
    "bool times float": lambda m: m.tensor([True]) * 0.5,
    "sqrt": lambda m: m.arange(3).sqrt(),
    "sigmoid": lambda m: m.tensor([True]).sigmoid(),
    "where": lambda m: m.where(m.tensor([True]), 0.5, 1.0),
    "result_type": lambda m: m.zeros(1, dtype=m.result_type(m.tensor(1), 0.5)),
    "cov": lambda m: m.tensor([[1, 2], [3, 5]]).cov(),
    "logsumexp": lambda m: m.arange(3).logsumexp(0),
    "trapezoid": lambda m: m.trapezoid(m.arange(3), m.arange(3)),
}
"""Calls whose results have the default dtype, in mt_tensor and in torch."""

FIXED_DTYPE_CALLS: dict[str, Callable[[Any], Any]] = {
    "float": lambda m: m.zeros(2).float(),
    "double": lambda m: m.zeros(2).double(),
    "half": lambda m: m.ones(2, dtype=m.float16) * 0.5,
    "FloatTensor": lambda m: m.FloatTensor([1.0]),
    "integers": lambda m: m.arange(3) + 1,
    "from NumPy": lambda m: m.from_numpy(np.ones(2, np.float32)) * 0.5,
    "from an array": lambda m: m.tensor(np.ones(2)) + 1.5,
    "zeros_like": lambda m: m.zeros_like(m.ones(2, dtype=m.float16)),
    "new_tensor": lambda m: m.arange(3).new_tensor([0.5]),
    "randint": lambda m: m.randint(0, 3, (2,)),
    "exp": lambda m: m.zeros(1, dtype=m.float16).exp(),
}
"""Calls whose results have a dtype of their own."""


@pytest.fixture(params=["float16", "float32", "float64"])
def default(request: pytest.FixtureRequest) -> Iterator[str]:
    mt.set_default_dtype(request.param)
    yield request.param
    mt.set_default_dtype(mt.float32)


@pytest.mark.parametrize("name", DEFAULT_DTYPE_CALLS)
def test_result_without_given_dtype_has_default_dtype(name: str, default: str) -> None:
    assert DEFAULT_DTYPE_CALLS[name](mt).dtype.name == default
    assert mt.get_default_dtype().name == default


@pytest.mark.parametrize("name", FIXED_DTYPE_CALLS)
def test_result_with_own_dtype_ignores_default_dtype(name: str) -> None:
    before = FIXED_DTYPE_CALLS[name](mt).dtype
    mt.set_default_dtype(mt.float64)
    try:
        assert FIXED_DTYPE_CALLS[name](mt).dtype is before
    finally:
        mt.set_default_dtype(mt.float32)


@pytest.mark.parametrize("name", [*DEFAULT_DTYPE_CALLS, *FIXED_DTYPE_CALLS])
def test_result_dtype_matches_torch_for_each_default(name: str, default: str) -> None:
    torch = pytest.importorskip("torch")
    call = {**DEFAULT_DTYPE_CALLS, **FIXED_DTYPE_CALLS}[name]
    torch.set_default_dtype(getattr(torch, default))
    try:
        assert str(call(torch).dtype) == f"torch.{call(mt).dtype.name}"
    finally:
        torch.set_default_dtype(torch.float32)


def test_repr_omits_default_dtype(default: str) -> None:
    assert "dtype" not in repr(mt.ones(2))
    assert repr(mt.ones(2, dtype="float32")).count("dtype=mt_tensor.float32") == (
        default != "float32"
    )
    assert mt.finfo().dtype == default


def test_set_default_dtype_rejects_integer_and_unknown_dtypes() -> None:
    with pytest.raises(
        DTypeError, match=r"set_default_dtype\(\) takes a floating-point dtype; int64 was"
    ):
        mt.set_default_dtype(mt.int64)
    with pytest.raises(DTypeError, match="unsupported dtype 'float3'"):
        mt.set_default_dtype("float3")
    assert mt.get_default_dtype() is mt.float32


@pytest.mark.parametrize("backend", ["simple", "numpy"])
def test_loss_and_gradients_have_default_dtype(backend: str) -> None:
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
