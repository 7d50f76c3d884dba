"""Every fused kernel against its operation composed of others, and unit by unit as well."""

import ctypes
import mmap
import sys

import numpy as np
import pytest

import mt_tensor as mt
from mt_fast.convolution import operation as convolution
from mt_fast.core.kernel import Kernel
from mt_fast.folds import fused as folds
from mt_fast.fused import kernels as fused
from mt_fast.indexing import embedding
from mt_fast.recurrent import kernels as recurrent
from mt_fast.testing import COMPOSED, HALF, SAMPLES, assert_agrees_with_composition, draw, results
from mt_operators.testing.ids import sample_id
from mt_tensor.conformance.kernels import assert_kernel_agrees
from mt_tensor.extending import FUSED, by_kernel

KERNELS = {
    name: kernel
    for module in (convolution, embedding, folds, fused, recurrent)
    for name, kernel in module.KERNELS.items()
}
CALLS = [
    pytest.param(name, arguments, id=sample_id(name, arguments))
    for name, samples in SAMPLES.items()
    for arguments in samples
]


def test_every_kernel_has_samples():
    assert {*SAMPLES} == KERNELS.keys() - {
        "argmax",
        "argmin",
        "fold",
        "max_places",
    }  # without a gradient


@pytest.mark.parametrize("name", SAMPLES)
def test_other_types_and_nothing_are_left_to_the_composition(name):
    arguments = [mt.tensor(x) if isinstance(x, np.ndarray) else x for x in SAMPLES[name][0]]
    for change in (lambda x: x.half(), lambda x: x[:0]):
        assert not KERNELS[name].fits(change(arguments[0]), *arguments[1:])
    if name in ("linear", "conv2d", "conv_transpose2d", "attention"):
        for place in (1, 2) if name in ("linear", "attention") else (1,):
            given = [*arguments]
            given[place] = given[place].half()
            assert not KERNELS[name].fits(*given)


def one_by_one(kernel, units, parallel, *arguments):
    """Do units one by one, the last first, as threads may that share them."""
    for unit in reversed(range(units)):
        kernel.serial(unit, unit + 1, *arguments)


@pytest.mark.parametrize("how", ["at once", "one by one", "shared by threads"])
@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_kernels_agree_with_compositions(name, arguments, how, monkeypatch):
    fast = mt.get_backend("fast")
    if how != "at once":
        monkeypatch.setattr(fast, "parallel_from", 1)
    if how == "one by one":
        monkeypatch.setattr(Kernel, "run", one_by_one)
    assert_agrees_with_composition(name, KERNELS[name], arguments, "fast", "numpy")


def guarded(array, backend):
    """Return a tensor behind whose last element lies memory that nobody may read."""
    room = -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, room + mmap.PAGESIZE)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    forbidden = ctypes.CDLL(None).mprotect(ctypes.c_void_p(begin + room), mmap.PAGESIZE, 0)
    assert forbidden == 0
    inside = np.frombuffer(memory, array.dtype, array.size, room - array.nbytes)
    inside[...] = array.reshape(-1)
    return mt.from_numpy(inside.reshape(array.shape))


@pytest.mark.skipif(sys.platform == "win32", reason="pages are protected otherwise there")
@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_kernels_read_nothing_behind_their_arguments(name, arguments, monkeypatch):
    """One that does ends the process."""
    monkeypatch.setitem(FUSED, name, COMPOSED.get(name) or FUSED[name])
    with mt.use_backend("fast"):
        assert_kernel_agrees(mt.get_backend("fast"), name, *arguments, layout=guarded)


MEASURED_OTHERWISE = {"linear", "conv2d", "conv_transpose2d", "rnn", "gru", "lstm"}
"""Whose kernels share what has many multiplications, and not what has many elements."""


@pytest.mark.parametrize("name", sorted({*SAMPLES} - MEASURED_OTHERWISE))
def test_threads_share_what_is_large_and_change_no_bit(name, monkeypatch):
    fast, run, shared = mt.get_backend("fast"), Kernel.run, set()

    def noted(kernel, units, parallel, *given):
        shared.add(parallel)
        run(kernel, units, parallel, *given)

    def by_ours(*given):
        return by_kernel(name, KERNELS[name], *given)

    monkeypatch.setattr(Kernel, "run", noted)
    for arguments in SAMPLES[name]:
        found = []
        for parallel in (False, True):
            monkeypatch.setattr(fast, "parallel_from", 1 if parallel else 10**9)
            shared.clear()
            found.append(results(by_ours, arguments, "fast", HALF))
            assert shared == {parallel}
        for alone, together in zip(*found, strict=True):
            assert (alone is together is None) or np.array_equal(alone, together)


@pytest.mark.parametrize("number", [-1, 5, 6, -(2**62), 2**62])
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("name", ["embedding", "cross_entropy", "ctc"])
def test_numbers_of_rows_and_classes_that_there_are_not(name, place, number, monkeypatch):
    """They are looked at before anything is read: only the composition says what is wrong."""

    def refused(*arguments):
        raise mt.errors.IndexingError("there is none.")

    monkeypatch.setitem(FUSED, name, refused)
    numbers = np.array([4, 0, 4])
    numbers[place] = number
    beside = {"embedding": (), "cross_entropy": (-100, "sum"), "ctc": (None, None, 0)}[name]
    scores = mt.tensor(draw(3, 3, 5) if name == "ctc" else draw(5 if name == "embedding" else 3, 5))
    labels = mt.tensor(numbers[None] if name == "ctc" else numbers)
    with pytest.raises(mt.errors.IndexingError, match="there is none"):
        by_kernel(name, KERNELS[name], scores, labels, *beside)
