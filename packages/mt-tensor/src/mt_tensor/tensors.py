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
from mt_tensor.diagonals import DiagonalMethods
from mt_tensor.extremes import ExtremeMethods
from mt_tensor.finding import FindingMethods
from mt_tensor.hooks import HookMethods
from mt_tensor.in_place import InPlaceMethods
from mt_tensor.indexing import IndexingMethods
from mt_tensor.interop import InteropMethods
from mt_tensor.matmul import ProductMethods
from mt_tensor.movement import MovementMethods
from mt_tensor.norms import NormMethods
from mt_tensor.printing import PrintingMethods
from mt_tensor.rearranging import RearrangingMethods
from mt_tensor.reductions import ReductionMethods
from mt_tensor.sampling import SamplingMethods
from mt_tensor.scans import ScanMethods
from mt_tensor.scattering import ScatteringMethods
from mt_tensor.softmax import SoftmaxMethods
from mt_tensor.sorting import SortingMethods
from mt_tensor.splitting import SplittingMethods
from mt_tensor.statistics import StatisticsMethods
from mt_tensor.subscripts import SubscriptMethods
from mt_tensor.tensor_base import TensorBase
from mt_tensor.truth import TruthMethods


class Tensor(
    ArithmeticMethods,
    ConversionMethods,
    ExtremeMethods,
    DiagonalMethods,
    FindingMethods,
    HookMethods,
    IndexingMethods,
    InPlaceMethods,
    InteropMethods,
    MovementMethods,
    NormMethods,
    PrintingMethods,
    ProductMethods,
    RearrangingMethods,
    ReductionMethods,
    ScanMethods,
    SoftmaxMethods,
    SortingMethods,
    StatisticsMethods,
    TruthMethods,
    ScatteringMethods,
    SplittingMethods,
    SubscriptMethods,
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
