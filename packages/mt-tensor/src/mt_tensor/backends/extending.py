"""The interface for backends in other packages, besides `TensorBackend`.

A backend whose elements are NumPy arrays in host memory inherits from `HostBackend`. Backends that
use NumPy for some operations find the parts of the `numpy` backend here. The corresponding
interface for operations is `mt_tensor.extending`.
"""

# Elements in host memory, and layouts.
from mt_tensor.core.host import HostBackend as HostBackend, no_warnings as no_warnings
from mt_tensor.core.layout import Layout as Layout, row_major as row_major
from mt_tensor.core.tensor_data import MAX_DIMENSIONS as MAX_DIMENSIONS

# Memory that can be shared with other libraries.
from mt_tensor.exchange.sharing import CUDA as CUDA, SharedMemory as SharedMemory

# The precision of float32 products.
from mt_tensor.products.precision import are_products_exact as are_products_exact

# Index errors that are detected asynchronously; see `TensorBackend.checked_indices`.
from mt_tensor.core.contract import index_error as index_error

# Random numbers that a backend draws itself; see `TensorBackend.random`.
from mt_tensor.core.generator import used_blocks as used_blocks
from mt_tensor.randomness.blocks import take_blocks as take_blocks

# What a compiled program passes to a backend; see `TensorBackend.program`.
from mt_tensor.core.dtypes import NumberLike as NumberLike
from mt_tensor.core.generator import drawing as drawing
from mt_tensor.programs.pytree import PLAIN as PLAIN
from mt_tensor.programs.pytree import leaves_in as leaves_in, map_leaves as map_leaves

# Conversion of arrays and numbers, including bfloat16, which NumPy lacks.
from mt_tensor.core.casting import (
    dtype_of as dtype_of,
    to_float32 as to_float32,
    cast_array as cast_array,
)

# Operators as NumPy functions.
from mt_tensor.core.numpy_functions import (
    FUNCTIONS as FUNCTIONS,
    UFUNCS as UFUNCS,
    function_of as function_of,
)
from mt_tensor.core.numpy_backend import NumpyOps as NumpyOps
from mt_tensor.core.numpy_backend import FormulaRunner as FormulaRunner
from mt_tensor.core.plans import drop_plans as drop_plans
from mt_tensor.large_arrays.formulas import numpy_source as numpy_source

# Helpers of the kernels of the `numpy` backend: blocks that fit into the cache, and branchless
# selection.
from mt_tensor.large_arrays.blocks import parts as parts
from mt_tensor.large_arrays.choices import split as split
