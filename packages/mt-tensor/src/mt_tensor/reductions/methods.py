"""Reductions as methods of `Tensor`: `x.sum(0)` is `sum(x, 0)`."""

from __future__ import annotations

from typing import Any

from mt_tensor.arguments import as_integers
from mt_tensor.reductions import extremes, norms, statistics, sums, truth
from mt_tensor.reductions import softmax as exponentials
from mt_tensor.tensor import Tensor


class ReductionMethods(Tensor):
    """The functions of six modules, whose first argument is the tensor itself."""

    __slots__ = ()

    mean = sums.mean
    nanmean = sums.nanmean
    nansum = sums.nansum
    prod = sums.prod
    sum = sums.sum

    amax = extremes.amax
    amin = extremes.amin
    aminmax = extremes.aminmax
    argmax = extremes.argmax
    argmin = extremes.argmin
    max = extremes.max
    min = extremes.min

    corrcoef = statistics.corrcoef
    cov = statistics.cov
    std = statistics.std
    var = statistics.var

    norm = norms.norm

    all = truth.all
    any = truth.any
    count_nonzero = truth.count_nonzero

    log_softmax = exponentials.log_softmax
    logsumexp = exponentials.logsumexp
    softmax = exponentials.softmax

    def sum_to_size(self, *shape: Any, size: Any = None) -> Tensor:
        """Sum over the dimensions along which a tensor of `shape` would be broadcast to this.

        Raises:
            ShapeError: a tensor of `shape` does not broadcast to this one.
        """
        return sums.sum_to_size(self, as_integers(shape, size))
