"""`torch.autograd`: differentiation, and functions with their own gradients."""

from typing import TYPE_CHECKING, Any

from mt_tensor import Tensor
from mt_tensor.autograd import *

if TYPE_CHECKING:
    from mt_nn.torch_names.autograd import function


class _VariableType(type):
    def __call__(cls, data: Tensor, requires_grad: bool = False, **_: Any) -> Tensor:
        return data.detach().requires_grad_() if requires_grad else data

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableType):
    """A tensor, under its old name: `Variable(data)` returns a tensor with the same memory."""
