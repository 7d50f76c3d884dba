"""What backends are made with, beside `TensorBackend`, which says what each must do.

A backend whose elements are NumPy arrays in the memory of this machine inherits from `HostBackend`.
What the `numpy` backend is made of is here for those that leave some work to NumPy. This is the
border for backends in other packages; `mt_tensor.extending` is that for operations.
"""

# What a formula is computed in, and elements in the memory of this machine.
from mt_tensor.core.contract import computation_type as computation_type
from mt_tensor.core.host import no_warnings as no_warnings
from mt_tensor.core.host import HostBackend as HostBackend, copied as copied
from mt_tensor.core.layout import Layout as Layout, row_major as row_major
from mt_tensor.core.tensor_data import (
    MAX_DIMENSIONS as MAX_DIMENSIONS,
    not_an_array as not_an_array,
)

# Elements elsewhere, which other libraries can reach.
from mt_tensor.exchange.sharing import CUDA as CUDA, SharedMemory as SharedMemory

# How exactly products of float32 are to be multiplied.
from mt_tensor.products.precision import are_products_exact as are_products_exact

# Indices that are found out of range later, as `TensorBackend.checked_indices` says.
from mt_tensor.core.contract import index_error as index_error

# Random numbers that a backend draws itself, as `TensorBackend.random` says.
from mt_tensor.core.generator import used_blocks as used_blocks
from mt_tensor.randomness.blocks import Blocks as Blocks, take_blocks as take_blocks

# Elements as NumPy computes with them, and as arrays hold them: bfloat16, which NumPy has not.
from mt_tensor.core.casting import (
    assign as assign,
    element as element,
    dtype_of as dtype_of,
    to_float32 as to_float32,
    cast_array as cast_array,
)

# Operators as functions of NumPy.
from mt_tensor.core.numpy_functions import (
    FUNCTIONS as FUNCTIONS,
    UFUNCS as UFUNCS,
    function_of as function_of,
)
from mt_tensor.core.numpy_backend import NumpyOps as NumpyOps
from mt_tensor.core.numpy_backend import FormulaRunner as FormulaRunner
from mt_tensor.core.plans import drop_plans as drop_plans
from mt_tensor.large_arrays.formulas import numpy_source as numpy_source

# What the `numpy` backend makes its kernels for named operations of: parts of an array that stay in
# the cache, and choices without branches.
from mt_tensor.large_arrays.blocks import parts as parts
from mt_tensor.large_arrays.choices import split as split

# How to install a backend of this project, for the message that it cannot be used.
