"""What other compiling backends generate their kernels with.

The generator writes loops as Python text, with a table that lowers each operation to code of the
target; a folder on disk keeps compiled code. Together with the names of `mt_fast`, these are the
names of this stage that other packages may import.
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

# Compiled code, from process to process.
from mt_fast.cache.folder import Folder as Folder, hashed as hashed
