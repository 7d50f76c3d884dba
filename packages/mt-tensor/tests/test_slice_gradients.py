"""Gradients of slices and other parts of one tensor, which share a gradient buffer."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mt_tensor as mt
from mt_tensor.recording import view_gradients

KEYS = st.one_of(
    st.integers(-4, 3),
    st.slices(4),
    st.tuples(st.integers(-4, 3), st.integers(-5, 4)),
    st.tuples(st.just(slice(None)), st.slices(5)),
    st.just((Ellipsis, None)),
)


def random(*shape: int) -> Any:
    return mt.tensor(np.random.default_rng(0).standard_normal(shape), dtype="float64")


@pytest.fixture
def full_shapes(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that records the shape of each call of the backend's `full`."""
    shapes = []
    backend = type(mt.zeros(1).backend)
    full = backend.full

    def recording_full(self: Any, shape: Any, *rest: Any) -> Any:
        shapes.append(shape)
        return full(self, shape, *rest)

    monkeypatch.setattr(backend, "full", recording_full)
    return shapes


def row_or_column_pieces(draw: Any) -> list[Any]:
    """Return slices that cover all rows, or all columns, in any order."""
    dim = draw(st.integers(0, 1))
    cuts = [0, *sorted(draw(st.lists(st.integers(0, 4 + dim), max_size=3))), 4 + dim]
    keys = [(slice(None),) * dim + (slice(*ends),) for ends in pairwise(cuts)]
    return draw(st.permutations(keys))  # type: ignore[no-any-return]


@pytest.mark.parametrize("large", [0, view_gradients.LARGE])
@given(
    keys=st.lists(KEYS, min_size=1, max_size=5) | st.composite(row_or_column_pieces)(),
    sum_position=st.integers(0, 5),
)
def test_gradient_of_slices_equals_recorded_gradient(
    large: int, keys: list[Any], sum_position: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(view_gradients, "LARGE", large)
        check_sum_of_slices(keys, sum_position)


def check_sum_of_slices(keys: list[Any], sum_position: int) -> None:
    """Compare the gradient of a sum of slices, and of the whole tensor if `sum_position` < 5."""
    x = random(4, 5).requires_grad_()
    y = x * 2.0
    terms = [y[key].square().sum() * (1.0 + i) for i, key in enumerate(keys)]
    if sum_position < 5:
        terms.insert(sum_position, y.sum())
    total = sum(terms[1:], terms[0])
    (recorded,) = mt.autograd.grad(total, x, create_graph=True)
    (accumulated,) = mt.autograd.grad(total, x)
    assert recorded is not None
    assert accumulated is not None
    np.testing.assert_allclose(accumulated.numpy(), recorded.detach().numpy(), rtol=1e-12)


@pytest.mark.parametrize(
    "steps",
    [
        lambda x: x.unbind(),
        lambda x: x.split(1),
        lambda x: [x[n] for n in range(20)],
        lambda x: [x[n : n + 1] for n in range(20)],
        lambda x: [x.narrow(0, n, 1) for n in range(20)],
        lambda x: [mt.pad(x, (0, 0, -n, n - 19)) for n in range(20)],
    ],
)
def test_steps_of_a_sequence_share_one_gradient_buffer(steps: Any, full_shapes: list[Any]) -> None:
    x = random(20, 3).requires_grad_()
    total = mt.stack([step.exp() for step in steps(x)]).sum()
    total.backward()
    assert full_shapes.count((20, 3)) == 1
    np.testing.assert_allclose(x.grad.numpy(), np.exp(x.detach().numpy()))


@pytest.mark.parametrize(
    ("pieces", "fills"),
    [
        (lambda x: x.chunk(3, 1), 0),
        (lambda x: reversed(x.split((7, 0, 13))), 0),
        (lambda x: x.unbind(), 0),
        (lambda x: x.unbind(2), 0),
        (lambda x: [x[:, :9], x[:, 9:]], 0),
        (lambda x: [x[:, :9], x[:, 10:]], 1),
        (lambda x: [x[:, :9], x[:, 9:], x[0]], 1),
        (lambda x: [x[:, :10], x[:, :10]], 1),
        (lambda x: [x[:, :12], x[:, 8:16]], 1),
        (lambda x: [x[:, ::2], x[:, 1::2]], 1),
        (lambda x: [x[:10, :10], x[10:, :10], x[:10, 10:], x[10:, 10:]], 1),
    ],
)
def test_pieces_that_tile_one_dimension_need_no_zeros(
    pieces: Any, fills: int, full_shapes: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_gradients, "LARGE", 20 * 20 * 3)
    x = random(20, 20, 3).requires_grad_()
    total = mt.cat([piece.exp().flatten() for piece in pieces(x)]).sum()
    total.backward(retain_graph=True)
    assert full_shapes.count((20, 20, 3)) == fills
    (expected,) = mt.autograd.grad(total, x, create_graph=True)
    assert expected is not None
    np.testing.assert_allclose(x.grad.numpy(), expected.detach().numpy())


def test_hooks_and_leaves_receive_full_gradient_of_single_slice() -> None:
    x = random(4, 5).requires_grad_()
    y = x * 1.0
    y.retain_grad()
    shapes = []
    for tensor in (x, y):
        tensor.register_hook(lambda gradient: shapes.append(gradient.shape))
    y[1].sum().backward()
    expected = np.zeros((4, 5))
    expected[1] = 1.0
    assert shapes == [(4, 5), (4, 5)]
    assert np.array_equal(y.grad.numpy(), expected)
    assert np.array_equal(x.grad.numpy(), expected)


def test_sum_of_slice_gradients_changes_no_other_gradient() -> None:
    x, z = random(3).requires_grad_(), random(3).requires_grad_()
    total = (x + z).sum() + x[1] * 5.0 + x[1:].sum()
    total.backward()
    assert x.grad.tolist() == [1.0, 7.0, 2.0]
    assert z.grad.tolist() == [1.0, 1.0, 1.0]
