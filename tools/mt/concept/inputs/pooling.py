"""The maximum and the mean of each window of 1 x 3 of an image; the windows do not overlap.

The gradient is that of the sum of all results.
"""

from typing import Any

from mt.concept.gradients import of_tensors

IMAGE = [[1.0, -2.0, 0.5, 4.0, 0.75, 3.5], [3.0, 0.25, -1.0, 2.0, -0.5, 0.0]]


def tensor() -> tuple[Any, Any]:
    def pooled(image: Any) -> Any:
        windows = image.view(2, 2, 3)
        return [windows.max(2).values, windows.mean(2)]

    return of_tensors(pooled, IMAGE)


def nn() -> tuple[Any, Any]:
    import mt_nn as nn

    pools = nn.functional.max_pool2d, nn.functional.avg_pool2d
    return of_tensors(lambda x: [pool(x[None, None], (1, 3)).squeeze() for pool in pools], IMAGE)


numpy = fast = nn


def reference() -> tuple[Any, Any]:
    import numpy as np

    windows = np.reshape(IMAGE, (2, 2, 3))
    largest = windows.max(2, keepdims=True)
    slopes = (windows == largest) + 1.0 / 3.0
    return [largest[..., 0], windows.mean(2)], slopes.reshape(2, 6)
