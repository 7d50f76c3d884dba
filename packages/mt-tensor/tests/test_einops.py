"""einops accepts tensors, with NumPy as the oracle; gradients pass through."""

from typing import Any

import numpy as np
import pytest

import mt_tensor as mt

einops = pytest.importorskip("einops")

X = np.random.default_rng(0).standard_normal((2, 6, 4))


def same(found: Any, expected: Any) -> None:
    assert isinstance(found, mt.Tensor)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "pattern",
    ["a b c -> c (b a)", "a (b1 b2) c -> b1 (a c) b2", "a b c -> a 1 b c", "a ... -> ... a"],
)
def test_rearrange(pattern: str) -> None:
    sizes = {"b1": 3} if "b1" in pattern else {}
    same(
        einops.rearrange(mt.tensor(X), pattern, **sizes),
        einops.rearrange(X, pattern, **sizes),
    )


def test_a_list_of_tensors_is_stacked() -> None:
    same(
        einops.rearrange(list(mt.tensor(X)), "a b c -> b (a c)"),
        einops.rearrange(X, "a b c -> b (a c)"),
    )


@pytest.mark.parametrize("operation", ["min", "max", "sum", "mean", "prod"])
@pytest.mark.parametrize(
    "pattern", ["a b c -> b", "a (b 2) c -> a b", "a b c -> a 1 c", "a b c ->"]
)
def test_reduce(operation: str, pattern: str) -> None:
    found = einops.reduce(mt.tensor(X), pattern, operation)
    same(found, einops.reduce(X, pattern, operation))


@pytest.mark.parametrize("operation", ["any", "all"])
def test_reduce_bool(operation: str) -> None:
    found = einops.reduce(mt.tensor(X) > 0, "a b c -> b", operation)
    same(found, einops.reduce(X > 0, "a b c -> b", operation))


def test_repeat() -> None:
    pattern = "a b c -> (a n) b m c"
    same(einops.repeat(mt.tensor(X), pattern, n=2, m=3), einops.repeat(X, pattern, n=2, m=3))


def test_einsum() -> None:
    pattern = "batch row inner, batch col inner -> row col"
    same(einops.einsum(mt.tensor(X), mt.tensor(X), pattern), np.einsum("bri,bci->rc", X, X))


def test_pack_and_unpack() -> None:
    parts = [mt.tensor(X), mt.tensor(X[:, 0])]
    packed, shapes = einops.pack(parts, "a * c")
    same(packed, np.concatenate([X, X[:, :1]], axis=1))
    for part, whole in zip(einops.unpack(packed, shapes, "a * c"), parts, strict=True):
        same(part, whole.numpy())


def test_gradients_and_arrays() -> None:
    x = mt.tensor(X, requires_grad=True)
    y = einops.reduce(einops.repeat(x, "a b c -> a b c n", n=3) ** 2, "a b c n -> a", "mean")
    y.sum().backward()
    assert x.grad is not None
    same(x.grad, 2 * X / 24)
    np.testing.assert_array_equal(einops.asnumpy(x), X)
