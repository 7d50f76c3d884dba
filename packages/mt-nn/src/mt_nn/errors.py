"""All errors of mt-nn: those of the core, and those of files, downloads and processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mt_nn.core.errors import InputError, NetworkError, SettingError, SettingTypeError

# fmt: off
__all__ = [
    "DownloadError", "ExportError", "FileError", "InputError", "LoaderError", "MissingFileError",
    "MissingPackageError", "NetworkError", "RankError", "SettingError", "SettingTypeError",
]
# fmt: on


class FileError(NetworkError, OSError):
    """A file of data or of a model is missing, truncated or malformed."""


class MissingFileError(FileError, FileNotFoundError):
    """A file does not exist."""


class DownloadError(FileError):
    """A file could not be downloaded, or its checksum is wrong."""


class LoaderError(NetworkError):
    """A worker of a loader did not deliver a batch in time."""


class MissingPackageError(NetworkError, ImportError):
    """A feature needs a package that is not installed."""


class ExportError(NetworkError):
    """A network uses an operation that a file for other runtimes cannot contain."""


class RankError(NetworkError):
    """Ranks that train together made different calls, or one of them has failed."""


# --- Conversion of built-in errors ----------------------------------------------------------------


@contextmanager
def packages_needed(advice: str) -> Iterator[None]:
    """Raise MissingPackageError with advice if an import in the `with` block fails."""
    try:
        yield
    except ImportError as error:
        raise MissingPackageError(advice) from error


@contextmanager
def files_needed(what: str, advice: str = ".") -> Iterator[None]:
    """Convert an OSError in the `with` block to FileError: `what`, the reason, and advice."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        kind = MissingFileError if isinstance(error, FileNotFoundError) else FileError
        raise kind(f"{what} ({error.strerror or error}){advice}") from error
