"""The operations as methods of `Tensor`.

Each subject has a file with its operations, and a class that names those that are methods.
"""

from __future__ import annotations

from mt_tensor.creation.from_tensors import NewTensorMethods
from mt_tensor.exchange.conversion import ConversionMethods
from mt_tensor.exchange.interop import InteropMethods
from mt_tensor.exchange.printing import PrintingMethods
from mt_tensor.indexing.methods import IndexingMethods
from mt_tensor.indexing.subscripts import SubscriptMethods
from mt_tensor.linalg.methods import LinalgMethods
from mt_tensor.movement.methods import RearrangingMethods
from mt_tensor.movement.views import MovementMethods
from mt_tensor.order.methods import OrderMethods
from mt_tensor.pointwise.arithmetic import ArithmeticMethods
from mt_tensor.pointwise.calling import CallingMethods
from mt_tensor.pointwise.in_place import InPlaceMethods, give_in_place_forms
from mt_tensor.pointwise.integers import IntegerMethods
from mt_tensor.pointwise.methods import PointwiseMethods
from mt_tensor.products.methods import ProductMethods
from mt_tensor.questions import QuestionMethods
from mt_tensor.randomness.sampling import SamplingMethods
from mt_tensor.recording.aliasing import AliasMethods
from mt_tensor.recording.hooks import HookMethods
from mt_tensor.reductions.methods import ReductionMethods
from mt_tensor.tensor import Tensor

METHODS = (
    AliasMethods,
    IntegerMethods,
    PointwiseMethods,
    ArithmeticMethods,
    CallingMethods,
    ConversionMethods,
    HookMethods,
    IndexingMethods,
    InPlaceMethods,
    InteropMethods,
    LinalgMethods,
    MovementMethods,
    OrderMethods,
    PrintingMethods,
    ProductMethods,
    RearrangingMethods,
    ReductionMethods,
    SubscriptMethods,
    SamplingMethods,
    NewTensorMethods,
    QuestionMethods,
)
"""In the order of precedence: rows of the operator table come after what has more settings."""

for _methods in reversed(METHODS):
    for _name, _method in vars(_methods).items():
        if _name not in {"__doc__", "__module__", "__slots__"}:
            setattr(Tensor, _name, _method)

give_in_place_forms(Tensor)
