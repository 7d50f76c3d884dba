"""The errors of layers, functions, optimizers and loaders.

All derive from `NetworkError`, which is a `RuntimeError`, because torch raises that for most
invalid calls; and each also derives from the builtin exceptions that code written for torch would
catch. `mt_nn.errors` adds those of files, downloads and training with several processes.
"""

from __future__ import annotations


class NetworkError(RuntimeError):
    """Base of the errors raised by mt-nn."""


class SettingError(NetworkError, NotImplementedError, ValueError):
    """An invalid setting of a layer, a function, an optimizer or a loader."""


class SettingTypeError(SettingError, TypeError):
    """A setting of the wrong type, such as a string for a number."""


class InputError(NetworkError, NotImplementedError, ValueError):
    """A tensor of a shape or dtype that a layer or a function cannot work with."""
