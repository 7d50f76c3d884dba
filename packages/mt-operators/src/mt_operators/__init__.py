"""Stage 0: mathematics as scalar operators, and trees of modules.

Everything here works on plain Python floats and needs only the standard library. Later stages
take the same operator table and lift it to recorded scalars, tensors, compiled loops and GPU
kernels; none of them writes the mathematics again.
"""

from importlib import import_module
from typing import TYPE_CHECKING

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
from mt_operators.registry import OperatorTable
from mt_operators.table import OPERATORS

if TYPE_CHECKING:
    from mt_operators.module import Module
    from mt_operators.parameter import Buffer, Parameter
    from mt_operators.state_dict import IncompatibleKeys

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

_MODULE_OF = {
    "Buffer": "parameter",
    "IncompatibleKeys": "state_dict",
    "Module": "module",
    "Parameter": "parameter",
}
"""Where trees of modules are defined, which are imported when somebody asks for them."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Return what trees of modules are made of."""
        if name not in _MODULE_OF:
            raise AttributeError(f"module 'mt_operators' has no attribute {name!r}")
        return getattr(import_module(f"mt_operators.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    """Return all names, imported or not."""
    return sorted({*globals(), *__all__})
