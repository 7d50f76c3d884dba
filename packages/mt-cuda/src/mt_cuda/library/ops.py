"""The primitives of the contract by the kernels of the library, and what fused kernels run on."""

from __future__ import annotations

from mt_cuda.library.indices import IndexOps
from mt_cuda.library.matrices.ops import ProductOps
from mt_cuda.library.randomness import RandomOps
from mt_cuda.library.reductions import ReductionOps
from mt_cuda.library.together import TogetherOps
from mt_cuda.library.transposing import CopyOps


class PrimitiveOps(TogetherOps, CopyOps, ProductOps, ReductionOps, IndexOps, RandomOps):
    """The lesson's backend with all that is faster than the lesson's, but for fused kernels."""
