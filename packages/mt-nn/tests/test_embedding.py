"""Embedding and EmbeddingBag: padding row, max_norm, pretrained tables, gradients, errors."""

import numpy as np
import pytest

import mt_nn as nn
import mt_nn.functional as F
import mt_tensor as mt


@pytest.fixture(autouse=True, params=["numpy", "simple"])
def backend(request: pytest.FixtureRequest) -> object:
    with mt.use_backend(request.param):
        yield request.param


@pytest.mark.parametrize("layer_type", [nn.Embedding, nn.EmbeddingBag])
def test_padding_row_is_zero_and_gets_no_gradient(layer_type: type[nn.Embedding]) -> None:
    layer = layer_type(5, 3, padding_idx=-2)
    assert layer.padding_idx == 3
    assert layer.weight[3].tolist() == [0.0] * 3
    assert layer.weight.detach().numpy().any(1).tolist() == [True, True, True, False, True]
    layer(mt.tensor([[3, 1, 3, 1]])).sum().backward()
    grad = layer.weight.grad
    assert grad[3].tolist() == [0.0] * 3
    assert grad[1].tolist() != [0.0] * 3


@pytest.mark.parametrize("layer_type", [nn.Embedding, nn.EmbeddingBag])
def test_from_pretrained_uses_table_frozen_by_default(layer_type: type[nn.Embedding]) -> None:
    table = mt.tensor(np.random.default_rng(0).standard_normal((4, 2)))
    before = mt.get_rng_state()
    frozen = layer_type.from_pretrained(table, padding_idx=0)
    assert not frozen.weight.requires_grad
    assert layer_type.from_pretrained(table, freeze=False).weight.requires_grad
    assert frozen.weight.tolist() == table.tolist()
    assert frozen.weight[0].tolist() != [0.0, 0.0]
    assert str(mt.get_rng_state()) == str(before)
    with pytest.raises(nn.InputError, match=r"takes a table of shape .* \(2,\) was given"):
        layer_type.from_pretrained(table[0])
    with pytest.raises(nn.InputError, match=r"shape \(3, 2\); shape \(4, 2\) was given"):
        layer_type(3, 2, _weight=table)


def test_max_norm_rescales_rows_in_place() -> None:
    table = mt.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]])
    out = F.embedding(mt.tensor([0, 1, 0]), table, max_norm=1.0)
    np.testing.assert_allclose(out, [[0.6, 0.8], [0.3, 0.4], [0.6, 0.8]], rtol=1e-6)
    np.testing.assert_allclose(table, [[0.6, 0.8], [0.3, 0.4], [6.0, 8.0]], rtol=1e-6)
    layer = nn.Embedding(3, 2, max_norm=0.1)
    layer(mt.tensor([2])).sum().backward()
    assert float(np.linalg.norm(layer.weight.detach()[2])) == pytest.approx(0.1, rel=1e-4)


def test_second_derivative_skips_padding_row() -> None:
    indices = mt.tensor([[0, 1, 0], [2, 0, 2]])
    table = mt.tensor(np.random.default_rng(0).standard_normal((3, 2)), requires_grad=True)
    out = F.embedding(indices, table, padding_idx=1)
    loss = (out**3).sum()
    (first,) = mt.autograd.grad(loss, [table], create_graph=True)
    rows = np.array([3.0, 0.0, 2.0])[:, None]  # how often each row is looked up
    np.testing.assert_allclose(first.detach(), rows * 3 * table.detach().numpy() ** 2)
    (second,) = mt.autograd.grad(first.sum(), [table])
    np.testing.assert_allclose(second, rows * 6 * table.detach().numpy())


def test_empty_bags_give_zeros() -> None:
    table = mt.ones(3, 2)
    no_indices = mt.zeros(0, dtype="int64")
    for mode in ("sum", "mean", "max"):
        bags = F.embedding_bag(no_indices, table, mt.tensor([0, 0]), mode=mode)
        assert bags.tolist() == [[0.0, 0.0]] * 2
        indices = mt.tensor([[1, 1], [1, 2]])
        padded = F.embedding_bag(indices, table, mode=mode, padding_idx=1)
        assert padded.tolist() == [[0.0, 0.0], [1.0, 1.0]]
        assert F.embedding_bag(mt.zeros(0, 3, dtype="int64"), table, mode=mode).shape == (0, 2)
    offsets = mt.tensor([0])
    assert F.embedding_bag(no_indices, table, offsets, include_last_offset=True).shape == (0, 2)


def test_sparse_gradients_bad_offsets_and_bad_sample_weights_raise() -> None:
    table, indices = mt.ones(3, 2), mt.tensor([0, 1])
    for call in (
        lambda: F.embedding(indices, table, sparse=True),
        lambda: nn.Embedding(3, 2, sparse=True),
        lambda: nn.EmbeddingBag(3, 2, sparse=True),
    ):
        with pytest.raises(nn.SettingError, match="sparse gradients are not supported"):
            call()
    with pytest.raises(nn.InputError, match="end with the number of indices"):
        F.embedding_bag(indices, table, mt.tensor([0, 1]), include_last_offset=True)
    with pytest.raises(nn.InputError, match=r"the shape of the input, \(1, 2\)"):
        F.embedding_bag(indices.view(1, 2), table, mode="sum", per_sample_weights=mt.ones(2))


IN_PLACE = {
    "column": lambda rows: rows.__setitem__((slice(None), 0), 0.0),
    "product": lambda rows: rows.mul_(1.0),
    "view": lambda rows: rows.view(-1).mul_(1.0),
    "detached": lambda rows: rows.detach().mul_(1.0),
}


@pytest.mark.parametrize("change", IN_PLACE)
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("padding", [None, 0])
def test_in_place_change_of_rows_keeps_padding_and_scaling_of_gradient(
    padding: int | None, scale: bool, change: str
) -> None:
    weight = mt.zeros(4, 2, requires_grad=True)
    rows = F.embedding(mt.tensor([[1, 2, 0], [0, 0, 2]]), weight, padding, scale_grad_by_freq=scale)
    IN_PLACE[change](rows)
    rows.sum().backward()
    counts = np.array([3.0, 1, 2, 0] if change != "column" else [2.0, 0, 2, 0])
    expected = counts / [3, 1, 2, 1] if scale else counts
    expected[0] *= padding is None
    assert weight.grad is not None
    np.testing.assert_allclose(weight.grad.numpy(), np.repeat(expected, 2).reshape(4, 2), 1e-6)
