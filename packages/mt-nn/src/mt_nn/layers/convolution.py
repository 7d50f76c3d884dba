"""Convolution of signals and volumes."""

from __future__ import annotations

from mt_nn.core.convolution import Convolution
from mt_nn.functional.convolution import conv1d, conv3d


class Conv1d(Convolution):
    """Convolution of signals: `Conv2d` with one size instead of two."""

    dims = 1
    function = staticmethod(conv1d)


class Conv3d(Convolution):
    """Convolution of volumes: `Conv2d` with three sizes instead of two."""

    dims = 3
    function = staticmethod(conv3d)
