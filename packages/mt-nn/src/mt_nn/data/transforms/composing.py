"""Transforms made of others, or of any function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mt_nn.data.datasets import transform_each
from mt_nn.data.transforms.transform import check_callable, choose, probability, row
from mt_nn.errors import SettingError
from mt_tensor import Tensor
from mt_tensor.extending import generator


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

    def each(self, imgs: Tensor) -> Tensor:
        """Return the images of a batch, each transformed by itself."""
        for transform in self.transforms:
            imgs = transform_each(transform, imgs)
        return imgs

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

    def each(self, imgs: Tensor) -> Tensor:
        """Return the images of a batch, drawn for one by one."""
        chosen = generator().random(len(imgs)) < self.p
        return choose(chosen, super().each(imgs), imgs)


class RandomChoice:
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
        self.transforms = list(transforms)
        for each in self.transforms:
            check_callable(each)
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

    def __repr__(self) -> str:
        return f"RandomChoice({', '.join(map(repr, self.transforms))})"


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
