"""`ViewFunction`: an operation that only looks at elements otherwise, and copies none.

Its forward is arithmetic on shape and strides. Views of a tensor know of each other
(`recording.aliasing`): a change in place of one shows in all.
"""

from __future__ import annotations

from typing import Any

from mt_autodiff.extending import recording
from mt_tensor.recording.linear import LinearFunction
from mt_tensor.tensor import VIEW, Tensor
from mt_tensor.tensor_data import TensorData

_make = Tensor._make


class ViewFunction(LinearFunction):
    """A movement with its derivative. Subclass it, and call `apply`."""

    @staticmethod
    def moved(data: TensorData, *settings: Any) -> TensorData:
        """Return another view of the same storage (`TensorData.like`)."""
        raise NotImplementedError

    @classmethod
    def apply(cls, x: Tensor, *settings: Any) -> Tensor:
        """Return the view of `x` that some settings give, and record it."""
        data = cls.moved(x._tensor, *settings)
        result = _make(data, x.backend)
        if data.dtype.is_floating_point:
            base = x._base
            result._base = x if base is None else base
            result._seen = data.version
            if recording.get():
                cls.record(x, settings, result)
                result._requires_grad = VIEW
        return result
