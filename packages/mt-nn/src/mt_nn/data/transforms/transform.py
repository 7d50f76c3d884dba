"""What transforms have in common; transforms made of others; arrays as tensors of pixels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mt_nn.errors import InputError, SettingError
from mt_nn.utils.settings import check
from mt_tensor import Tensor, tensor
from mt_tensor.extending import generator

Numbers = npt.NDArray[np.float64]


class ImageTransform:
    """A transform of images; a subclass defines `transformed`.

    Attributes:
        least: the least number of dimensions of an image: 3 if its channels matter.
    """

    least: ClassVar[int] = 2

    def __call__(self, img: Tensor) -> Tensor:
        """Return the image, or images of shape (..., channels, height, width), transformed alike.

        Raises:
            InputError: it is no such tensor, or not what this transform takes.
        """
        check_image(type(self).__name__, img, self.least)
        return self.transformed(img)

    def transformed(self, img: Tensor) -> Tensor:
        """Return the image transformed; see `__call__`."""
        raise NotImplementedError

    def __repr__(self) -> str:
        settings = [f"{name}={value!r}" for name, value in vars(self).items()]
        return f"{type(self).__name__}({', '.join(settings)})"


def column(name: str, numbers: Any, img: Tensor) -> Tensor:
    """Return one number for each channel, or one for all, for arithmetic with an image.

    Raises:
        InputError: the image has another number of channels.
    """
    channels = img.shape[-3] if img.ndim > 2 else 1
    if len(numbers) not in (1, channels):
        raise InputError(
            f"the image has {channels} channel(s), but {name} is given for {len(numbers)}."
        )
    found = tensor(numbers, dtype=img.dtype, backend=img.backend)
    return found.view(-1, 1, 1) if img.ndim > 2 else found


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
    check("the probability p", p, 0.0 <= p <= 1.0, "between 0 and 1")
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


# --- Transforms made of others, or of any function ------------------------------------------------


class Compose:
    """Transforms one after another.

        >>> Compose([abs, float])(-3)
        3.0

    Args:
        transforms: each is called with what the one before returned.

    Raises:
        SettingError: one cannot be called.
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = list(transforms)
        for each in self.transforms:
            check_callable(each)

    def __call__(self, img: Any) -> Any:
        """Return what the last transform returns."""
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.transforms))})"


class RandomApply(Compose):
    """Transforms one after another, or none of them.

    Args:
        transforms: as of `Compose`.
        p: the probability that they are applied.

    Raises:
        SettingError: one cannot be called, or `p` is no probability.
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]], p: float = 0.5) -> None:
        super().__init__(transforms)
        self.p = probability(p)

    def __call__(self, img: Any) -> Any:
        """Return what the last transform returns, or what was given."""
        return super().__call__(img) if generator().random() < self.p else img


class RandomChoice(Compose):
    """One of several transforms, drawn anew for each call.

    Args:
        transforms: what is chosen from.
        p: for each a weight, as of `WeightedRandomSampler`; None if all are equally likely.

    Raises:
        SettingError: there is none or one cannot be called, or the weights are not as many, or
            negative, or all 0.
    """

    def __init__(
        self, transforms: Sequence[Callable[[Any], Any]], p: Sequence[float] | None = None
    ) -> None:
        super().__init__(transforms)
        weights = np.array(row("p", [1.0] * len(self.transforms) if p is None else p))
        if len(weights) != len(self.transforms) or weights.min() < 0 or not weights.sum():
            raise SettingError(
                f"p has a weight from 0 on for each of {len(self.transforms)} transforms, not all "
                f"of them 0; got {p!r}."
            )
        self.p = weights / weights.sum()

    def __call__(self, img: Any) -> Any:
        """Return what the chosen transform returns."""
        return self.transforms[int(generator().choice(len(self.p), p=self.p))](img)


class Lambda:
    """A transform made of any function of one argument.

    Raises:
        SettingError: it cannot be called.
    """

    def __init__(self, lambd: Callable[[Any], Any]) -> None:
        check_callable(lambd)
        self.lambd = lambd

    def __call__(self, img: Any) -> Any:
        """Return what the function returns."""
        return self.lambd(img)

    def __repr__(self) -> str:
        return "Lambda()"


# --- From arrays to tensors, and from pixels to numbers a network likes ---------------------------


class ToTensor:
    """An array of shape (height, width) or (height, width, channels) as a tensor, channels first.

    Bytes become float32 from 0 to 1; numbers of other types are kept as they are. An image of
    Pillow is an array, too.
    """

    def __call__(self, pic: Any) -> Tensor:
        """Return a tensor of shape (channels, height, width).

        Raises:
            InputError: it is no array of two or three dimensions.
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
    """Each channel c becomes `(x - mean[c]) / std[c]`.

    Args:
        mean: one number for each channel, or one for all.
        std: likewise.

    Raises:
        SettingError: a number is not finite, a deviation is 0, or there are several of one but
            another number of the other.
    """

    least = 3

    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        self.mean, self.std = row("mean", mean), row("std", std)
        if 0 in self.std:
            raise SettingError("std divides, so that none may be 0.")
        if len({len(self.mean), len(self.std)} - {1}) > 1:
            raise SettingError(
                f"mean and std have one number for each channel; {len(self.mean)} and "
                f"{len(self.std)} were given."
            )

    def transformed(self, img: Tensor) -> Tensor:
        """Return the image normalised.

        Raises:
            InputError: they are not of floating-point numbers, or of another number of channels.
        """
        check_real("Normalize", img)
        return (img - column("mean", self.mean, img)) / column("std", self.std, img)
