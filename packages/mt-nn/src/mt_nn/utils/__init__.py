"""Utilities for training.

Packed and padded sequences, parametrizations, fusion of layers, clipping of gradients, and
conversion of parameters to a vector.
"""

from mt_nn.utils import parametrizations, parametrize, rnn, stateless
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
from mt_nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from mt_nn.utils.weight_norm import remove_weight_norm, weight_norm

# fmt: off
__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "fuse_conv_bn_eval",
    "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights", "get_total_norm",
    "parameters_to_vector", "parametrizations", "parametrize", "remove_spectral_norm",
    "remove_weight_norm", "rnn", "spectral_norm", "stateless", "vector_to_parameters",
    "weight_norm",
]
# fmt: on
