"""Element-wise functions with settings as methods of `Tensor`: `x.clamp(0)` is `clamp(x, 0)`."""

from __future__ import annotations

from mt_tensor.pointwise import activations, comparing, functions
from mt_tensor.tensor import Tensor


class PointwiseMethods(Tensor):
    """The functions of three modules, whose first argument is the tensor itself."""

    __slots__ = ()

    add = functions.add
    addcdiv = functions.addcdiv
    addcmul = functions.addcmul
    clamp = functions.clamp
    clamp_max = functions.clamp_max
    clamp_min = functions.clamp_min
    clip = functions.clamp
    deg2rad = functions.deg2rad
    float_power = functions.float_power
    fmax = functions.fmax
    fmin = functions.fmin
    frac = functions.frac
    heaviside = functions.heaviside
    ldexp = functions.ldexp
    lerp = functions.lerp
    logaddexp2 = functions.logaddexp2
    logit = functions.logit
    nan_to_num = functions.nan_to_num
    positive = functions.positive
    pow = functions.pow
    rad2deg = functions.rad2deg
    round = functions.round
    square = functions.square
    sub = functions.sub
    subtract = functions.sub

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
