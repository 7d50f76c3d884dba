"""`Parameter`: a trainable tensor.

It is a `Tensor`, so that layers compute with it directly, and a `Parameter` of stage 0, so that
stage 0's `Module` registers it.
"""

from __future__ import annotations

from typing import Any

import mt_operators
from mt_operators import StateDictError
from mt_tensor import Tensor, tensor
from mt_tensor.core.in_place import overwrite


class Parameter(Tensor, mt_operators.Parameter):
    """A tensor that requires grad, and that modules register as a parameter.

    Args:
        data: a tensor, whose memory is shared, or anything that `mt_tensor.tensor` accepts.
        requires_grad: whether it is trained.
    """

    def __init__(self, data: Any, requires_grad: bool = True) -> None:
        self._become(data if isinstance(data, Tensor) else tensor(data))
        self.requires_grad_(requires_grad)

    @property
    def value(self) -> Tensor:
        """The parameter itself."""
        return self

    def update(self, value: Any) -> None:
        """Overwrite the elements, converting to this parameter's dtype and backend."""
        if not isinstance(value, Tensor) or value.backend is not self.backend:
            value = tensor(value, backend=self.backend)
        overwrite(self, value)

    def checked_copy(self, saved: Any) -> Tensor:
        """Convert a saved value to a tensor.

        Raises:
            StateDictError: it has another shape, or cannot be converted to a tensor.
        """
        value = super().checked_copy(saved)
        try:
            return value if isinstance(value, Tensor) else tensor(value)
        except (TypeError, ValueError) as error:
            raise StateDictError(str(error)) from error

    def load(self, value: Any) -> None:
        """Store a value that `checked_copy` returned."""
        self.update(value)

    def __repr__(self) -> str:
        """Return the elements as text."""
        return f"Parameter containing:\n{super().__repr__()}"
