"""Layers that leave out channels or samples, and those that go with selu.

The functions of these names, in `mt_nn.functional`, say what shapes they take and what they do.
"""

from __future__ import annotations

from mt_nn import functional
from mt_nn.core.dropout import DropoutLayer


class AlphaDropout(DropoutLayer):
    """Elements of the output of `SELU` left out so that mean and variance stay."""

    function = staticmethod(functional.alpha_dropout)


class DropPath(DropoutLayer):
    """Whole samples set to zero, and the rest scaled."""

    function = staticmethod(functional.drop_path)


class Dropout1d(DropoutLayer):
    """Channels of signals set to zero, and the rest scaled."""

    function = staticmethod(functional.dropout1d)


class Dropout2d(DropoutLayer):
    """Channels of images set to zero, and the rest scaled."""

    function = staticmethod(functional.dropout2d)


class Dropout3d(DropoutLayer):
    """Channels of volumes set to zero, and the rest scaled."""

    function = staticmethod(functional.dropout3d)


class FeatureAlphaDropout(DropoutLayer):
    """Channels left out as `AlphaDropout` does elements."""

    function = staticmethod(functional.feature_alpha_dropout)
