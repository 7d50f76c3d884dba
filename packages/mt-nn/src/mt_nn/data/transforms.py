"""Transforms of images, with torchvision's names: calls that are put in a row by `Compose`.

Images are tensors of shape (..., channels, height, width). One call treats all of them alike, also
where it draws random numbers: images that are to be drawn for one by one are transformed one by
one, as `TransformedDataset` does. Random numbers come from the current default generator, which in
a loader belongs to the batch, and which `use_generator` sets elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from mt_nn.errors import InputError, SettingError
from mt_nn.settings import Sizes, integer, integers
from mt_tensor import Tensor, pad, tensor
from mt_tensor.randomness.generator import generator

PADDING_MODES = ("constant", "edge", "reflect", "symmetric")


class Compose:
    """Transforms one after another.

        >>> Compose([ToTensor(), Normalize([0.5], [0.5])])
        Compose(ToTensor(), Normalize(mean=[0.5], std=[0.5]))

    Args:
        transforms: each is called with what the one before returned.
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = list(transforms)
        for each in self.transforms:
            _check_callable(each)

    def __call__(self, img: Any) -> Any:
        """Return what the last transform returns."""
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self) -> str:
        return f"Compose({', '.join(map(repr, self.transforms))})"


class Lambda:
    """A transform made of any function of one argument."""

    def __init__(self, lambd: Callable[[Any], Any]) -> None:
        _check_callable(lambd)
        self.lambd = lambd

    def __call__(self, img: Any) -> Any:
        """Return what the function returns."""
        return self.lambd(img)

    def __repr__(self) -> str:
        return "Lambda()"


class ToTensor:
    """An array of shape (height, width) or (height, width, channels) as a tensor, channels first.

    Bytes become float32 from 0 to 1; numbers of other types are kept as they are.
    """

    def __call__(self, pic: Any) -> Tensor:
        """Return a tensor of shape (channels, height, width).

        Raises:
            InputError: it is no array of two or three dimensions.
        """
        if not isinstance(pic, np.ndarray) or pic.ndim not in (2, 3):
            raise InputError(
                "ToTensor takes an array of shape (height, width) or (height, width, channels); "
                f"{type(pic).__name__} of shape {np.shape(pic)} was given."
            )
        image = np.ascontiguousarray(np.moveaxis(pic if pic.ndim == 3 else pic[..., None], 2, 0))
        if image.dtype == np.uint8:
            return tensor(image.astype(np.float32) / np.float32(255))
        return tensor(image)

    def __repr__(self) -> str:
        return "ToTensor()"


class Normalize:
    """Each channel c becomes `(x - mean[c]) / std[c]`.

    Args:
        mean: one number for each channel, or one for all.
        std: likewise.

    Raises:
        SettingError: a number is not finite, a deviation is 0, or there are several of one but
            another number of the other.
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        self.mean, self.std = _row("mean", mean), _row("std", std)
        if 0 in self.std:
            raise SettingError("std divides, so that none may be 0.")
        if len({len(self.mean), len(self.std)} - {1}) > 1:
            raise SettingError(
                f"mean and std have one number for each channel; {len(self.mean)} and "
                f"{len(self.std)} were given."
            )

    def __call__(self, tensor: Tensor) -> Tensor:
        """Return the image normalised.

        Raises:
            InputError: it is no image of floating-point numbers, or of another number of channels.
        """
        _check_image("Normalize", tensor, least=3)
        if not tensor.dtype.is_floating_point:
            raise InputError(
                f"Normalize takes floating-point numbers; {tensor.dtype.name} was given. ToTensor "
                "or .float() makes them."
            )
        channels, wanted = tensor.shape[-3], max(len(self.mean), len(self.std))
        if wanted not in (1, channels):
            raise InputError(
                f"the image has {channels} channel(s), but mean and std are given for {wanted}."
            )
        return (tensor - self._column(self.mean, tensor)) / self._column(self.std, tensor)

    @staticmethod
    def _column(numbers: list[float], like: Tensor) -> Tensor:
        return tensor(numbers, dtype=like.dtype, backend=like.backend).view(-1, 1, 1)

    def __repr__(self) -> str:
        return f"Normalize(mean={self.mean}, std={self.std})"


class Pad:
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
        self.fill, self.padding_mode = fill, padding_mode
        _check_mode(padding_mode)

    def __call__(self, img: Tensor) -> Tensor:
        """Return the image with its border.

        Raises:
            InputError: it is no image, or too small to be reflected so far.
        """
        _check_image("Pad", img)
        return _padded(img, self.padding, self.fill, self.padding_mode)

    def __repr__(self) -> str:
        return f"Pad(padding={self.padding}, fill={self.fill}, padding_mode={self.padding_mode!r})"


class CenterCrop:
    """The middle of images; what lies outside a smaller one is 0.

    Args:
        size: height and width, or one number for both.

    Raises:
        SettingError: a size is no positive integer.
    """

    def __init__(self, size: Sizes) -> None:
        self.size = integers("size", size, 2, 1)

    def __call__(self, img: Tensor) -> Tensor:
        """Return the crop.

        Raises:
            InputError: it is no image.
        """
        _check_image("CenterCrop", img)
        height, width = self.size
        down, across = max(height - img.shape[-2], 0), max(width - img.shape[-1], 0)
        sides = (across // 2, down // 2, (across + 1) // 2, (down + 1) // 2)
        img = _padded(img, sides, 0, "constant")
        return _cropped(
            img, round((img.shape[-2] - height) / 2), round((img.shape[-1] - width) / 2), self.size
        )

    def __repr__(self) -> str:
        return f"CenterCrop(size={self.size})"


class RandomCrop:
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
        self.pad_if_needed, self.fill, self.padding_mode = pad_if_needed, fill, padding_mode
        _check_mode(padding_mode)

    def __call__(self, img: Tensor) -> Tensor:
        """Return the crop.

        Raises:
            InputError: it is no image, or smaller than the crop.
        """
        _check_image("RandomCrop", img)
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
        numbers = generator()
        return _cropped(img, int(numbers.integers(tops)), int(numbers.integers(lefts)), self.size)

    def __repr__(self) -> str:
        return f"RandomCrop(size={self.size}, padding={self.padding})"


class _RandomFlip:
    """What flips share.

    Attributes:
        dim: the dimension that is turned around.
    """

    dim: ClassVar[int]

    def __init__(self, p: float = 0.5) -> None:
        self.p = _probability(p)

    def __call__(self, img: Tensor) -> Tensor:
        """Return the image or its mirror image.

        Raises:
            InputError: it is no image.
        """
        _check_image(type(self).__name__, img)
        return img.flip(self.dim) if generator().random() < self.p else img

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"


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


def _check_image(name: str, img: Any, least: int = 2) -> None:
    if not isinstance(img, Tensor) or img.ndim < least:
        raise InputError(
            f"{name} takes a tensor of shape (..., channels, height, width); "
            f"{type(img).__name__} of shape {getattr(img, 'shape', 'unknown')} was given. ToTensor "
            "makes one of an array."
        )


def _check_callable(transform: Any) -> None:
    if not callable(transform):
        raise SettingError(f"a transform is called; {transform!r} cannot be.")


def _check_mode(mode: str) -> None:
    if mode not in PADDING_MODES:
        raise SettingError(f"padding_mode is one of {', '.join(PADDING_MODES)}; got {mode!r}.")


def _probability(p: float) -> float:
    if not 0.0 <= p <= 1.0:
        raise SettingError(f"the probability p must be between 0 and 1; got {p}.")
    return p


def _row(name: str, numbers: Sequence[float]) -> list[float]:
    """Return a setting that is one or more finite numbers."""
    try:
        row = np.asarray(numbers, np.float64).reshape(-1)
    except (TypeError, ValueError):
        row = np.array([])
    if not (row.size and np.isfinite(row).all()):
        raise SettingError(f"{name} is one or more finite numbers; got {numbers!r}.")
    found: list[float] = row.tolist()
    return found


def _sides(padding: int | Sequence[int]) -> tuple[int, int, int, int]:
    """Return the padding on the left, at the top, on the right and at the bottom."""
    given = list(padding) if isinstance(padding, tuple | list) else [padding]
    numbers = [integer("padding", each, 0) for each in given]
    if len(numbers) not in (1, 2, 4):
        raise SettingError(f"padding is one, two or four integers; got {padding!r}.")
    left, top, right, bottom = (numbers * 4)[:4]
    return left, top, right, bottom
