"""Images turned, moved, enlarged and sheared: each new pixel is looked up in the old image.

A point is a column (x, y), in pixels from the middle of the image; y goes down. The maps are those
of torchvision, which turns an image counterclockwise in `RandomRotation` and clockwise in
`RandomAffine`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from mt_nn.data.transforms import transform
from mt_nn.data.transforms.resizing import INTERPOLATIONS
from mt_nn.data.transforms.transform import ImageTransform, Numbers
from mt_nn.errors import SettingError
from mt_nn.utils.settings import choice
from mt_tensor import Tensor, tensor, zeros_like
from mt_tensor.extending import generator


class RandomAffine(ImageTransform):
    """Images sheared, enlarged, turned clockwise and moved, each at random, in their own frame.

    Args:
        degrees: between which bounds the angle lies; d stands for (-d, d), and 0 for none.
        translate: by which shares of width and height it is moved at most; None for not at all.
        scale: between which bounds the factor lies by which it is enlarged; None for not at all.
        shear: between which bounds the angle of the shear along x lies, and with four numbers also
            that along y; d stands for (-d, d); None for no shear.
        interpolation: "nearest" or "bilinear".
        fill: what comes into the frame from outside: a number, or one for each channel.
        center: the x and y about which it is done, in pixels from the upper left corner; the middle
            if None.

    Raises:
        SettingError: an invalid setting.
    """

    clockwise: ClassVar[int] = 1

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: tuple[float, float] | None = None,
        scale: tuple[float, float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: str = "nearest",
        fill: float | Sequence[float] = 0,
        center: Sequence[float] | None = None,
    ) -> None:
        self.interpolation = choice("interpolation", interpolation, INTERPOLATIONS)
        self.fill = transform.row("fill", fill)
        self.center = None if center is None else transform.row("center", center, (2,))
        self.degrees = transform.angles("degrees", degrees)
        self.translate = tuple(transform.row("translate", translate or (0, 0), (2,)))
        if not all(0 <= share <= 1 for share in self.translate):
            raise SettingError(f"translate has two shares from 0 to 1; got {translate!r}.")
        self.scale = (1.0, 1.0) if scale is None else transform.interval("scale", scale, 0)
        if not self.scale[0]:
            raise SettingError(f"scale has two factors above 0; got {scale!r}.")
        self.shear = _shears(shear)

    def transformed(self, img: Tensor) -> Tensor:
        """Return the image warped.

        Raises:
            InputError: it is not of floating-point numbers, or has another number of channels than
                `fill`.
        """
        transform.check_real(type(self).__name__, img)
        return self._looked_up(img, self._map(*img.shape[-2:]))

    def _looked_up(self, img: Tensor, mapping: Numbers) -> Tensor:
        """Return the image that has at each point what the old one has where it is mapped to.

        A pixel outside of the old image counts as one of `fill`.
        """
        height, width = img.shape[-2:]
        y, x = np.divmod(np.arange(height * width), width)
        middle = np.array([width - 1, height - 1]) / 2
        points = np.stack([x - middle[0], y - middle[1], np.ones(x.size)])
        x, y = mapping @ points + middle[:, None]
        flat = img.flatten(-2)
        found, known = zeros_like(flat), np.zeros_like(x)
        for left, top, weight in self._neighbours(x, y):
            i, j = top.clip(0, height - 1), left.clip(0, width - 1)
            index = tensor((i * width + j).astype(np.int64), backend=img.backend)
            inside = weight * ((i == top) & (j == left))
            share = tensor(inside, dtype=img.dtype, backend=img.backend)
            found = found + flat.index_select(-1, index) * share
            known += inside
        outside = tensor(1 - known, dtype=img.dtype, backend=img.backend).view(height, width)
        return found.view(img.shape) + outside * transform.column("fill", self.fill, img)

    def _neighbours(self, x: Numbers, y: Numbers) -> list[tuple[Numbers, Numbers, Numbers]]:
        """Return column and row of each pixel that a point depends on, and its weight."""
        if self.interpolation == "nearest":
            return [(np.rint(x), np.rint(y), np.ones_like(x))]
        left, top = np.floor(x), np.floor(y)
        across, down = x - left, y - top
        return [
            (left, top, (1 - across) * (1 - down)),
            (left + 1, top, across * (1 - down)),
            (left, top + 1, (1 - across) * down),
            (left + 1, top + 1, across * down),
        ]

    def _map(self, height: int, width: int) -> Numbers:
        """Draw what maps new points to old ones: a matrix beside an offset, (2, 3)."""
        numbers = generator()
        turned = self.clockwise * np.radians(numbers.uniform(*self.degrees))
        far = np.array(self.translate) * (width, height)
        move = np.rint(numbers.uniform(-far, far))
        scale = numbers.uniform(*self.scale)
        along_x, along_y = (np.radians(numbers.uniform(*each)) for each in self.shear)
        # The inverse of: shear along x, then along y, turn, enlarge.
        cos, sin = np.cos(turned), np.sin(turned)
        up, over = np.cos(turned - along_y) / np.cos(along_y), np.tan(along_x)
        side = np.sin(turned - along_y) / np.cos(along_y)
        inverse = np.array([[cos - side * over, up * over + sin], [-side, up]]) / scale
        middle = np.array([width / 2, height / 2])
        center = np.zeros(2) if self.center is None else np.array(self.center) - middle
        return np.column_stack([inverse, center - inverse @ (center + move)])


class RandomRotation(RandomAffine):
    """Images turned counterclockwise by a random angle, in their own frame.

    Args:
        degrees: between which bounds the angle lies; d stands for (-d, d).
        interpolation: "nearest" or "bilinear".
        center: the x and y that stay where they are, in pixels from the upper left corner; the
            middle if None.
        fill: what comes into the frame from outside: a number, or one for each channel.

    Raises:
        SettingError: an invalid setting.
    """

    clockwise = -1

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: str = "nearest",
        *,
        center: Sequence[float] | None = None,
        fill: float | Sequence[float] = 0,
    ) -> None:
        super().__init__(degrees, None, None, None, interpolation, fill, center)


def _shears(shear: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the bounds of the angles along x and along y."""
    if np.size(shear) == 4:
        numbers = transform.row("shear", shear)
        return transform.interval("shear", numbers[:2]), transform.interval("shear", numbers[2:])
    return transform.angles("shear", 0 if shear is None else shear), (0.0, 0.0)
