"""Gradients as results: of functions and of what was recorded, exact ones and checks of them."""

from mt_autodiff import enable_grad, inference_mode, no_grad, set_grad_enabled
from mt_tensor.library.autograd import functional
from mt_tensor.library.autograd.gradcheck import gradcheck, gradgradcheck
from mt_tensor.library.autograd.gradients import backward, grad
from mt_tensor.recording.function import Function

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
