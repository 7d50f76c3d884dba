"""Affine transforms: each new pixel is looked up in the old image.

A point is a column (x, y), in pixels relative to the center of the image; y points down. As in
torchvision, `RandomRotation` rotates counterclockwise and `RandomAffine` clockwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from mt_nn.data.transforms import transform
from mt_nn.data.transforms.resizing import INTERPOLATIONS
from mt_nn.data.transforms.transform import ImageTransform, Numbers
from mt_nn.utils.settings import check, choice
from mt_tensor import Tensor, tensor, zeros_like
from mt_tensor.extending import generator


class RandomAffine(ImageTransform):
    """Shear, scale, rotate (clockwise) and translate images at random, without changing their size.

    Args:
        degrees: the bounds of the angle of rotation; a number d is short for (-d, d).
        translate: the largest translations, as fractions of width and height; None for none.
        scale: the bounds of the scale factor; None for 1.
        shear: the bounds of the shear angle along x, or with four numbers also along y; a number d
            is short for (-d, d); None for no shear.
        interpolation: "nearest" or "bilinear".
        fill: the value of pixels outside the old image: a number, or one per channel.
        center: x and y of the fixed point, in pixels from the upper left corner; the center of the
            image if None.

    Raises:
        SettingError: a setting is invalid.
    """

    clockwise: ClassVar[int] = 1

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: tuple[float, float] | None = None,
        scale: tuple[float, float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: str = "nearest",
        fill: float | Sequence[float] = 0,
        center: Sequence[float] | None = None,
    ) -> None:
        self.interpolation = choice("interpolation", interpolation, INTERPOLATIONS)
        self.fill = transform.row("fill", fill)
        self.center = None if center is None else transform.row("center", center, 2)
        self.degrees = transform.angles("degrees", degrees)
        self.translate = tuple(transform.row("translate", translate or (0, 0), 2))
        valid = all(0 <= fraction <= 1 for fraction in self.translate)
        check("translate", translate, valid, "two fractions from 0 to 1")
        self.scale = transform.interval("scale", (1, 1) if scale is None else scale, 0)
        check("scale", scale, self.scale[0] > 0, "two factors above 0")
        self.shear = _shears(shear)

    def transformed(self, img: Tensor) -> Tensor:
        """Return the warped image.

        Raises:
            InputError: the dtype is not floating-point, or the number of channels is not that of
                `fill`.
        """
        transform.check_real(type(self).__name__, img)
        return self._looked_up(img, self._draw_matrix(*img.shape[-2:]))

    def _looked_up(self, img: Tensor, matrix: Numbers) -> Tensor:
        """Return the image whose value at each point is the old one's at the mapped point.

        Pixels outside the old image have the value `fill`.
        """
        height, width = img.shape[-2:]
        y, x = np.divmod(np.arange(height * width), width)
        center = np.array([width - 1, height - 1]) / 2
        points = np.stack([x - center[0], y - center[1], np.ones(x.size)])
        x, y = matrix @ points + center[:, None]
        flat = img.flatten(-2)
        result, total = zeros_like(flat), np.zeros_like(x)
        for left, top, weight in self._neighbours(x, y):
            i, j = top.clip(0, height - 1), left.clip(0, width - 1)
            index = tensor((i * width + j).astype(np.int64), backend=img.backend)
            inside = weight * ((i == top) & (j == left))
            weights = tensor(inside, dtype=img.dtype, backend=img.backend)
            result = result + flat.index_select(-1, index) * weights
            total += inside
        outside = tensor(1 - total, dtype=img.dtype, backend=img.backend).view(height, width)
        return result.view(img.shape) + outside * transform.column("fill", self.fill, img)

    def _neighbours(self, x: Numbers, y: Numbers) -> list[tuple[Numbers, Numbers, Numbers]]:
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

    def _draw_matrix(self, height: int, width: int) -> Numbers:
        """Draw the map from new points to old ones: a matrix and an offset, shape (2, 3)."""
        numbers = generator()
        angle = self.clockwise * np.radians(numbers.uniform(*self.degrees))
        largest = np.array(self.translate) * (width, height)
        translation = np.rint(numbers.uniform(-largest, largest))
        scale = numbers.uniform(*self.scale)
        shear_x, shear_y = (np.radians(numbers.uniform(*each)) for each in self.shear)
        # The inverse of: shear along x, shear along y, rotate, scale.
        cos, sin = np.cos(angle), np.sin(angle)
        a, b = np.cos(angle - shear_y) / np.cos(shear_y), np.sin(angle - shear_y) / np.cos(shear_y)
        tan = np.tan(shear_x)
        inverse = np.array([[cos - b * tan, a * tan + sin], [-b, a]]) / scale
        middle = np.array([width / 2, height / 2])
        center = np.zeros(2) if self.center is None else np.array(self.center) - middle
        return np.column_stack([inverse, center - inverse @ (center + translation)])


class RandomRotation(RandomAffine):
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

    clockwise = -1

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: str = "nearest",
        *,
        center: Sequence[float] | None = None,
        fill: float | Sequence[float] = 0,
    ) -> None:
        super().__init__(degrees, None, None, None, interpolation, fill, center)


def _shears(shear: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the bounds of the shear angles along x and along y."""
    if np.size(shear) == 4:
        numbers = transform.row("shear", shear)
        return transform.interval("shear", numbers[:2]), transform.interval("shear", numbers[2:])
    return transform.angles("shear", 0 if shear is None else shear), (0.0, 0.0)
