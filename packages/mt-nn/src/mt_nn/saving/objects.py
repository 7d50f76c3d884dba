"""`save` and `load`: tensors and nested values in one file, which cannot execute code.

A state dictionary becomes a safetensors file with the same names, which torch supports, too. For
other values, the tensors and arrays are stored in such a file under names such as
`optimizer.state.0.exp_avg`, and the metadata contain the structure as JSON.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from mt_nn.errors import FileError, SettingError, files_needed
from mt_nn.files.limits import Allowance
from mt_nn.files.reading import open_plain, read_bytes, unreadable
from mt_nn.files.writing import replacing
from mt_nn.saving import checksums, layout, torch_files
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
"""The end of the name of an index, which says in which file each tensor of a model is."""


def save(obj: Any, f: File, metadata: Mapping[str, str] | None = None) -> None:
    """Save a value: `save(model.state_dict(), "model.safetensors")`.

        save({"epoch": 3, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)

    Shared tensors are written under each of their names. Tensors are saved without their graph, and
    must not be changed during the call.

    Args:
        obj: None, bools, numbers of Python and NumPy, strings, dtypes, tensors on any backend, and
            NumPy arrays; and lists, tuples, dictionaries and `OrderedDict`s of these, whose keys
            are strings, numbers or None.
        f: the path, whose file is replaced atomically; or a binary file object, such as an
            `io.BytesIO`, which is written from its current position.
        metadata: strings by name, stored in the file; see `read_metadata`.

    Raises:
        FileError: the file cannot be written; an existing file is unchanged.
        SettingError: `metadata` contains values that are not strings, or `f` is not a file.
        StateDictError: `obj` contains an unsupported value, or is nested too deep; nothing was
            written.
        MissingPackageError: safetensors is not installed.
    """
    store(obj, Encoder(), f, metadata)


def store(
    value: Any, encoder: Encoder, file: File, metadata: Mapping[str, str] | None = None
) -> None:
    """Save a value with a new encoder; see `save`."""
    texts = checksums.checked_metadata(metadata)
    try:
        structure = encoder.encode(value)
    except RecursionError as error:
        raise StateDictError("a value is nested too deep, or contains itself.") from error
    arrays = encoder.arrays
    if structure != {"dict": [[name, {"tensor": name}] for name in arrays]}:  # not a plain file
        texts[checksums.STRUCTURE] = json.dumps(structure, separators=(",", ":"))
    content = layout.packed(arrays, checksums.with_checksums(texts, arrays))
    with _open_to_write(file) as opened:
        opened.write(content)


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

    So can files of `torch.save` that contain tensors, numbers, strings and plain containers, and
    the index of a model in several files, such as `model.safetensors.index.json`. No code in a file
    is ever executed.

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
        FileError: the file is missing, truncated, damaged or of another format, contains something
            else or a dtype that tensors do not support, or exceeds `mt_nn.limits`.
        UnknownBackendError: the backend is unknown.
        MissingPackageError: safetensors is not installed.
    """
    target = Locations(map_location, backend)
    if isinstance(f, (str, os.PathLike)) and os.fspath(f).endswith(INDEX):
        return _load_parts(Path(f), target)
    return fetch(f, target)


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
    with _open_to_read(file) as (opened, source, allowance):
        start = layout.read(opened, layout.START, allowance)
        if start.startswith(torch_files.FIRST):
            content = layout.read(opened, sys.maxsize, allowance, start)
            return torch_files.read(content, source, allowance, locations)
        header = _header(start, opened, source, allowance)
        contents = layout.read_elements(opened, source, header, allowance)
    expected = header.metadata.get(checksums.ELEMENTS)
    if expected is not None and checksums.elements_sum(contents) != expected:
        raise checksums.damaged(source)
    try:
        arrays = layout.decoded(contents, header.parts, source)
    except ValueError as error:
        raise layout.damaged(source, error) from error
    structure = header.metadata.get(checksums.STRUCTURE)
    if structure is None:
        return _flat_state(arrays, header.metadata, locations, source)
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
    if not checksums.has_checksums(metadata):
        for name, kept in metadata.items():
            if kept in state and name.rpartition(".")[2] == kept.rpartition(".")[2]:
                state.setdefault(name, state[kept])
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
    """Return the metadata of a safetensors file: strings by name.

    Raises:
        FileError: the file is missing, damaged, or not a safetensors file.
    """
    with _open_to_read(f) as (opened, source, allowance):
        start = layout.read(opened, layout.START, allowance)
        return checksums.user_metadata(_header(start, opened, source, allowance).metadata)


def _header(start: bytes, file: BinaryIO, source: str, allowance: Allowance) -> layout.Header:
    """Read a header; check its checksum, and the length of a file on disk."""
    header = layout.read_header(start, file, source, allowance)
    if isinstance(file, _Plain) and file.size != header.size:
        raise layout.damaged(source, f"{file.size} bytes instead of {header.size}")
    checksums.check_header(header, source)
    return header


class _Plain(io.BufferedReader):
    """A file on disk, opened for reading, with its size in bytes."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        raw = open_plain(path)
        super().__init__(raw)
        self.size = os.fstat(raw.fileno()).st_size


@contextmanager
def _open_to_read(file: File) -> Iterator[tuple[BinaryIO, str, Allowance]]:
    """Yield an opened file, its name, and an allowance for reading it.

    Raises:
        FileError: the file cannot be read, or memory is exhausted.
        SettingError: the argument is not a file.
    """
    source = _name_of(file, "read")
    try:
        if isinstance(file, (str, os.PathLike)):
            with _Plain(file) as plain:
                yield plain, source, Allowance(source)
        else:
            yield file, source, Allowance(source)
    except FileError:
        raise
    except MemoryError as error:
        raise FileError(f"there is not enough memory for {source}.") from error
    except OSError as error:
        raise unreadable(source, error) from error


@contextmanager
def _open_to_write(file: File) -> Iterator[BinaryIO]:
    """Yield an opened file.

    Raises:
        FileError: the file cannot be written.
        SettingError: the argument is not a file.
    """
    with files_needed(f"could not write to {_name_of(file, 'write')}"):
        if isinstance(file, (str, os.PathLike)):
            with replacing(file) as new:
                yield new
        else:
            yield file


def _name_of(file: Any, method: str) -> str:
    """Return the name of a file.

    Raises:
        SettingError: the argument is neither a path nor a binary file object.
    """
    if isinstance(file, (str, os.PathLike)):
        return str(os.fspath(file))
    if not callable(getattr(file, method, None)) or isinstance(file, io.TextIOBase):
        raise SettingError(
            f"file must be a path or a binary file object with a method {method}(); got {file!r}."
        )
    return str(getattr(file, "name", type(file).__name__))
