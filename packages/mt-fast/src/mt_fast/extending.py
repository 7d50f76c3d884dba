"""What other compiling backends generate their kernels with.

The generator writes loops as Python text, with a table that says how each elementary function is
spelled where the loop will run; what has been compiled is kept in a folder. It is the border of
this stage, beside the names of `mt_fast`.
"""

# Formulas as the statements of a kernel.
from mt_fast.core.rendering import (
    Table as Table,
    call as call,
    constant as constant,
    converted as converted,
    render as render,
)

# Operators on integers, as functions that a kernel calls.

# What has been compiled, from process to process.
from mt_fast.cache.folder import Folder as Folder, hashed as hashed
