"""Dropout in one pass each way, as a fused formula that recomputes the mask from the noise."""

from __future__ import annotations

import numpy as np

from mt_tensor import Tensor, float32, fuse, where
from mt_tensor.extending import FUSED


def dropout(input: Tensor, noise: Tensor, p: float) -> Tensor:
    """Zero the elements whose noise is below `p`, and scale the rest; float32 as one formula."""
    if input.dtype is not float32:
        return FUSED["dropout"](input, noise, p)
    limit, scale = float(np.float32(p)), 1.0 / (1.0 - p)
    return _scaled_where_kept(input, noise.detach(), limit, scale)


@fuse
def _scaled_where_kept(input: Tensor, noise: Tensor, p: float, scale: float) -> Tensor:
    return input * where(noise >= p, scale, 0.0)
