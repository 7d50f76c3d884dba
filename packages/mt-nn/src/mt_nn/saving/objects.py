"""`save` and `load`: tensors and nested values in one file, which runs no code when it is read.

A state dictionary is a safetensors file with its names, which torch reads and writes, too. Of other
values the tensors and arrays are in such a file, under the names that lead to them, as in
`optimizer.state.0.exp_avg`; and its metadata say in JSON how everything is nested.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

from mt_nn.errors import FileError, SettingError, files_needed
from mt_nn.files.limits import Allowance
from mt_nn.files.reading import open_plain, unreadable
from mt_nn.files.writing import replacing
from mt_nn.saving import layout, seal
from mt_nn.saving.values import Decoder, Encoder
from mt_operators import StateDictError
from mt_tensor import Tensor
from mt_tensor.backends import TensorBackend
from mt_tensor.errors import DTypeError
from mt_tensor.extending import DTYPES, Array, Backend, Device, place

File = str | os.PathLike[str] | BinaryIO
"""The path of a file, or one that was opened for bytes, such as an `io.BytesIO`."""


def save(obj: Any, f: File, metadata: Mapping[str, str] | None = None) -> None:
    """Save a value: `save(model.state_dict(), "model.safetensors")`.

        save({"epoch": 3, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)

    What a model shares is written under each of its names. A tensor is saved without its history,
    and must not change meanwhile.

    Args:
        obj: None, truth values, numbers of Python and NumPy, strings, dtypes, tensors on
            any backend and of any layout, NumPy's arrays; and lists, tuples, dictionaries and
            `OrderedDict`s of such, whose keys are strings, numbers or None.
        f: the path, which then has the whole file or the earlier one; or a file that was opened for
            bytes, such as an `io.BytesIO`, which is written to from where it is.
        metadata: strings by name that are kept in the file; `read_metadata` returns them.

    Raises:
        FileError: it could not be written; an earlier file of that name is untouched.
        SettingError: `metadata` holds something else than strings, or `f` is no file.
        StateDictError: `obj` holds something else, which is named, or is nested too deep; nothing
            was written.
        MissingPackageError: safetensors is not installed.
    """
    store(obj, Encoder(), f, metadata)


def store(
    value: Any, encoder: Encoder, file: File, metadata: Mapping[str, str] | None = None
) -> None:
    """Save a value that an encoder has not taken apart yet; see `save`."""
    texts = seal.checked(metadata)
    try:
        structure = encoder.encode(value)
    except RecursionError as error:
        raise StateDictError("a value is nested too deep, or contains itself.") from error
    arrays = encoder.arrays
    if structure != _flat(arrays):
        texts[seal.STRUCTURE] = json.dumps(structure, separators=(",", ":"))
    content = layout.packed(arrays, seal.sealed(texts, arrays))
    with _written(file) as opened:
        opened.write(content)


def _flat(arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Return the structure of a dictionary of tensors, which files of others have."""
    return {"dict": [[name, {"tensor": name}] for name in arrays]}


def load(
    f: File,
    map_location: Device = None,
    *,
    backend: Backend = None,
    weights_only: bool = True,
) -> Any:
    """Load a value that was saved: `model.load_state_dict(load("model.safetensors"))`.

    Any safetensors file is read, as a dictionary of tensors. Of a tensor that a model shares,
    torch's `save_model` keeps one name, and the others in the metadata. It is found under all of
    them that end alike, as `embedding.weight` and `head.weight` do.

    Args:
        f: the path; or a file that was opened for bytes, which is read from where it is to where
            the value ends.
        map_location: where the tensors shall live, a device or its name.
        backend: a backend or its name, instead; the current one if both are None.
        weights_only: whether to run no code that is in the file. There is no other way here.

    Returns:
        The value, with the same types. Tensors are contiguous, and arrays have this machine's order
        of bytes.

    Raises:
        SettingError: `weights_only` is not True, or `f` is no file.
        FileError: the file is missing, truncated, damaged, no safetensors file, has an dtype
            that tensors have not, or takes more than `mt_nn.limits` allow.
        UnknownBackendError: there is no such backend.
        MissingPackageError: safetensors is not installed.
    """
    if weights_only is not True:
        raise SettingError(
            f"weights_only={weights_only!r}: files that could run code are never read here, and "
            "save() writes none."
        )
    return fetch(f, place(backend, map_location))


def fetch(file: File, backend: TensorBackend) -> Any:
    """Load a value on a backend; see `load`."""
    with _read(file) as (opened, source, allowance):
        header = _header(opened, source, allowance)
        contents = layout.read_elements(opened, source, header, allowance)
    expected = header.metadata.get(seal.ELEMENTS)
    if expected is not None and seal.elements_sum(contents) != expected:
        raise seal.damaged(source)
    try:
        arrays = layout.decoded(contents, header.parts, source)
    except ValueError as error:
        raise layout.damaged(source, error) from error
    structure = header.metadata.get(seal.STRUCTURE)
    if structure is None:
        return _flat_state(arrays, header.metadata, backend, source)
    try:
        return Decoder(arrays, backend).decode(json.loads(structure))
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise layout.damaged(source, repr(error)) from error


def _flat_state(
    arrays: dict[str, Array], metadata: Mapping[str, str], backend: TensorBackend, source: str
) -> dict[str, Tensor]:
    """Return a dictionary of tensors, also under other names of a tensor that torch notes."""
    state = {name: _tensor(arrays.pop(name), backend, name, source) for name in [*arrays]}
    if not seal.is_sealed(metadata):
        for name, kept in metadata.items():
            if kept in state and name.rpartition(".")[2] == kept.rpartition(".")[2]:
                state.setdefault(name, state[kept])
    return state


def _tensor(array: Array, backend: TensorBackend, name: str, source: str) -> Tensor:
    try:
        return Tensor._make(backend.from_host(array), backend)
    except DTypeError as error:
        raise FileError(
            f"{name} in {source} has elements of {array.dtype}, which tensors have not: they have "
            f"{', '.join(DTYPES)}."
        ) from error


def read_metadata(f: File) -> dict[str, str]:
    """Return the strings that a safetensors file keeps beside its tensors.

    Raises:
        FileError: the file is missing, damaged, or no safetensors file.
    """
    with _read(f) as (opened, source, allowance):
        return seal.users(_header(opened, source, allowance).metadata)


def _header(file: BinaryIO, source: str, allowance: Allowance) -> layout.Header:
    """Return a header that was checked: a file on the disk is as long as it says."""
    header = layout.read_header(file, source, allowance)
    if isinstance(file, _Plain) and file.size != header.size:
        raise layout.damaged(source, f"{file.size} bytes in place of {header.size}")
    seal.check_header(header, source)
    return header


class _Plain(io.BufferedReader):
    """A file on the disk that is read, with its size in bytes."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        raw = open_plain(path)
        super().__init__(raw)
        self.size = os.fstat(raw.fileno()).st_size


@contextmanager
def _read(file: File) -> Iterator[tuple[BinaryIO, str, Allowance]]:
    """Yield a file to be read, what it is called, and what may be taken of it.

    Raises:
        FileError: it cannot be read, or there is not enough memory for it.
        SettingError: it is no file.
    """
    source = _called(file, "read")
    try:
        if isinstance(file, (str, os.PathLike)):
            with _Plain(file) as plain:
                yield plain, source, Allowance(source)
        else:
            yield file, source, Allowance(source)
    except FileError:
        raise
    except MemoryError as error:
        raise FileError(f"{source} is larger than what is left of the memory.") from error
    except OSError as error:
        raise unreadable(source, error) from error


@contextmanager
def _written(file: File) -> Iterator[BinaryIO]:
    """Yield a file to be written.

    Raises:
        FileError: it could not be written.
        SettingError: it is no file.
    """
    called = _called(file, "write")
    with files_needed(f"could not write to {called}"):
        if isinstance(file, (str, os.PathLike)):
            with replacing(file) as new:
                yield new
        else:
            yield file


def _called(file: Any, method: str) -> str:
    """Return what to call a file.

    Raises:
        SettingError: it is neither a path nor opened, or opened for text.
    """
    if isinstance(file, (str, os.PathLike)):
        return str(os.fspath(file))
    if not callable(getattr(file, method, None)) or isinstance(file, io.TextIOBase):
        raise SettingError(
            f"file is a path, or a file that was opened for bytes, with a method {method}(); got "
            f"{file!r}."
        )
    return str(getattr(file, "name", type(file).__name__))
