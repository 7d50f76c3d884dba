"""Boxes of images that are painted over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mt_nn.data.transforms.resizing import draw_box
from mt_nn.data.transforms.transform import (
    ImageTransform,
    check_real,
    column,
    interval,
    probability,
    row,
)
from mt_nn.errors import SettingError
from mt_tensor import Tensor, randn, tensor
from mt_tensor.extending import generator


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

    shown = ("p", "scale", "ratio")

    def __init__(
        self,
        p: float = 0.5,
        scale: tuple[float, float] = (0.02, 0.33),
        ratio: tuple[float, float] = (0.3, 3.3),
        value: float | Sequence[float] | str = 0,
    ) -> None:
        self.p = probability(p)
        self.scale, self.ratio = interval("scale", scale, 0), interval("ratio", ratio, 0)
        if not self.scale[1] <= 1 or not self.ratio[0]:
            raise SettingError(
                f"a box has two sides and lies in the image; got scale={scale!r}, ratio={ratio!r}."
            )
        self.value = value if value == "random" else row("value", value)

    def transformed(self, imgs: Tensor) -> Tensor:
        """Return the images of a batch, some with a box painted over.

        Raises:
            InputError: they have another number of channels than `value`.
        """
        height, width = imgs.shape[-2:]
        painted = np.zeros((len(imgs), height, width), bool)
        low, high = self.ratio
        for mask, chosen in zip(painted, generator().random(len(imgs)) < self.p, strict=True):
            box = draw_box(height, width, self.scale, (1 / high, 1 / low)) if chosen else None
            if box is not None:
                top, left, rows, columns = box
                mask[top : top + rows, left : left + columns] = True
        shape = (len(imgs), *[1] * (imgs.ndim - 3), height, width)
        return self._paint(imgs).where(tensor(painted, backend=imgs.backend).view(shape), imgs)

    def _paint(self, imgs: Tensor) -> Tensor:
        if self.value == "random":
            check_real("RandomErasing", imgs)
            return randn(imgs.shape, dtype=imgs.dtype, backend=imgs.backend)
        return column("value", self.value, imgs)
