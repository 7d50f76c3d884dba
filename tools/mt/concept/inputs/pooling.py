"""The largest and the mean of each window of 1 x 3 of an image; the windows do not overlap.

The gradient is that of the sum of all results.
"""

from typing import Any

IMAGE = [[1.0, -2.0, 0.5, 4.0, 0.75, 3.5], [3.0, 0.25, -1.0, 2.0, -0.5, 0.0]]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    image = mt.tensor(IMAGE, requires_grad=True)
    windows = image.view(2, 2, 3)
    largest, _ = windows.max(2)
    mean = windows.mean(2)
    (largest + mean).sum().backward()
    return [largest, mean], image.grad


def numpy() -> tuple[Any, Any]:
    return nn()


def fast() -> tuple[Any, Any]:
    return nn()


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    image = mt.tensor(IMAGE, requires_grad=True)
    one = image.view(1, 1, 2, 6)
    largest, mean = nn.functional.max_pool2d(one, (1, 3)), nn.functional.avg_pool2d(one, (1, 3))
    (largest + mean).sum().backward()
    return [largest.view(2, 2), mean.view(2, 2)], image.grad


def reference() -> tuple[Any, Any]:
    import numpy as np

    windows = np.reshape(IMAGE, (2, 2, 3))
    largest = windows.max(2, keepdims=True)
    slopes = (windows == largest) + 1.0 / 3.0
    return [largest[..., 0], windows.mean(2)], slopes.reshape(2, 6)
