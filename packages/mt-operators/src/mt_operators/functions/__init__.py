"""All functions for formulas, and further rows of the operator table.

The functions of the core are included: `from mt_operators.functions import exp, where`.
"""

# fmt: off
from mt_operators.core.elementary import (
    ELEMENTARY as ELEMENTARY, cos as cos, div as div, exp as exp, log as log, maximum as maximum,
    minimum as minimum, pow as pow, sin as sin, sqrt as sqrt, tanh as tanh, where as where,
)
from mt_operators.core.table import sigmoid as sigmoid, sign as sign
from mt_operators.functions import activations as activations
from mt_operators.functions.arithmetic import (
    ceil as ceil, floor as floor, floor_divide as floor_divide, fmod as fmod, hypot as hypot,
    remainder as remainder, round as round, signbit as signbit, trunc as trunc,
)
from mt_operators.functions.exponential import (
    exp2 as exp2, expm1 as expm1, log1p as log1p, log2 as log2, log10 as log10,
    softplus as softplus,
)
from mt_operators.functions.integers import (
    bitwise_and as bitwise_and, bitwise_left_shift as bitwise_left_shift,
    bitwise_not as bitwise_not, bitwise_or as bitwise_or,
    bitwise_right_shift as bitwise_right_shift, bitwise_xor as bitwise_xor, gcd as gcd, lcm as lcm,
)
from mt_operators.functions.special import (
    digamma as digamma, erf as erf, erfc as erfc, erfinv as erfinv, lgamma as lgamma, ndtr as ndtr,
    sinc as sinc,
)
from mt_operators.functions.trigonometric import (
    acos as acos, acosh as acosh, asin as asin, asinh as asinh, atan as atan, atan2 as atan2,
    atanh as atanh, cosh as cosh, sinh as sinh, tan as tan,
)
