"""Stage 0: a table of scalar operators with their derivatives, and trees of modules.

Everything here works on Python floats and needs only the standard library. Later stages apply the
same operators to Scalars, tensors, compiled loops and GPU kernels.
"""

# fmt: off
from importlib.util import find_spec

from mt_operators.core.errors import (
    MemberError, MemberNameError, ModuleError, OperatorError, OperatorExistsError, StateDictError,
    TracingError, UnknownOperatorError,
)
from mt_operators.core.module import IncompatibleKeys, Module
from mt_operators.core.parameter import Buffer, Parameter
from mt_operators.core.row import Formula, Operator
from mt_operators.core.table import OPERATORS, OperatorTable

# Optional parts: the core works without them, and `hatch run core:prove` deletes them.
if find_spec("mt_operators.functions") is not None:
    from mt_operators import functions as functions  # adds rows to the table
if find_spec("mt_operators.operators") is not None:
    from mt_operators import operators as operators  # the names of the MiniTorch course
if find_spec("mt_operators.simplification") is not None:
    from mt_operators import simplification as simplification  # simplifies graphs
if find_spec("mt_operators.validation") is not None:
    from mt_operators import validation as validation  # checks rows that users add

__version__ = "0.1.0"

__all__ = [
    "OPERATORS", "Buffer", "Formula", "IncompatibleKeys", "MemberError", "MemberNameError",
    "Module", "ModuleError", "Operator", "OperatorError", "OperatorExistsError", "OperatorTable",
    "Parameter", "StateDictError", "TracingError", "UnknownOperatorError", "__version__",
]
