"""Models on disk: a state dictionary as a safetensors file, which torch reads and writes, too."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from mt_nn.errors import FileError, SettingError
from mt_nn.files.writing import write_atomically
from mt_nn.saving import layout
from mt_nn.saving.layout import read_whole
from mt_operators import StateDictError
from mt_tensor import Tensor, tensor
from mt_tensor.backends.devices import Backend, Device, place
from mt_tensor.dtypes import DTYPES, as_dtype
from mt_tensor.errors import DTypeError


def save(
    state: Mapping[str, Tensor],
    path: str | os.PathLike[str],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Save a state dictionary: `save(model.state_dict(), "model.safetensors")`.

    What a model shares is written under each of its names.

    Args:
        state: tensors by name, on any backend and of any layout.
        path: the file.
        metadata: strings by name that are kept in the file; `read_metadata` returns them.

    Raises:
        FileError: it could not be written; an earlier file of that name is untouched.
        MissingPackageError: safetensors is not installed.
        SettingError: `metadata` holds something else than strings.
        StateDictError: `state` does not map names to tensors; nothing was written.
    """
    _check_state(state)
    arrays = {name: value.detach().numpy() for name, value in state.items()}
    write_atomically(path, layout.packed(arrays, checked_metadata(metadata)))


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
                f"{type(value).__name__}. Leave it out, or save states of several things, and "
                "other values, with save_checkpoint(path, epoch=epoch, model=model, ...)."
            )


def checked_metadata(metadata: Mapping[str, str] | None) -> dict[str, str]:
    """Return metadata as a dictionary, which is empty for None.

    Raises:
        SettingError: it holds something else than strings.
    """
    found: dict[Any, Any] = dict(metadata or {})
    for name, value in found.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise SettingError(
                f"metadata are strings by name; {name!r} holds {value!r}. Convert it with str()."
            )
    return found


def load(
    path: str | os.PathLike[str],
    map_location: Device = None,
    *,
    backend: Backend = None,
    weights_only: bool = True,
) -> dict[str, Tensor]:
    """Load a state dictionary: `model.load_state_dict(load("model.safetensors"))`.

    bfloat16, which tensors here have not, becomes float32: every number is the same. Of a tensor
    that a model shares, torch's `save_model` keeps one name, and the others in the metadata. It is
    found under all of them that end alike, as `embedding.weight` and `head.weight` do.

    Args:
        path: the file.
        map_location: where the tensors shall live, a device or its name.
        backend: a backend or its name, instead; the current one if both are None.
        weights_only: whether to read tensors only, and run no code. There is no other way here.

    Raises:
        SettingError: `weights_only` is not True.
        FileError: the file is missing, truncated, no safetensors file, or has an element type that
            tensors have not.
        MissingPackageError: safetensors is not installed.
        UnknownBackendError: there is no such backend.
    """
    if weights_only is not True:
        raise SettingError(
            f"weights_only={weights_only!r}: files that could run code are never read here. Save "
            "what is no tensor with save_checkpoint()."
        )
    chosen = place(backend, map_location)
    arrays, metadata = layout.unpacked(read_whole(path), path)
    for name, kept in metadata.items():  # where torch notes the other names of shared tensors
        if kept in arrays and name.rpartition(".")[2] == kept.rpartition(".")[2]:
            arrays.setdefault(name, arrays[kept])
    return {name: _tensor(array, chosen, name, path) for name, array in arrays.items()}


def _tensor(array: Any, backend: Any, name: str, path: str | os.PathLike[str]) -> Tensor:
    try:
        as_dtype(array.dtype)
    except DTypeError as error:
        raise FileError(
            f"{name} in {os.fspath(path)} has elements of {array.dtype}, which tensors have not: "
            f"they have {', '.join(DTYPES)}."
        ) from error
    return tensor(array, backend=backend)


def read_metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return the strings that a safetensors file keeps beside its tensors.

    Raises:
        FileError: the file is missing, or no safetensors file.
    """
    return layout.header(path)
