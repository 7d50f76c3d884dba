"""What transforms have in common: their settings, and the images they take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mt_nn.errors import InputError, SettingError
from mt_tensor import Tensor, tensor

Numbers = npt.NDArray[np.float64]


class ImageTransform:
    """A transform that draws random numbers, or none, for each image of a batch.

    A subclass says in `transformed` how.

    Attributes:
        least: the least number of dimensions of an image: 3 if its channels matter.
        shown: the names of the settings that its text shows.
    """

    least: ClassVar[int] = 2
    shown: ClassVar[tuple[str, ...]] = ()

    def __call__(self, img: Tensor) -> Tensor:
        """Return the image, or images of shape (..., channels, height, width), transformed alike.

        Raises:
            InputError: it is no such tensor, or not what this transform takes.
        """
        check_image(type(self).__name__, img, self.least)
        return self.transformed(img.unsqueeze(0)).squeeze(0)

    def each(self, imgs: Tensor) -> Tensor:
        """Return images of shape (batch, ..., channels, height, width), drawn for one by one.

        Raises:
            InputError: it is no such tensor, or not what this transform takes.
        """
        check_image(f"{type(self).__name__}.each", imgs, self.least + 1)
        return self.transformed(imgs)

    def transformed(self, imgs: Tensor) -> Tensor:
        """Return images drawn for along the first dimension, which is there in any case."""
        raise NotImplementedError

    def __repr__(self) -> str:
        settings = [f"{name}={getattr(self, name)!r}" for name in self.shown]
        return f"{type(self).__name__}({', '.join(settings)})"


def choose(chosen: npt.NDArray[np.bool_], changed: Tensor, imgs: Tensor) -> Tensor:
    """Return a batch that has the changed images where they are chosen."""
    if not chosen.any():
        return imgs
    if chosen.all():
        return changed
    own = tensor(chosen, backend=imgs.backend).view(-1, *[1] * (imgs.ndim - 1))
    return changed.where(own, imgs)


def column(name: str, numbers: Any, imgs: Tensor) -> Tensor:
    """Return one number for each channel, or one for all, for arithmetic with a batch.

    Raises:
        InputError: the images have another number of channels.
    """
    channels = imgs.shape[-3] if imgs.ndim > 3 else 1
    if len(numbers) not in (1, channels):
        raise InputError(
            f"the image has {channels} channel(s), but {name} is given for {len(numbers)}."
        )
    return tensor(numbers, dtype=imgs.dtype, backend=imgs.backend).view(-1, 1, 1)


def check_image(name: str, img: Any, least: int) -> None:
    """Raise InputError unless it is a tensor with enough dimensions."""
    if not isinstance(img, Tensor) or img.ndim < least:
        raise InputError(
            f"{name} takes a tensor of shape (..., channels, height, width), here of {least} "
            f"dimensions or more; {type(img).__name__} of shape {getattr(img, 'shape', 'unknown')} "
            "was given. ToTensor makes one of an array."
        )


def check_real(name: str, img: Tensor) -> None:
    """Raise InputError unless an image holds floating-point numbers."""
    if not img.dtype.is_floating_point:
        raise InputError(
            f"{name} takes floating-point numbers; {img.dtype.name} was given. ToTensor or "
            ".float() makes them."
        )


def check_callable(transform: Any) -> None:
    """Raise SettingError unless a transform can be called."""
    if not callable(transform):
        raise SettingError(f"a transform is called; {transform!r} cannot be.")


def probability(p: float) -> float:
    """Return a probability.

    Raises:
        SettingError: it is none.
    """
    if not 0.0 <= p <= 1.0:
        raise SettingError(f"the probability p must be between 0 and 1; got {p}.")
    return p


def row(name: str, numbers: Any, counts: Sequence[int] = ()) -> list[float]:
    """Return a setting that is one or more finite numbers.

    Args:
        name: what it is called.
        numbers: the setting.
        counts: how many there may be; any with none.

    Raises:
        SettingError: it is something else.
    """
    try:
        found = np.asarray(numbers, np.float64).reshape(-1)
    except (TypeError, ValueError):
        found = np.array([])
    if not (found.size and np.isfinite(found).all()) or (counts and found.size not in counts):
        many = " or ".join(map(str, counts)) or "one or more"
        raise SettingError(f"{name} is {many} finite numbers; got {numbers!r}.")
    return [float(number) for number in found]


def interval(name: str, numbers: Any, least: float = -np.inf) -> tuple[float, float]:
    """Return a setting that is an interval.

    Raises:
        SettingError: it is no pair of finite numbers from `least` on, in order.
    """
    low, high = row(name, numbers, (2,))
    if not least <= low <= high:
        above = f" from {least} on" if least > -np.inf else ""
        raise SettingError(f"{name} is a pair (low, high) of numbers{above}; got {numbers!r}.")
    return low, high


def angles(name: str, degrees: Any) -> tuple[float, float]:
    """Return an interval given as a pair, or as d for (-d, d).

    Raises:
        SettingError: it is neither.
    """
    if isinstance(degrees, int | float):
        return interval(name, (-degrees, degrees))
    return interval(name, degrees)
