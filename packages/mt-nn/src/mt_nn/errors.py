"""The errors of networks, data and training."""

from __future__ import annotations


class NetworkError(Exception):
    """Base of the errors raised by mt-nn."""


class SettingError(NetworkError, ValueError):
    """A layer, an optimizer or a loader was given a setting that makes no sense."""


class InputError(NetworkError, ValueError):
    """A layer or a function was given a tensor of a shape or dtype that it cannot work with."""


class FileError(NetworkError, OSError):
    """A file of data or of a model is missing, truncated or not what it should be."""


class DownloadError(FileError):
    """A file could not be fetched, or is not the one that was asked for."""


class LoaderError(NetworkError, RuntimeError):
    """A loader's worker did not deliver a batch in time."""


class MissingPackageError(NetworkError, ImportError):
    """A feature needs a package that is not installed."""
