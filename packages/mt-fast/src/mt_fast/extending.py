"""Building blocks for other compiling backends.

The generator writes loops as Python text, with a table that lowers each operation to code of the
target; a folder on disk stores compiled code. Other packages may import these names and those of
`mt_fast`.
"""

# Formulas as the statements of a kernel.
from mt_fast.core.rendering import (
    Table as Table,
    call as call,
    constant as constant,
    converted as converted,
    render as render,
)

# Helper functions of kernels: integer division, shifts, gcd.
from mt_fast.integers import integer_functions as integer_functions

# Transposed convolution, given a kernel for convolution.
from mt_fast.convolution.transposed import TransposedConvolution as TransposedConvolution

# Compiled code on disk, shared by processes.
from mt_fast.cache.folder import Folder as Folder, hashed as hashed
