"""What training needs beside layers.

Sequences of different lengths in one batch, parameters that are computed from others, layers that
become one, and what is done with all gradients or parameters.
"""

from mt_nn.utils import parametrizations, parametrize, rnn
from mt_nn.utils.clipping import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
    parameters_to_vector,
    vector_to_parameters,
)
from mt_nn.utils.fusing import (
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)

# fmt: off
__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "fuse_conv_bn_eval",
    "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights", "get_total_norm",
    "parameters_to_vector", "parametrizations", "parametrize", "rnn", "vector_to_parameters",
]
# fmt: on
