"""Gradients of slices, which are added up in one tensor."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mt_tensor as mt
from mt_tensor.recording import parts as part

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
def filled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that will have the shape of each tensor that is filled with one number."""
    shapes = []
    backend = type(mt.zeros(1).backend)
    full = backend.full

    def noted(self: Any, shape: Any, *rest: Any) -> Any:
        shapes.append(shape)
        return full(self, shape, *rest)

    monkeypatch.setattr(backend, "full", noted)
    return shapes


def in_pieces(draw: Any) -> list[Any]:
    """Return keys of all rows, or all columns, in any order."""
    dim = draw(st.integers(0, 1))
    cuts = [0, *sorted(draw(st.lists(st.integers(0, 4 + dim), max_size=3))), 4 + dim]
    keys = [(slice(None),) * dim + (slice(*ends),) for ends in pairwise(cuts)]
    return draw(st.permutations(keys))  # type: ignore[no-any-return]


@pytest.mark.parametrize("large", [0, part.LARGE])
@given(
    keys=st.lists(KEYS, min_size=1, max_size=5) | st.composite(in_pieces)(),
    whole=st.integers(0, 5),
)
def test_slices_of_one_tensor_add_up_to_the_gradient_that_is_recorded(
    large: int, keys: list[Any], whole: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(part, "LARGE", large)
        check_sum_of_slices(keys, whole)


def check_sum_of_slices(keys: list[Any], whole: int) -> None:
    x = random(4, 5).requires_grad_()
    y = x * 2.0
    terms = [y[key].square().sum() * (1.0 + place) for place, key in enumerate(keys)]
    if whole < 5:
        terms.insert(whole, y.sum())
    total = sum(terms[1:], terms[0])
    (recorded,) = mt.autograd.grad(total, x, create_graph=True)
    (added_up,) = mt.autograd.grad(total, x)
    assert recorded is not None
    assert added_up is not None
    np.testing.assert_allclose(added_up.numpy(), recorded.detach().numpy(), rtol=1e-12)


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
def test_one_tensor_is_made_for_all_steps_of_a_sequence(steps: Any, filled: list[Any]) -> None:
    x = random(20, 3).requires_grad_()
    total = mt.stack([step.exp() for step in steps(x)]).sum()
    total.backward()
    assert filled.count((20, 3)) == 1
    np.testing.assert_allclose(x.grad.numpy(), np.exp(x.detach().numpy()))


@pytest.mark.parametrize(
    ("pieces", "times"),
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
def test_pieces_that_are_all_of_a_large_tensor_need_no_zeros(
    pieces: Any, times: int, filled: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "LARGE", 20 * 20 * 3)
    x = random(20, 20, 3).requires_grad_()
    total = mt.cat([piece.exp().flatten() for piece in pieces(x)]).sum()
    total.backward(retain_graph=True)
    assert filled.count((20, 20, 3)) == times
    (wanted,) = mt.autograd.grad(total, x, create_graph=True)
    assert wanted is not None
    np.testing.assert_allclose(x.grad.numpy(), wanted.detach().numpy())


def test_a_part_that_is_alone_is_a_whole_gradient_for_hooks_and_for_leaves() -> None:
    x = random(4, 5).requires_grad_()
    y = x * 1.0
    y.retain_grad()
    seen = []
    for tensor in (x, y):
        tensor.register_hook(lambda gradient: seen.append(gradient.shape))
    y[1].sum().backward()
    wanted = np.zeros((4, 5))
    wanted[1] = 1.0
    assert seen == [(4, 5), (4, 5)]
    assert np.array_equal(y.grad.numpy(), wanted)
    assert np.array_equal(x.grad.numpy(), wanted)


def test_a_sum_of_parts_leaves_the_gradients_of_others_as_they_are() -> None:
    x, z = random(3).requires_grad_(), random(3).requires_grad_()
    total = (x + z).sum() + x[1] * 5.0 + x[1:].sum()
    total.backward()
    assert x.grad.tolist() == [1.0, 7.0, 2.0]
    assert z.grad.tolist() == [1.0, 1.0, 1.0]
