"""What asks for the order of elements, as methods of `Tensor`: `x.sort()` is `sort(x)`."""

from __future__ import annotations

from mt_tensor.order import counting, ranks, scans, sorting
from mt_tensor.tensor import Tensor


class OrderMethods(Tensor):
    """The functions of four modules, whose first argument is the tensor itself."""

    __slots__ = ()

    cummax = scans.cummax
    cummin = scans.cummin
    cumprod = scans.cumprod
    cumsum = scans.cumsum
    logcumsumexp = scans.logcumsumexp

    argsort = sorting.argsort
    median = sorting.median
    mode = sorting.mode
    nanmedian = sorting.nanmedian
    sort = sorting.sort
    topk = sorting.topk

    diff = ranks.diff
    kthvalue = ranks.kthvalue
    msort = ranks.msort
    nanquantile = ranks.nanquantile
    quantile = ranks.quantile

    bincount = counting.bincount
    histc = counting.histc
    unique = counting.unique
    unique_consecutive = counting.unique_consecutive
