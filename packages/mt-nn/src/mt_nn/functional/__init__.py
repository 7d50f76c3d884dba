"""The operations of networks as functions, under torch's names; activations are mt-tensor's.

Each is composed from the operations of tensors, which is its definition and gives its derivatives.
Some can be replaced by a kernel of the tensor's backend. These are in two parts: the public
function checks its arguments and brings them into one form, and an inner one marked `@fused`, or a
kernel in its stead, computes. A kernel so receives, by position, what the inner function takes:
tensors of one backend whose shapes and dtypes fit, and pairs of integers. Of elements nothing is
known: a class number that does not exist is for the kernel to find, as it is for `gather`.
"""

from mt_nn.functional.adaptive_pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
)
from mt_nn.functional.attention import scaled_dot_product_attention
from mt_nn.functional.convolution import conv1d, conv2d, conv3d
from mt_nn.functional.dropout import dropout
from mt_nn.functional.embedding import embedding
from mt_nn.functional.folding import fold, unfold
from mt_nn.functional.linear import linear
from mt_nn.functional.losses import accuracy, cross_entropy, mse_loss, nll_loss
from mt_nn.functional.normalization import batch_norm, layer_norm, normalize
from mt_nn.functional.padding import pad
from mt_nn.functional.pooling import (
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from mt_nn.functional.rearranging import channel_shuffle, pixel_shuffle, pixel_unshuffle
from mt_nn.functional.resampling import interpolate
from mt_nn.functional.transposed import conv_transpose1d, conv_transpose2d, conv_transpose3d
from mt_nn.functional.unpooling import max_unpool1d, max_unpool2d, max_unpool3d
from mt_nn.functional.windows import windows
from mt_tensor import (
    celu,
    cosine_similarity,
    elu,
    gelu,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    log_softmax,
    mish,
    pairwise_distance,
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
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "celu",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "fold",
    "gelu",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "interpolate",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "nll_loss",
    "normalize",
    "pad",
    "pairwise_distance",
    "pixel_shuffle",
    "pixel_unshuffle",
    "relu",
    "relu6",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softsign",
    "tanh",
    "unfold",
    "windows",
]
