"""Element-wise functions with settings as methods of `Tensor`: `x.clamp(0)` is `clamp(x, 0)`."""

from __future__ import annotations

from mt_tensor import activations, comparing, pointwise
from mt_tensor.tensor_base import TensorBase


class PointwiseMethods(TensorBase):
    """The functions of three modules, whose first argument is the tensor itself."""

    __slots__ = ()

    add = pointwise.add
    addcdiv = pointwise.addcdiv
    addcmul = pointwise.addcmul
    clamp = pointwise.clamp
    clamp_max = pointwise.clamp_max
    clamp_min = pointwise.clamp_min
    clip = pointwise.clamp
    deg2rad = pointwise.deg2rad
    float_power = pointwise.float_power
    fmax = pointwise.fmax
    fmin = pointwise.fmin
    frac = pointwise.frac
    heaviside = pointwise.heaviside
    ldexp = pointwise.ldexp
    lerp = pointwise.lerp
    logaddexp2 = pointwise.logaddexp2
    logit = pointwise.logit
    nan_to_num = pointwise.nan_to_num
    positive = pointwise.positive
    pow = pointwise.pow
    rad2deg = pointwise.rad2deg
    square = pointwise.square
    sub = pointwise.sub
    subtract = pointwise.sub

    celu = activations.celu
    elu = activations.elu
    gelu = activations.gelu
    glu = activations.glu
    hardshrink = activations.hardshrink
    hardtanh = activations.hardtanh
    leaky_relu = activations.leaky_relu
    prelu = activations.prelu
    softplus = activations.softplus
    softshrink = activations.softshrink
    tanhshrink = activations.tanhshrink
    threshold = activations.threshold

    allclose = comparing.allclose
    equal = comparing.equal
    isclose = comparing.isclose
    isneginf = comparing.isneginf
    isposinf = comparing.isposinf
