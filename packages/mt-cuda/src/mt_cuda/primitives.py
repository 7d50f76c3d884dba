"""The primitives of the contract by the kernels of the library, and what fused kernels run on."""

from __future__ import annotations

from mt_cuda.indexing.checks import IndexOps
from mt_cuda.matrices.blas import BlasOps
from mt_cuda.random_numbers.philox import RandomOps
from mt_cuda.rows.folds import ReductionOps
from mt_cuda.transposition import CopyOps


class PrimitiveOps(BlasOps, CopyOps, ReductionOps, IndexOps, RandomOps):
    """The lesson's backend with all that is faster than the lesson's, but for fused kernels."""
