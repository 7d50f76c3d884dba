"""Report why a GPU cannot be used, and what to do about it, when the backend is created."""

from __future__ import annotations

from mt_cuda.core.elements import operand
from mt_cuda.core.gpu import EXTRAS, Gpu, unavailable
from mt_cuda.core.kernel import define, numbers
from mt_cuda.core.tables import GPU
from mt_cuda.faults import lasting
from mt_tensor import float32
from mt_tensor.errors import BackendError


def check(gpu: Gpu) -> None:
    """Raise BackendUnavailableError unless there is a suitable driver and a GPU."""
    lasting.begin(gpu)
    driver = gpu.driver
    install = "Install the NVIDIA driver, or use a machine that has a GPU."
    try:
        (status,) = driver.cuInit(0)
    except RuntimeError as error:  # cuda-bindings did not find the library
        reason = str(error).splitlines()[0].rstrip(".")
        unavailable(f"no NVIDIA driver was found ({reason})", install)
    if status == driver.CUresult.CUDA_ERROR_NO_DEVICE:
        unavailable("the NVIDIA driver finds no GPU", "Check CUDA_VISIBLE_DEVICES and nvidia-smi.")
    if status != driver.CUresult.CUDA_SUCCESS:
        unavailable(f"the NVIDIA driver does not start ({status.name})", "Check nvidia-smi.")
    _, version = driver.cuDriverGetVersion()
    if version // 1000 < driver.CUDA_VERSION // 1000:
        unavailable(
            f"the NVIDIA driver is for CUDA {version // 1000}.{version % 1000 // 10}, and the "
            f"libraries are for CUDA {driver.CUDA_VERSION // 1000}",
            f"Install those for the driver: {EXTRAS}. Or install a newer driver.",
        )
    status, count = driver.cuDeviceGetCount()
    if status != driver.CUresult.CUDA_SUCCESS or count == 0:
        unavailable("the NVIDIA driver finds no GPU", "Check CUDA_VISIBLE_DEVICES and nvidia-smi.")


def try_out(gpu: Gpu) -> None:
    """Run one small kernel; raise BackendUnavailableError if it fails."""
    kernel = define("one", [*numbers("n"), *operand("y", float32)], ["y[y_at] = float32(n)"])
    try:
        memory = gpu.allocate(1, float32)
        gpu.launch(gpu.load(kernel), (1, 1), 1, (1,), (memory, 0))
        worked = gpu.download(memory, 1)[0] == 1.0
    except BackendError as error:
        reason = str(error).splitlines()[0]
        unavailable(f"kernels do not run on {gpu.device.name}: {reason.rstrip('.')}")
    if not worked:
        unavailable(f"{gpu.device.name} computes wrong results", "Check driver and device.")


GPU["check"] = check
GPU["try_out"] = try_out
