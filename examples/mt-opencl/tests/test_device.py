"""Tests of the OpenCL device: selection, memory and kernels, and the messages of their errors."""

import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from mt_opencl import Device, OpenClOps
from mt_opencl.choice import EXTENSIONS, check

import mt_tensor as mt
from mt_cuda.extending import KernelError, OutOfMemoryError, Parameter, define, numbers, operand
from mt_tensor.errors import BackendUnavailableError


def python(source, **environment):
    """Run a program in a new process and return its output."""
    done = subprocess.run(
        [sys.executable, "-c", source],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- Selection ----------------------------------------------------------------------------------


def test_device_description_contains_its_name(device):
    assert device.device.name.strip() in device.describe()


PRINT_ERROR = """
import mt_tensor as mt
try:
    mt.get_backend("opencl")
except mt.errors.BackendUnavailableError as error:
    print(error)
"""


def test_backend_without_a_driver_is_unavailable(tmp_path):
    output = python(PRINT_ERROR, OCL_ICD_VENDORS=str(tmp_path), OCL_ICD_FILENAMES="")
    assert "there is no OpenCL device. Install a driver" in output


@pytest.mark.parametrize("choice", ["99", "0:99", "unknown"])
def test_unknown_device_choice_raises_and_lists_devices(choice, monkeypatch, device):
    monkeypatch.setenv("PYOPENCL_CTX", choice)
    with pytest.raises(BackendUnavailableError) as caught:
        Device()
    assert f"PYOPENCL_CTX={choice} is not an OpenCL device: 0:0 is" in str(caught.value)
    assert device.device.name in str(caught.value)


@pytest.mark.parametrize(
    ("missing", "threads", "message"),
    [
        *(([name], 64, f"lacks {what}, which") for name, what in EXTENSIONS.items()),
        ([], 32, "lacks blocks of 64 threads, which"),
        (["cl_khr_fp64"], 32, "lacks floats of 64 bits, blocks of 64 threads, which"),
    ],
)
def test_device_without_required_feature_is_rejected(missing, threads, message):
    extensions = " ".join(name for name in EXTENSIONS if name not in missing)
    small = SimpleNamespace(name="Small", extensions=extensions, max_work_group_size=threads)
    with pytest.raises(BackendUnavailableError, match=f"the OpenCL device Small {message}"):
        check(small, 64)


def test_device_with_all_required_features_is_accepted():
    check(SimpleNamespace(name="Big", extensions=" ".join(EXTENSIONS), max_work_group_size=64), 64)


def test_device_falls_back_to_opencl_header_if_declarations_fail(monkeypatch):
    monkeypatch.setattr("mt_opencl.device.DECLARATIONS", "#error These are for another version.\n")
    assert Device().options == ["-w"]


def test_device_without_a_working_compiler_is_unavailable(monkeypatch):
    monkeypatch.setattr("mt_opencl.device.PRELUDE", "#error There is no compiler.\n")
    with pytest.raises(
        BackendUnavailableError, match="kernels do not run on .*kernel one does not"
    ):
        Device()


# --- Memory -------------------------------------------------------------------------------------


def test_allocation_above_device_limit_raises(device):
    count = device.device.max_mem_alloc_size // 8 + 1
    with pytest.raises(OutOfMemoryError, match=r"allocates at most [\d,.]+ MiB at once\. Use"):
        mt.empty(count, dtype=mt.float64, backend=OpenClOps(device))
    with pytest.raises(OutOfMemoryError, match="at once"):
        device.allocate(1 << 80, mt.uint8)


EXHAUST_MEMORY = """
import resource
from mt_cuda.extending import OutOfMemoryError
from mt_opencl import create_backend
import mt_tensor as mt

ops = create_backend()
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + (1 << 28), -1))
kept = mt.ones(3, backend=ops)
try:
    mt.empty(1 << 29, dtype=mt.uint8, backend=ops)
except OutOfMemoryError as error:
    print(error)
print(kept.tolist())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_AS of Linux")
def test_tensors_keep_their_values_after_memory_runs_out():
    error, kept = python(EXHAUST_MEMORY).splitlines()
    assert "536,870,912 elements of uint8 could not be allocated: " in error
    assert "has no memory left. Use smaller batches" in error
    assert kept == "[1.0, 1.0, 1.0]"


# --- Kernels ------------------------------------------------------------------------------------

ONE = define("one", operand("y", mt.float32), ["y[y_at] = float32(1)"])


def test_compile_error_names_the_kernel(device):
    kernel = define("float", operand("y", mt.float32), ["y[y_at] = float32(1)"])
    with pytest.raises(KernelError, match="kernel float does not compile on "):
        device.load(kernel)


def test_launch_error_names_the_kernel(device):
    threads = 2 * device.device.max_work_group_size
    memory = device.allocate(1, mt.float32)
    with pytest.raises(KernelError, match=f"kernel one could .* 1 by 1 blocks of {threads} thr"):
        device.launch(device.load(ONE), (1, 1), threads, (), (memory, 0))


def test_device_in_a_forked_process_raises(device, monkeypatch):
    memory, loaded = device.upload(np.ones(1, "f4")), device.load(ONE)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    for action in (
        lambda: device.launch(loaded, (1, 1), 1, (), (memory, 0)),
        lambda: device.download(memory, 1),
        lambda: device.upload(np.ones(1, "f4")),
        device.synchronize,
    ):
        with pytest.raises(KernelError, match='method "spawn"'):
            action()


def test_kernel_receives_int64_and_float64_arguments_exactly(device):
    given = [*numbers("n"), Parameter("x", "float64"), *operand("y", mt.float64)]
    kernel = define("given", given, ["y[y_at] = x", "y[y_at + 1] = float64(n)"])
    memory = device.allocate(2, mt.float64)
    device.launch(device.load(kernel), (1, 1), 1, (1 << 60, np.float64(0.1)), (memory, 0))
    assert device.download(memory, 2).tolist() == [0.1, float(1 << 60)]


def test_threads_launching_one_kernel_do_not_mix_arguments(device):
    kernel = define("number", [*numbers("n"), *operand("y", mt.int64)], ["y[y_at] = n"])
    loaded, places = device.load(kernel), [device.allocate(1, mt.int64) for _ in range(3)]
    wrong = []

    def work(number):
        for k in range(500):
            device.launch(loaded, (1, 1), 1, (3 * k + number,), (places[number], 0))
            if device.download(places[number], 1)[0] != 3 * k + number:
                wrong.append(k)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []
