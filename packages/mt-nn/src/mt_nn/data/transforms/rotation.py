"""Rotation: each new pixel is looked up in the old image."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mt_nn.data.transforms import transform
from mt_nn.data.transforms.resizing import INTERPOLATIONS
from mt_nn.data.transforms.transform import ImageTransform, Numbers
from mt_nn.utils.settings import choice
from mt_tensor import Tensor, tensor, zeros_like
from mt_tensor.extending import generator


class RandomRotation(ImageTransform):
    """Rotate images counterclockwise by a random angle, without changing their size.

    Args:
        degrees: the bounds of the angle; a number d is short for (-d, d).
        interpolation: "nearest" or "bilinear".
        center: x and y of the fixed point, in pixels from the upper left corner; the center of the
            image if None.
        fill: the value of pixels outside the old image: a number, or one per channel.

    Raises:
        SettingError: a setting is invalid.
    """

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: str = "nearest",
        *,
        center: Sequence[float] | None = None,
        fill: float | Sequence[float] = 0,
    ) -> None:
        bounds = (-degrees, degrees) if isinstance(degrees, int | float) else degrees
        self.degrees = transform.interval("degrees", bounds)
        self.interpolation = choice("interpolation", interpolation, INTERPOLATIONS)
        self.center = None if center is None else transform.row("center", center, 2)
        self.fill = transform.row("fill", fill)

    def transformed(self, img: Tensor) -> Tensor:
        """Return the rotated image.

        Raises:
            InputError: the dtype is not floating-point, or the number of channels is not that of
                `fill`.
        """
        transform.check_real("RandomRotation", img)
        height, width = img.shape[-2:]
        y, x = np.divmod(np.arange(height * width), width)
        across, down = np.array(self.center or (width / 2, height / 2)) - 0.5
        angle = np.radians(generator().uniform(*self.degrees))
        cos, sin = np.cos(angle), np.sin(angle)
        x, y = x - across, y - down
        return self._looked_up(img, cos * x - sin * y + across, sin * x + cos * y + down)

    def _looked_up(self, img: Tensor, x: Numbers, y: Numbers) -> Tensor:
        """Return an image of the values at the given points of the old one.

        Points outside the old image have the value `fill`.
        """
        height, width = img.shape[-2:]
        flat = img.flatten(-2)
        result, total = zeros_like(flat), np.zeros_like(x)
        for left, top, weight in self._neighbors(x, y):
            i, j = top.clip(0, height - 1), left.clip(0, width - 1)
            index = tensor((i * width + j).astype(np.int64), backend=img.backend)
            inside = weight * ((i == top) & (j == left))
            weights = tensor(inside, dtype=img.dtype, backend=img.backend)
            result = result + flat.index_select(-1, index) * weights
            total += inside
        outside = tensor(1 - total, dtype=img.dtype, backend=img.backend).view(height, width)
        fill = transform.column("the fill of RandomRotation", self.fill, img)
        return result.view(img.shape) + outside * fill

    def _neighbors(self, x: Numbers, y: Numbers) -> list[tuple[Numbers, Numbers, Numbers]]:
        """Return the column, row and weight of each old pixel that a point depends on."""
        if self.interpolation == "nearest":
            return [(np.rint(x), np.rint(y), np.ones_like(x))]
        left, top = np.floor(x), np.floor(y)
        across, down = x - left, y - top
        return [
            (left, top, (1 - across) * (1 - down)),
            (left + 1, top, across * (1 - down)),
            (left, top + 1, (1 - across) * down),
            (left + 1, top + 1, across * down),
        ]
