"""Losses as modules: the functions of `mt_nn.functional`, with their settings kept.

Weights of classes or elements are buffers, which move and are saved with the module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from mt_nn import functional
from mt_nn.functional.losses.reduction import Reduction
from mt_nn.module import Module
from mt_tensor import Tensor


class _Loss(Module):
    """A loss that has no settings but the reduction."""

    def __init__(self, *, reduction: Reduction = "mean") -> None:
        super().__init__()
        self.reduction = reduction


class _WeightedLoss(_Loss):
    """A loss whose first setting is the weights of classes or elements."""

    weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        self.register_buffer("weight", weight)


# --- Of numbers -----------------------------------------------------------------------------------


class MSELoss(_Loss):
    """See `mt_nn.functional.mse_loss`."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the squared difference of two tensors of one shape."""
        return functional.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """See `mt_nn.functional.l1_loss`."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the absolute difference of two tensors of one shape."""
        return functional.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """See `mt_nn.functional.smooth_l1_loss`."""

    def __init__(self, *, reduction: Reduction = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of two tensors of one shape."""
        return functional.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """See `mt_nn.functional.huber_loss`."""

    def __init__(self, reduction: Reduction = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of two tensors of one shape."""
        return functional.huber_loss(input, target, self.reduction, self.delta)


# --- Of classes -----------------------------------------------------------------------------------


class NLLLoss(_WeightedLoss):
    """See `mt_nn.functional.nll_loss`."""

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        ignore_index: int = -100,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of log-probabilities (batch, classes, ...) for classes (batch, ...)."""
        return functional.nll_loss(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class CrossEntropyLoss(_WeightedLoss):
    """See `mt_nn.functional.cross_entropy`."""

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        ignore_index: int = -100,
        reduction: Reduction = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of scores (batch, classes, ...) for classes, or their probabilities."""
        return functional.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class MultiMarginLoss(_WeightedLoss):
    """See `mt_nn.functional.multi_margin_loss`."""

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        *,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.p, self.margin = p, margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of scores (batch, classes) for classes (batch,)."""
        return functional.multi_margin_loss(
            input, target, self.p, self.margin, self.weight, reduction=self.reduction
        )


# --- Of labels ------------------------------------------------------------------------------------


class BCELoss(_WeightedLoss):
    """See `mt_nn.functional.binary_cross_entropy`."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of probabilities for targets of the same shape."""
        return functional.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    """See `mt_nn.functional.binary_cross_entropy_with_logits`."""

    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        reduction: Reduction = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of scores for targets of the same shape."""
        return functional.binary_cross_entropy_with_logits(
            input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


class SoftMarginLoss(_Loss):
    """See `mt_nn.functional.soft_margin_loss`."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of scores for targets, 1 or -1, of the same shape."""
        return functional.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """See `mt_nn.functional.multilabel_soft_margin_loss`."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of scores (*batch, labels) for targets of the same shape."""
        return functional.multilabel_soft_margin_loss(
            input, target, self.weight, reduction=self.reduction
        )


class MultiLabelMarginLoss(_Loss):
    """See `mt_nn.functional.multilabel_margin_loss`."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of scores (batch, labels) for numbers of labels, of the same shape."""
        return functional.multilabel_margin_loss(input, target, reduction=self.reduction)


# --- Of distributions -----------------------------------------------------------------------------


class KLDivLoss(_Loss):
    """See `mt_nn.functional.kl_div`."""

    reduction: Reduction | Literal["batchmean"]  # type: ignore[assignment]

    def __init__(
        self,
        *,
        reduction: Reduction | Literal["batchmean"] = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__()
        self.reduction, self.log_target = reduction, log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the divergence of log-probabilities from targets of the same shape."""
        return functional.kl_div(
            input, target, reduction=self.reduction, log_target=self.log_target
        )


class PoissonNLLLoss(_Loss):
    """See `mt_nn.functional.poisson_nll_loss`."""

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        *,
        eps: float = 1e-8,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of means, or their logarithms, for counts of the same shape."""
        return functional.poisson_nll_loss(
            input, target, self.log_input, self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(_Loss):
    """See `mt_nn.functional.gaussian_nll_loss`."""

    def __init__(
        self, *, full: bool = False, eps: float = 1e-6, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        """Return the loss of means and variances for what was seen."""
        return functional.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


# --- Of comparisons -------------------------------------------------------------------------------


class _MarginLoss(_Loss):
    """A loss that is 0 beyond a margin."""

    def __init__(self, margin: float = 0.0, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        self.margin = margin


class CosineEmbeddingLoss(_MarginLoss):
    """See `mt_nn.functional.cosine_embedding_loss`."""

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Return the loss of pairs of vectors (batch, size) for targets, 1 or -1, (batch,)."""
        return functional.cosine_embedding_loss(
            input1, input2, target, self.margin, reduction=self.reduction
        )


class MarginRankingLoss(_MarginLoss):
    """See `mt_nn.functional.margin_ranking_loss`."""

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Return the loss of pairs of scores for targets, 1 or -1."""
        return functional.margin_ranking_loss(
            input1, input2, target, self.margin, reduction=self.reduction
        )


class HingeEmbeddingLoss(_MarginLoss):
    """See `mt_nn.functional.hinge_embedding_loss`."""

    def __init__(self, margin: float = 1.0, *, reduction: Reduction = "mean") -> None:
        super().__init__(margin, reduction=reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of distances for targets, 1 or -1, of the same shape."""
        return functional.hinge_embedding_loss(input, target, self.margin, reduction=self.reduction)


class TripletMarginLoss(_MarginLoss):
    """See `mt_nn.functional.triplet_margin_loss`."""

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        *,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(margin, reduction=reduction)
        self.p, self.eps, self.swap = p, eps, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Return the loss of triplets of vectors (batch, size)."""
        return functional.triplet_margin_loss(
            anchor,
            positive,
            negative,
            self.margin,
            self.p,
            self.eps,
            self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_MarginLoss):
    """See `mt_nn.functional.triplet_margin_with_distance_loss`."""

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(margin, reduction=reduction)
        self.distance_function, self.swap = distance_function, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Return the loss of triplets, of whatever the distance takes."""
        return functional.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


# --- Of sequences ---------------------------------------------------------------------------------


class CTCLoss(_Loss):
    """See `mt_nn.functional.ctc_loss`."""

    def __init__(
        self, blank: int = 0, reduction: Reduction = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor | list[int],
        target_lengths: Tensor | list[int],
    ) -> Tensor:
        """Return the loss of log-probabilities (time, batch, labels) for sequences of labels."""
        return functional.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )
