"""`Tensor`: a multi-dimensional array that records how it was computed.

Its names, arguments and rules are torch's. Each subject has a file with its operations and the
methods that name them; this one puts them together. A Tensor holds a `TensorData` (storage, shape
and strides) and the backend that the storage belongs to; it is a `Variable` of stage 1, and is
differentiated by stage 1's `backpropagate`, unchanged.
"""

from __future__ import annotations

from typing import Any

from mt_tensor import tensor_base
from mt_tensor.creation.from_tensors import NewTensorMethods
from mt_tensor.dtypes import get_default_dtype
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
from mt_tensor.recording.hooks import HookMethods
from mt_tensor.reductions.methods import ReductionMethods


class Tensor(
    IntegerMethods,  # these two before the rows of the operator table, whose settings are fewer
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
):
    """A multi-dimensional array of one element type; make one with `mt_tensor.tensor(...)`.

    The attributes are those of `TensorBase`. As in torch, `Tensor(2, 3)` is of the default dtype,
    has this shape and arbitrary elements, and `Tensor([2, 3])` has these elements.
    """

    __slots__ = ()

    def __init__(self, *given: Any) -> None:
        from mt_tensor.creation.typed import of_sizes_or_data

        self._become(of_sizes_or_data(given, get_default_dtype()))


give_in_place_forms(Tensor)
tensor_base.result_class = Tensor
