"""einops with tensors, compared with NumPy, and gradients through it."""

from typing import Any

import numpy as np
import pytest

import mt_tensor as mt

einops = pytest.importorskip("einops")

X = np.random.default_rng(0).standard_normal((2, 6, 4))


def assert_same(result: Any, expected: Any) -> None:
    assert isinstance(result, mt.Tensor)
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "pattern",
    ["a b c -> c (b a)", "a (b1 b2) c -> b1 (a c) b2", "a b c -> a 1 b c", "a ... -> ... a"],
)
def test_rearrange_matches_numpy(pattern: str) -> None:
    sizes = {"b1": 3} if "b1" in pattern else {}
    assert_same(
        einops.rearrange(mt.tensor(X), pattern, **sizes),
        einops.rearrange(X, pattern, **sizes),
    )


def test_rearrange_stacks_list_of_tensors() -> None:
    assert_same(
        einops.rearrange(list(mt.tensor(X)), "a b c -> b (a c)"),
        einops.rearrange(X, "a b c -> b (a c)"),
    )


@pytest.mark.parametrize("operation", ["min", "max", "sum", "mean", "prod"])
@pytest.mark.parametrize(
    "pattern", ["a b c -> b", "a (b 2) c -> a b", "a b c -> a 1 c", "a b c ->"]
)
def test_reduce_matches_numpy(operation: str, pattern: str) -> None:
    result = einops.reduce(mt.tensor(X), pattern, operation)
    assert_same(result, einops.reduce(X, pattern, operation))


@pytest.mark.parametrize("operation", ["any", "all"])
def test_reduce_of_bool_matches_numpy(operation: str) -> None:
    result = einops.reduce(mt.tensor(X) > 0, "a b c -> b", operation)
    assert_same(result, einops.reduce(X > 0, "a b c -> b", operation))


def test_repeat_matches_numpy() -> None:
    pattern = "a b c -> (a n) b m c"
    assert_same(einops.repeat(mt.tensor(X), pattern, n=2, m=3), einops.repeat(X, pattern, n=2, m=3))


def test_einsum_matches_numpy() -> None:
    pattern = "batch row inner, batch col inner -> row col"
    assert_same(einops.einsum(mt.tensor(X), mt.tensor(X), pattern), np.einsum("bri,bci->rc", X, X))


def test_pack_concatenates_and_unpack_restores() -> None:
    parts = [mt.tensor(X), mt.tensor(X[:, 0])]
    packed, shapes = einops.pack(parts, "a * c")
    assert_same(packed, np.concatenate([X, X[:, :1]], axis=1))
    for part, original in zip(einops.unpack(packed, shapes, "a * c"), parts, strict=True):
        assert_same(part, original.numpy())


def test_gradients_pass_through_reduce_and_repeat() -> None:
    x = mt.tensor(X, requires_grad=True)
    y = einops.reduce(einops.repeat(x, "a b c -> a b c n", n=3) ** 2, "a b c n -> a", "mean")
    y.sum().backward()
    assert x.grad is not None
    assert_same(x.grad, 2 * X / 24)
    np.testing.assert_array_equal(einops.asnumpy(x), X)
