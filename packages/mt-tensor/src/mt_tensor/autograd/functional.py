"""Matrices of derivatives, under torch's names."""

from mt_tensor.library.autograd.functional import (
    jacobian as jacobian,
    hessian as hessian,
    vjp as vjp,
)
