"""Gradients as results: of functions and of what was recorded, exact ones and checks of them."""

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
