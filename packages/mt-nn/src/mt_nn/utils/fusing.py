"""Fusion of batch normalization into the previous layer, for evaluation only."""

from __future__ import annotations

import copy
from typing import TypeVar

from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.errors import SettingError
from mt_tensor import Tensor, no_grad, ones_like, zeros_like

M = TypeVar("M", bound=Module)


def fuse_conv_bn_eval(conv: M, bn: Module, transpose: bool = False) -> M:
    """Return a convolution that is equivalent to a convolution followed by batch normalization.

    Args:
        conv: the convolution, which is not changed.
        bn: batch normalization of its output, with running statistics.
        transpose: whether the convolution is transposed.

    Raises:
        SettingError: a layer is in training mode, or there are no running statistics.
    """
    if conv.training or bn.training or bn.running_mean is None:
        raise SettingError(
            "fusing needs a layer and batch normalization in evaluation mode, with running "
            "statistics: call eval() on both first."
        )
    fused = copy.deepcopy(conv)
    weight, bias = fuse_conv_bn_weights(
        conv.weight, conv.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias,
        transpose,
    )  # fmt: skip
    fused.weight, fused.bias = weight, bias
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Return the weight and the bias of the result of `fuse_conv_bn_eval`.

    Args:
        conv_w: the weight of the convolution.
        conv_b: its bias, or None.
        bn_rm: the running mean of the normalization, shape (channels,).
        bn_rv: its running variance, shape (channels,).
        bn_eps: the number added to the variance.
        bn_w: its weight, shape (channels,), or None for ones.
        bn_b: its bias, shape (channels,), or None for zeros.
        transpose: whether the output channels are dimension 1 of the weight instead of 0.
    """
    with no_grad():
        bias = zeros_like(bn_rm) if conv_b is None else conv_b
        weight = ones_like(bn_rm) if bn_w is None else bn_w
        scale = weight * (bn_rv + bn_eps).rsqrt()
        shape = [1] * conv_w.ndim
        shape[1 if transpose else 0] = -1
        shift = (bias - bn_rm) * scale
        fused = conv_w * scale.view(*shape), shift if bn_b is None else shift + bn_b
    return Parameter(fused[0], conv_w.requires_grad), Parameter(fused[1], bias.requires_grad)


def fuse_linear_bn_eval(linear: M, bn: Module) -> M:
    """Return a linear layer that is equivalent to one followed by batch normalization.

    Args:
        linear: the linear layer, which is not changed.
        bn: batch normalization of its output, with running statistics.

    Raises:
        SettingError: a layer is in training mode, or there are no running statistics.
    """
    return fuse_conv_bn_eval(linear, bn)


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """Return the weight and the bias of the result of `fuse_linear_bn_eval`."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
