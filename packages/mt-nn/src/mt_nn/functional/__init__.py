"""The operations of networks as functions, under torch's names; activations are mt-tensor's.

Each is composed from the operations of tensors, which is its definition and gives its derivatives.
Some can be replaced by a kernel of the tensor's backend. These are in two parts: the public
function checks its arguments and brings them into one form, and an inner one marked `@fused`, or a
kernel in its stead, computes. A kernel so receives, by position, what the inner function takes:
tensors of one backend whose shapes and dtypes fit, and pairs of integers. Of elements nothing is
known: a class number that does not exist is for the kernel to find, as it is for `gather`.
"""

from mt_nn.functional.attention import scaled_dot_product_attention
from mt_nn.functional.convolution import conv1d, conv2d
from mt_nn.functional.dropout import dropout
from mt_nn.functional.embedding import embedding
from mt_nn.functional.linear import linear
from mt_nn.functional.losses import (
    accuracy,
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    cross_entropy,
    ctc_loss,
    gaussian_nll_loss,
    hinge_embedding_loss,
    huber_loss,
    kl_div,
    l1_loss,
    margin_ranking_loss,
    mse_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    nll_loss,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from mt_nn.functional.normalization import batch_norm, layer_norm
from mt_nn.functional.pooling import avg_pool2d, max_pool2d
from mt_nn.functional.windows import windows
from mt_tensor import (
    celu,
    elu,
    gelu,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    log_softmax,
    mish,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    softmax,
    softmin,
    softplus,
    softsign,
    tanh,
)

__all__ = [
    "accuracy",
    "avg_pool2d",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "conv1d",
    "conv2d",
    "cosine_embedding_loss",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "elu",
    "embedding",
    "gaussian_nll_loss",
    "gelu",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "margin_ranking_loss",
    "max_pool2d",
    "mish",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "poisson_nll_loss",
    "relu",
    "relu6",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softsign",
    "tanh",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "windows",
]
