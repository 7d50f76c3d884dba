"""GPU errors: where they are raised, their messages, and the state afterwards."""

import gc

import numpy as np
import pytest

from mt_cuda.core.elements import operand
from mt_cuda.core.errors import DeviceLostError, KernelError, OutOfMemoryError
from mt_cuda.core.kernel import define, numbers
from mt_cuda.faults.lasting import LASTING, REFUSED
from mt_cuda.memory.exhausted import sized
from mt_tensor import float32
from mt_tensor.errors import BackendError, BackendUnavailableError


def fill_kernel(name):
    return define(name, [*numbers("n"), *operand("y", float32)], ["y[y_at] = float32(n)"])


@pytest.fixture(params=["ptx", "cubin"])
def mock_gpu(request, make_mock_gpu):
    """Return a machine, and the mock driver of its GPU."""
    return make_mock_gpu(request.param)


def launch_kernels(machine, *names):
    memory = machine.allocate(1, float32)
    for name in names:
        machine.launch(machine.load(fill_kernel(name)), (1, 1), 1, (3,), (memory, 0))
    return memory


def test_cached_memory_is_freed_before_out_of_memory_is_raised(mock_gpu):
    machine, gpu = mock_gpu
    blocks = [machine.allocate(count, float32) for count in range(10_000, 60_000, 10_000)]
    del blocks
    assert gpu.allocated + gpu.pooled > gpu.total // 2
    assert machine.allocate(180_000, float32).count == 180_000
    with pytest.raises(OutOfMemoryError):
        machine.allocate(300_000, float32)


def test_allocation_collects_reference_cycles_before_raising(mock_gpu):
    machine, gpu = mock_gpu
    most = gpu.total // float32.itemsize - 64
    gc.disable()
    try:
        ring = [machine.allocate(most, float32)]
        ring.append(ring)
        del ring
        assert machine.allocate(most, float32).count == most
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "message", ["CUDA_ERROR_OUT_OF_MEMORY: in words.", "Failed to allocate memory from pool"]
)
def test_out_of_memory_error_names_request_and_machine_stays_usable(mock_gpu, message):
    machine, gpu = mock_gpu
    gpu.out_of_memory = message
    values = np.arange(5, dtype="f4")
    kept = machine.upload(values)
    with pytest.raises(OutOfMemoryError) as raised:
        machine.allocate(1 << 20, float32)
    text = str(raised.value)
    assert text.startswith("Mock GPU has no memory for 1,048,576 elements of float32, 4.0 MiB: ")
    assert "1.0 MiB are free" in text
    assert "smaller batches" in text
    assert isinstance(raised.value, MemoryError)
    assert np.array_equal(machine.download(kept, 5), values)
    assert machine.download(launch_kernels(machine, "three"), 1)[0] == 3


@pytest.mark.parametrize("code", LASTING)
def test_every_call_after_lost_device_repeats_first_error(mock_gpu, code):
    machine, gpu = mock_gpu
    memory = launch_kernels(machine, "healthy")
    machine.synchronize()
    launch_kernels(machine, "one", "two", "two")
    gpu.fault = code
    with pytest.raises(DeviceLostError) as raised:
        machine.synchronize()
    first = str(raised.value)
    assert f"since a kernel failed ({code}: as the driver explains it.), in one of" in first
    assert "kernels one, two (CUDA_LAUNCH_BLOCKING=1" in first
    assert "healthy" not in first
    assert first.endswith("start the program again.")
    for later in (
        lambda: machine.allocate(1, float32),
        lambda: machine.upload(np.zeros(1)),
        lambda: machine.download(memory, 1),
        lambda: machine.load(fill_kernel("new")),
        lambda: machine.launch(machine.load(fill_kernel("new")), (1, 1), 1, (1,), (memory, 0)),
        machine.synchronize,
    ):
        with pytest.raises(DeviceLostError) as again:
            later()
        assert str(again.value) == first


def test_lost_device_error_of_copy_names_the_only_pending_kernel(mock_gpu):
    machine, gpu = mock_gpu
    memory = launch_kernels(machine, "culprit")
    gpu.fault = "CUDA_ERROR_ILLEGAL_ADDRESS"
    with pytest.raises(DeviceLostError, match=r"failed \(CUDA_ERROR_ILL.*\), in kernel culprit\. "):
        machine.download(memory, 1)


def test_failed_launch_names_its_kernel_and_has_no_effect(mock_gpu):
    machine, gpu = mock_gpu
    memory, kernel = machine.allocate(1, float32), machine.load(fill_kernel("greedy"))
    gpu.fault = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
    message = r"kernel greedy could not be launched with \(2, 1\) blocks of 2048 threads \(CUDA_ERR"
    with pytest.raises(KernelError, match=message) as raised:
        machine.launch(kernel, (2, 1), 2048, (1,), (memory, 0))
    assert not isinstance(raised.value, DeviceLostError)
    gpu.fault = None
    machine.launch(kernel, (1, 1), 1, (1,), (memory, 0))
    assert machine.download(memory, 1)[0] == 1


@pytest.mark.parametrize("code", REFUSED)
def test_code_rejected_by_driver_raises_with_advice(mock_gpu, code):
    machine, gpu = mock_gpu
    gpu.fault = code
    message = rf"load kernel new \({code}.*newer than the driver.*pip install 'mt-cuda\[cu13\]'"
    with pytest.raises(KernelError, match=message):
        machine.load(fill_kernel("new"))


def test_forked_process_raises_with_advice(mock_gpu, monkeypatch):
    machine, gpu = mock_gpu
    gpu.fault = "CUDA_ERROR_NOT_INITIALIZED"
    monkeypatch.setattr("os.getpid", lambda: -1)
    with pytest.raises(DeviceLostError, match=r"NOT_INIT.* was forked from .*method `spawn`"):
        machine.allocate(1000, float32)
    monkeypatch.undo()
    gpu.fault = None
    assert machine.allocate(1000, float32).count == 1000  # the parent process is not affected


def test_allocation_error_other_than_out_of_memory_raises_kernel_error(mock_gpu):
    machine, gpu = mock_gpu
    gpu.out_of_memory = "CUDA_ERROR_NOT_SUPPORTED: in words."
    with pytest.raises(KernelError, match=r"memory could not be allocated \(CUDA_ERROR_NOT_SUPP"):
        machine.allocate(1 << 20, float32)


def test_driver_error_without_device_loss_raises_backend_error(mock_gpu):
    machine, gpu = mock_gpu
    gpu.fault = "CUDA_ERROR_NOT_PERMITTED"
    for action in (
        lambda: machine.allocate(1000, float32),
        lambda: machine.upload(np.zeros(1)),
        machine.synchronize,
    ):
        with pytest.raises(BackendError, match="NOT_PERMITTED"):
            action()
    gpu.fault = None
    assert machine.download(machine.upload(np.ones(1)), 1) == 1


@pytest.mark.parametrize("compiler", ["ptx", "cubin"])
def test_gpu_is_unavailable_without_compiler(make_mock_gpu, compiler):
    with pytest.raises(BackendUnavailableError, match="on Mock GPU: install one. To learn"):
        make_mock_gpu(compiler, missing="install one.")


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1 << 10, "1.0 KiB"),
        (3 << 19, "1.5 MiB"),
        (5 << 40, "5120.0 GiB"),
    ],
)
def test_sized_formats_bytes_in_binary_units(size, text):
    assert sized(size) == text


# --- On a GPU -----------------------------------------------------------------------------------


@pytest.mark.gpu
def test_gpu_works_after_out_of_memory(gpu_ops):
    machine = gpu_ops.machine
    kept = machine.upload(np.arange(5, dtype="f4"))
    with pytest.raises(OutOfMemoryError, match=r"are free"):
        machine.allocate(1 << 50, float32)
    assert machine.download(kept, 5).tolist() == [0, 1, 2, 3, 4]
    assert machine.download(launch_kernels(machine, "three"), 1)[0] == 3


LOST = """
import numpy as np
from mt_cuda.core.errors import DeviceLostError
from mt_cuda.core.elements import operand
from mt_cuda.core.kernel import define, numbers
from mt_tensor import float32

gpu = Gpu()
wild = define("wild", [*numbers("n"), *operand("y", float32)], ["y[n] = float32(n)"])
memory = gpu.allocate(1, float32)
gpu.launch(gpu.load(wild), (1, 1), 1, (1 << 50,), (memory, 0))
for action in (gpu.synchronize, lambda: gpu.allocate(1, float32), lambda: gpu.download(memory, 1)):
    try:
        action()
    except DeviceLostError as error:
        print(error)
"""


@pytest.mark.gpu
def test_every_call_after_failed_kernel_raises_the_same_error(cubin_ops):
    import subprocess
    import sys

    run = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, check=True)
    errors = run.stdout.splitlines()
    assert len(errors) == 3
    assert len(set(errors)) == 1
    assert "in kernel wild" in errors[0]
