"""`Tensor`: a multi-dimensional array that records how it was computed.

Its names, arguments and rules are torch's. Each subject has a file with its operations and the
methods that name them; this one puts them together. A Tensor holds a `TensorData` (storage, shape
and strides) and the backend that the storage belongs to; it is a `Variable` of stage 1, and is
differentiated by stage 1's `backpropagate`, unchanged.
"""

from __future__ import annotations

from typing import Any

from mt_tensor.arithmetic import ArithmeticMethods
from mt_tensor.conversion import ConversionMethods
from mt_tensor.in_place import InPlaceMethods
from mt_tensor.indexing import IndexingMethods
from mt_tensor.interop import InteropMethods
from mt_tensor.matmul import ProductMethods
from mt_tensor.movement import MovementMethods
from mt_tensor.printing import PrintingMethods
from mt_tensor.reductions import ReductionMethods
from mt_tensor.sampling import SamplingMethods
from mt_tensor.tensor_base import TensorBase


class Tensor(
    ArithmeticMethods,
    ConversionMethods,
    IndexingMethods,
    InPlaceMethods,
    InteropMethods,
    MovementMethods,
    PrintingMethods,
    ProductMethods,
    ReductionMethods,
    SamplingMethods,
):
    """A multi-dimensional array of one element type; make one with `mt_tensor.tensor(...)`.

    The attributes are those of `TensorBase`.
    """

    __slots__ = ()

    def __init__(self, data: Any, dtype: Any = None) -> None:
        from mt_tensor.from_data import tensor

        self._become(tensor(data, dtype=dtype))


TensorBase._result_class = Tensor
