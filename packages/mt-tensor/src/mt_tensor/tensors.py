"""`Tensor`: a multi-dimensional array that records how it was computed.

Its names, arguments and rules are torch's. Each subject has a file with its operations and the
methods that name them; this one puts them together. A Tensor holds a `TensorData` (storage, shape
and strides) and the backend that the storage belongs to; it is a `Variable` of stage 1, and is
differentiated by stage 1's `backpropagate`, unchanged.
"""

from __future__ import annotations

from typing import Any

from mt_tensor.creation.from_tensors import NewTensorMethods
from mt_tensor.exchange.conversion import ConversionMethods
from mt_tensor.exchange.interop import InteropMethods
from mt_tensor.exchange.printing import PrintingMethods
from mt_tensor.exchange.questions import QuestionMethods
from mt_tensor.indexing.filling import FillingMethods
from mt_tensor.indexing.finding import FindingMethods
from mt_tensor.indexing.gathering import IndexingMethods
from mt_tensor.indexing.scattering import ScatteringMethods
from mt_tensor.indexing.subscripts import SubscriptMethods
from mt_tensor.movement.diagonals import DiagonalMethods
from mt_tensor.movement.rearranging import RearrangingMethods
from mt_tensor.movement.splitting import SplittingMethods
from mt_tensor.movement.turning import TurningMethods
from mt_tensor.movement.views import MovementMethods
from mt_tensor.order.counting import CountingMethods
from mt_tensor.order.ranks import RankMethods
from mt_tensor.order.scans import ScanMethods
from mt_tensor.order.sorting import SortingMethods
from mt_tensor.pointwise.arithmetic import ArithmeticMethods
from mt_tensor.pointwise.in_place import InPlaceMethods, give_in_place_forms
from mt_tensor.pointwise.integers import IntegerMethods
from mt_tensor.pointwise.methods import PointwiseMethods
from mt_tensor.products.added import AddedProductMethods
from mt_tensor.products.matmul import ProductMethods
from mt_tensor.products.vectors import VectorMethods
from mt_tensor.randomness.sampling import SamplingMethods
from mt_tensor.recording.hooks import HookMethods
from mt_tensor.reductions.extremes import ExtremeMethods
from mt_tensor.reductions.norms import NormMethods
from mt_tensor.reductions.softmax import SoftmaxMethods
from mt_tensor.reductions.statistics import StatisticsMethods
from mt_tensor.reductions.sums import ReductionMethods
from mt_tensor.reductions.truth import TruthMethods
from mt_tensor.tensor_base import TensorBase


class Tensor(
    IntegerMethods,  # these two before the rows of the operator table, whose settings are fewer
    PointwiseMethods,
    ArithmeticMethods,
    ConversionMethods,
    ExtremeMethods,
    DiagonalMethods,
    FillingMethods,
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
    VectorMethods,
    AddedProductMethods,
    NewTensorMethods,
    QuestionMethods,
    TurningMethods,
    CountingMethods,
    RankMethods,
):
    """A multi-dimensional array of one element type; make one with `mt_tensor.tensor(...)`.

    The attributes are those of `TensorBase`.
    """

    __slots__ = ()

    def __init__(self, data: Any, dtype: Any = None) -> None:
        from mt_tensor.creation.from_data import tensor

        self._become(tensor(data, dtype=dtype))


give_in_place_forms(Tensor)
TensorBase._result_class = Tensor
