"""Stage 1: remember the computation, then differentiate it backwards.

`backpropagate` is written once, for anything that is a `Variable`; `Scalar` is the first such
thing, a float that records. Tensors, in the next stage, are the second.
"""

import mt_autodiff.core.lifted  # noqa: F401 - gives Scalar the operators of the table
from mt_autodiff.core.backpropagation import backpropagate, derivatives, topological_sort
from mt_autodiff.core.differentiate import grad
from mt_autodiff.core.errors import (
    AutodiffError,
    CyclicGraphError,
    ForwardError,
    GradientError,
    GraphFreedError,
    GraphTooLargeError,
    NoGradientError,
    WholeNumberError,
)
from mt_autodiff.core.graph import Context, History, Variable
from mt_autodiff.core.mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from mt_autodiff.core.numeric import central_difference, derivative_check
from mt_autodiff.core.scalar import Scalar
from mt_autodiff.core.scalar_function import ScalarFunction

__version__ = "0.1.0"

__all__ = [
    "AutodiffError",
    "Context",
    "CyclicGraphError",
    "ForwardError",
    "GradientError",
    "GraphFreedError",
    "GraphTooLargeError",
    "History",
    "NoGradientError",
    "Scalar",
    "ScalarFunction",
    "Variable",
    "WholeNumberError",
    "__version__",
    "backpropagate",
    "central_difference",
    "derivative_check",
    "derivatives",
    "enable_grad",
    "grad",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
    "topological_sort",
]
