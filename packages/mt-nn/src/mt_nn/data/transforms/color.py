"""Color transforms. Pixels are numbers from 0 to 1; three channels are red, green and blue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_nn.data.transforms import transform
from mt_nn.data.transforms.transform import ImageTransform
from mt_nn.errors import InputError
from mt_nn.utils.settings import check
from mt_tensor import Tensor, stack, tensor
from mt_tensor.extending import generator

LUMINANCE = (0.2989, 0.587, 0.114)
"""The weights of red, green and blue in a gray value (ITU-R BT.601)."""


class Grayscale(ImageTransform):
    """Convert images to grayscale with the weights 0.2989, 0.587 and 0.114 (ITU-R BT.601).

    Args:
        num_output_channels: 1, or 3 for three equal channels.

    Raises:
        SettingError: the number of channels is invalid.
    """

    least = 3

    def __init__(self, num_output_channels: int = 1) -> None:
        check("num_output_channels", num_output_channels, num_output_channels in (1, 3), "1 or 3")
        self.num_output_channels = num_output_channels

    def transformed(self, img: Tensor) -> Tensor:
        """Return the grayscale image.

        Raises:
            InputError: the dtype is not floating-point, or the image does not have 1 or 3 channels.
        """
        _check_colors("Grayscale", img)
        return _gray(img).expand(*img.shape[:-3], self.num_output_channels, *img.shape[-2:])


class ColorJitter(ImageTransform):
    """Change brightness, contrast, saturation and hue at random, in random order.

    The first three are factors, drawn from an interval; a number x is short for the interval
    (max(0, 1 - x), 1 + x). Hue is rotated by a fraction of the color circle, drawn from an interval
    within (-0.5, 0.5); a number x is short for (-x, x).

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
        check("the bounds of hue", hue, self.hue[1] <= 0.5, "from -0.5 to 0.5")

    def transformed(self, img: Tensor) -> Tensor:
        """Return the image with changed colors.

        Raises:
            InputError: the dtype is not floating-point, or the image does not have 1 or 3 channels.
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


def _with_brightness(imgs: Tensor, factor: float) -> Tensor:
    return (imgs * factor).clamp(0, 1)


def _with_contrast(imgs: Tensor, factor: float) -> Tensor:
    mean = _gray(imgs).mean((-3, -2, -1), keepdim=True)
    return (mean + (imgs - mean) * factor).clamp(0, 1)


def _with_saturation(imgs: Tensor, factor: float) -> Tensor:
    gray = _gray(imgs)
    return (gray + (imgs - gray) * factor).clamp(0, 1)


def _with_hue(imgs: Tensor, turn: float) -> Tensor:
    """Rotate the hue, an angle, by `turn` revolutions; keep the largest and smallest channel value.

    The conversion between RGB and hue is that of Smith 1978, "Color Gamut Transform Pairs"; hue
    ranges from 0 to 6.
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
        angle = (hue + start).remainder(6)
        channels.append(largest - span * angle.minimum(4 - angle).clamp(0, 1))
    return stack(channels, -3)
