"""What readers of images share: bytes become a Tensor of numbers from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mt_tensor import Tensor, empty, tensor

PORTION = 1024


def scaled(parts: Sequence[npt.NDArray[np.uint8]]) -> Tensor:
    """Return the images of all parts, float32 from 0 to 1, of shape (count, *shape of an image).

    They are put in place in portions, for a data set of numbers takes four times the memory of its
    bytes: it is there once, on whatever backend.

    Args:
        parts: images of one shape in each, at least one part.
    """
    result = empty(sum(map(len, parts)), *parts[0].shape[1:])
    begin = 0
    for part in parts:
        for first in range(0, len(part), PORTION):
            portion = np.divide(part[first : first + PORTION], 255, dtype=np.float32)
            result[begin : begin + len(portion)] = tensor(portion)
            begin += len(portion)
    return result
