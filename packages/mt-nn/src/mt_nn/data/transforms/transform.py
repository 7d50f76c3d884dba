"""The base class of image transforms, compositions, and conversion of arrays to tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mt_nn.errors import InputError, SettingError
from mt_nn.utils.settings import check
from mt_tensor import Tensor, tensor

Numbers = npt.NDArray[np.float64]


class ImageTransform:
    """Base class of image transforms; a subclass defines `transformed`.

    Attributes:
        least: the smallest number of dimensions of an image; 3 if channels are needed.
    """

    least: ClassVar[int] = 2

    def __call__(self, img: Tensor) -> Tensor:
        """Transform images, shape (..., channels, height, width), all in the same way.

        Raises:
            InputError: `img` is not a tensor, or its shape or dtype is not supported.
        """
        given: Any = img
        if not isinstance(given, Tensor) or given.ndim < self.least:
            shape = f" of shape {given.shape}" if hasattr(given, "shape") else ""
            raise InputError(
                f"{type(self).__name__} takes a tensor of shape (..., channels, height, width), "
                f"with at least {self.least} dimensions; {type(given).__name__}{shape} was given. "
                "Convert arrays with ToTensor."
            )
        return self.transformed(img)

    def transformed(self, img: Tensor) -> Tensor:
        """Return the transformed image, for a tensor of enough dimensions."""
        raise NotImplementedError

    def __repr__(self) -> str:
        settings = [f"{name}={value!r}" for name, value in vars(self).items()]
        return f"{type(self).__name__}({', '.join(settings)})"


def column(name: str, numbers: Any, img: Tensor) -> Tensor:
    """Return numbers, one per channel or one for all, as a tensor that broadcasts to an image.

    Raises:
        InputError: the image has another number of channels.
    """
    channels = img.shape[-3] if img.ndim > 2 else 1
    if len(numbers) not in (1, channels):
        raise InputError(
            f"the image has {channels} channel(s), but {name} has {len(numbers)} numbers: pass "
            "one, or one per channel."
        )
    values = tensor(numbers, dtype=img.dtype, backend=img.backend)
    return values.view(-1, 1, 1) if img.ndim > 2 else values


def check_real(name: str, img: Tensor) -> None:
    """Raise InputError unless the dtype of an image is floating-point."""
    if not img.dtype.is_floating_point:
        raise InputError(
            f"{name} takes floating-point images; {img.dtype.name} was given. Convert with "
            "ToTensor or .float()."
        )


def row(name: str, numbers: Any, count: int | None = None) -> list[float]:
    """Check a setting that consists of finite numbers, and return it as a list.

    Args:
        name: the name of the setting.
        numbers: the setting.
        count: the number of numbers; None for one or more.

    Raises:
        SettingError: the setting is invalid.
    """
    try:
        found = np.asarray(numbers, np.float64).reshape(-1)
    except (TypeError, ValueError):
        found = np.array([])
    valid = found.size and np.isfinite(found).all() and count in (None, found.size)
    check(name, numbers, bool(valid), f"{count or 'one or more'} finite numbers")
    return [float(number) for number in found]


def interval(name: str, numbers: Any, least: float = -np.inf) -> tuple[float, float]:
    """Check a setting that is an interval, and return its bounds.

    Raises:
        SettingError: the setting is not an ascending pair of finite numbers of at least `least`.
    """
    low, high = row(name, numbers, 2)
    bound = f" of at least {least}" if least > -np.inf else ""
    check(name, numbers, least <= low <= high, f"a pair (low, high) of numbers{bound}")
    return low, high


# --- Compositions ---------------------------------------------------------------------------------


class Compose:
    """Apply transforms one after the other.

    Args:
        transforms: callables; each is applied to the result of the previous one.

    Raises:
        SettingError: a transform is not callable.
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = list(transforms)
        for each in self.transforms:
            check("a transform", each, callable(each), "callable")

    def __call__(self, img: Any) -> Any:
        """Return the result of the last transform."""
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.transforms))})"


# --- Conversion and normalization -----------------------------------------------------------------


class ToTensor:
    """Convert an array of shape (height, width[, channels]) to a tensor with channels first.

    Bytes become float32 from 0 to 1; other dtypes are kept. Pillow images are supported, too.
    """

    def __call__(self, pic: Any) -> Tensor:
        """Return a tensor of shape (channels, height, width).

        Raises:
            InputError: `pic` is not an array of two or three dimensions.
        """
        is_array = hasattr(pic, "__array_interface__") and not isinstance(pic, Tensor)
        array = np.asarray(pic) if is_array else np.empty(0)
        if array.ndim not in (2, 3):
            raise InputError(
                "ToTensor takes an array of shape (height, width) or (height, width, channels); "
                f"{type(pic).__name__} of shape {getattr(pic, 'shape', 'unknown')} was given."
            )
        planes = np.moveaxis(array if array.ndim == 3 else array[..., None], 2, 0)
        image = np.ascontiguousarray(planes)
        if image.dtype == np.uint8:
            return tensor(image.astype(np.float32) / np.float32(255))
        return tensor(image)

    def __repr__(self) -> str:
        return "ToTensor()"


class Normalize(ImageTransform):
    """Replace each channel c by `(x - mean[c]) / std[c]`.

    Args:
        mean: one number per channel, or one for all.
        std: the standard deviations, one per channel or one for all.

    Raises:
        SettingError: a number is not finite, a deviation is 0, or the numbers of means and
            deviations do not match.
    """

    least = 3

    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        self.mean, self.std = row("mean", mean), row("std", std)
        check("std", std, 0 not in self.std, "different from 0")
        if len({len(self.mean), len(self.std)} - {1}) > 1:
            raise SettingError(
                f"Normalize: mean and std must have one number per channel; {len(self.mean)} and "
                f"{len(self.std)} were given."
            )

    def transformed(self, img: Tensor) -> Tensor:
        """Return the normalized image.

        Raises:
            InputError: the dtype is not floating-point, or the number of channels does not match.
        """
        check_real("Normalize", img)
        mean = column("the mean of Normalize", self.mean, img)
        return (img - mean) / column("the std of Normalize", self.std, img)
