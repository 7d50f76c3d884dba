"""A kernel of 2 x 2 slides over an image of 3 x 3; the gradients are those of image and kernel."""

from typing import Any

from mt.concept.gradients import of_tensors

IMAGE = [[1.0, -2.0, 0.5], [3.0, 0.25, -1.0], [0.0, 2.0, 1.5]]
KERNEL = [[0.5, -1.0], [2.0, 0.75]]


def tensor() -> tuple[Any, Any]:
    def slide(image: Any, kernel: Any) -> Any:
        windows = image.unfold(0, 2, 1).unfold(1, 2, 1)
        return (windows.reshape(4, 4) @ kernel.flatten()).view(2, 2)

    return of_tensors(slide, IMAGE, KERNEL)


def nn() -> tuple[Any, Any]:
    import mt_nn as nn

    def convolved(image: Any, kernel: Any) -> Any:
        return nn.functional.conv2d(image[None, None], kernel[None, None]).view(2, 2)

    return of_tensors(convolved, IMAGE, KERNEL)


numpy = fast = cuda = nn


def reference() -> tuple[Any, Any]:
    import numpy as np

    image, kernel = np.array(IMAGE), np.array(KERNEL)
    out, by_image, by_kernel = np.zeros((2, 2)), np.zeros((3, 3)), np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            seen = (slice(i, i + 2), slice(j, j + 2))
            out[i, j] = (image[seen] * kernel).sum()
            by_image[seen] += kernel
            by_kernel += image[seen]
    return out, [by_image, by_kernel]
