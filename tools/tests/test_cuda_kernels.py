"""CUDA kernels of neural-network operations: what the conformance kit of mt-nn does not check.

The kit compares them with the compositions in float32 and float64. These tests check half
precision, the number of launches, with a machine that only records them, and that NVRTC compiles
the kernels.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt.bench.launches import recorded, recorded_step
from mt_cuda import CudaOps, Simulator
from mt_cuda.attention import tiles
from mt_cuda.cubins import nvrtc
from mt_cuda.images import convolution, weights
from mt_cuda.matrices.tiles import Tile
from mt_cuda.recording import MULTIPROCESSORS, Launch, Record, Recorder
from mt_nn import functional as F
from mt_nn.core.dropout import _dropout
from mt_nn.layers import recurrent_steps as recurrent
from mt_tensor.backends import use_backend
from mt_tensor.errors import IndexingError


def _batch_norm(
    x: mt.Tensor, weight: mt.Tensor | None = None, bias: mt.Tensor | None = None
) -> mt.Tensor:
    return F.batch_norm(x, None, None, weight, bias, training=True)


CLASSES = np.arange(6).reshape(2, 3) % 5
NOISE = np.random.default_rng(1).random((5, 7), np.float32)


def _attention_of_heads(*features: mt.Tensor) -> mt.Tensor:
    """Attend with two heads, which are split off rows of features and joined again by views."""
    q, k, v = (x.unflatten(-1, (2, -1)).permute(1, 2, 0, 3) for x in features)
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return out.permute(2, 0, 1, 3).flatten(-2)


OPERATIONS: dict[str, tuple[Callable[..., mt.Tensor], list[tuple[int, ...]], int, int]] = {
    "cross_entropy": (lambda x: F.cross_entropy(x, mt.tensor(CLASSES[0])), [(3, 5)], 2, 1),
    "losses": (
        lambda x: F.cross_entropy(x, mt.tensor(CLASSES), reduction="none"),
        [(2, 5, 3)],
        1,
        1,
    ),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, 5, w, b), [(3, 4, 5), (5,), (5,)], 1, 2),
    "layer_norm_of_many": (lambda x, w: F.layer_norm(x, 9, w), [(70, 9), (9,)], 1, 2),
    "attention": (
        F.scaled_dot_product_attention,
        [(2, 2, 5, 3), (2, 2, 9, 3), (2, 2, 9, 6)],
        1,
        2,
    ),
    "attention_of_heads": (_attention_of_heads, [(6, 3, 8)] * 3, 1, 5),  # and three leaves' copies
    "conv2d": (
        lambda x, w, b: F.conv2d(x, w, b, (1, 2), 1),
        [(2, 3, 4, 5), (5, 3, 3, 2), (5,)],
        1,
        3,
    ),
    "conv1d_of_groups": (
        lambda x, w: F.conv1d(x, w, None, 2, 3, 2, groups=2),
        [(1, 2, 9), (4, 1, 3)],
        1,
        5,
    ),
    "conv_transpose2d": (
        lambda x, w: F.conv_transpose2d(x, w, None, 2),
        [(1, 2, 2, 3), (2, 3, 2, 2)],
        1,
        3,
    ),
    "linear": (F.linear, [(2, 3, 4), (5, 4), (5,)], 1, 3),
    "linear_without_bias": (F.linear, [(4, 3), (5, 3)], 1, 2),
    "max_pool2d": (lambda x: F.max_pool2d(x, (3, 2), 2, 1), [(2, 3, 5, 6)], 1, 1),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 3, (1, 2), 1), [(2, 3, 5, 6)], 1, 1),
    "max_pool1d": (lambda x: F.max_pool1d(x, 2), [(2, 3, 5)], 1, 2),
    "rms_norm": (lambda x, w: F.rms_norm(x, (2, 3), w), [(4, 2, 3), (2, 3)], 1, 2),
    "batch_norm": (_batch_norm, [(3, 4, 2, 5), (4,), (4,)], 2, 2),
    "batch_norm_of_rows": (_batch_norm, [(9, 7)], 2, 2),
    "group_norm": (lambda x, w, b: F.group_norm(x, 2, w, b), [(3, 6, 5), (6,), (6,)], 1, 3),
    "instance_norm": (F.instance_norm, [(2, 3, 4)], 1, 1),
    "dropout": (lambda x: _dropout(x, mt.tensor(NOISE), 0.4), [(5, 7)], 1, 1),
    "embedding": (lambda w: F.embedding(mt.tensor(CLASSES), w), [(5, 3)], 2, 2),
    "rnn": (
        lambda x, h, w: recurrent.rnn(x, h, w, None, False, True),
        [(3, 2, 4), (2, 4), (4, 4)],
        6,
        10,
    ),
    "gru": (
        lambda x, h, w, b: recurrent.gru(x, h, w, b, mt.tensor([2, 1]), True),
        [(2, 2, 9), (2, 3), (9, 3), (9,)],
        4,
        11,
    ),
    "lstm": (
        lambda x, h, c, w: recurrent.lstm(x, h, c, w, None, mt.tensor([2, 1]), False)[0],
        [(2, 2, 8), (2, 2), (2, 2), (8, 2)],
        4,
        12,
    ),
}
"""Each operation, the shapes of its inputs, and its number of launches forward and backward."""


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize(
    ("dtype", "order", "tolerance"),
    [("float16", "forward", 4e-3), ("float16", "reversed", 4e-3), ("bfloat16", "forward", 4e-2)],
)
def test_half_precision_values_and_gradients_match_float64(
    name: str, dtype: str, order: Any, tolerance: float
) -> None:
    operation, shapes, *_ = OPERATIONS[name]
    results = []
    for backend, wide in ((CudaOps(Simulator(order)), dtype), ("numpy", "float64")):
        with use_backend(backend):
            tensors = _leaves(shapes, wide)
            out = operation(*tensors)
            upstream = np.cos(np.arange(out.numel())).reshape(out.shape)
            out.backward(mt.tensor(upstream, dtype=wide))
            results.append([out, *_gradients(tensors)])
    for ours, wanted in zip(*results, strict=True):
        assert ours.dtype.name == dtype
        found = ours.detach().to("float64").numpy()
        np.testing.assert_allclose(found, wanted.detach().numpy(), tolerance, tolerance)


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_has_the_expected_number_of_launches(name: str) -> None:
    forward, backward = _recorded(name)
    assert [len(forward), len(backward)] == [*OPERATIONS[name][2:]]


@pytest.mark.parametrize(
    ("step", "most"),
    [("LeNet, batch 64, SGD", 35), ("GPT, 4 layers of 128, 16 x 64 tokens, AdamW", 170)],
)
def test_training_step_has_few_launches_that_fill_the_gpu_and_no_transfers(
    step: str, most: int
) -> None:
    record = recorded_step(step)
    assert len(record.launches) <= most
    assert (record.least_blocks() or 0) >= MULTIPROCESSORS
    assert record.uploads == record.downloads == record.synchronisations == 0


@pytest.mark.parametrize("order", ["forward", "reversed"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_total_norm_matches_norm_of_the_concatenation(order: Any, dtype: str) -> None:
    arrays = [np.random.default_rng(k).standard_normal(k % 5 * 60 + 1) for k in range(20)]
    with use_backend(CudaOps(Simulator(order))):
        given = [mt.tensor(array).to(getattr(mt, dtype)) for array in arrays]
        norm = nn.utils.get_total_norm(given)
        assert norm.dtype is given[0].dtype
        tolerance = {"float16": 1e-3, "bfloat16": 1e-2}.get(dtype, 1e-6)
        expected = np.linalg.norm(np.concatenate(arrays))
        np.testing.assert_allclose(norm.item(), expected, tolerance)


def test_total_norm_of_33_tensors_has_4_launches() -> None:
    def clip() -> None:
        nn.utils.get_total_norm(given)

    machine = Recorder()
    with use_backend(CudaOps(machine)):
        given = [mt.ones(k + 1) for k in range(33)]
        machine.record = Record()
        clip()
    assert len(machine.record.launches) == 4


@pytest.mark.parametrize("name", ["batch_norm", "rnn", "gru", "lstm"])
def test_kernels_compile_with_nvrtc(name: str) -> None:
    kernels = {launch.kernel for part in _recorded(name) for launch in part}
    ours = [x for x in kernels if not x.name.startswith("product")]  # compiled by other tests
    assert all(nvrtc.cubin(kernel) for kernel in ours)


def _recorded(name: str) -> tuple[list[Launch], list[Launch]]:
    """Return the launches of an operation, forward and backward."""
    operation, shapes, *_ = OPERATIONS[name]
    machine = Recorder()
    with use_backend(CudaOps(machine)):
        tensors = _leaves(shapes, "float32")
        machine.record = Record()
        out = operation(*tensors)
        forward, machine.record = machine.record.launches, Record()
        out.backward(mt.tensor(np.ones(out.shape, "f4")))
    return forward, machine.record.launches


def dropout() -> Callable[[], Any]:
    x = mt.ones(64, 30, requires_grad=True)
    return lambda: nn.Dropout(0.5)(x).sum().backward()


def embedding() -> Callable[[], Any]:
    table, tokens = nn.Embedding(100, 16), mt.tensor(np.arange(40).reshape(4, 10))
    return lambda: table(tokens).sum().backward()


def cross_entropy() -> Callable[[], Any]:
    scores, classes = mt.ones(64, 10, requires_grad=True), mt.tensor(np.arange(64) % 10)
    return lambda: F.cross_entropy(scores, classes).backward()


def nll_loss() -> Callable[[], Any]:
    scores, classes = mt.ones(64, 10, requires_grad=True), mt.tensor(np.arange(64) % 10)
    return lambda: F.nll_loss(scores, classes).backward()


@pytest.mark.parametrize("make", [dropout, embedding, cross_entropy, nll_loss])
def test_forward_and_backward_need_no_transfer_or_synchronization(
    make: Callable[[], Callable[[], Any]],
) -> None:
    """Random numbers come from the device, and indices are checked there."""
    record = recorded(make)
    assert record.launches
    assert [record.uploads, record.downloads, record.synchronisations] == [0, 0, 0]


@pytest.mark.parametrize("order", ["forward", "reversed"])
def test_class_out_of_range_raises_when_the_loss_is_read(order: Any) -> None:
    with use_backend(CudaOps(Simulator(order))):
        scores = mt.ones(4, 3)
        loss = F.cross_entropy(scores, mt.tensor([0, -100, 2, 1]))
        assert loss.item() == pytest.approx(np.log(3))
        loss = F.cross_entropy(scores, mt.tensor([0, -100, 3, 1]))
        with pytest.raises(IndexingError, match=r"cross_entropy\(\): index 3 .* 1 with 3"):
            loss.item()


@pytest.mark.parametrize(
    ("tile", "tile_of_weights"),
    list(zip(convolution.TILES, itertools.cycle(weights.TILES))),
)
def test_convolution_with_tiles_of_a_gpu_matches_numpy(
    monkeypatch: pytest.MonkeyPatch, tile: convolution.Tile, tile_of_weights: Tile
) -> None:
    monkeypatch.setattr(convolution, "TINY", (tile,))
    monkeypatch.setattr(weights, "TINY", (tile_of_weights,))
    results = []
    for backend, dtype in ((CudaOps(Simulator()), "f4"), ("numpy", "f8")):
        with use_backend(backend):
            tensors = x, w, b = _leaves([(1, 3, 4, 3), (5, 3, 2, 1), (5,)], dtype)
            out = F.conv2d(x, w, b, padding=(1, 0))
            out.backward(out.detach())
            results.append([x.detach().numpy() for x in (out, *_gradients(tensors))])
    for ours, wanted in zip(*results, strict=True):
        np.testing.assert_allclose(ours, wanted, 1e-4, 1e-4)


@pytest.mark.parametrize("width", [16, 128])
def test_attention_with_tiles_of_a_gpu_matches_numpy(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    choose, gpu = tiles.choose, Recorder.size

    def chosen(width: int, compute: mt.DType, size: Any, *, backward: bool) -> tiles.Tile:
        return choose(width, compute, gpu, backward=backward)

    monkeypatch.setattr(tiles, "choose", chosen)
    results = []
    for backend, dtype in ((CudaOps(Simulator()), "f4"), ("numpy", "f8")):
        with use_backend(backend):
            tensors = q, k, v = _leaves([(34, 2), (35, 2), (35, width)], dtype)
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            out.backward(out.detach())
            results.append([x.detach().numpy() for x in (out, *_gradients(tensors))])
    for ours, wanted in zip(*results, strict=True):
        np.testing.assert_allclose(ours, wanted, 1e-4, 1e-4)


def _leaves(shapes: list[tuple[int, ...]], dtype: str) -> list[mt.Tensor]:
    draw = np.random.default_rng(0).standard_normal
    return [mt.tensor(draw(shape), dtype=dtype, requires_grad=True) for shape in shapes]


def _gradients(tensors: list[mt.Tensor]) -> list[mt.Tensor]:
    return [x.grad for x in tensors if x.grad is not None]
