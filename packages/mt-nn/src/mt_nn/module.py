"""`Module`: stage 0's tree of parameters, for parameters that are tensors.

What it adds are torch's methods for all tensors of a network at once: another element type or
backend, no gradients, nothing to train.
"""

from __future__ import annotations

from typing import Any, Self

import mt_operators
from mt_tensor import Tensor, float16, float32, float64


class Module(mt_operators.Module):
    """A layer or a network; subclass it as in torch, and define `forward`."""

    def to(self, target: Any = None, dtype: Any = None, *, backend: Any = None) -> Self:
        """Convert all parameters, gradients and buffers in place, and return the module.

        Integers keep their element type. Optimizers made before know the parameters still; what
        they remember of them is not converted.

        Args:
            target: an element type, or a backend or its name; see `mt_tensor.Tensor.to`.
            dtype: an element type.
            backend: a backend or its name.

        Raises:
            UnknownBackendError: a name is neither an element type nor a backend.
            DTypeError: there is no such element type.
        """

        def converted(value: Tensor) -> Tensor:
            found = value.detach().to(target, dtype, backend=backend)
            if value.is_floating_point():
                return found
            return value.detach().to(backend=found.backend)

        for module in self.modules():
            for name, buffer in module._buffers.items():
                if isinstance(buffer.value, Tensor):
                    setattr(module, name, converted(buffer.value))
        for holder in self.parameters():
            parameter = holder.value
            grad, needed = parameter.grad, parameter.requires_grad
            parameter._become(converted(parameter))
            parameter.requires_grad_(needed)
            if grad is not None:
                parameter.grad = converted(grad)
        return self

    def half(self) -> Self:
        """Convert all floating-point numbers to float16."""
        return self.to(float16)

    def float(self) -> Self:
        """Convert all floating-point numbers to float32."""
        return self.to(float32)

    def double(self) -> Self:
        """Convert all floating-point numbers to float64."""
        return self.to(float64)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to zero."""
        for holder in self.parameters():
            parameter = holder.value
            if set_to_none or parameter.grad is None:
                parameter.grad = None
            else:
                parameter.grad.detach().zero_()

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Train all parameters, or none of them; return the module."""
        for holder in self.parameters():
            holder.value.requires_grad_(requires_grad)
        return self
