"""`torch.special`: special functions, some with other names than in torch."""

# ruff: noqa: I001 - several names on a line
# fmt: off
from mt_tensor import (
    digamma as digamma, digamma as psi, erf as erf, erfc as erfc, erfinv as erfinv,
    exp2 as exp2, expit as expit, expm1 as expm1, lgamma as gammaln, log1p as log1p,
    log_softmax as log_softmax, logit as logit, logsumexp as logsumexp, ndtr as ndtr,
    round as round, sinc as sinc, softmax as softmax, xlogy as xlogy,
)
