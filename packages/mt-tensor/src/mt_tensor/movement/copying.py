"""Copy a result that would otherwise share memory with the argument.

As in torch, the contract of an operation says whether its result is a view, because an in-place
change of a view changes the argument too. This must not depend on settings for which the operation
has nothing to do, such as a rotation by 0.
"""

from __future__ import annotations

from mt_tensor.core.tensor import Tensor


def copy_if_aliased(result: Tensor, source: Tensor) -> Tensor:
    """Return `result`, or a copy if it shares memory with `source`."""
    shares = source.backend.same_memory(result._tensor.storage, source._tensor.storage)
    return result.clone() if shares else result
