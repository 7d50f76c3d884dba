"""Gradients as return values, function transforms, checkpointing, and gradient checks."""

from mt_autodiff import enable_grad, inference_mode, no_grad, set_grad_enabled
from mt_tensor.autograd import func, functional
from mt_tensor.autograd.checkpointing import checkpoint, checkpoint_sequential
from mt_tensor.autograd.gradcheck import gradcheck, gradgradcheck
from mt_tensor.autograd.gradients import backward, grad
from mt_tensor.recording.functions import Function

__all__ = [
    "Function",
    "backward",
    "checkpoint",
    "checkpoint_sequential",
    "enable_grad",
    "func",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
]
