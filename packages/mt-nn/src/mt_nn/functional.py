"""The operations of networks as functions, with the names of torch.

Each function is composed of tensor operations, which define it and its gradient. `checked` checks
the types of its arguments.

A backend may have a kernel for a function. Such a function has two parts: the public one checks and
normalizes the arguments, and an inner one, decorated with `@fused`, computes. A kernel replaces the
inner one and gets its arguments, by position: tensors of one backend with valid shapes and dtypes,
and tuples of integers. Elements are not checked: a kernel must detect an invalid class index, as
`gather` does.
"""

# ruff: noqa: I001 - several names on a line
# fmt: off
from mt_nn.core.activation import relu
from mt_nn.core.convolution import conv2d
from mt_nn.core.dropout import dropout
from mt_nn.core.linear import linear
from mt_nn.core.losses import accuracy, cross_entropy
from mt_nn.core.pooling import max_pool2d
from mt_nn.core.windows import windows
from mt_nn.layers.activation import (
    celu, elu, gumbel_softmax, hardsigmoid, hardswish, hardtanh, leaky_relu, mish, relu6, rrelu,
    selu, silu, threshold,
)
from mt_nn.layers.adaptive_pooling import (
    adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d,
    adaptive_max_pool2d, adaptive_max_pool3d, fractional_max_pool2d, fractional_max_pool3d,
)
from mt_nn.layers.attention import scaled_dot_product_attention
from mt_nn.layers.convolution import (
    conv1d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d,
)
from mt_nn.layers.dropout import (
    alpha_dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout,
)
from mt_nn.layers.embedding import embedding, embedding_bag
from mt_nn.layers.folding import fold, unfold
from mt_nn.layers.linear import bilinear
from mt_nn.layers.normalization import (
    batch_norm, group_norm, instance_norm, layer_norm, local_response_norm, normalize, rms_norm,
)
from mt_nn.layers.padding import pad
from mt_nn.layers.pooling import (
    avg_pool1d, avg_pool2d, avg_pool3d, lp_pool1d, lp_pool2d, lp_pool3d, max_pool1d, max_pool3d,
    max_unpool1d, max_unpool2d, max_unpool3d,
)
from mt_nn.layers.resampling import channel_shuffle, interpolate, pixel_shuffle, pixel_unshuffle
from mt_nn.losses.differences import huber_loss, l1_loss, mse_loss, smooth_l1_loss
from mt_nn.losses.labels import (
    binary_cross_entropy, binary_cross_entropy_with_logits, multi_margin_loss,
    multilabel_margin_loss, multilabel_soft_margin_loss, soft_margin_loss,
)
from mt_nn.losses.likelihoods import gaussian_nll_loss, kl_div, poisson_nll_loss
from mt_nn.losses.sequences import ctc_loss
from mt_nn.losses.similarities import (
    cosine_embedding_loss, hinge_embedding_loss, margin_ranking_loss, triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from mt_nn.losses.soft_targets import nll_loss
from mt_tensor import (
    cosine_similarity, gelu, glu, hardshrink, log_softmax, logsigmoid, one_hot,
    pairwise_distance, pdist, prelu, sigmoid, softmax, softmin, softplus, softshrink, softsign,
    tanh, tanhshrink,
)

__all__ = [
    "accuracy", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d",
    "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d", "alpha_dropout",
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "batch_norm", "bilinear", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "celu", "channel_shuffle", "conv1d", "conv2d", "conv3d",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cosine_embedding_loss",
    "cosine_similarity", "cross_entropy", "ctc_loss", "dropout", "dropout1d",
    "dropout2d", "dropout3d", "elu", "embedding", "embedding_bag", "feature_alpha_dropout", "fold",
    "fractional_max_pool2d", "fractional_max_pool3d", "gaussian_nll_loss", "gelu", "glu",
    "group_norm", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "hinge_embedding_loss", "huber_loss", "instance_norm", "interpolate", "kl_div", "l1_loss",
    "layer_norm", "leaky_relu", "linear", "local_response_norm", "log_softmax", "logsigmoid",
    "lp_pool1d", "lp_pool2d", "lp_pool3d", "margin_ranking_loss", "max_pool1d", "max_pool2d",
    "max_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d", "mish", "mse_loss",
    "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "nll_loss",
    "normalize", "one_hot", "pad", "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle",
    "poisson_nll_loss", "prelu", "relu", "relu6", "rms_norm", "rrelu",
    "scaled_dot_product_attention", "selu", "sigmoid", "silu", "smooth_l1_loss", "soft_margin_loss",
    "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold",
    "triplet_margin_loss", "triplet_margin_with_distance_loss", "unfold", "windows",
]
# fmt: on
