"""Losses: how wrong a network is, as a number to be made small.

All end with a reduction: `"mean"` or `"sum"` of the losses of all elements or samples, or `"none"`
for one loss each. torch's deprecated `size_average` and `reduce` are left out, and what follows
them there is given by name here, so that no position means something else.
"""

from mt_nn.functional.losses.classes import accuracy, cross_entropy, multi_margin_loss, nll_loss
from mt_nn.functional.losses.reduction import Reduction
from mt_nn.library.functional.losses.differences import (
    huber_loss,
    l1_loss,
    mse_loss,
    smooth_l1_loss,
)
from mt_nn.library.functional.losses.labels import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    soft_margin_loss,
)
from mt_nn.library.functional.losses.likelihoods import gaussian_nll_loss, kl_div, poisson_nll_loss
from mt_nn.library.functional.losses.sequences import ctc_loss
from mt_nn.library.functional.losses.similarities import (
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)

__all__ = [
    "Reduction",
    "accuracy",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cross_entropy",
    "ctc_loss",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]
