"""Gradients as return values, Jacobians and Hessians, and gradient checks."""

from mt_autodiff import enable_grad, inference_mode, no_grad, set_grad_enabled
from mt_tensor.autograd import functional
from mt_tensor.autograd.gradcheck import gradcheck, gradgradcheck
from mt_tensor.autograd.gradients import backward, grad
from mt_tensor.recording.functions import Function

__all__ = [
    "Function",
    "backward",
    "enable_grad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
]
