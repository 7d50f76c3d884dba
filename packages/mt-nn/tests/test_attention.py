"""Attention, embedding and convolution of signals against NumPy, and torch where installed."""

import importlib.util
import itertools
import math
from typing import Any

import numpy as np
import pytest

import mt_nn.functional as F
import mt_tensor as mt
from mt_nn import InputError, SettingError
from mt_tensor.errors import IndexingError


@pytest.fixture(autouse=True, params=["numpy", "simple"])
def backend(request: pytest.FixtureRequest) -> Any:
    with mt.use_backend(request.param):
        yield request.param


def has_right_gradients(function: Any, tensors: list[mt.Tensor], backend: str) -> bool:
    """Return whether differences say so: of each element, or in plain Python of all at once."""
    return mt.gradcheck(function, tensors, fast_mode=backend == "simple")


def draw(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def attended(q: Any, k: Any, v: Any, mask: Any, scale: float) -> Any:
    scores = q @ np.swapaxes(k, -1, -2) * scale + mask
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


QUERY, KEY, VALUE = draw(2, 4, 3), draw(2, 6, 3, seed=1), draw(2, 6, 5, seed=2)
SEEN = np.tril(np.ones((4, 6), bool))
MASKS = {
    "none": (None, 0.0),
    "added": (draw(4, 6, seed=3), draw(4, 6, seed=3)),
    "bools": (SEEN, np.where(SEEN, 0.0, -np.inf)),
    "for each batch": (draw(2, 1, 6, seed=4), draw(2, 1, 6, seed=4)),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("scale", [None, 0.3])
def test_attention(mask: str, scale: float | None, backend: str) -> None:
    given, added = MASKS[mask]
    wanted = attended(QUERY, KEY, VALUE, added, scale or 1 / math.sqrt(3))
    tensors = [mt.tensor(a, requires_grad=True) for a in (QUERY, KEY, VALUE)]
    masked = None if given is None else mt.tensor(given)

    def attend(q: mt.Tensor, k: mt.Tensor, v: mt.Tensor) -> mt.Tensor:
        return F.scaled_dot_product_attention(q, k, v, masked, scale=scale)

    np.testing.assert_allclose(np.array(attend(*tensors).detach()), wanted, rtol=1e-10)
    assert has_right_gradients(attend, tensors, backend)


def test_causal_attention_ignores_later_keys() -> None:
    q, k, v = (mt.tensor(a) for a in (KEY, KEY, VALUE))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    added = np.where(np.tril(np.ones((6, 6), bool)), 0.0, -np.inf)
    wanted = attended(KEY, KEY, VALUE, added, 1 / math.sqrt(3))
    np.testing.assert_allclose(np.array(out), wanted, rtol=1e-10)
    np.testing.assert_allclose(np.array(out)[:, 0], VALUE[:, 0])


def test_attention_with_dropout() -> None:
    mt.manual_seed(0)
    tensors = [mt.tensor(a) for a in (QUERY, KEY, VALUE)]
    outs = [F.scaled_dot_product_attention(*tensors, dropout_p=p) for p in (0.0, 0.5, 1.0)]
    assert not np.allclose(np.array(outs[0]), np.array(outs[1]))
    assert not np.any(np.array(outs[2]))


def test_attention_refuses() -> None:
    q, k, v = (mt.tensor(a) for a in (QUERY, KEY, VALUE))
    for wrong in ((q[0, 0], k, v), (q, k[..., 1:], v), (q, k, v[:, 1:]), (q.float(), k, v)):
        with pytest.raises(InputError, match="attention takes"):
            F.scaled_dot_product_attention(*wrong)
    mask = mt.ones(4, 6, dtype="float64")
    with pytest.raises(InputError, match="not both"):
        F.scaled_dot_product_attention(q, k, v, mask, is_causal=True)
    with pytest.raises(InputError, match="broadcasts to"):
        F.scaled_dot_product_attention(q, k, v, mt.ones(3, 2, 4, 6))
    with pytest.raises(SettingError, match="probability"):
        F.scaled_dot_product_attention(q, k, v, dropout_p=2.0)


def test_embedding() -> None:
    table = mt.tensor(draw(5, 3), requires_grad=True)
    numbers = mt.tensor([[4, 0, 4], [1, 4, 0]])
    rows = F.embedding(numbers, table)
    np.testing.assert_array_equal(np.array(rows.detach()), draw(5, 3)[np.array(numbers)])
    rows.sum().backward()
    assert table.grad is not None
    assert table.grad[:, 0].tolist() == [2.0, 1.0, 0.0, 0.0, 3.0]
    for wrong in (mt.tensor([5]), mt.tensor([-1])):
        with pytest.raises(IndexingError):
            F.embedding(wrong, table)
    with pytest.raises(InputError, match="integers"):
        F.embedding(mt.tensor([1.0]), table)
    with pytest.raises(InputError, match="table"):
        F.embedding(numbers, table[0])


@pytest.mark.parametrize(
    ("stride", "padding", "dilation", "groups"),
    [(1, 0, 1, 1), (2, 1, 1, 1), (1, 2, 2, 2), (3, 4, 1, 4)],
)
def test_conv1d(stride: int, padding: int, dilation: int, groups: int, backend: str) -> None:
    x, weight, bias = draw(2, 4, 9), draw(8, 4 // groups, 3, seed=1), draw(8, seed=2)
    wide = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    starts = range(0, wide.shape[2] - 2 * dilation, stride)
    wanted = np.zeros((2, 8, len(starts)))
    for (n, o), (i, start) in itertools.product(np.ndindex(2, 8), enumerate(starts)):
        group = slice(o // (8 // groups) * (4 // groups), (o // (8 // groups) + 1) * (4 // groups))
        seen = wide[n, group, start : start + 2 * dilation + 1 : dilation]
        wanted[n, o, i] = (seen * weight[o]).sum() + bias[o]
    given = [mt.tensor(a, requires_grad=True) for a in (x, weight, bias)]

    def convolve(x: mt.Tensor, w: mt.Tensor, b: mt.Tensor) -> mt.Tensor:
        return F.conv1d(x, w, b, stride, padding, dilation, groups)

    np.testing.assert_allclose(np.array(convolve(*given).detach()), wanted, rtol=1e-9, atol=1e-12)
    assert has_right_gradients(convolve, given, backend)
    with pytest.raises(InputError, match="signals of shape"):
        F.conv1d(given[0][0, 0], given[1])


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_like_torch() -> None:
    import torch

    results = []
    for module, functional in ((mt, F), (torch, torch.nn.functional)):
        q, k, v = (module.tensor(a).requires_grad_() for a in (QUERY, KEY, VALUE))
        out = functional.scaled_dot_product_attention(q, k, v, module.tensor(SEEN))
        table = module.tensor(draw(7, 5)).requires_grad_()
        rows = functional.embedding(module.tensor([[1, 2, 3, 1]] * 2), table)
        (out * rows).sum().backward()
        results.append([t.numpy() for t in (out.detach(), q.grad, k.grad, v.grad, table.grad)])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
