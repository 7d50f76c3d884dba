"""Stage 0: mathematics as scalar operators, and trees of modules.

Everything here works on plain Python floats and needs only the standard library. Later stages
take the same operator table and lift it to recorded scalars, tensors, compiled loops and GPU
kernels; none of them writes the mathematics again.
"""

from mt_operators.errors import (
    MemberError,
    MemberNameError,
    ModuleError,
    OperatorError,
    OperatorExistsError,
    StateDictError,
    TracingError,
    UnknownOperatorError,
)
from mt_operators.formula import Formula, Operator
from mt_operators.library import activations as activations
from mt_operators.library import special as special
from mt_operators.module import Module
from mt_operators.parameter import Buffer, Parameter
from mt_operators.registry import OperatorTable
from mt_operators.state_dict import IncompatibleKeys
from mt_operators.table import OPERATORS

__version__ = "0.1.0"

__all__ = [
    "OPERATORS",
    "Buffer",
    "Formula",
    "IncompatibleKeys",
    "MemberError",
    "MemberNameError",
    "Module",
    "ModuleError",
    "Operator",
    "OperatorError",
    "OperatorExistsError",
    "OperatorTable",
    "Parameter",
    "StateDictError",
    "TracingError",
    "UnknownOperatorError",
    "__version__",
]
