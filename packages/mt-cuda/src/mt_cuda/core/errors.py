"""The errors of stage 4: what can go wrong when a kernel is compiled, run or simulated.

The lesson begins here. "There is no GPU here" is none of them: that is
`mt_tensor.errors.BackendUnavailableError`, as for every backend.
"""

from __future__ import annotations

from mt_tensor.core.errors import BackendError


class KernelError(BackendError):
    """A kernel could not be compiled, loaded or launched; the message names it."""


class DeviceLostError(KernelError):
    """A kernel has failed on the GPU, which serves this process no more; the message names it."""


class OutOfMemoryError(BackendError, MemoryError):
    """The GPU has no memory for a tensor. What has been computed is still there."""


class SimulationError(BackendError):
    """A simulated thread failed; the message names kernel, block and thread."""


class BarrierError(SimulationError):
    """Some threads of a block wait at a barrier that others never reach.

    On a GPU such a kernel hangs, or goes on with wrong values.
    """


class RaceError(SimulationError):
    """Two threads touched the same shared memory with no barrier between, and one wrote.

    On a GPU the result depends on which of them is faster.
    """


class OutOfBoundsError(SimulationError, IndexError):
    """A thread read or wrote outside its array. On a GPU it would hit somebody else's memory."""
