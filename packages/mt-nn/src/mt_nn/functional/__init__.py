"""The operations of networks as functions, under torch's names; many activations are mt-tensor's.

Each is composed from the operations of tensors, which is its definition and gives its derivatives.
Some can be replaced by a kernel of the tensor's backend. These are in two parts: the public
function checks its arguments and brings them into one form, and an inner one marked `@fused`, or a
kernel in its stead, computes. A kernel so receives, by position, what the inner function takes:
tensors of one backend whose shapes and dtypes fit, and pairs of integers. Of elements nothing is
known: a class number that does not exist is for the kernel to find, as it is for `gather`.
"""

from mt_nn.functional.activation import (
    celu,
    elu,
    gumbel_softmax,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    mish,
    relu,
    relu6,
    rrelu,
    selu,
    silu,
    threshold,
)
from mt_nn.functional.attention import scaled_dot_product_attention
from mt_nn.functional.convolution import conv1d, conv2d
from mt_nn.functional.dropout import (
    alpha_dropout,
    drop_path,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from mt_nn.functional.embedding import embedding, embedding_bag
from mt_nn.functional.linear import bilinear, linear
from mt_nn.functional.losses import accuracy, cross_entropy, mse_loss, nll_loss
from mt_nn.functional.normalization import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    rms_norm,
)
from mt_nn.functional.pooling import avg_pool2d, max_pool2d
from mt_nn.functional.windows import windows
from mt_tensor import (
    gelu,
    glu,
    hardshrink,
    log_softmax,
    logsigmoid,
    one_hot,
    prelu,
    sigmoid,
    softmax,
    softmin,
    softplus,
    softshrink,
    softsign,
    tanh,
    tanhshrink,
)

__all__ = [
    "accuracy",
    "alpha_dropout",
    "avg_pool2d",
    "batch_norm",
    "bilinear",
    "celu",
    "conv1d",
    "conv2d",
    "cross_entropy",
    "drop_path",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "gelu",
    "glu",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "instance_norm",
    "layer_norm",
    "leaky_relu",
    "linear",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "max_pool2d",
    "mish",
    "mse_loss",
    "nll_loss",
    "one_hot",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "rrelu",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "windows",
]
