"""Resizing of images and of crops."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mt_nn.core.settings import Sizes, integer, integers
from mt_nn.data.transforms.transform import ImageTransform, check_real, interval
from mt_nn.errors import InputError, SettingError
from mt_nn.layers.resampling import interpolate
from mt_nn.utils.settings import choice
from mt_tensor import Tensor
from mt_tensor.extending import generator

INTERPOLATIONS = ("nearest", "bilinear")
ATTEMPTS = 10
"""The largest number of boxes to draw until one fits."""

Box = tuple[int, int, int, int]
"""Top, left, height and width of a part of an image."""


class _Resizing(ImageTransform):
    """Base class of transforms that resize."""

    def __init__(self, interpolation: str) -> None:
        self.interpolation = choice("interpolation", interpolation, INTERPOLATIONS)

    def resized(self, img: Tensor, box: Box, size: Sequence[int]) -> Tensor:
        """Return a part of an image, resized.

        Args:
            img: shape (..., height, width).
            box: the part.
            size: the new height and width.

        Raises:
            InputError: the image has no pixels, or its dtype is not floating-point.
        """
        check_real(type(self).__name__, img)
        if 0 in img.shape[-2:]:
            raise InputError(
                f"{type(self).__name__} takes non-empty images; shape {img.shape} was given."
            )
        top, left, height, width = box
        part = img[..., top : top + height, left : left + width]
        part = part.reshape(1, math.prod(img.shape[:-2]), height, width)
        antialias = self.interpolation == "bilinear"
        resized = interpolate(part, tuple(size), mode=self.interpolation, antialias=antialias)
        return resized.view(*img.shape[:-2], *size)


class Resize(_Resizing):
    """Resize images, as `mt_nn.functional.interpolate` does with `antialias` for "bilinear".

    Args:
        size: height and width; or one number for the shorter side, which keeps the aspect ratio.
        interpolation: "bilinear" or "nearest".

    Raises:
        SettingError: a setting is invalid.
    """

    def __init__(self, size: Sizes, interpolation: str = "bilinear") -> None:
        super().__init__(interpolation)
        given = tuple(size) if isinstance(size, tuple | list) else (size,)
        self.size = given if len(given) == 1 else integers("size", given, 2, 1)
        if len(given) == 1:
            integer("size", given[0], 1)

    def transformed(self, img: Tensor) -> Tensor:
        """Return the resized image.

        Raises:
            InputError: the image has no pixels, or its dtype is not floating-point.
        """
        height, width = img.shape[-2:]
        return self.resized(img, (0, 0, height, width), self._new_size(height, width))

    def _new_size(self, height: int, width: int) -> tuple[int, ...]:
        if len(self.size) == 2:
            return self.size
        shorter, longer = min(height, width), max(height, width)
        sides = self.size[0], int(self.size[0] * longer / max(shorter, 1))
        return sides if height <= width else sides[::-1]


class RandomResizedCrop(_Resizing):
    """Crop a box of random position, size and aspect ratio, and resize it.

    Args:
        size: height and width, or one number for both.
        scale: the bounds of the box's area, as fractions of the image's area.
        ratio: the bounds of the box's width divided by its height, drawn log-uniformly.
        interpolation: see `Resize`.

    Raises:
        SettingError: a setting is invalid.
    """

    def __init__(
        self,
        size: Sizes,
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
        interpolation: str = "bilinear",
    ) -> None:
        super().__init__(interpolation)
        self.size = integers("size", size, 2, 1)
        self.scale, self.ratio = interval("scale", scale, 0), interval("ratio", ratio, 0)
        if not self.scale[1] or not self.ratio[0]:
            raise SettingError(
                "RandomResizedCrop: the upper bound of scale, and the bounds of ratio, must be "
                f"above 0; got scale={scale!r}, ratio={ratio!r}."
            )

    def transformed(self, img: Tensor) -> Tensor:
        """Return a resized crop of the image.

        Raises:
            InputError: the image has no pixels, or its dtype is not floating-point.
        """
        return self.resized(img, self._box(*img.shape[-2:]), self.size)

    def _box(self, height: int, width: int) -> Box:
        """Draw a box; if none fits, return the largest central one within the ratio's bounds."""
        numbers = generator()
        low, high = self.ratio
        for _ in range(ATTEMPTS):
            area = height * width * numbers.uniform(*self.scale)
            aspect = math.exp(numbers.uniform(math.log(low), math.log(high)))
            columns, rows = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if 0 < rows <= height and 0 < columns <= width:
                top, left = numbers.integers((height - rows + 1, width - columns + 1)).tolist()
                return top, left, rows, columns
        rows, columns = min(height, round(width / low)), min(width, round(height * high))
        return (height - rows) // 2, (width - columns) // 2, rows, columns
