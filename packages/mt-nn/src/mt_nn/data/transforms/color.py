"""Changes of color. Pixels are numbers from 0 to 1; three channels are red, green and blue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_nn.data.transforms import transform
from mt_nn.data.transforms.transform import ImageTransform
from mt_nn.errors import InputError, SettingError
from mt_tensor import Tensor, stack, tensor
from mt_tensor.extending import generator

LUMINANCE = (0.2989, 0.587, 0.114)
"""How much red, green and blue are in a grey (ITU-R BT.601)."""


class Grayscale(ImageTransform):
    """Colors as greys, by `LUMINANCE`; one channel stays as it is.

    Args:
        num_output_channels: 1, or 3 for three times the same.

    Raises:
        SettingError: it is another number.
    """

    least = 3

    def __init__(self, num_output_channels: int = 1) -> None:
        if num_output_channels not in (1, 3):
            raise SettingError(f"num_output_channels is 1 or 3; got {num_output_channels!r}.")
        self.num_output_channels = num_output_channels

    def transformed(self, img: Tensor) -> Tensor:
        """Return the image in grey.

        Raises:
            InputError: they are not of floating-point numbers, or of other than 1 or 3 channels.
        """
        _check_colors("Grayscale", img)
        return _repeated(_gray(img), self.num_output_channels)


class RandomGrayscale(ImageTransform):
    """Colors as greys, with probability `p`, in as many channels as before.

    Raises:
        SettingError: `p` is no probability.
    """

    least = 3

    def __init__(self, p: float = 0.1) -> None:
        self.p = transform.probability(p)

    def transformed(self, img: Tensor) -> Tensor:
        """Return the image, perhaps in grey.

        Raises:
            InputError: they are not of floating-point numbers, or of other than 1 or 3 channels.
        """
        _check_colors("RandomGrayscale", img)
        if generator().random() >= self.p:
            return img
        return _repeated(_gray(img), img.shape[-3])


class ColorJitter(ImageTransform):
    """Brightness, contrast, saturation and hue changed at random, in random order.

    Each of the first three is a factor, 1 for no change, between two bounds; x stands for
    (max(0, 1 - x), 1 + x). Hue is turned by a share of the circle of colors between two bounds from
    -0.5 to 0.5; x stands for (-x, x).

    Raises:
        SettingError: bounds are out of range.
    """

    least = 3

    def __init__(
        self,
        brightness: float | tuple[float, float] = 0,
        contrast: float | tuple[float, float] = 0,
        saturation: float | tuple[float, float] = 0,
        hue: float | tuple[float, float] = 0,
    ) -> None:
        self.brightness = _factors("brightness", brightness)
        self.contrast = _factors("contrast", contrast)
        self.saturation = _factors("saturation", saturation)
        bounds = (-hue, hue) if isinstance(hue, int | float) else hue
        self.hue = transform.interval("hue", bounds, -0.5)
        if self.hue[1] > 0.5:
            raise SettingError(f"hue has bounds from -0.5 to 0.5; got {hue!r}.")

    def transformed(self, img: Tensor) -> Tensor:
        """Return the image in other colors.

        Raises:
            InputError: they are not of floating-point numbers, or of other than 1 or 3 channels.
        """
        _check_colors("ColorJitter", img)
        steps: list[tuple[Callable[[Tensor, float], Tensor], tuple[float, float], int]] = [
            (_with_brightness, self.brightness, 1),
            (_with_contrast, self.contrast, 1),
            (_with_saturation, self.saturation, 1),
            (_with_hue, self.hue, 0),
        ]
        numbers = generator()
        for which in numbers.permutation(len(steps)):
            change, (low, high), neutral = steps[which]
            if (low, high) != (neutral, neutral):
                img = change(img, numbers.uniform(low, high))
        return img


def _factors(name: str, given: Any) -> tuple[float, float]:
    if isinstance(given, int | float):
        given = (max(0.0, 1.0 - given), 1.0 + given)
    return transform.interval(name, given, 0)


def _check_colors(name: str, img: Tensor) -> None:
    transform.check_real(name, img)
    if img.shape[-3] not in (1, 3):
        raise InputError(f"{name} takes images of 1 or 3 channels; shape {img.shape} was given.")


def _gray(imgs: Tensor) -> Tensor:
    """Return images with one channel."""
    if imgs.shape[-3] == 1:
        return imgs
    weights = tensor(LUMINANCE, dtype=imgs.dtype, backend=imgs.backend).view(3, 1, 1)
    return (imgs * weights).sum(-3, keepdim=True)


def _repeated(gray: Tensor, channels: int) -> Tensor:
    return gray.expand(*gray.shape[:-3], channels, *gray.shape[-2:])


def _with_brightness(imgs: Tensor, factor: float) -> Tensor:
    return (imgs * factor).clamp(0, 1)


def _with_contrast(imgs: Tensor, factor: float) -> Tensor:
    mean = _gray(imgs).mean((-3, -2, -1), keepdim=True)
    return (mean + (imgs - mean) * factor).clamp(0, 1)


def _with_saturation(imgs: Tensor, factor: float) -> Tensor:
    gray = _gray(imgs)
    return (gray + (imgs - gray) * factor).clamp(0, 1)


def _with_hue(imgs: Tensor, turn: float) -> Tensor:
    """Turn the hue, which is an angle where the largest and the smallest channel stay as they are.

    From red, green and blue to hue and back as in Smith 1978, Color Gamut Transform Pairs; the hue
    goes from 0 to 6.
    """
    if imgs.shape[-3] == 1:
        return imgs
    red, green, blue = imgs.unbind(-3)
    largest, smallest = imgs.amax(-3), imgs.amin(-3)
    span = largest - smallest
    divisor = span.masked_fill(span == 0, 1)
    hue = ((green - blue) / divisor).where(
        largest == red,
        (2 + (blue - red) / divisor).where(largest == green, 4 + (red - green) / divisor),
    )
    hue = hue + 6 * turn
    channels = []
    for start in (5, 3, 1):
        place = (hue + start).remainder(6)
        channels.append(largest - span * place.minimum(4 - place).clamp(0, 1))
    return stack(channels, -3)
