"""Images made larger or smaller, whole or in part.

Each new row is a weighted mean of old ones, and so is each new column: resizing is a product with
a matrix from the left, and with another from the right.
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
"""How often a box is drawn before one that surely fits is taken."""

Box = tuple[int, int, int, int]
"""Top, left, height and width of a part of an image."""


class _Resizing(ImageTransform):
    """What resizing has in common: how new pixels come from old ones."""

    def __init__(self, interpolation: str, antialias: bool) -> None:
        check_flags(antialias=antialias)
        self.interpolation = choice("interpolation", interpolation, INTERPOLATIONS)
        self.antialias = antialias

    def resized(self, img: Tensor, box: Box, size: Sequence[int]) -> Tensor:
        """Return a box of an image in another size.

        Args:
            img: shape (..., height, width).
            box: which part.
            size: the new height and width.

        Raises:
            InputError: the image has no pixels, or not of floating-point numbers.
        """
        check_real(type(self).__name__, img)
        if 0 in img.shape[-2:]:
            raise InputError(
                f"{type(self).__name__} takes images with pixels; shape {img.shape} was given."
            )
        top, left, height, width = box
        rows = self._weights(top, height, img.shape[-2], size[0])
        columns = self._weights(left, width, img.shape[-1], size[1])
        before, behind = (
            tensor(weights, dtype=img.dtype, backend=img.backend) for weights in (rows, columns)
        )
        return before @ img @ behind.T

    def _weights(self, start: int, length: int, old: int, new: int) -> Numbers:
        """Return how much of each old pixel is in each new one, along one side of an image.

        Pixel i lies at i + 1/2. A new one that covers `scale` old ones weighs those around its
        middle by a triangle, which reaches as far as the next new pixel, or the next old one if
        that is farther or nothing is to be smoothed.

        Args:
            start: where the box begins.
            length: how many old pixels it has.
            old: how many there are in all.
            new: how many new pixels there are.

        Returns:
            Shape (new, old); the weights of a new pixel add up to 1.
        """
        scale = length / new
        places = np.arange(old) - start  # of the old pixels in the box
        if self.interpolation == "nearest":
            found: Numbers = places == np.arange(new)[:, None] * length // new
            return found.astype(np.float64)
        reach = max(scale, 1.0) if self.antialias else 1.0
        distances = places + 0.5 - (np.arange(new)[:, None] + 0.5) * scale
        weights = np.maximum(1 - np.abs(distances) / reach, 0)
        weights *= (places >= 0) & (places < length)
        normalized: Numbers = weights / weights.sum(axis=-1, keepdims=True)
        return normalized


class Resize(_Resizing):
    """Images of another size, as `torch.nn.functional.interpolate` makes them.

    Args:
        size: height and width; or one number for the shorter side, and the other in proportion.
        interpolation: "bilinear" or "nearest".
        max_size: the most that the longer side may have; only where `size` is one number.
        antialias: whether smaller images are smoothed ("bilinear" only): whether all old pixels are
            in the new ones, and not only the nearest to each.

    Raises:
        SettingError: an invalid setting.
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
                "max_size bounds the longer side where size is one number, which it exceeds; got "
                f"size={size!r}, max_size={max_size!r}."
            )

    def transformed(self, img: Tensor) -> Tensor:
        """Return the image resized.

        Raises:
            InputError: it has no pixels, or not of floating-point numbers.
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
    """A part of images, of random place, size and proportion, resized.

    Args:
        size: height and width, or one number for both.
        scale: between which shares of the image's area that of the part lies.
        ratio: between which bounds its width divided by its height lies; its logarithm is uniform.
        interpolation: as of `Resize`.
        antialias: as of `Resize`.

    Raises:
        SettingError: an invalid setting.
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
                f"a part has an area and two sides; got scale={scale!r}, ratio={ratio!r}."
            )

    def transformed(self, img: Tensor) -> Tensor:
        """Return a part of the image, resized.

        Raises:
            InputError: it has no pixels, or not of floating-point numbers.
        """
        return self.resized(img, self._box(*img.shape[-2:]), self.size)

    def _box(self, height: int, width: int) -> Box:
        """Draw a box; if none fits, return the largest in the middle that has the proportion."""
        found = draw_box(height, width, self.scale, self.ratio)
        if found is not None:
            return found
        low, high = self.ratio
        rows, columns = min(height, round(width / low)), min(width, round(height * high))
        return (height - rows) // 2, (width - columns) // 2, rows, columns


def draw_box(
    height: int, width: int, scale: tuple[float, float], ratio: tuple[float, float]
) -> Box | None:
    """Draw a box in an image.

    Args:
        height: that of the image.
        width: likewise.
        scale: between which shares of the image's area that of the box lies.
        ratio: between which bounds its width divided by its height lies.

    Returns:
        Top, left, height and width, each at least 1; None if none that was drawn fits.
    """
    numbers = generator()
    for _ in range(ATTEMPTS):
        area = height * width * numbers.uniform(*scale)
        proportion = math.exp(numbers.uniform(math.log(ratio[0]), math.log(ratio[1])))
        columns, rows = round(math.sqrt(area * proportion)), round(math.sqrt(area / proportion))
        if 0 < rows <= height and 0 < columns <= width:
            top, left = numbers.integers((height - rows + 1, width - columns + 1)).tolist()
            return top, left, rows, columns
    return None
