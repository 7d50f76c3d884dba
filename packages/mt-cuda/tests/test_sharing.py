"""DLPack and `__cuda_array_interface__` share memory without copies, on a mock GPU."""

import gc
import weakref

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda import CudaOps, Simulator
from mt_cuda.memory import sharing
from mt_tensor.errors import ExchangeError

CPU = 1


@pytest.fixture
def shared(make_mock_gpu):
    """Return a backend, and the mock driver of its GPU."""
    machine, gpu = make_mock_gpu("cubin")
    return CudaOps(machine), gpu


@pytest.fixture
def readable(shared, monkeypatch):
    """Return a backend whose memory is declared as host memory, so that NumPy can read it."""
    monkeypatch.setattr(shared[0].shared_memory(), "device", (CPU, 0))
    return shared[0]


def grid(backend, dtype="float32"):
    return mt.tensor(np.arange(12).reshape(3, 4).tolist(), dtype=dtype, backend=backend)


class OnGpu:
    """A NumPy array that is declared to be on a GPU."""

    def __init__(self, array):
        self.array, self.streams = array, []

    def __dlpack_device__(self):
        return sharing.CUDA, 0

    def __dlpack__(self, stream):
        self.streams.append(stream)
        return self.array.__dlpack__()


def test_numpy_reads_exported_tensor_without_copy(readable):
    x = grid(readable).T[1:]
    array = np.from_dlpack(x)
    assert array.tolist() == x.tolist() == [[1, 5, 9], [2, 6, 10], [3, 7, 11]]
    assert array.strides == (4, 16)
    assert array.__array_interface__["data"][0] == x.data_ptr()


def test_imported_tensor_and_its_producer_see_each_others_writes(shared):
    backend, _ = shared
    theirs = np.zeros((2, 3), np.float32)
    producer = OnGpu(theirs)
    ours = mt.from_dlpack(producer, backend)
    assert producer.streams == [7]  # our stream waits for the producer
    ours[1, 2] = 5.0
    assert theirs.tolist() == [[0, 0, 0], [0, 0, 5]]
    theirs[0, 0] = 3
    assert (ours * 2).tolist() == [[6, 0, 0], [0, 0, 10]]
    assert ours.data_ptr() == theirs.ctypes.data


@pytest.mark.parametrize("start", range(5))
def test_import_accepts_unaligned_memory(shared, start):
    backend, _ = shared
    memory = np.arange(64, dtype="f4")
    theirs = memory[start : start + 40]
    ours = mt.from_dlpack(OnGpu(theirs), backend)
    assert int(ours._tensor.storage.address) % sharing.ALIGNED == 0
    assert ours.data_ptr() == theirs.ctypes.data
    assert (ours + 1).tolist() == (theirs + 1).tolist()
    ours.neg_()
    assert memory.tolist() == [-v if start <= v < start + 40 else v for v in range(64)]


def test_exported_memory_lives_until_consumer_is_deleted(shared, readable):
    x = grid(readable)
    buffer = weakref.ref(x._tensor.storage.owner)
    array = np.from_dlpack(x)
    del x
    gc.collect()
    assert buffer() is not None
    assert array.tolist() == grid("numpy").tolist()
    del array
    gc.collect()
    assert buffer() is None


def test_imported_memory_is_released_after_last_view(shared):
    backend, _ = shared
    first = grid(backend)
    buffer = weakref.ref(first._tensor.storage.owner)
    second = mt.from_dlpack(first, backend)
    assert second.data_ptr() == first.data_ptr()
    assert backend.same_memory(second._tensor.storage, first._tensor.storage)
    assert not backend.same_memory(grid(backend)._tensor.storage, first._tensor.storage)
    view = second.view(mt.int32)
    del first, second
    gc.collect()
    assert buffer() is not None
    del view
    gc.collect()
    assert buffer() is None


@pytest.mark.parametrize(
    ("stream", "waiting"), [(None, [1]), (1, [1]), (2, [2]), (4096, [4096]), (-1, [])]
)
def test_dlpack_makes_stream_of_consumer_wait(shared, stream, waiting):
    backend, gpu = shared
    grid(backend).__dlpack__(stream=stream)
    assert gpu.waiting == waiting


def test_cuda_array_interface_describes_layout_and_stream(shared):
    backend, _ = shared
    x = grid(backend, "int16")[1:, ::2]
    assert x.__cuda_array_interface__ == {
        "version": 3,
        "shape": (2, 2),
        "strides": (8, 4),
        "typestr": "<i2",
        "data": (x.data_ptr(), False),
        "stream": 7,
    }
    for other in (grid("numpy"), grid(CudaOps(Simulator()))):
        assert not hasattr(other, "__cuda_array_interface__")


def test_cuda_core_reads_exported_tensor(shared):
    from cuda.core.utils import StridedMemoryView

    backend, _ = shared
    x = grid(backend, "float64").T[1:]
    view = StridedMemoryView.from_dlpack(x, stream_ptr=-1)
    assert (view.ptr, view.shape, view.strides) == (x.data_ptr(), (3, 3), (1, 4))
    assert view.dtype == np.float64
    assert view.is_device_accessible
    assert not view.readonly


def test_simulator_raises_on_export_and_import(shared):
    simulated = CudaOps(Simulator())
    with pytest.raises(ExchangeError, match="backend 'cuda' stores them elsewhere"):
        grid(simulated).__dlpack__()
    with pytest.raises(ExchangeError, match="backend 'cuda' cannot access"):
        mt.from_dlpack(grid(shared[0]), simulated)


# --- On a GPU -----------------------------------------------------------------------------------


@pytest.mark.gpu
def test_import_of_own_export_shares_gpu_memory(cubin_ops):
    x = grid(cubin_ops)
    y = mt.from_dlpack(x, cubin_ops)
    y.T[1] = 0
    assert x.tolist() == [[0, 0, 2, 3], [4, 0, 6, 7], [8, 0, 10, 11]]


@pytest.mark.gpu
def test_cuda_core_reads_exported_tensor_on_gpu(cubin_ops):
    from cuda.core.utils import StridedMemoryView

    x, stream = grid(cubin_ops).T[1:], int(cubin_ops.machine.stream.handle)
    for read in (StridedMemoryView.from_dlpack, StridedMemoryView.from_cuda_array_interface):
        view = read(x, stream_ptr=stream)
        assert (view.ptr, view.shape, view.strides) == (x.data_ptr(), (3, 3), (1, 4))
        assert view.device_id == 0
        assert view.is_device_accessible
