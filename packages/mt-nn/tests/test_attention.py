"""Attention, embedding and conv1d against NumPy, and against torch if it is installed."""

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


def passes_gradcheck(function: Any, tensors: list[mt.Tensor], backend: str) -> bool:
    """Return whether gradcheck passes; use fast mode on the slow `simple` backend."""
    return mt.gradcheck(function, tensors, fast_mode=backend == "simple")


def normal(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def numpy_attention(q: Any, k: Any, v: Any, mask: Any, scale: float) -> Any:
    scores = q @ np.swapaxes(k, -1, -2) * scale + mask
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


QUERY, KEY, VALUE = normal(2, 4, 3), normal(2, 6, 3, seed=1), normal(2, 6, 5, seed=2)
CAUSAL = np.tril(np.ones((4, 6), bool))
MASKS = {
    "no mask": (None, 0.0),
    "float mask": (normal(4, 6, seed=3), normal(4, 6, seed=3)),
    "bool mask": (CAUSAL, np.where(CAUSAL, 0.0, -np.inf)),
    "mask per batch": (normal(2, 1, 6, seed=4), normal(2, 1, 6, seed=4)),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("scale", [None, 0.3])
def test_attention_matches_numpy_and_passes_gradcheck(
    mask: str, scale: float | None, backend: str
) -> None:
    mask_array, added = MASKS[mask]
    expected = numpy_attention(QUERY, KEY, VALUE, added, scale or 1 / math.sqrt(3))
    tensors = [mt.tensor(a, requires_grad=True) for a in (QUERY, KEY, VALUE)]
    mask_tensor = None if mask_array is None else mt.tensor(mask_array)

    def attend(q: mt.Tensor, k: mt.Tensor, v: mt.Tensor) -> mt.Tensor:
        return F.scaled_dot_product_attention(q, k, v, mask_tensor, scale=scale)

    np.testing.assert_allclose(np.array(attend(*tensors).detach()), expected, rtol=1e-10)
    assert passes_gradcheck(attend, tensors, backend)


def test_causal_attention_ignores_later_keys() -> None:
    q, k, v = (mt.tensor(a) for a in (KEY, KEY, VALUE))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    added = np.where(np.tril(np.ones((6, 6), bool)), 0.0, -np.inf)
    expected = numpy_attention(KEY, KEY, VALUE, added, 1 / math.sqrt(3))
    np.testing.assert_allclose(np.array(out), expected, rtol=1e-10)
    np.testing.assert_allclose(np.array(out)[:, 0], VALUE[:, 0])


def test_attention_dropout_zeroes_weights() -> None:
    mt.manual_seed(0)
    tensors = [mt.tensor(a) for a in (QUERY, KEY, VALUE)]
    outs = [F.scaled_dot_product_attention(*tensors, dropout_p=p) for p in (0.0, 0.5, 1.0)]
    assert not np.allclose(np.array(outs[0]), np.array(outs[1]))
    assert not np.any(np.array(outs[2]))


def test_attention_rejects_bad_shapes_dtypes_masks_and_dropout() -> None:
    q, k, v = (mt.tensor(a) for a in (QUERY, KEY, VALUE))
    for wrong in ((q[0, 0], k, v), (q, k[..., 1:], v), (q, k, v[:, 1:]), (q.float(), k, v)):
        with pytest.raises(InputError, match=r"attention\(\) takes"):
            F.scaled_dot_product_attention(*wrong)
    mask = mt.ones(4, 6, dtype="float64")
    with pytest.raises(InputError, match="not both"):
        F.scaled_dot_product_attention(q, k, v, mask, is_causal=True)
    with pytest.raises(InputError, match="broadcasts to"):
        F.scaled_dot_product_attention(q, k, v, mt.ones(3, 2, 4, 6))
    with pytest.raises(SettingError, match=r"attention\(\): the dropout probability"):
        F.scaled_dot_product_attention(q, k, v, dropout_p=2.0)


def test_embedding_looks_up_rows_and_rejects_bad_indices() -> None:
    table = mt.tensor(normal(5, 3), requires_grad=True)
    indices = mt.tensor([[4, 0, 4], [1, 4, 0]])
    rows = F.embedding(indices, table)
    np.testing.assert_array_equal(np.array(rows.detach()), normal(5, 3)[np.array(indices)])
    rows.sum().backward()
    assert table.grad is not None
    assert table.grad[:, 0].tolist() == [2.0, 1.0, 0.0, 0.0, 3.0]
    for wrong in (mt.tensor([5]), mt.tensor([-1])):
        with pytest.raises(IndexingError):
            F.embedding(wrong, table)
    with pytest.raises(InputError, match="integers"):
        F.embedding(mt.tensor([1.0]), table)
    with pytest.raises(InputError, match="table"):
        F.embedding(indices, table[0])


@pytest.mark.parametrize(
    ("stride", "padding", "dilation", "groups"),
    [(1, 0, 1, 1), (2, 1, 1, 1), (1, 2, 2, 2), (3, 4, 1, 4)],
)
def test_conv1d_matches_numpy_and_passes_gradcheck(
    stride: int, padding: int, dilation: int, groups: int, backend: str
) -> None:
    x, weight, bias = normal(2, 4, 9), normal(8, 4 // groups, 3, seed=1), normal(8, seed=2)
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    starts = range(0, padded.shape[2] - 2 * dilation, stride)
    expected = np.zeros((2, 8, len(starts)))
    for (n, o), (i, start) in itertools.product(np.ndindex(2, 8), enumerate(starts)):
        group = slice(o // (8 // groups) * (4 // groups), (o // (8 // groups) + 1) * (4 // groups))
        window = padded[n, group, start : start + 2 * dilation + 1 : dilation]
        expected[n, o, i] = (window * weight[o]).sum() + bias[o]
    tensors = [mt.tensor(a, requires_grad=True) for a in (x, weight, bias)]

    def convolve(x: mt.Tensor, w: mt.Tensor, b: mt.Tensor) -> mt.Tensor:
        return F.conv1d(x, w, b, stride, padding, dilation, groups)

    np.testing.assert_allclose(
        np.array(convolve(*tensors).detach()), expected, rtol=1e-9, atol=1e-12
    )
    assert passes_gradcheck(convolve, tensors, backend)
    with pytest.raises(InputError, match="signals of shape"):
        F.conv1d(tensors[0][0, 0], tensors[1])


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_attention_and_embedding_match_torch() -> None:
    import torch

    results = []
    for module, functional in ((mt, F), (torch, torch.nn.functional)):
        q, k, v = (module.tensor(a).requires_grad_() for a in (QUERY, KEY, VALUE))
        out = functional.scaled_dot_product_attention(q, k, v, module.tensor(CAUSAL))
        table = module.tensor(normal(7, 5)).requires_grad_()
        rows = functional.embedding(module.tensor([[1, 2, 3, 1]] * 2), table)
        (out * rows).sum().backward()
        results.append([t.numpy() for t in (out.detach(), q.grad, k.grad, v.grad, table.grad)])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
