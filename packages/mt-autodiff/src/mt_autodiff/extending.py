"""What later stages make differentiable values with, beside the names that users import.

It is the border of this stage. Errors, drawing and the examples are for other packages too;
everything else may change without notice.
"""

# What a function of variables must offer to be recorded in a `History`.
from mt_autodiff.graph import Differentiable as Differentiable

# Whether computations are recorded, for code that asks at each operation; and settings like it,
# which belong to a thread or a task.
from mt_autodiff.mode import recording as recording, undo as undo
