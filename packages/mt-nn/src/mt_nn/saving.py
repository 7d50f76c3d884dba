"""Models on disk, as safetensors: a plain format that runs no code when it is read.

A file is written beside its target and then moved over it in one step, so that a save which fails
leaves the earlier file whole.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mt_nn.errors import FileError, MissingPackageError
from mt_operators import StateDictError
from mt_tensor import Tensor, tensor
from mt_tensor.errors import DTypeError


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError as error:
        raise MissingPackageError(
            "saving and loading models needs safetensors: pip install 'mt-nn[train]'."
        ) from error
    return safetensors.numpy


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that it is there whole or not at all.

    It keeps the permissions of an earlier file of that name; a new one has the process's usual.

    Raises:
        FileError: it could not be written; an earlier file of that name is untouched.
    """
    target = Path(path)
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder: give the name of a file")
        beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        try:
            with beside.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                beside.chmod(stat.S_IMODE(target.stat().st_mode))
            beside.replace(target)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FileError(
            f"could not write {target} ({error.strerror or error}). The folder must exist and be "
            "writable, with room on the disk; an earlier file of that name is untouched."
        ) from error


def save(state: Mapping[str, Tensor], path: str | os.PathLike[str]) -> None:
    """Save a state dictionary: `save(model.state_dict(), "model.safetensors")`.

    Raises:
        FileError: it could not be written; an earlier file of that name is untouched.
        MissingPackageError: safetensors is not installed.
        StateDictError: `state` does not map names to tensors; nothing was written.
    """
    _check_state(state)
    arrays = {
        name: np.ascontiguousarray(value.detach().numpy()).reshape(value.shape)
        for name, value in state.items()
    }
    write_atomically(path, _safetensors().save(arrays))


def _check_state(state: object) -> None:
    if not isinstance(state, Mapping):
        raise StateDictError(
            f"save() takes a dictionary of tensors by name; {type(state).__name__} was given. "
            "Save a model with save(model.state_dict(), path)."
        )
    for name, value in state.items():
        if not isinstance(name, str) or not isinstance(value, Tensor):
            raise StateDictError(
                f"save() takes a dictionary of tensors by name; {name!r} holds "
                f"{type(value).__name__}. Leave it out, or convert it with mt_tensor.tensor()."
            )


def load(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """Load a state dictionary: `model.load_state_dict(load("model.safetensors"))`.

    Raises:
        FileError: the file is missing, truncated or no safetensors file, or holds elements of a
            type that tensors do not have.
        MissingPackageError: safetensors is not installed.
    """
    source = Path(path)
    library = _safetensors()
    try:
        content = source.read_bytes()
    except OSError as error:
        raise FileError(f"could not read {source} ({error.strerror or error}).") from error
    try:
        arrays = library.load(content)
    except Exception as error:  # the library raises its own type, and others for odd headers
        raise FileError(
            f"{source} is truncated or no safetensors file ({error}). Save the model again with "
            "mt_nn.save()."
        ) from error
    try:
        return {name: tensor(array) for name, array in arrays.items()}
    except DTypeError as error:
        raise FileError(f"{source} holds what no tensor here can hold: {error}") from error
