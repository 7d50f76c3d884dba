"""Losses as modules: the functions of `mt_nn.functional`, with their settings kept.

Weights of classes or elements are buffers, which move and are saved with the module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Literal

from mt_nn import functional
from mt_nn.core.losses import Reduction
from mt_nn.layers.function import FunctionLayer
from mt_tensor import Tensor


class _Loss(FunctionLayer):
    """A loss that has no settings but the reduction."""

    _: KW_ONLY
    reduction: Reduction = "mean"


class _WeightedLoss(_Loss):
    """A loss whose first setting is the weights of classes or elements."""

    weight: Tensor | None = None


# --- Of numbers -----------------------------------------------------------------------------------


class MSELoss(_Loss):
    """The squared difference of two tensors of one shape; see `mt_nn.functional.mse_loss`."""

    function = staticmethod(functional.mse_loss)


class L1Loss(_Loss):
    """The absolute difference of two tensors of one shape; see `mt_nn.functional.l1_loss`."""

    function = staticmethod(functional.l1_loss)


class SmoothL1Loss(_Loss):
    """The loss of two tensors of one shape; see `mt_nn.functional.smooth_l1_loss`."""

    function = staticmethod(functional.smooth_l1_loss)
    _: KW_ONLY
    beta: float = 1.0


class HuberLoss(FunctionLayer):
    """The loss of two tensors of one shape; see `mt_nn.functional.huber_loss`."""

    function = staticmethod(functional.huber_loss)
    reduction: Reduction = "mean"
    delta: float = 1.0


# --- Of classes -----------------------------------------------------------------------------------


class NLLLoss(_WeightedLoss):
    """The loss of log-probabilities (batch, classes, ...) for classes (batch, ...).

    See `mt_nn.functional.nll_loss`.
    """

    function = staticmethod(functional.nll_loss)
    _: KW_ONLY
    ignore_index: int = -100


class CrossEntropyLoss(_WeightedLoss):
    """The loss of scores (batch, classes, ...) for classes, or their probabilities.

    See `mt_nn.functional.cross_entropy`.
    """

    function = staticmethod(functional.cross_entropy)
    _: KW_ONLY
    ignore_index: int = -100
    label_smoothing: float = 0.0


class MultiMarginLoss(_Loss):
    """The loss of scores (batch, classes) for classes (batch,).

    See `mt_nn.functional.multi_margin_loss`.
    """

    function = staticmethod(functional.multi_margin_loss)
    p: int = 1
    margin: float = 1.0
    weight: Tensor | None = None


# --- Of labels ------------------------------------------------------------------------------------


class BCELoss(_WeightedLoss):
    """The loss of probabilities for targets of the same shape.

    See `mt_nn.functional.binary_cross_entropy`.
    """

    function = staticmethod(functional.binary_cross_entropy)


class BCEWithLogitsLoss(_WeightedLoss):
    """The loss of scores for targets of the same shape.

    See `mt_nn.functional.binary_cross_entropy_with_logits`.
    """

    function = staticmethod(functional.binary_cross_entropy_with_logits)
    _: KW_ONLY
    pos_weight: Tensor | None = None


class SoftMarginLoss(_Loss):
    """The loss of scores for targets, 1 or -1, of the same shape.

    See `mt_nn.functional.soft_margin_loss`.
    """

    function = staticmethod(functional.soft_margin_loss)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The loss of scores (*batch, labels) for targets of the same shape.

    See `mt_nn.functional.multilabel_soft_margin_loss`.
    """

    function = staticmethod(functional.multilabel_soft_margin_loss)


class MultiLabelMarginLoss(_Loss):
    """The loss of scores (batch, labels) for numbers of labels, of the same shape.

    See `mt_nn.functional.multilabel_margin_loss`.
    """

    function = staticmethod(functional.multilabel_margin_loss)


# --- Of distributions -----------------------------------------------------------------------------


class KLDivLoss(FunctionLayer):
    """The divergence of log-probabilities from targets of the same shape.

    See `mt_nn.functional.kl_div`.
    """

    function = staticmethod(functional.kl_div)
    _: KW_ONLY
    reduction: Reduction | Literal["batchmean"] = "mean"
    log_target: bool = False


class PoissonNLLLoss(_Loss):
    """The loss of means, or their logarithms, for counts of the same shape.

    See `mt_nn.functional.poisson_nll_loss`.
    """

    function = staticmethod(functional.poisson_nll_loss)
    log_input: bool = True
    full: bool = False
    _: KW_ONLY
    eps: float = 1e-8


class GaussianNLLLoss(_Loss):
    """The loss of means and variances for what was seen.

    See `mt_nn.functional.gaussian_nll_loss`.
    """

    function = staticmethod(functional.gaussian_nll_loss)
    _: KW_ONLY
    full: bool = False
    eps: float = 1e-6


# --- Of comparisons -------------------------------------------------------------------------------


class _MarginLoss(_Loss):
    """A loss that is 0 beyond a margin."""

    margin: float = 0.0


class CosineEmbeddingLoss(_MarginLoss):
    """The loss of pairs of vectors (batch, size) for targets, 1 or -1, (batch,).

    See `mt_nn.functional.cosine_embedding_loss`.
    """

    function = staticmethod(functional.cosine_embedding_loss)


class MarginRankingLoss(_MarginLoss):
    """The loss of pairs of scores for targets, 1 or -1.

    See `mt_nn.functional.margin_ranking_loss`.
    """

    function = staticmethod(functional.margin_ranking_loss)


class HingeEmbeddingLoss(_Loss):
    """The loss of distances for targets, 1 or -1, of the same shape.

    See `mt_nn.functional.hinge_embedding_loss`.
    """

    function = staticmethod(functional.hinge_embedding_loss)
    margin: float = 1.0


class TripletMarginLoss(_Loss):
    """The loss of triplets of vectors (batch, size); see `mt_nn.functional.triplet_margin_loss`."""

    function = staticmethod(functional.triplet_margin_loss)
    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False


class TripletMarginWithDistanceLoss(_Loss):
    """The loss of triplets, of whatever the distance takes.

    See `mt_nn.functional.triplet_margin_with_distance_loss`.
    """

    function = staticmethod(functional.triplet_margin_with_distance_loss)
    _: KW_ONLY
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None
    margin: float = 1.0
    swap: bool = False


# --- Of sequences ---------------------------------------------------------------------------------


class CTCLoss(FunctionLayer):
    """The loss of log-probabilities (time, batch, labels) for sequences of labels.

    See `mt_nn.functional.ctc_loss`.
    """

    function = staticmethod(functional.ctc_loss)
    blank: int = 0
    reduction: Reduction = "mean"
    zero_infinity: bool = False
