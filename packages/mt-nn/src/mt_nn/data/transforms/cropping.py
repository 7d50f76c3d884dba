"""Parts of images, borders around them, mirror images, and rectangles erased."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mt_nn.core.settings import Sizes, integer, integers
from mt_nn.data.transforms import transform
from mt_nn.data.transforms.resizing import draw_box
from mt_nn.data.transforms.transform import ImageTransform
from mt_nn.errors import InputError, SettingError
from mt_nn.utils.settings import choice
from mt_tensor import Tensor, pad, randn, tensor
from mt_tensor.extending import generator

PADDING_MODES = ("constant", "edge", "reflect", "symmetric")


class Pad(ImageTransform):
    """Surround images.

    Args:
        padding: one number for all sides; two, for left and right, and for top and bottom; or four,
            for left, top, right and bottom.
        fill: what the border holds in mode "constant".
        padding_mode: "constant"; "edge", which repeats the pixels there; "reflect" and "symmetric",
            which go back from there, without and with repeating them.

    Raises:
        SettingError: the padding is negative or not of 1, 2 or 4 numbers, or there is no such mode.
    """

    def __init__(
        self, padding: int | Sequence[int], fill: float = 0, padding_mode: str = "constant"
    ) -> None:
        self.padding = _sides(padding)
        self.fill, self.padding_mode = fill, choice("padding_mode", padding_mode, PADDING_MODES)

    def transformed(self, img: Tensor) -> Tensor:
        """Return the image with its border.

        Raises:
            InputError: they are too small to be reflected so far.
        """
        return _padded(img, self.padding, self.fill, self.padding_mode)


class CenterCrop(ImageTransform):
    """The middle of images; what lies outside a smaller one is 0.

    Args:
        size: height and width, or one number for both.

    Raises:
        SettingError: a size is no positive integer.
    """

    def __init__(self, size: Sizes) -> None:
        self.size = integers("size", size, 2, 1)

    def transformed(self, img: Tensor) -> Tensor:
        """Return the middle of the image."""
        height, width = self.size
        down, across = max(height - img.shape[-2], 0), max(width - img.shape[-1], 0)
        sides = (across // 2, down // 2, (across + 1) // 2, (down + 1) // 2)
        img = _padded(img, sides, 0, "constant")
        top, left = round((img.shape[-2] - height) / 2), round((img.shape[-1] - width) / 2)
        return _cropped(img, top, left, self.size)


class RandomCrop(ImageTransform):
    """A part of images, drawn anew for each call.

    Args:
        size: height and width, or one number for both.
        padding: added first, as `Pad` does; None for none.
        pad_if_needed: whether to surround an image that is smaller than the crop, on both sides.
        fill: as of `Pad`.
        padding_mode: as of `Pad`.

    Raises:
        SettingError: as `Pad`, or a size is no positive integer.
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
        """Return a part of the image.

        Raises:
            InputError: it is smaller than the crop.
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
                f"a crop of {self.size} does not fit into {tuple(img.shape[-2:])}: give padding, "
                "or pad_if_needed=True."
            )
        top, left = generator().integers((tops, lefts)).tolist()
        return _cropped(img, top, left, self.size)


class _RandomFlip(ImageTransform):
    """What flips share.

    Attributes:
        dim: the dimension that is turned around.
    """

    dim: ClassVar[int]

    def __init__(self, p: float = 0.5) -> None:
        self.p = transform.probability(p)

    def transformed(self, img: Tensor) -> Tensor:
        """Return the image, or its mirror image."""
        return img.flip(self.dim) if generator().random() < self.p else img


class RandomHorizontalFlip(_RandomFlip):
    """Left and right exchanged, with probability `p`.

    Raises:
        SettingError: `p` is no probability.
    """

    dim = -1


class RandomVerticalFlip(_RandomFlip):
    """Top and bottom exchanged, with probability `p`.

    Raises:
        SettingError: `p` is no probability.
    """

    dim = -2


# --- What they share ------------------------------------------------------------------------------


def _cropped(img: Tensor, top: int, left: int, size: tuple[int, ...]) -> Tensor:
    """Return a part of images."""
    return img[..., top : top + size[0], left : left + size[1]]


def _padded(img: Tensor, sides: tuple[int, int, int, int], fill: float, mode: str) -> Tensor:
    """Surround an image on its left, top, right and bottom."""
    left, top, right, bottom = sides
    if not any(sides):
        return img
    if mode == "constant":
        return pad(img, (left, right, top, bottom), value=fill)
    height, width = img.shape[-2:]
    inner = 0 if mode == "symmetric" else 1  # what a reflection leaves out at the edge
    far = max(top, bottom) > height - inner or max(left, right) > width - inner
    if not img.numel() or (mode != "edge" and far):
        raise InputError(
            f"padding {sides} of mode {mode!r} does not fit an image of {height} x {width}: it is "
            "too small."
        )
    # The border repeats rows and columns, so NumPy's padding of their numbers says which.
    rows = np.pad(np.arange(height), (top, bottom), mode)  # type: ignore[call-overload]
    columns = np.pad(np.arange(width), (left, right), mode)  # type: ignore[call-overload]
    backend = img.backend
    img = img.index_select(-2, tensor(rows, backend=backend))
    return img.index_select(-1, tensor(columns, backend=backend))


def _sides(padding: int | Sequence[int]) -> tuple[int, int, int, int]:
    """Return the padding on the left, at the top, on the right and at the bottom."""
    given = list(padding) if isinstance(padding, tuple | list) else [padding]
    numbers = [integer("padding", each, 0) for each in given]
    if len(numbers) not in (1, 2, 4):
        raise SettingError(f"padding is one, two or four integers; got {padding!r}.")
    left, top, right, bottom = (numbers * 4)[:4]
    return left, top, right, bottom


# --- Erasing --------------------------------------------------------------------------------------


class RandomErasing(ImageTransform):
    """A random box of images painted over (Zhong et al. 2017, Random Erasing Data Augmentation).

    An image in which no box fits stays as it is.

    Args:
        p: the probability that a box is painted.
        scale: between which shares of the image's area that of the box lies.
        ratio: between which bounds its height divided by its width lies; its logarithm is uniform.
        value: what the box holds: a number, one for each channel, or "random" for normal noise.

    Raises:
        SettingError: an invalid setting.
    """

    def __init__(
        self,
        p: float = 0.5,
        scale: tuple[float, float] = (0.02, 0.33),
        ratio: tuple[float, float] = (0.3, 3.3),
        value: float | Sequence[float] | str = 0,
    ) -> None:
        self.p = transform.probability(p)
        self.scale = transform.interval("scale", scale, 0)
        self.ratio = transform.interval("ratio", ratio, 0)
        if not self.scale[1] <= 1 or not self.ratio[0]:
            raise SettingError(
                f"a box has two sides and lies in the image; got scale={scale!r}, ratio={ratio!r}."
            )
        self.value = value if value == "random" else transform.row("value", value)

    def transformed(self, img: Tensor) -> Tensor:
        """Return the image, perhaps with a box painted over.

        Raises:
            InputError: it has another number of channels than `value`.
        """
        height, width = img.shape[-2:]
        low, high = self.ratio
        is_chosen = generator().random() < self.p
        box = draw_box(height, width, self.scale, (1 / high, 1 / low)) if is_chosen else None
        paint = self._paint(img)
        if box is None:
            return img
        top, left, rows, columns = box
        painted = np.zeros((height, width), bool)
        painted[top : top + rows, left : left + columns] = True
        return paint.where(tensor(painted, backend=img.backend), img)

    def _paint(self, img: Tensor) -> Tensor:
        if self.value == "random":
            transform.check_real("RandomErasing", img)
            return randn(img.shape, dtype=img.dtype, backend=img.backend)
        return transform.column("value", self.value, img)
