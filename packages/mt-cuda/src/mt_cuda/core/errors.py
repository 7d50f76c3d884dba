"""The errors of stage 4, raised when a kernel is compiled, run or simulated.

If there is no usable GPU, `mt_tensor.errors.BackendUnavailableError` is raised, as for every
backend.
"""

from __future__ import annotations

from mt_tensor.core.errors import BackendError


class KernelError(BackendError):
    """A kernel does not exist, or could not be compiled, loaded or launched."""


class DeviceLostError(KernelError):
    """This process can no longer use the GPU; the message names the first failure."""


class OutOfMemoryError(BackendError, MemoryError):
    """The GPU does not have enough memory for a tensor; existing tensors are unaffected."""


class SimulationError(BackendError):
    """A simulated thread failed; the message names kernel, block and thread."""


class BarrierError(SimulationError):
    """Some threads of a block wait at a barrier that others never reach.

    On a GPU such a kernel hangs or computes wrong values.
    """


class RaceError(SimulationError):
    """Two threads accessed one element without a barrier in between, and at least one wrote.

    On a GPU the result depends on timing.
    """


class OutOfBoundsError(SimulationError, IndexError):
    """A thread accessed memory outside its array; on a GPU that may be another array's memory."""
