"""The errors of networks, data and training: the first file to read, for all others raise them.

All derive from `NetworkError`, which is a `RuntimeError`, for torch raises that for most of what it
refuses; and each also from the other builtin exceptions that code written for torch would catch.
"""

from __future__ import annotations


class NetworkError(RuntimeError):
    """Base of the errors raised by mt-nn."""


class SettingError(NetworkError, NotImplementedError, ValueError):
    """A layer, an optimizer or a loader was given a setting that makes no sense."""


class SettingTypeError(SettingError, TypeError):
    """A setting is of another type than it must be, such as a text for a number."""


class InputError(NetworkError, NotImplementedError, ValueError):
    """A layer or a function was given a tensor of a shape or dtype that it cannot work with."""


class FileError(NetworkError, OSError):
    """A file of data or of a model is missing, truncated or not what it should be."""


class MissingFileError(FileError, FileNotFoundError):
    """There is no file of that name."""


class DownloadError(FileError):
    """A file could not be fetched, or is not the one that was asked for."""


class LoaderError(NetworkError):
    """A loader's worker did not deliver a batch in time."""


class MissingPackageError(NetworkError, ImportError):
    """A feature needs a package that is not installed."""


class RankError(NetworkError):
    """Ranks that train together do not do the same, or one of them cannot go on."""
