"""Cropping, padding and flipping."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mt_nn.core.settings import Sizes, integer, integers
from mt_nn.data.transforms.transform import ImageTransform
from mt_nn.errors import InputError
from mt_nn.utils.settings import check, choice
from mt_tensor import Tensor, pad, tensor
from mt_tensor.extending import generator

PADDING_MODES = ("constant", "edge", "reflect", "symmetric")


class Pad(ImageTransform):
    """Pad images.

    Args:
        padding: one number for all sides; two, for left and right, and for top and bottom; or four,
            for left, top, right and bottom.
        fill: the value of the border in mode "constant".
        padding_mode: "constant"; "edge", which repeats edge pixels; "reflect" and "symmetric",
            which mirror the image without and with repeating edge pixels.

    Raises:
        SettingError: the padding is negative or not 1, 2 or 4 numbers, or the mode is unknown.
    """

    def __init__(
        self, padding: int | Sequence[int], fill: float = 0, padding_mode: str = "constant"
    ) -> None:
        self.padding = _sides(padding)
        self.fill, self.padding_mode = fill, choice("padding_mode", padding_mode, PADDING_MODES)

    def transformed(self, img: Tensor) -> Tensor:
        """Return the padded image.

        Raises:
            InputError: the image is too small for the padding mode.
        """
        return _padded(img, self.padding, self.fill, self.padding_mode)


class CenterCrop(ImageTransform):
    """Crop the center of images; smaller images are padded with 0.

    Args:
        size: height and width, or one number for both.

    Raises:
        SettingError: a size is not a positive integer.
    """

    def __init__(self, size: Sizes) -> None:
        self.size = integers("size", size, 2, 1)

    def transformed(self, img: Tensor) -> Tensor:
        """Return the center of the image."""
        height, width = self.size
        down, across = max(height - img.shape[-2], 0), max(width - img.shape[-1], 0)
        sides = (across // 2, down // 2, (across + 1) // 2, (down + 1) // 2)
        img = _padded(img, sides, 0, "constant")
        top, left = round((img.shape[-2] - height) / 2), round((img.shape[-1] - width) / 2)
        return _cropped(img, top, left, self.size)


class RandomCrop(ImageTransform):
    """Crop images at a random position.

    Args:
        size: height and width, or one number for both.
        padding: padding to add first; see `Pad`. None to add none.
        pad_if_needed: whether to pad images that are smaller than the crop, on both sides.
        fill: see `Pad`.
        padding_mode: see `Pad`.

    Raises:
        SettingError: as for `Pad`, or a size is not a positive integer.
    """

    def __init__(
        self,
        size: Sizes,
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: float = 0,
        padding_mode: str = "constant",
    ) -> None:
        self.size = integers("size", size, 2, 1)
        self.padding = None if padding is None else _sides(padding)
        self.pad_if_needed, self.fill = pad_if_needed, fill
        self.padding_mode = choice("padding_mode", padding_mode, PADDING_MODES)

    def transformed(self, img: Tensor) -> Tensor:
        """Return a crop of the image.

        Raises:
            InputError: the image is smaller than the crop.
        """
        height, width = self.size
        if self.padding is not None:
            img = _padded(img, self.padding, self.fill, self.padding_mode)
        if self.pad_if_needed:
            down, across = max(height - img.shape[-2], 0), max(width - img.shape[-1], 0)
            img = _padded(img, (across, down, across, down), self.fill, self.padding_mode)
        tops, lefts = img.shape[-2] - height + 1, img.shape[-1] - width + 1
        if tops < 1 or lefts < 1:
            raise InputError(
                f"RandomCrop: a crop of {self.size} does not fit an image of "
                f"{tuple(img.shape[-2:])}: set padding, or pad_if_needed=True."
            )
        top, left = generator().integers((tops, lefts)).tolist()
        return _cropped(img, top, left, self.size)


class _RandomFlip(ImageTransform):
    """Base class of random flips.

    Attributes:
        dim: the dimension to flip.
    """

    dim: ClassVar[int]

    def __init__(self, p: float = 0.5) -> None:
        check("the probability p", p, 0.0 <= p <= 1.0, "between 0 and 1")
        self.p = p

    def transformed(self, img: Tensor) -> Tensor:
        """Return the image, or the flipped image."""
        return img.flip(self.dim) if generator().random() < self.p else img


class RandomHorizontalFlip(_RandomFlip):
    """Flip images left to right with probability `p`.

    Args:
        p: the probability.

    Raises:
        SettingError: `p` is not in [0, 1].
    """

    dim = -1


class RandomVerticalFlip(_RandomFlip):
    """Flip images upside down with probability `p`.

    Args:
        p: the probability.

    Raises:
        SettingError: `p` is not in [0, 1].
    """

    dim = -2


# --- Helper functions -----------------------------------------------------------------------------


def _cropped(img: Tensor, top: int, left: int, size: tuple[int, ...]) -> Tensor:
    return img[..., top : top + size[0], left : left + size[1]]


def _padded(img: Tensor, sides: tuple[int, int, int, int], fill: float, mode: str) -> Tensor:
    """Pad an image on the left, top, right and bottom."""
    left, top, right, bottom = sides
    if not any(sides):
        return img
    if mode == "constant":
        return pad(img, (left, right, top, bottom), value=fill)
    height, width = img.shape[-2:]
    skipped = 0 if mode == "symmetric" else 1  # edge pixels that a reflection does not repeat
    too_large = max(top, bottom) > height - skipped or max(left, right) > width - skipped
    if not img.numel() or (mode != "edge" and too_large):
        raise InputError(
            f"an image of {height} x {width} is too small for padding {sides} with mode {mode!r}."
        )
    # The border repeats rows and columns, so pad their indices with NumPy, and look them up.
    rows = np.pad(np.arange(height), (top, bottom), mode)  # type: ignore[call-overload]
    columns = np.pad(np.arange(width), (left, right), mode)  # type: ignore[call-overload]
    backend = img.backend
    img = img.index_select(-2, tensor(rows, backend=backend))
    return img.index_select(-1, tensor(columns, backend=backend))


def _sides(padding: int | Sequence[int]) -> tuple[int, int, int, int]:
    """Return the padding on the left, top, right and bottom."""
    given = list(padding) if isinstance(padding, tuple | list) else [padding]
    numbers = [integer("padding", each, 0) for each in given]
    check("padding", padding, len(numbers) in (1, 2, 4), "one, two or four integers")
    left, top, right, bottom = (numbers * 4)[:4]
    return left, top, right, bottom
