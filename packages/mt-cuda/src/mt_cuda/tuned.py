"""The backend `cuda` as users get it: the lesson's, and faster kernels for what it knows.

On a machine without a GPU `create_backend` says why there is none; `MT_CUDA_SIM=1` lets the
simulator run the kernels instead.
"""

from __future__ import annotations

import functools
import os
from typing import Any

from mt_cuda.primitives import PrimitiveOps

SIMULATE = "MT_CUDA_SIM"
"""The environment variable that chooses the simulator; `reversed` also turns its threads round."""


class TunedOps(PrimitiveOps):
    """Every primitive as in the lesson, until there is a faster kernel for what it is asked."""

    def kernel(self, name: str) -> Any:
        """Return the kernel of this package for an operation, or else what others have given."""
        return _fused().get(name) or super().kernel(name)


@functools.cache
def _fused() -> dict[str, Any]:
    """Return the kernels for whole operations, which work on tensors: imported when asked for."""
    from mt_cuda.operations import KERNELS

    return KERNELS


def create_backend() -> TunedOps:
    """Return the backend on this machine's GPU, or on the simulator if `MT_CUDA_SIM` is set.

    Raises:
        BackendUnavailableError: there is no GPU that could be used; the message says why, and
            what to do.
    """
    simulate = os.environ.get(SIMULATE, "")
    if simulate not in {"", "0"}:
        from mt_cuda.core.simulator import Simulator

        return TunedOps(Simulator("reversed" if simulate == "reversed" else "forward"))
    from mt_cuda.cubin_gpu import CubinGpu

    return TunedOps(CubinGpu())
