"""The same seed, backend and number of threads give the same bits; what else does, and what not."""

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
ON = [name for name in ("numpy", "fast") if name in backends()]
WITH_THREADS = pytest.mark.skipif("fast" not in ON, reason="mt-fast is not installed")


def drawn(*shape: int) -> mt.Tensor:
    return mt.randn(*shape).requires_grad_()


def recurrent(kind: Callable[..., Any]) -> Any:
    network = kind(8, 12, bidirectional=True)
    x = drawn(5, 9, 8)
    return network(x)[0], [x, *(parameter.value for parameter in network.parameters())]


def ctc() -> Any:
    scores = drawn(20, 4, 6)
    labels, lengths = mt.randint(1, 6, (4, 5)), (mt.tensor([20] * 4), mt.tensor([5] * 4))
    return F.ctc_loss(scores.log_softmax(2), labels, *lengths), [scores]


def of(function: Callable[..., Any], *shapes: tuple[int, ...]) -> Callable[[], Any]:
    """Return a call of a function with random tensors: its result, and these."""

    def call() -> Any:
        given = [drawn(*shape) for shape in shapes]
        return function(*given), given

    return call


OPERATIONS: dict[str, Callable[[], Any]] = {
    "element-wise": of(lambda x, y: (x * y).tanh() + x.exp() / (y * y + 1.0), (70, 33), (33,)),
    "sums": of(lambda x: x.sum(0).sum() + x.sum(1).norm() + x.var() + x.mean(), (70, 33)),
    "products": of(lambda x: (1.0 + 0.01 * x).prod(0), (70, 33)),
    "softmax": of(lambda x: x.softmax(0) + x.log_softmax(1) + x.logsumexp(0), (70, 33)),
    "scans": of(lambda x: x.cumsum(0) + x.cumsum(1), (70, 33)),
    "matrices": of(lambda x, y: x @ y, (33, 300), (300, 35)),
    "batches of matrices": of(lambda x, y: x @ y, (5, 33, 30), (5, 30, 35)),
    "linear": of(F.linear, (70, 33), (35, 33), (35,)),
    "max pooling": of(lambda x: F.max_pool2d(x, 3, 2), (4, 3, 17, 15)),
    "mean pooling": of(lambda x: F.avg_pool2d(x, 2), (4, 3, 17, 15)),
    "batch norm": of(
        lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), (8, 3, 9, 7), (3,), (3,)
    ),
    "layer norm": of(lambda x, w, b: F.layer_norm(x, (33,), w, b), (70, 33), (33,), (33,)),
    "group norm": of(lambda x, w, b: F.group_norm(x, 2, w, b), (8, 4, 9, 7), (4,), (4,)),
    "RMS norm": of(lambda x, w: F.rms_norm(x, (33,), w), (70, 33), (33,)),
    "cross entropy": of(lambda x: F.cross_entropy(x, mt.arange(70) % 33), (70, 33)),
    "mean squares": of(F.mse_loss, (70, 33), (70, 33)),
    "CTC": ctc,
    "embedding": of(lambda w: F.embedding(mt.arange(500) * 7 % 50, w), (50, 16)),
    "adding at indices": of(
        lambda x: mt.zeros(50, 16).index_add(0, mt.arange(500) * 7 % 50, x), (500, 16)
    ),
    "attention": of(F.scaled_dot_product_attention, *[(3, 2, 17, 8)] * 3),
    "resampling": of(lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear"), (4, 3, 9, 7)),
    "padding": of(lambda x: F.pad(x, (2, 3, 1, 1), mode="reflect"), (4, 3, 9, 7)),
    "dropout": of(lambda x: F.dropout(x, 0.3), (70, 33)),
    "LSTM": lambda: recurrent(nn.LSTM),
    "GRU": lambda: recurrent(nn.GRU),
    "RNN": lambda: recurrent(nn.RNN),
}
CONVOLUTIONS: dict[str, Callable[[], Any]] = {
    "convolution": of(F.conv2d, (9, 4, 17, 15), (6, 4, 3, 3), (6,)),
    "of one pixel": of(F.conv2d, (9, 8, 17, 15), (6, 8, 1, 1), (6,)),
    "in groups": of(lambda x, w: F.conv2d(x, w, groups=4), (9, 4, 17, 15), (4, 1, 3, 3)),
    "of lines": of(F.conv1d, (9, 4, 65), (6, 4, 5)),
    "transposed": of(lambda x, w: F.conv_transpose2d(x, w, stride=2), (9, 4, 8, 9), (4, 6, 3, 3)),
}


def bits(operation: Callable[[], Any], backend: str) -> list[str]:
    """Return a digest of a result and of its gradients by each tensor that it was given."""
    with mt.use_backend(backend):
        mt.manual_seed(0)
        result, leaves = operation()
        result.backward(mt.cos(mt.arange(result.numel(), dtype="float32")).view(result.shape))
    tensors = [result.detach(), *(leaf.grad for leaf in leaves)]
    return [hashlib.sha256(np.ascontiguousarray(x)).hexdigest() for x in tensors]


@pytest.mark.parametrize("backend", ON)
@pytest.mark.parametrize("name", [*OPERATIONS, *CONVOLUTIONS])
def test_what_is_repeated_has_the_same_bits(name: str, backend: str) -> None:
    """Whatever was computed before, wherever memory lies, and in whichever thread."""
    operation = {**OPERATIONS, **CONVOLUTIONS}[name]
    found = bits(operation, backend)
    kept = [mt.rand(number + 1) for number in range(7)]
    assert bits(operation, backend) == found
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(bits, operation, backend).result() == found
    assert len(kept) == 7


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Return what sets how many threads share a loop of any size, as far as there are so many."""
    numba = pytest.importorskip("numba")
    convolution = pytest.importorskip("mt_fast.convolution.convolve")
    monkeypatch.setattr(get_backend("fast"), "parallel_from", 1)
    monkeypatch.setattr(convolution, "PARALLEL_FROM", 0)
    before, most = numba.get_num_threads(), numba.config.NUMBA_NUM_THREADS
    yield lambda count: numba.set_num_threads(min(count, most))
    numba.set_num_threads(before)


@pytest.mark.slow
@WITH_THREADS
@pytest.mark.parametrize("name", OPERATIONS)
def test_any_number_of_threads_gives_the_same_bits(
    name: str, threads: Callable[[int], None]
) -> None:
    found = []
    for count in (1, 2, 3):
        threads(count)
        found.append(bits(OPERATIONS[name], "fast"))
    assert found[1:] == found[:1] * 2


@WITH_THREADS
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_only_gradients_of_kernels_depend_on_the_number_of_threads(
    name: str, threads: Callable[[int], None]
) -> None:
    """Each thread adds up those of its images; the same number of threads does so alike."""
    found = []
    for count in (1, 2, 3):
        threads(count)
        found.append(bits(CONVOLUTIONS[name], "fast"))
        assert bits(CONVOLUTIONS[name], "fast") == found[-1]
    assert {tuple(each[:2]) for each in found} == {tuple(found[0][:2])}
