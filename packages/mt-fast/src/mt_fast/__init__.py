"""Stage 3: the same operators, compiled to parallel SIMD loops.

Select the backend by name, without importing this package: `MT_BACKEND=fast`, `use_backend("fast")`
or `backend="fast"`. `source` returns the source of a kernel, and `cache_folder` the folder of
compiled kernels.
"""

from __future__ import annotations

from importlib.util import find_spec

from mt_fast.core.backend import FastOps as FastOps
from mt_tensor.core.kernels import register_kernels

__version__ = "0.1.0"

__all__ = ["FastOps", "__version__", "cache_folder", "fuse", "source"]

# Optional parts: each folder registers functions in the core's tables.
if find_spec("mt_fast.vectors") is not None:  # full-width vector registers
    import mt_fast.vectors.compiler
if find_spec("mt_fast.threads") is not None:  # forked and threaded programs
    import mt_fast.threads.workers
if find_spec("mt_fast.cache") is not None:  # compiled kernels on disk
    from mt_fast.cache.kernels import cache_folder as cache_folder
if find_spec("mt_fast.memory") is not None:  # arrays aligned to cache lines
    import mt_fast.memory.aligned
if find_spec("mt_fast.integers") is not None:  # quotients, shifts and powers of integers
    import mt_fast.integers.lowering
if find_spec("mt_fast.vector_math") is not None:  # vectorized elementary functions
    import mt_fast.vector_math.operators
if find_spec("mt_fast.transposition") is not None:  # copies, transposed in registers
    import mt_fast.transposition.copies
if find_spec("mt_fast.small") is not None:  # NumPy's functions for few elements
    import mt_fast.small.calls
    import mt_fast.small.ufuncs
if find_spec("mt_fast.in_place") is not None:  # formulas that update their inputs
    import mt_fast.in_place.update
if find_spec("mt_fast.indexing") is not None:  # gather and scatter of whole slices
    import mt_fast.indexing.slices

    register_kernels("fast", "mt_fast.indexing.embedding")
if find_spec("mt_fast.folds") is not None:  # reductions in parts, and of non-contiguous elements
    import mt_fast.folds.extremes
    import mt_fast.folds.reduce

    register_kernels("fast", "mt_fast.folds.fused")
if find_spec("mt_fast.gemm") is not None:  # matrix products in register tiles
    import mt_fast.gemm.products
if find_spec("mt_fast.random_numbers") is not None:  # random numbers drawn by all threads
    import mt_fast.random_numbers.philox  # noqa: F401 - importing registers
if find_spec("mt_fast.fused") is not None:  # kernels for named operations, such as softmax
    register_kernels("fast", "mt_fast.fused.kernels")
if find_spec("mt_fast.convolution") is not None:
    register_kernels("fast", "mt_fast.convolution.operation")
if find_spec("mt_fast.recurrent") is not None:
    register_kernels("fast", "mt_fast.recurrent.layers")
if find_spec("mt_fast.inspection") is not None:  # the source of kernels
    from mt_fast.inspection.kernel_source import source as source
    from mt_tensor import fuse as fuse  # compile a function to one kernel
