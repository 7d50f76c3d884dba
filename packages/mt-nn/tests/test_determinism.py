"""Determinism: equal bits for one seed and backend, usually for any number of threads."""

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_tensor.backends import backends, get_backend

F = nn.functional
BACKENDS = [name for name in ("numpy", "fast") if name in backends()]
NEEDS_FAST = pytest.mark.skipif("fast" not in BACKENDS, reason="mt-fast is not installed")


def random_leaf(*shape: int) -> mt.Tensor:
    return mt.randn(*shape).requires_grad_()


def recurrent(layer_type: Callable[..., Any]) -> Any:
    network = layer_type(8, 12, bidirectional=True)
    x = random_leaf(5, 9, 8)
    return network(x)[0], [x, *(parameter.value for parameter in network.parameters())]


def ctc() -> Any:
    scores = random_leaf(20, 4, 6)
    labels, lengths = mt.randint(1, 6, (4, 5)), (mt.tensor([20] * 4), mt.tensor([5] * 4))
    return F.ctc_loss(scores.log_softmax(2), labels, *lengths), [scores]


def random_call(function: Callable[..., Any], *shapes: tuple[int, ...]) -> Callable[[], Any]:
    """Return a function that applies `function` to random leaves, and returns result and leaves."""

    def call() -> Any:
        leaves = [random_leaf(*shape) for shape in shapes]
        return function(*leaves), leaves

    return call


OPERATIONS: dict[str, Callable[[], Any]] = {
    "elementwise": random_call(
        lambda x, y: (x * y).tanh() + x.exp() / (y * y + 1.0), (70, 33), (33,)
    ),
    "sums": random_call(lambda x: x.sum(0).sum() + x.sum(1).norm() + x.var() + x.mean(), (70, 33)),
    "prod": random_call(lambda x: (1.0 + 0.01 * x).prod(0), (70, 33)),
    "softmax": random_call(lambda x: x.softmax(0) + x.log_softmax(1) + x.logsumexp(0), (70, 33)),
    "cumsum": random_call(lambda x: x.cumsum(0) + x.cumsum(1), (70, 33)),
    "matmul": random_call(lambda x, y: x @ y, (33, 300), (300, 35)),
    "batched matmul": random_call(lambda x, y: x @ y, (5, 33, 30), (5, 30, 35)),
    "linear": random_call(F.linear, (70, 33), (35, 33), (35,)),
    "max_pool2d": random_call(lambda x: F.max_pool2d(x, 3, 2), (4, 3, 17, 15)),
    "avg_pool2d": random_call(lambda x: F.avg_pool2d(x, 2), (4, 3, 17, 15)),
    "batch norm": random_call(
        lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), (8, 3, 9, 7), (3,), (3,)
    ),
    "layer norm": random_call(lambda x, w, b: F.layer_norm(x, (33,), w, b), (70, 33), (33,), (33,)),
    "group norm": random_call(lambda x, w, b: F.group_norm(x, 2, w, b), (8, 4, 9, 7), (4,), (4,)),
    "RMS norm": random_call(lambda x, w: F.rms_norm(x, (33,), w), (70, 33), (33,)),
    "cross entropy": random_call(lambda x: F.cross_entropy(x, mt.arange(70) % 33), (70, 33)),
    "mse_loss": random_call(F.mse_loss, (70, 33), (70, 33)),
    "CTC": ctc,
    "embedding": random_call(lambda w: F.embedding(mt.arange(500) * 7 % 50, w), (50, 16)),
    "index_add": random_call(
        lambda x: mt.zeros(50, 16).index_add(0, mt.arange(500) * 7 % 50, x), (500, 16)
    ),
    "attention": random_call(F.scaled_dot_product_attention, *[(3, 2, 17, 8)] * 3),
    "interpolate": random_call(
        lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear"), (4, 3, 9, 7)
    ),
    "pad": random_call(lambda x: F.pad(x, (2, 3, 1, 1), mode="reflect"), (4, 3, 9, 7)),
    "dropout": random_call(lambda x: F.dropout(x, 0.3), (70, 33)),
    "LSTM": lambda: recurrent(nn.LSTM),
    "GRU": lambda: recurrent(nn.GRU),
    "RNN": lambda: recurrent(nn.RNN),
}
CONVOLUTIONS: dict[str, Callable[[], Any]] = {
    "conv2d": random_call(F.conv2d, (9, 4, 17, 15), (6, 4, 3, 3), (6,)),
    "1x1 conv2d": random_call(F.conv2d, (9, 8, 17, 15), (6, 8, 1, 1), (6,)),
    "grouped conv2d": random_call(
        lambda x, w: F.conv2d(x, w, groups=4), (9, 4, 17, 15), (4, 1, 3, 3)
    ),
    "conv1d": random_call(F.conv1d, (9, 4, 65), (6, 4, 5)),
    "conv_transpose2d": random_call(
        lambda x, w: F.conv_transpose2d(x, w, stride=2), (9, 4, 8, 9), (4, 6, 3, 3)
    ),
}


def digests(operation: Callable[[], Any], backend: str) -> list[str]:
    """Return digests of the result and of the gradient of each leaf."""
    with mt.use_backend(backend):
        mt.manual_seed(0)
        result, leaves = operation()
        result.backward(mt.cos(mt.arange(result.numel(), dtype="float32")).view(result.shape))
    tensors = [result.detach(), *(leaf.grad for leaf in leaves)]
    return [hashlib.sha256(np.ascontiguousarray(x)).hexdigest() for x in tensors]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", [*OPERATIONS, *CONVOLUTIONS])
def test_repeated_run_gives_the_same_bits(name: str, backend: str) -> None:
    """The run is repeated after other allocations, and in another thread."""
    operation = {**OPERATIONS, **CONVOLUTIONS}[name]
    found = digests(operation, backend)
    allocated = [mt.rand(number + 1) for number in range(7)]
    assert digests(operation, backend) == found
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(digests, operation, backend).result() == found
    assert len(allocated) == 7


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Return a function that sets the number of threads, even of small loops."""
    numba = pytest.importorskip("numba")
    convolution = pytest.importorskip("mt_fast.convolution.convolve")
    monkeypatch.setattr(get_backend("fast"), "parallel_from", 1)
    monkeypatch.setattr(convolution, "PARALLEL_FROM", 0)
    count_before, limit = numba.get_num_threads(), numba.config.NUMBA_NUM_THREADS
    yield lambda count: numba.set_num_threads(min(count, limit))
    numba.set_num_threads(count_before)


@pytest.mark.slow
@NEEDS_FAST
@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_gives_the_same_bits_for_any_number_of_threads(
    name: str, threads: Callable[[int], None]
) -> None:
    found = []
    for count in (1, 2, 3):
        threads(count)
        found.append(digests(OPERATIONS[name], "fast"))
    assert found[1:] == found[:1] * 2


@NEEDS_FAST
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_only_weight_gradients_of_convolution_depend_on_number_of_threads(
    name: str, threads: Callable[[int], None]
) -> None:
    """Each thread sums the weight gradients of its own images."""
    found = []
    for count in (1, 2, 3):
        threads(count)
        found.append(digests(CONVOLUTIONS[name], "fast"))
        assert digests(CONVOLUTIONS[name], "fast") == found[-1]
    assert {tuple(each[:2]) for each in found} == {tuple(found[0][:2])}
