"""What a backend shares by DLPack that is in no NumPy array, as far as others are told."""

import ctypes
import gc
import weakref
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor import TensorData
from mt_tensor.backends.extending import CUDA, NumpyOps, SharedMemory
from mt_tensor.errors import DTypeError, ExchangeError
from mt_tensor.exchange import capsules
from mt_tensor.extending import DTYPES

STREAM = 7


class Memory(SharedMemory):
    """The memory of this machine, as other libraries would reach that of a GPU."""

    device = (CUDA, 0)
    stream = STREAM

    def __init__(self) -> None:
        self.waiting: list[int] = []

    def address(self, storage: Any) -> int:
        return int(storage.ctypes.data)

    def adopted(self, address: int, count: int, dtype: mt.DType, owner: object) -> TensorData:
        memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
        memory.owner = owner  # type: ignore[attr-defined]
        return TensorData(np.frombuffer(memory, dtype.numpy), (count,), dtype=dtype)

    def let_wait(self, stream: int) -> None:
        self.waiting.append(stream)


class Device(NumpyOps):
    """A backend that computes there."""

    name = "device"
    device = "device"

    def __init__(self) -> None:
        super().__init__()
        self.memory = Memory()

    def shared_memory(self) -> Memory:
        return self.memory


@pytest.fixture
def device() -> Device:
    return Device()


def grid(backend: Device, dtype: str = "float32") -> mt.Tensor:
    return mt.arange(12, backend=backend).view(3, 4).to(DTYPES[dtype])


LAYOUTS = {
    "x": lambda x: x,
    "x.T": lambda x: x.T,
    "x[1:, ::2]": lambda x: x[1:, ::2],
    "x[1, 2]": lambda x: x[1, 2],
    "x[:0]": lambda x: x[:0],
    "x[:1].expand(2, 3, 4)": lambda x: x[:1].expand(2, 3, 4),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_exported_is_imported(device: Device, layout: Any, dtype: str) -> None:
    x = layout(grid(device, dtype))
    assert x.__dlpack_device__() == (CUDA, 0)
    back = mt.from_dlpack(x, device)
    assert device.memory.waiting == [STREAM]
    assert (back.dtype, back.shape, back.backend) == (x.dtype, x.shape, device)
    assert back.tolist() == x.tolist()
    if x.numel():
        assert back.stride() == x.stride()
        assert back.data_ptr() == x.data_ptr()


def test_numpy_reads_what_is_exported(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device.memory, "device", (1, 0))
    x = grid(device, "int16").T[1:]
    there = np.from_dlpack(x)
    assert (there.dtype, there.strides) == (np.int16, (2, 8))
    assert there.tolist() == x.tolist()
    assert there.__array_interface__["data"][0] == x.data_ptr()


class Given:
    """What gives one answer when it is asked for a capsule."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, 0

    def __dlpack__(self, **_: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_what_numpy_exports_is_shared(device: Device) -> None:
    theirs = np.zeros((2, 3))
    ours = mt.from_dlpack(Given(theirs.T.__dlpack__()), device)
    ours[2, 0] = 5.0
    assert theirs.tolist() == [[0, 0, 5], [0, 0, 0]]


def test_memory_lives_as_long_as_somebody_uses_it(device: Device) -> None:
    x = grid(device)
    memory = weakref.ref(x._tensor.storage)
    unread, second = x.__dlpack__(), mt.from_dlpack(x, device)
    view = second[1]
    del x, second
    gc.collect()
    assert memory() is not None
    assert view.tolist() == [4, 5, 6, 7]
    del view, unread
    gc.collect()
    assert memory() is None


def test_a_reader_that_fails_says_why_and_keeps_nothing(device: Device) -> None:
    x = grid(device)
    memory = weakref.ref(x._tensor.storage)
    with pytest.raises(TypeError, match="not 'PyCapsule'"):
        int(x.__dlpack__())  # which throws the capsule away while its error is on its way
    del x
    gc.collect()
    assert memory() is None


@pytest.mark.parametrize(("stream", "waiting"), [(None, [1]), (2, [2]), (4096, [4096]), (-1, [])])
def test_streams_of_others_wait(device: Device, stream: Any, waiting: list[int]) -> None:
    grid(device).__dlpack__(stream=stream)
    assert device.memory.waiting == waiting


def test_the_cuda_array_interface(device: Device) -> None:
    x = grid(device)[1:, ::2]
    assert x.__cuda_array_interface__ == {
        "version": 3,
        "shape": (2, 2),
        "strides": (16, 8),
        "typestr": "<f4",
        "data": (x.data_ptr(), False),
        "stream": STREAM,
    }
    with pytest.raises(ExchangeError, match=r"x.detach\(\)"):
        _ = grid(device).requires_grad_().__cuda_array_interface__
    assert not hasattr(mt.ones(2), "__cuda_array_interface__")


def test_what_cannot_be_shared_is_refused(device: Device) -> None:
    x = grid(device)
    used = x.__dlpack__()
    capsules.imported(used)
    for export, message in (
        (x.clone().requires_grad_().__dlpack__, r"x.detach\(\)"),
        (x[::-1].__dlpack__, "negative strides"),
        (lambda: x.__dlpack__(dl_device=(1, 0)), r"to DLPack device \(1, 0\): .* on \(2, 0\)"),
        (lambda: x.__dlpack__(stream=0), "1 for the default stream.* 0 was given"),
        (lambda: x.__dlpack__(stream="main"), "'main' was given"),
        (lambda: mt.from_dlpack(x, "numpy"), r"\(2, 0\), which backend 'numpy' cannot access"),
        (lambda: mt.from_dlpack(Given(BufferError("it is mine")), device), "it is mine"),
        (lambda: mt.from_dlpack(Given("nothing"), device), "'nothing' instead of"),
        (lambda: mt.from_dlpack(Given(used), device), "unconsumed and unversioned"),
        (
            lambda: mt.from_dlpack(Given(np.arange(5)[::-1].__dlpack__()), device),
            "negative strides and unaligned elements",
        ),
    ):
        with pytest.raises(ExchangeError, match=message):
            export()
    with pytest.raises(DTypeError, match=r"type 5, bits: 128 of the array is not supported"):
        mt.from_dlpack(Given(np.zeros(2, complex).__dlpack__()), device)
    copied = capsules.imported(x.__dlpack__(copy=True))
    assert copied.address != x.data_ptr()
