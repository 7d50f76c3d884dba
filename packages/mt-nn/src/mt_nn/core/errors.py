"""The errors of layers, functions, optimizers and loaders.

All derive from `NetworkError`, which is a `RuntimeError`, as most of torch's errors are, and from
the other builtin exceptions that torch raises in their place. `mt_nn.errors` adds the errors of
files, downloads and distributed training.
"""

from __future__ import annotations


class NetworkError(RuntimeError):
    """Base class of the errors of mt-nn."""


class SettingError(NetworkError, NotImplementedError, ValueError):
    """An invalid setting of a layer, a function, an optimizer or a loader."""


class SettingTypeError(SettingError, TypeError):
    """A setting of the wrong type, such as a string for a number."""


class InputError(NetworkError, NotImplementedError, ValueError):
    """A tensor whose shape or dtype a layer or a function does not support."""
