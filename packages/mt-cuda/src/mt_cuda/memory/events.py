"""Events on the stream of a GPU: for the time that passes there, and for the streams of others."""

from __future__ import annotations

from typing import Any

from mt_cuda.core.gpu import Gpu, Memory


class Events:
    """What can be known of the stream of a GPU."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu

    def mark(self) -> Any:
        """Return an event that happens when all work so far has been done."""
        driver, check = self._gpu.driver, self._gpu.check
        status, event = driver.cuEventCreate(0)
        check((status,))
        check(driver.cuEventRecord(event, self._gpu.stream.handle))
        return event

    def between(self, before: Any, after: Any) -> float:
        """Wait for two marks, forget them, and return the time between them, in seconds."""
        driver, check = self._gpu.driver, self._gpu.check
        check(driver.cuEventSynchronize(after))
        status, milliseconds = driver.cuEventElapsedTime(before, after)
        check((status,))
        for event in (before, after):
            check(driver.cuEventDestroy(event))
        return float(milliseconds) / 1e3

    def let_wait(self, stream: int) -> None:
        """Let a stream of another library wait for all work until now."""
        driver, check = self._gpu.driver, self._gpu.check
        self._gpu.make_current()
        event = self.mark()
        check(driver.cuStreamWaitEvent(stream, event, 0))
        check(driver.cuEventDestroy(event))

    def copy_memory(self, source: Memory, target: Memory) -> None:
        """Let the driver copy a memory: the rate to compare kernels with."""
        size, stream = source.count * source.dtype.itemsize, self._gpu.stream.handle
        copied = self._gpu.driver.cuMemcpyDtoDAsync(target.address, source.address, size, stream)
        self._gpu.check(copied)
