"""Layers that leave out channels or samples, and those that go with selu.

The functions of these names, in `mt_nn.functional`, say what shapes they take and what they do.
"""

from __future__ import annotations

from mt_nn.layers.dropout import DropoutLayer
from mt_nn.library.functional.dropouts import (
    alpha_dropout,
    drop_path,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)


class AlphaDropout(DropoutLayer):
    """Elements of the output of `SELU` left out so that mean and variance stay."""

    function = staticmethod(alpha_dropout)


class DropPath(DropoutLayer):
    """Whole samples set to zero, and the rest scaled."""

    function = staticmethod(drop_path)


class Dropout1d(DropoutLayer):
    """Channels of signals set to zero, and the rest scaled."""

    function = staticmethod(dropout1d)


class Dropout2d(DropoutLayer):
    """Channels of images set to zero, and the rest scaled."""

    function = staticmethod(dropout2d)


class Dropout3d(DropoutLayer):
    """Channels of volumes set to zero, and the rest scaled."""

    function = staticmethod(dropout3d)


class FeatureAlphaDropout(DropoutLayer):
    """Channels left out as `AlphaDropout` does elements."""

    function = staticmethod(feature_alpha_dropout)
