"""Stage 1: reverse-mode automatic differentiation.

`backpropagate` works with every type that implements `Variable`: `Scalar` here, and tensors in the
next stage.
"""

# fmt: off
from importlib.util import find_spec

import mt_autodiff.core.scalar_operators  # noqa: F401 - registers the rows of the table as methods
from mt_autodiff.core.backpropagation import backpropagate, derivatives, topological_sort
from mt_autodiff.core.differentiate import grad
from mt_autodiff.core.errors import (
    AutodiffError, CyclicGraphError, ForwardError, GradientError, GraphFreedError,
    GraphTooLargeError, IntegerOperatorError, NoGradientError,
)
from mt_autodiff.core.graph import Context, History, Variable
from mt_autodiff.core.mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from mt_autodiff.core.numeric import central_difference
from mt_autodiff.core.scalar import Scalar

# Optional parts: the core works without them, and `hatch run core:prove` deletes them.
if find_spec("mt_autodiff.scalar_function") is not None:
    from mt_autodiff import methods as methods  # registers methods of Scalar
    from mt_autodiff.checking import derivative_check
    from mt_autodiff.inference import inference_mode
    from mt_autodiff.scalar_function import ScalarFunction

__version__ = "0.1.0"

__all__ = [
    "AutodiffError", "Context", "CyclicGraphError", "ForwardError", "GradientError",
    "GraphFreedError", "GraphTooLargeError", "History", "IntegerOperatorError", "NoGradientError",
    "Scalar", "ScalarFunction", "Variable", "__version__", "backpropagate", "central_difference",
    "derivative_check", "derivatives", "enable_grad", "grad", "inference_mode", "is_grad_enabled",
    "no_grad", "set_grad_enabled", "topological_sort",
]
