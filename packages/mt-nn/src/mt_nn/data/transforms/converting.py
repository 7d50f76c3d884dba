"""From arrays to tensors, and from pixels to numbers a network likes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_nn.data.transforms.transform import ImageTransform, check_real, column, row
from mt_nn.errors import InputError, SettingError
from mt_tensor import Tensor, tensor


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

    shown = ("mean", "std")

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

    def transformed(self, imgs: Tensor) -> Tensor:
        """Return the images of a batch normalised.

        Raises:
            InputError: they are not of floating-point numbers, or of another number of channels.
        """
        check_real("Normalize", imgs)
        return (imgs - column("mean", self.mean, imgs)) / column("std", self.std, imgs)
