"""`torch.special`: functions of analysis, some under names of their own."""

from mt_tensor import digamma as digamma
from mt_tensor import digamma as psi
from mt_tensor import erf as erf
from mt_tensor import erfc as erfc
from mt_tensor import erfinv as erfinv
from mt_tensor import exp2 as exp2
from mt_tensor import expit as expit
from mt_tensor import expm1 as expm1
from mt_tensor import lgamma as gammaln
from mt_tensor import log1p as log1p
from mt_tensor import log_softmax as log_softmax
from mt_tensor import logit as logit
from mt_tensor import logsumexp as logsumexp
from mt_tensor import ndtr as ndtr
from mt_tensor import round as round
from mt_tensor import sinc as sinc
from mt_tensor import softmax as softmax
from mt_tensor import xlogy as xlogy
