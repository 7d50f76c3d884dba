"""Results in memory of their own, where an operation finds nothing to do and could give its input.

Which results are views of their arguments is part of what an operation promises, as in torch:
whoever changes a result in place must know what else changes. So it never depends on settings
whether there is memory to share.
"""

from __future__ import annotations

from mt_tensor.core.tensor import Tensor


def apart(result: Tensor, source: Tensor) -> Tensor:
    """Return a result, or a copy of it if it lies in the memory of what it was made from."""
    shares = source.backend.same_memory(result._tensor.storage, source._tensor.storage)
    return result.clone() if shares else result
