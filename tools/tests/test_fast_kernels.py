"""Kernels of mt-fast for neural-network operations: what the kit of mt-nn does not check.

The kit compares them with the compositions. Here the units of a kernel run in any order and on all
threads, arguments end where readable memory ends, and unsupported arguments are left to the
composition.
"""

import ctypes
import mmap
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_fast.convolution import operation as convolution
from mt_fast.core.kernel import Kernel
from mt_fast.fused import kernels as fused
from mt_fast.indexing import embedding
from mt_fast.recurrent import layers as recurrent
from mt_nn.conformance.kernels import SAMPLES as OF_NETWORKS
from mt_operators.testing.ids import sample_id
from mt_tensor.extending import FUSED, FusedKernel, by_kernel

KERNELS = {
    name: kernel
    for module in (convolution, embedding, fused, recurrent)
    for name, kernel in module.KERNELS.items()
    if isinstance(kernel, FusedKernel)
}


def draw(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape).astype("float32")


OF_ROWS = [(9 * draw(7, 6), 1), (draw(2, 5, 3), 0), (draw(3, 4, 3), 1)]
SAMPLES = {
    name: list(OF_NETWORKS[name]()) if name in OF_NETWORKS else OF_ROWS for name in sorted(KERNELS)
}
CALLS = [
    pytest.param(name, arguments, id=sample_id(name, arguments))
    for name, samples in SAMPLES.items()
    for arguments in samples
]


@pytest.fixture(autouse=True)
def fast() -> Iterator[Any]:
    with mt.use_backend("fast"):
        yield mt.get_backend("fast")


@pytest.mark.parametrize("name", SAMPLES)
def test_kernels_reject_half_precision_and_empty_arguments(name: str) -> None:
    arguments = [mt.tensor(x) if isinstance(x, np.ndarray) else x for x in SAMPLES[name][0]]
    changes: list[Callable[[Any], Any]] = [lambda x: x.half(), lambda x: x[:0]]
    for change in changes:
        assert not KERNELS[name].fits(change(arguments[0]), *arguments[1:])
    if name in ("linear", "conv2d", "conv_transpose2d", "attention"):
        for place in (1, 2) if name in ("linear", "attention") else (1,):
            given = [*arguments]
            given[place] = given[place].half()
            assert not KERNELS[name].fits(*given)


def results(name: str, arguments: Any, made: Callable[[Any], mt.Tensor] = mt.tensor) -> list[Any]:
    """Return the value of an operation and its gradients, and the lists that it changed."""
    values = [
        made(x).requires_grad_(x.dtype.kind == "f")
        if isinstance(x, np.ndarray)
        else [*x]
        if isinstance(x, list)
        else x
        for x in arguments
    ]
    value = by_kernel(name, KERNELS[name], *values)
    upstream = np.cos(np.arange(value.numel())).reshape(value.shape)
    value.backward(mt.tensor(upstream, dtype=value.dtype))
    lists = [x for each in values if isinstance(each, list) for x in each]
    gradients = [x.grad for x in values if isinstance(x, mt.Tensor) and x.requires_grad]
    return [None if x is None else x.detach().numpy() for x in (value, *lists, *gradients)]


def one_by_one(kernel: Kernel, units: int, parallel: bool, *arguments: Any) -> None:
    """Run units one by one in reverse order; threads may run units in any order."""
    for unit in reversed(range(units)):
        kernel.serial(unit, unit + 1, *arguments)


BY_MULTIPLICATIONS = {"linear", "conv2d", "conv_transpose2d", "rnn", "gru", "lstm"}
"""Kernels that use threads depending on the multiplications, not the elements. Parts of a sum
may depend on the number of threads."""


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_results_do_not_depend_on_threads_or_order_of_units(
    name: str, arguments: Any, monkeypatch: pytest.MonkeyPatch, fast: Any
) -> None:
    run = Kernel.run
    shared: set[bool] = set()
    found: list[Any] = []

    def noted(kernel: Kernel, units: int, parallel: bool, *given: Any) -> None:
        shared.add(parallel)
        run(kernel, units, parallel, *given)

    for parallel_from, how in ((10**9, noted), (1, noted), (1, one_by_one)):
        monkeypatch.setattr(fast, "parallel_from", parallel_from)
        monkeypatch.setattr(Kernel, "run", how)
        shared.clear()
        found.append(results(name, arguments))
        if how is noted and name not in BY_MULTIPLICATIONS:
            assert shared <= {parallel_from == 1}
    for others in found[1:]:
        for first, other in zip(found[0], others, strict=True):
            if name in BY_MULTIPLICATIONS and first is not None:
                np.testing.assert_allclose(other, first, 1e-4, 1e-4)
            else:
                np.testing.assert_array_equal(other, first)


def guarded(array: Any) -> mt.Tensor:
    """Return a tensor whose last element is followed by unreadable memory."""
    room = -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, room + mmap.PAGESIZE)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    forbidden = ctypes.CDLL(None).mprotect(ctypes.c_void_p(begin + room), mmap.PAGESIZE, 0)
    assert forbidden == 0
    inside = np.frombuffer(memory, array.dtype, array.size, room - array.nbytes)
    inside[...] = array.reshape(-1)
    return mt.from_numpy(inside.reshape(array.shape))


@pytest.mark.skipif(sys.platform == "win32", reason="needs mprotect")
@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_kernels_read_nothing_past_the_end_of_arguments(name: str, arguments: Any) -> None:
    """The memory after the arguments is protected: reading it would crash the process."""
    for ours, wanted in zip(
        results(name, arguments, guarded), results(name, arguments), strict=True
    ):
        np.testing.assert_array_equal(ours, wanted)


@pytest.mark.parametrize("number", [-1, 5, 6, -(2**62), 2**62])
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("name", ["embedding", "cross_entropy", "ctc"])
def test_kernels_leave_out_of_range_indices_to_the_composition_which_raises(
    name: str, place: int, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels check indices before they read anything; only the composition reports errors."""

    def raise_error(*arguments: Any) -> Any:
        raise mt.errors.IndexingError("index out of range.")

    monkeypatch.setitem(FUSED, name, raise_error)
    numbers = np.array([4, 0, 4])
    numbers[place] = number
    options: tuple[Any, ...] = {
        "embedding": (),
        "cross_entropy": (-100, "sum"),
        "ctc": (None, None, 0),
    }[name]
    scores = mt.tensor(draw(3, 3, 5) if name == "ctc" else draw(5 if name == "embedding" else 3, 5))
    labels = mt.tensor(numbers[None] if name == "ctc" else numbers)
    with pytest.raises(mt.errors.IndexingError, match="index out of range"):
        by_kernel(name, KERNELS[name], scores, labels, *options)


def test_infinite_weights_give_the_gradients_of_the_composition() -> None:
    x, weight, _, *settings = next(OF_NETWORKS["conv2d"]())
    weight.flat[0] = np.inf
    gradients = []
    for convolve in (FUSED["conv2d"], partial(KERNELS["conv2d"].recorded, "conv2d")):
        images = mt.tensor(x).requires_grad_()
        out = convolve(images, mt.tensor(weight), None, *settings)
        out.backward(mt.ones_like(out))
        assert images.grad is not None
        gradients.append(images.grad.numpy())
    composed, compiled = gradients
    np.testing.assert_allclose(compiled, composed, 1e-4, 1e-4)
