"""The primitives of the contract by the kernels of the library, and what fused kernels run on."""

from __future__ import annotations

from mt_cuda.library.indices import IndexOps
from mt_cuda.library.matrices.blas import BlasOps
from mt_cuda.library.randomness import RandomOps
from mt_cuda.library.reductions import ReductionOps
from mt_cuda.library.transposing import CopyOps


class PrimitiveOps(BlasOps, CopyOps, ReductionOps, IndexOps, RandomOps):
    """The lesson's backend with all that is faster than the lesson's, but for fused kernels."""
