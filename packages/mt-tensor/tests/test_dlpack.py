"""DLPack and the CUDA array interface, for a backend whose memory counts as that of a GPU."""

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
    """Memory of this machine that is reported as memory of a GPU."""

    device = (CUDA, 0)
    stream = STREAM

    def __init__(self) -> None:
        self.waiting_streams: list[int] = []

    def address(self, storage: Any) -> int:
        return int(storage.ctypes.data)

    def from_address(self, address: int, count: int, dtype: mt.DType, owner: object) -> TensorData:
        memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
        memory.owner = owner  # type: ignore[attr-defined]
        return TensorData(np.frombuffer(memory, dtype.numpy), (count,), dtype=dtype)

    def make_stream_wait(self, stream: int) -> None:
        self.waiting_streams.append(stream)


class Device(NumpyOps):
    """A backend whose tensors are in `Memory`."""

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
def test_dlpack_round_trip_shares_memory(device: Device, layout: Any, dtype: str) -> None:
    x = layout(grid(device, dtype))
    assert x.__dlpack_device__() == (CUDA, 0)
    imported = mt.from_dlpack(x, device)
    assert device.memory.waiting_streams == [STREAM]
    assert (imported.dtype, imported.shape, imported.backend) == (x.dtype, x.shape, device)
    assert imported.tolist() == x.tolist()
    if x.numel():
        assert imported.stride() == x.stride()
        assert imported.data_ptr() == x.data_ptr()


def test_numpy_imports_exported_tensor(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device.memory, "device", (1, 0))
    x = grid(device, "int16").T[1:]
    array = np.from_dlpack(x)
    assert (array.dtype, array.strides) == (np.int16, (2, 8))
    assert array.tolist() == x.tolist()
    assert array.__array_interface__["data"][0] == x.data_ptr()


class Exporter:
    """An array whose `__dlpack__` returns, or raises, a given object."""

    def __init__(self, result: Any) -> None:
        self.result = result

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, 0

    def __dlpack__(self, **_: Any) -> Any:
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def test_imported_numpy_array_shares_memory(device: Device) -> None:
    theirs = np.zeros((2, 3))
    ours = mt.from_dlpack(Exporter(theirs.T.__dlpack__()), device)
    ours[2, 0] = 5.0
    assert theirs.tolist() == [[0, 0, 5], [0, 0, 0]]


def test_memory_is_freed_after_last_view_and_capsule(device: Device) -> None:
    x = grid(device)
    memory = weakref.ref(x._tensor.storage)
    unused, second = x.__dlpack__(), mt.from_dlpack(x, device)
    view = second[1]
    del x, second
    gc.collect()
    assert memory() is not None
    assert view.tolist() == [4, 5, 6, 7]
    del view, unused
    gc.collect()
    assert memory() is None


def test_capsule_deleted_during_exception_frees_memory(device: Device) -> None:
    x = grid(device)
    memory = weakref.ref(x._tensor.storage)
    with pytest.raises(TypeError, match="not 'PyCapsule'"):
        int(x.__dlpack__())  # deletes the capsule while the exception propagates
    del x
    gc.collect()
    assert memory() is None


@pytest.mark.parametrize(
    ("stream", "waiting_streams"), [(None, [1]), (2, [2]), (4096, [4096]), (-1, [])]
)
def test_dlpack_makes_stream_of_consumer_wait(
    device: Device, stream: Any, waiting_streams: list[int]
) -> None:
    grid(device).__dlpack__(stream=stream)
    assert device.memory.waiting_streams == waiting_streams


def test_cuda_array_interface_describes_layout_and_stream(device: Device) -> None:
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


def test_invalid_exports_and_imports_raise(device: Device) -> None:
    x = grid(device)
    consumed = x.__dlpack__()
    capsules.imported(consumed)
    for call, message in (
        (x.clone().requires_grad_().__dlpack__, r"x.detach\(\)"),
        (x[::-1].__dlpack__, "negative strides"),
        (lambda: x.__dlpack__(dl_device=(1, 0)), r"to DLPack device \(1, 0\): .* on \(2, 0\)"),
        (lambda: x.__dlpack__(stream=0), "1 for the default stream.* 0 was given"),
        (lambda: x.__dlpack__(stream="main"), "'main' was given"),
        (lambda: mt.from_dlpack(x, "numpy"), r"\(2, 0\), which backend 'numpy' cannot access"),
        (lambda: mt.from_dlpack(Exporter(BufferError("memory is locked")), device), "is locked"),
        (lambda: mt.from_dlpack(Exporter("nothing"), device), "'nothing' instead of"),
        (lambda: mt.from_dlpack(Exporter(consumed), device), "unconsumed and unversioned"),
        (
            lambda: mt.from_dlpack(Exporter(np.arange(5)[::-1].__dlpack__()), device),
            "negative strides and unaligned elements",
        ),
    ):
        with pytest.raises(ExchangeError, match=message):
            call()
    with pytest.raises(DTypeError, match=r"type 5, bits: 128 of the array is not supported"):
        mt.from_dlpack(Exporter(np.zeros(2, complex).__dlpack__()), device)
    copied = capsules.imported(x.__dlpack__(copy=True))
    assert copied.address != x.data_ptr()
