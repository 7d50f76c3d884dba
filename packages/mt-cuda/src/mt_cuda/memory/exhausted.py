"""Handle a GPU without free memory: release cached memory, or raise an error with advice."""

from __future__ import annotations

import gc
from typing import Any

from mt_cuda.core.errors import OutOfMemoryError
from mt_cuda.core.gpu import Gpu, described
from mt_cuda.core.tables import GPU
from mt_cuda.memory.reuse import Reuse
from mt_tensor import DType

CODE = "CUDA_ERROR_"
"""The prefix of the driver's error codes."""

NO_MEMORY = "CUDA_ERROR_OUT_OF_MEMORY"


def allocate_again(gpu: Gpu, size: int, count: int, dtype: DType) -> Any:
    """Free unused memory, allocate `size` bytes again, and return the buffer.

    Raises:
        OutOfMemoryError: there still is not enough memory.
        KernelError: the driver refused the allocation for another reason.
    """
    if "release" in gpu.parts:
        gpu.parts["release"](gpu)
    gc.collect()  # tensors in reference cycles
    gpu.synchronize()  # raises if it was another fault
    if isinstance(gpu.pool, Reuse):
        gpu.pool.forget()
    resource = gpu.device.memory_resource
    if hasattr(resource, "handle"):  # otherwise the driver caches nothing
        gpu.driver.cuMemPoolTrimTo(resource.handle, 0)
    try:
        return gpu.pool.allocate(size, stream=gpu.stream)
    except Exception as error:
        reason = described(error)  # may have no error code
        if CODE in reason and NO_MEMORY not in reason:
            raise gpu.error("memory could not be allocated", reason) from error
        _, free, total = gpu.driver.cuMemGetInfo()
        raise OutOfMemoryError(
            f"{gpu.device.name} has no memory for {count:,} elements of {dtype.name}, "
            f"{sized(count * dtype.itemsize)}: {sized(free)} of {sized(total)} are free. Use "
            "smaller batches or a smaller network, delete tensors that are no longer needed, "
            "record no graph (`with mt.no_grad()`), or end other programs on this GPU."
        ) from error


def sized(count: int) -> str:
    """Return a number of bytes as text, such as "1.5 GiB"."""
    size, unit = float(count), "bytes"
    for larger in ("KiB", "MiB", "GiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"


GPU["allocate_again"] = allocate_again
