"""First values of parameters. The names are torch's, and so are the formulas."""

from mt_nn.core.init import fan_in, init_like_torch, uniform_
from mt_nn.init.filling import (
    Nonlinearity,
    calculate_gain,
    constant_,
    fan_out,
    kaiming_normal_,
    kaiming_uniform_,
    normal_,
    ones_,
    xavier_normal_,
    xavier_uniform_,
    zeros_,
)
from mt_nn.init.structured import dirac_, eye_, orthogonal_, sparse_, trunc_normal_

# fmt: off
__all__ = [
    "Nonlinearity", "calculate_gain", "constant_", "dirac_", "eye_", "fan_in", "fan_out",
    "init_like_torch", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "orthogonal_",
    "sparse_", "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
]
# fmt: on
