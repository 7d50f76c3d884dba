"""`save` and `load`: tensors and nested values in one file, which cannot execute code.

A state dictionary becomes a safetensors file with the same names, which torch supports, too. For
other values, the tensors and arrays are stored in such a file under names such as
`optimizer.state.0.exp_avg`, and the metadata contain the structure as JSON.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

from mt_nn.errors import FileError, SettingError, files_needed
from mt_nn.files.reading import Source, open_plain, read_bytes
from mt_nn.files.writing import write_atomically
from mt_nn.saving import layout, torch_files
from mt_nn.saving.locations import Locations, MapLocation
from mt_nn.saving.values import Decoder, Encoder
from mt_operators import StateDictError
from mt_tensor import Tensor
from mt_tensor.backends import TensorBackend
from mt_tensor.errors import DTypeError
from mt_tensor.extending import DTYPES, Array, Backend

File = str | os.PathLike[str] | BinaryIO
"""A path, or a binary file object, such as an `io.BytesIO`."""

INDEX = ".index.json"
"""The suffix of an index file, which lists the file of each tensor of a model."""

STRUCTURE = "mt_nn.structure"
"""The name of the metadata that contain the structure of a value."""


def save(obj: Any, f: File, metadata: Mapping[str, str] | None = None) -> None:
    """Save a value: `save(model.state_dict(), "model.safetensors")`.

        save({"epoch": 3, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)

    Shared tensors are written under each of their names. Tensors are saved without their graph, and
    must not be changed during the call.

    Args:
        obj: None, bools, numbers of Python and NumPy, strings, dtypes, tensors on any backend, and
            NumPy arrays; and lists, tuples and dictionaries (also `OrderedDict`) of these, with
            strings, numbers or None as keys.
        f: the path, whose file is replaced atomically; or a binary file object, such as an
            `io.BytesIO`, which is written from its current position.
        metadata: a dictionary of strings, stored in the file; see `mt_nn.saving.read_metadata`.

    Raises:
        FileError: the file cannot be written; an existing file is unchanged.
        SettingError: `metadata` contains values that are not strings, or `f` is not a file.
        StateDictError: `obj` contains an unsupported value, or is nested too deeply; nothing was
            written.
    """
    store(obj, Encoder(), f, metadata)


def store(
    value: Any, encoder: Encoder, file: File, metadata: Mapping[str, str] | None = None
) -> None:
    """Save a value with a new encoder; see `save`."""
    texts = _checked(metadata or {})
    arrays = encoder.arrays
    try:
        structure = encoder.encode(value)
        if structure != {"dict": [[name, {"tensor": name}] for name in arrays]}:  # not a plain file
            texts[STRUCTURE] = json.dumps(structure, separators=(",", ":"))
    except RecursionError as error:
        raise StateDictError("a value is nested too deeply, or contains itself.") from error
    except StateDictError:
        raise
    except ValueError as error:  # Python limits the digits of integers
        raise StateDictError(f"a number cannot be saved: {error}.") from error
    content = layout.packed(arrays, texts)
    with files_needed(f"could not write to {_name_of(file, 'write')}"):
        if isinstance(file, (str, os.PathLike)):
            write_atomically(file, content)
        else:
            file.write(content)


def _checked(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return a copy of the metadata given by a user.

    Raises:
        SettingError: names and values are not strings, or a name is reserved.
    """
    for name, value in metadata.items():
        try:
            (name + value).encode()
        except (TypeError, UnicodeEncodeError):
            raise SettingError(
                f"metadata must map strings to strings; {name!r} has the value {value!r}. Convert "
                "it with str()."
            ) from None
        if name.startswith(layout.RESERVED_PREFIX):
            raise SettingError(f"the name {name!r} in metadata is reserved: choose another one.")
    return dict(metadata)


def load(
    f: File,
    map_location: MapLocation = None,
    *,
    backend: Backend = None,
    weights_only: bool = True,  # noqa: ARG001
) -> Any:
    """Load a saved value: `model.load_state_dict(load("model.safetensors"))`.

    All safetensors files can be loaded, as a dictionary of tensors. For a shared tensor, torch's
    `save_model` stores one name, and the others in the metadata. It is loaded under all names with
    the same last part, such as `embedding.weight` and `head.weight`.

    Files of `torch.save` can be loaded if they contain tensors, numbers, strings and plain
    containers; and so can the index of a model in several files, such as
    `model.safetensors.index.json`. No code in a file is ever executed.

    Args:
        f: the path; or a binary file object, which is read from its current position.
        map_location: the device of the tensors, or its name. As in torch, it may also be a
            dictionary of devices by location, such as `{"cuda:0": "cpu"}`; or a function
            `f(storage, location)` that returns `storage`, `storage.cpu()` or `storage.cuda()`, or
            None for the location itself. The location is that in a file of `torch.save`, "cpu" for
            others; storages are read on the CPU.
        backend: the backend of the tensors, or its name; the current one if both are None.
        weights_only: accepted for compatibility with torch, without effect.

    Returns:
        The value, with the same types. Tensors are contiguous, and arrays have native byte order;
        tensors of `torch.save` have the strides that they had, and share memory if they did.

    Raises:
        SettingError: `f` is not a file, or `map_location` returned something else.
        FileError: the file is missing, truncated, damaged or of another format, contains an
            unsupported value or dtype, or exceeds `mt_nn.limits`.
        TypeError: both `map_location` and `backend` are given.
        UnknownBackendError: the backend is unknown.
    """
    locations = Locations(map_location, backend)
    if isinstance(f, (str, os.PathLike)) and os.fspath(f).endswith(INDEX):
        return _load_parts(Path(f), locations)
    return fetch(f, locations)


def _load_parts(index: Path, locations: Locations) -> dict[str, Any]:
    """Load the state dictionary of a model in several files, given its index.

    Raises:
        FileError: the index or a file is missing or damaged, or they do not fit each other.
    """
    content = read_bytes(index, "json")
    try:
        files = {str(name): str(file) for name, file in json.loads(content)["weight_map"].items()}
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise FileError(f"{index} is not the index of a model ({error!r}).") from error
    state: dict[str, Any] = {}
    for file in dict.fromkeys(files.values()):
        if Path(file).name != file:
            raise FileError(f"{index} refers to {file!r}, which is not in the same folder.")
        part = fetch(index.with_name(file), locations)
        expected = {name for name in files if files[name] == file}
        if not isinstance(part, dict) or not expected <= part.keys():
            raise FileError(f"{index} expects {sorted(expected)} in {file}; some are missing.")
        state.update(part)
    return {name: state[name] for name in files}


def fetch(file: File, locations: Locations) -> Any:
    """Load a value; see `load`."""
    with _open_to_read(file) as source:
        start = source.read(layout.START)
        if start.startswith(torch_files.FIRST):
            return torch_files.read(start + source.read_all(), source.allowance, locations)
        entries, metadata = layout.read_header(start, source)
        arrays = layout.read_arrays(entries, metadata, source)
        if isinstance(file, (str, os.PathLike)) and source.read(1):
            raise layout.damaged(source, "there are bytes after the last array")
    structure = metadata.get(STRUCTURE)
    if structure is None:
        return _flat_state(arrays, metadata, locations, source.name)
    try:
        return Decoder(arrays, locations).decode(json.loads(structure))
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        if error is locations.error:
            raise
        raise layout.damaged(source, repr(error)) from error


def _flat_state(
    arrays: dict[str, Array], metadata: Mapping[str, str], locations: Locations, source: str
) -> dict[str, Tensor]:
    """Return a dictionary of tensors, including other names of shared ones in torch's metadata."""
    state = {
        name: _tensor(arrays.pop(name), locations.backend_of(), name, source) for name in [*arrays]
    }
    if not layout.is_ours(metadata):
        for name, saved_name in metadata.items():
            if saved_name in state and name.rpartition(".")[2] == saved_name.rpartition(".")[2]:
                state.setdefault(name, state[saved_name])
    return state


def _tensor(array: Array, backend: TensorBackend, name: str, source: str) -> Tensor:
    try:
        return Tensor._make(backend.from_host(array), backend)
    except DTypeError as error:
        raise FileError(
            f"{name} in {source} has dtype {array.dtype}, which tensors do not support; they "
            f"support {', '.join(DTYPES)}."
        ) from error


def read_metadata(f: File) -> dict[str, str]:
    """Return the metadata of a safetensors file, a dictionary of strings.

    Args:
        f: a path, or a file that is open for reading.

    Raises:
        FileError: the file is missing, damaged, or not a safetensors file.
    """
    with _open_to_read(f) as source:
        _, metadata = layout.read_header(source.read(layout.START), source)
    return {
        name: text for name, text in metadata.items() if not name.startswith(layout.RESERVED_PREFIX)
    }


@contextmanager
def _open_to_read(file: File) -> Iterator[Source]:
    """Yield an opened file.

    Raises:
        FileError: the file cannot be read, or memory is exhausted.
        SettingError: the argument is not a file.
    """
    name = _name_of(file, "read")
    with files_needed(f"could not read {name}"):
        is_path = isinstance(file, (str, os.PathLike))
        plain: Any = io.BufferedReader(open_plain(file)) if is_path else nullcontext(file)  # type: ignore[arg-type]
        with plain as opened:
            try:
                yield Source(opened, name, "model")
            except MemoryError as error:
                raise FileError(f"there is not enough memory for {name}.") from error


def _name_of(file: Any, method: str) -> str:
    """Return the name of a file.

    Raises:
        SettingError: the argument is neither a path nor a binary file object.
    """
    if isinstance(file, (str, os.PathLike)):
        return str(os.fspath(file))
    if not callable(getattr(file, method, None)) or isinstance(file, io.TextIOBase):
        raise SettingError(
            f"f must be a path or a binary file object with a method {method}(); got {file!r}."
        )
    return str(getattr(file, "name", type(file).__name__))
