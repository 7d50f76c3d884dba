"""Resizing of images and of crops.

New rows are weighted means of old rows, and so are columns: resizing is a matrix product from the
left and one from the right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mt_nn.core.settings import Sizes, integer, integers
from mt_nn.data.transforms.transform import ImageTransform, Numbers, check_real, interval
from mt_nn.errors import InputError, SettingError
from mt_nn.utils.settings import choice
from mt_tensor import Tensor, tensor
from mt_tensor.extending import check_flags, generator

INTERPOLATIONS = ("nearest", "bilinear")
ATTEMPTS = 10
"""The number of boxes to draw until one fits."""

Box = tuple[int, int, int, int]
"""Top, left, height and width of a part of an image."""


class _Resizing(ImageTransform):
    """Base of transforms that resize."""

    def __init__(self, interpolation: str, antialias: bool) -> None:
        check_flags(antialias=antialias)
        self.interpolation = choice("interpolation", interpolation, INTERPOLATIONS)
        self.antialias = antialias

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
                f"{type(self).__name__} takes images with pixels; shape {img.shape} was given."
            )
        top, left, height, width = box
        rows = self._weights(top, height, img.shape[-2], size[0])
        columns = self._weights(left, width, img.shape[-1], size[1])
        left_matrix, right_matrix = (
            tensor(weights, dtype=img.dtype, backend=img.backend) for weights in (rows, columns)
        )
        return left_matrix @ img @ right_matrix.T

    def _weights(self, start: int, length: int, old: int, new: int) -> Numbers:
        """Return the weights of old pixels in new pixels, along one dimension of an image.

        Pixel i has its center at i + 1/2. The weights around the center of a new pixel form a
        triangle. Its half-width is the distance of new pixels, or that of old ones if it is larger
        or without antialiasing.

        Args:
            start: the start of the box.
            length: the number of old pixels in the box.
            old: the number of old pixels.
            new: the number of new pixels.

        Returns:
            Shape (new, old); the weights of a new pixel add up to 1.
        """
        scale = length / new
        positions = np.arange(old) - start  # relative to the box
        if self.interpolation == "nearest":
            nearest: Numbers = positions == np.arange(new)[:, None] * length // new
            return nearest.astype(np.float64)
        half_width = max(scale, 1.0) if self.antialias else 1.0
        distances = positions + 0.5 - (np.arange(new)[:, None] + 0.5) * scale
        weights = np.maximum(1 - np.abs(distances) / half_width, 0)
        weights *= (positions >= 0) & (positions < length)
        normalized: Numbers = weights / weights.sum(axis=-1, keepdims=True)
        return normalized


class Resize(_Resizing):
    """Resize images like `torch.nn.functional.interpolate`.

    Args:
        size: height and width; or one number for the shorter side, which keeps the aspect ratio.
        interpolation: "bilinear" or "nearest".
        max_size: the upper bound of the longer side, if `size` is one number.
        antialias: whether to average over all old pixels when shrinking ("bilinear" only), instead
            of the nearest ones.

    Raises:
        SettingError: a setting is invalid.
    """

    def __init__(
        self,
        size: Sizes,
        interpolation: str = "bilinear",
        max_size: int | None = None,
        antialias: bool = True,
    ) -> None:
        super().__init__(interpolation, antialias)
        given = tuple(size) if isinstance(size, tuple | list) else (size,)
        self.size = given if len(given) == 1 else integers("size", given, 2, 1)
        self.max_size = max_size
        if len(given) == 1:
            integer("size", given[0], 1)
        if max_size is not None and (
            len(self.size) == 2 or integer("max_size", max_size, 1) <= self.size[0]
        ):
            raise SettingError(
                "max_size must be greater than size, which must be one number; got "
                f"size={size!r}, max_size={max_size!r}."
            )

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
        if self.max_size is not None and sides[1] > self.max_size:
            sides = max(int(self.max_size * sides[0] / sides[1]), 1), self.max_size
        return sides if height <= width else sides[::-1]


class RandomResizedCrop(_Resizing):
    """Crop a box of random position, size and aspect ratio, and resize it.

    Args:
        size: height and width, or one number for both.
        scale: the bounds of the box's area, as fractions of the image's area.
        ratio: the bounds of the box's width divided by its height, drawn log-uniformly.
        interpolation: see `Resize`.
        antialias: see `Resize`.

    Raises:
        SettingError: a setting is invalid.
    """

    def __init__(
        self,
        size: Sizes,
        scale: tuple[float, float] = (0.08, 1.0),
        ratio: tuple[float, float] = (3 / 4, 4 / 3),
        interpolation: str = "bilinear",
        antialias: bool = True,
    ) -> None:
        super().__init__(interpolation, antialias)
        self.size = integers("size", size, 2, 1)
        self.scale, self.ratio = interval("scale", scale, 0), interval("ratio", ratio, 0)
        if not self.scale[1] or not self.ratio[0]:
            raise SettingError(
                "the upper bound of scale, and the bounds of ratio, must be above 0; got "
                f"scale={scale!r}, ratio={ratio!r}."
            )

    def transformed(self, img: Tensor) -> Tensor:
        """Return a resized crop of the image.

        Raises:
            InputError: the image has no pixels, or its dtype is not floating-point.
        """
        return self.resized(img, self._box(*img.shape[-2:]), self.size)

    def _box(self, height: int, width: int) -> Box:
        """Draw a box; if none fits, return the largest central one within the ratio's bounds."""
        box = draw_box(height, width, self.scale, self.ratio)
        if box is not None:
            return box
        low, high = self.ratio
        rows, columns = min(height, round(width / low)), min(width, round(height * high))
        return (height - rows) // 2, (width - columns) // 2, rows, columns


def draw_box(
    height: int, width: int, scale: tuple[float, float], ratio: tuple[float, float]
) -> Box | None:
    """Draw a random box in an image.

    Args:
        height: the height of the image.
        width: the width of the image.
        scale: the bounds of the box's area, as fractions of the image's area.
        ratio: the bounds of the box's width divided by its height.

    Returns:
        Top, left, height and width; None if no box fitted in `ATTEMPTS` attempts.
    """
    numbers = generator()
    for _ in range(ATTEMPTS):
        area = height * width * numbers.uniform(*scale)
        aspect = math.exp(numbers.uniform(math.log(ratio[0]), math.log(ratio[1])))
        columns, rows = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < rows <= height and 0 < columns <= width:
            top, left = numbers.integers((height - rows + 1, width - columns + 1)).tolist()
            return top, left, rows, columns
    return None
