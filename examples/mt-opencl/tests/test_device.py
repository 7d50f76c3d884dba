"""What a device cannot do is an error that says so, and what to do."""

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


def python(text, **environment):
    """Return what a program prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- Which device -------------------------------------------------------------------------------


def test_the_device_names_itself(device):
    assert device.device.name.strip() in device.describe()


REFUSED = """
import mt_tensor as mt
try:
    mt.get_backend("opencl")
except mt.errors.BackendUnavailableError as error:
    print(error)
"""


def test_without_a_driver_there_is_no_device(tmp_path):
    said = python(REFUSED, OCL_ICD_VENDORS=str(tmp_path), OCL_ICD_FILENAMES="")
    assert "there is no OpenCL device. Install the driver of one" in said


@pytest.mark.parametrize("choice", ["99", "0:99", "unknown"])
def test_a_choice_that_there_is_not_names_those_that_there_are(choice, monkeypatch, device):
    monkeypatch.setenv("PYOPENCL_CTX", choice)
    with pytest.raises(BackendUnavailableError) as caught:
        Device()
    assert f"PYOPENCL_CTX={choice} is no OpenCL device: 0:0 is" in str(caught.value)
    assert device.device.name in str(caught.value)


@pytest.mark.parametrize(
    ("lacking", "threads", "complaint"),
    [
        *(([name], 64, f"lacks {what}, which") for name, what in EXTENSIONS.items()),
        ([], 32, "lacks blocks of 64 threads, which"),
        (["cl_khr_fp64"], 32, "lacks floats of 64 bits, blocks of 64 threads, which"),
    ],
)
def test_a_device_that_lacks_something_is_refused(lacking, threads, complaint):
    offered = " ".join(name for name in EXTENSIONS if name not in lacking)
    small = SimpleNamespace(name="Small", extensions=offered, max_work_group_size=threads)
    with pytest.raises(BackendUnavailableError, match=f"the OpenCL device Small {complaint}"):
        check(small, 64)


def test_a_device_that_lacks_nothing_is_taken():
    check(SimpleNamespace(name="Big", extensions=" ".join(EXTENSIONS), max_work_group_size=64), 64)


def test_where_declarations_do_not_fit_the_header_is_read(monkeypatch):
    monkeypatch.setattr("mt_opencl.device.DECLARATIONS", "#error These are for another version.\n")
    assert Device().options == ["-w"]


def test_a_device_that_compiles_nothing_is_unavailable(monkeypatch):
    monkeypatch.setattr("mt_opencl.device.PRELUDE", "#error There is no compiler.\n")
    with pytest.raises(
        BackendUnavailableError, match="kernels do not run on .*kernel one does not"
    ):
        Device()


# --- Memory -------------------------------------------------------------------------------------


def test_a_tensor_that_no_memory_holds(device):
    count = device.device.max_mem_alloc_size // 8 + 1
    with pytest.raises(OutOfMemoryError, match=r"gives at most [\d,.]+ MiB at once\. Take smaller"):
        mt.empty(count, dtype=mt.float64, backend=OpenClOps(device))
    with pytest.raises(OutOfMemoryError, match="at once"):
        device.allocate(1 << 80, mt.uint8)


EXHAUSTING = """
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


@pytest.mark.skipif(sys.platform != "linux", reason="limits a process as Linux does")
def test_when_memory_is_used_up_what_has_been_computed_is_still_there():
    error, kept = python(EXHAUSTING).splitlines()
    assert "536,870,912 elements of uint8 could not be allocated: " in error
    assert "has no memory left. Take smaller batches" in error
    assert kept == "[1.0, 1.0, 1.0]"


# --- Kernels ------------------------------------------------------------------------------------

ONE = define("one", operand("y", mt.float32), ["y[y_at] = float32(1)"])


def test_a_text_that_does_not_compile_names_its_kernel(device):
    kernel = define("float", operand("y", mt.float32), ["y[y_at] = float32(1)"])
    with pytest.raises(KernelError, match="kernel float does not compile on "):
        device.load(kernel)


def test_a_launch_that_is_refused_names_its_kernel(device):
    threads = 2 * device.device.max_work_group_size
    memory = device.allocate(1, mt.float32)
    with pytest.raises(KernelError, match=f"kernel one could .* 1 by 1 blocks of {threads} thr"):
        device.launch(device.load(ONE), (1, 1), threads, (), (memory, 0))


def test_a_forked_process_is_refused(device, monkeypatch):
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


def test_numbers_come_as_they_were_given(device):
    given = [*numbers("n"), Parameter("x", "float64"), *operand("y", mt.float64)]
    kernel = define("given", given, ["y[y_at] = x", "y[y_at + 1] = float64(n)"])
    memory = device.allocate(2, mt.float64)
    device.launch(device.load(kernel), (1, 1), 1, (1 << 60, np.float64(0.1)), (memory, 0))
    assert device.download(memory, 2).tolist() == [0.1, float(1 << 60)]


def test_threads_of_a_program_launch_the_same_kernel(device):
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
