"""The largest of each window of 2 x 2 of an image of 2 x 4; the windows do not overlap."""

from typing import Any

IMAGE = [[1.0, -2.0, 0.5, 4.0], [3.0, 0.25, -1.0, 2.0]]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    image = mt.tensor(IMAGE, requires_grad=True)
    windows = image.view(1, 2, 2, 2).permute(0, 2, 1, 3).reshape(1, 2, 4)
    out, _ = windows.max(2)
    out.sum().backward()
    return out, image.grad


def fast() -> tuple[Any, Any]:
    return nn()


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    image = mt.tensor(IMAGE, requires_grad=True)
    out = nn.functional.max_pool2d(image.view(1, 1, 2, 4), 2).view(1, 2)
    out.sum().backward()
    return out, image.grad


def reference() -> tuple[Any, Any]:
    return [[3.0, 4.0]], [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]]
