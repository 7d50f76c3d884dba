"""Losses as modules, which store the settings of the functions in `mt_nn.functional`.

Weights of classes or elements are buffers, which are moved and saved with the module.
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
    """Base class of losses, with the setting `reduction`."""

    shown = ()
    _: KW_ONLY
    reduction: Reduction = "mean"


class _WeightedLoss(_Loss):
    """Base class of losses whose first setting is `weight`, of classes or elements."""

    weight: Tensor | None = None


# --- Regression -----------------------------------------------------------------------------------


class MSELoss(_Loss, function=functional.mse_loss):
    """Squared difference of two tensors of one shape; see `mt_nn.functional.mse_loss`."""


class L1Loss(_Loss, function=functional.l1_loss):
    """Absolute difference of two tensors of one shape; see `mt_nn.functional.l1_loss`."""


class SmoothL1Loss(_Loss, function=functional.smooth_l1_loss):
    """Smooth L1 loss of two tensors of one shape; see `mt_nn.functional.smooth_l1_loss`."""

    _: KW_ONLY
    beta: float = 1.0


class HuberLoss(_Loss, function=functional.huber_loss):
    """Huber loss of two tensors of one shape; see `mt_nn.functional.huber_loss`."""

    reduction: Reduction = "mean"
    delta: float = 1.0


# --- Classes --------------------------------------------------------------------------------------


class NLLLoss(_WeightedLoss, function=functional.nll_loss):
    """Negative log-likelihood of log-probabilities (batch, classes, ...) and classes (batch, ...).

    See `mt_nn.functional.nll_loss`.
    """

    _: KW_ONLY
    ignore_index: int = -100


class CrossEntropyLoss(_WeightedLoss, function=functional.cross_entropy):
    """Cross-entropy of scores (batch, classes, ...) and classes or class probabilities.

    See `mt_nn.functional.cross_entropy`.
    """

    _: KW_ONLY
    ignore_index: int = -100
    label_smoothing: float = 0.0


class MultiMarginLoss(_Loss, function=functional.multi_margin_loss):
    """Multi-class hinge loss of scores (batch, classes) and classes (batch,).

    See `mt_nn.functional.multi_margin_loss`.
    """

    p: int = 1
    margin: float = 1.0
    weight: Tensor | None = None


# --- Labels ---------------------------------------------------------------------------------------


class BCELoss(_WeightedLoss, function=functional.binary_cross_entropy):
    """Binary cross-entropy of probabilities and targets of the same shape.

    See `mt_nn.functional.binary_cross_entropy`.
    """


class BCEWithLogitsLoss(_WeightedLoss, function=functional.binary_cross_entropy_with_logits):
    """Binary cross-entropy of scores (logits) and targets of the same shape.

    See `mt_nn.functional.binary_cross_entropy_with_logits`.
    """

    _: KW_ONLY
    pos_weight: Tensor | None = None


class SoftMarginLoss(_Loss, function=functional.soft_margin_loss):
    """Logistic loss of scores, for targets of the same shape that are 1 or -1.

    See `mt_nn.functional.soft_margin_loss`.
    """


class MultiLabelSoftMarginLoss(_WeightedLoss, function=functional.multilabel_soft_margin_loss):
    """Mean binary cross-entropy of scores (*batch, labels) and targets of the same shape.

    See `mt_nn.functional.multilabel_soft_margin_loss`.
    """


class MultiLabelMarginLoss(_Loss, function=functional.multilabel_margin_loss):
    """Multi-label hinge loss of scores (batch, labels) and label indices of the same shape.

    See `mt_nn.functional.multilabel_margin_loss`.
    """


# --- Distributions --------------------------------------------------------------------------------


class KLDivLoss(FunctionLayer, function=functional.kl_div):
    """Kullback-Leibler divergence of log-probabilities and targets of the same shape.

    See `mt_nn.functional.kl_div`.
    """

    shown = ()
    _: KW_ONLY
    reduction: Reduction | Literal["batchmean"] = "mean"
    log_target: bool = False


class PoissonNLLLoss(_Loss, function=functional.poisson_nll_loss):
    """Negative log-likelihood of counts for Poisson distributions.

    See `mt_nn.functional.poisson_nll_loss`.
    """

    log_input: bool = True
    full: bool = False
    _: KW_ONLY
    eps: float = 1e-8


class GaussianNLLLoss(_Loss, function=functional.gaussian_nll_loss):
    """Negative log-likelihood of values for normal distributions.

    See `mt_nn.functional.gaussian_nll_loss`.
    """

    _: KW_ONLY
    full: bool = False
    eps: float = 1e-6


# --- Similarities and rankings --------------------------------------------------------------------


class _MarginLoss(_Loss):
    """Base class of losses with a margin."""

    margin: float = 0.0


class CosineEmbeddingLoss(_MarginLoss, function=functional.cosine_embedding_loss):
    """Cosine embedding loss of pairs of vectors (batch, size), for targets (batch,) of 1 or -1.

    See `mt_nn.functional.cosine_embedding_loss`.
    """


class MarginRankingLoss(_MarginLoss, function=functional.margin_ranking_loss):
    """Ranking loss of pairs of scores, for targets of 1 or -1.

    See `mt_nn.functional.margin_ranking_loss`.
    """


class HingeEmbeddingLoss(_Loss, function=functional.hinge_embedding_loss):
    """Hinge loss of distances, for targets of the same shape that are 1 or -1.

    See `mt_nn.functional.hinge_embedding_loss`.
    """

    margin: float = 1.0


class TripletMarginLoss(_Loss, function=functional.triplet_margin_loss):
    """Triplet loss of vectors (batch, size); see `mt_nn.functional.triplet_margin_loss`."""

    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False


class TripletMarginWithDistanceLoss(_Loss, function=functional.triplet_margin_with_distance_loss):
    """Triplet loss with a given distance function.

    See `mt_nn.functional.triplet_margin_with_distance_loss`.
    """

    _: KW_ONLY
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None
    margin: float = 1.0
    swap: bool = False


# --- Sequences ------------------------------------------------------------------------------------


class CTCLoss(_Loss, function=functional.ctc_loss):
    """CTC loss of log-probabilities (time, batch, labels) and sequences of labels.

    See `mt_nn.functional.ctc_loss`.
    """

    blank: int = 0
    reduction: Reduction = "mean"
    zero_infinity: bool = False
