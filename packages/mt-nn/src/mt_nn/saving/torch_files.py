"""Files written by `torch.save`: tensors and plain values, read without executing anything in them.

The current format is a ZIP archive, whose entries are stored without compression:

    NAME/data.pkl       the value, pickled
    NAME/data/KEY       the elements of a storage
    NAME/byteorder      little or big

The format before PyTorch 1.6 is a sequence of pickles: a magic number, a version, a description of
the machine, the value, and the keys of the storages; then the length and the elements of each
storage.

A pickle is a program that may call any function. Here it can call only those in `_functions`, which
return plain values and tensors. Tensors of one storage share memory, as they did when they were
saved.
"""

from __future__ import annotations

import io
import pickle
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from mt_nn.core.parameter import Parameter
from mt_nn.errors import FileError
from mt_nn.files.limits import Allowance
from mt_nn.saving.locations import Locations
from mt_tensor import DType, Tensor, bool_, device
from mt_tensor.core.strides import size_of
from mt_tensor.core.tensor_data import MAX_DIMENSIONS
from mt_tensor.extending import DTYPES, Array

MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""The first bytes of a file in the old format: its magic number, pickled."""

FIRST = b"PK\x03\x04", MAGIC[:4]
"""The first bytes of a file in either format."""

STORAGES = {
    "Bool": "bool",
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Float": "float32",
    "Double": "float64",
}
"""The dtypes of torch's classes of storages, such as `FloatStorage`."""


class _Storage(NamedTuple):
    """A reference to a storage.

    Attributes:
        dtype: the name of the dtype; None for bytes.
        key: the name of its elements in the file.
        size: the number of elements.
        location: the device that it was saved from.
    """

    dtype: str | None
    key: str
    size: int
    location: str


class _Callable:
    """A function that a pickle may call; the memory of its results is counted."""

    __slots__ = ("_allowance", "_function")

    def __init__(self, function: Callable[..., Any], allowance: Allowance) -> None:
        self._function, self._allowance = function, allowance

    def __call__(self, *arguments: Any) -> Any:
        result = self._function(*arguments)
        self._allowance.take("memory", sys.getsizeof(result))
        return result


def _bytes(text: str, encoding: str) -> bytes:
    """Return the bytes that Python has pickled as text."""
    if encoding != "latin1":
        raise ValueError(f"bytes are pickled in latin1, not in {encoding!r}")
    return text.encode(encoding)


class _Unpickler(pickle._Unpickler):
    """Read a pickle without executing code.

    It extends Python's implementation of pickle: with that in C, a few bytes can allocate any
    amount of memory.

    Args:
        file: the file.
        allowance: the limits of what may be read.
        elements: returns the bytes of a storage with a key; None to skip tensors.
        order: the byte order of elements.
        locations: the choice of the backends of the tensors.

    Attributes:
        storages: the storages to which the pickle refers, by key.
    """

    dispatch: ClassVar[dict[int, Any]] = dict(pickle._Unpickler.dispatch)

    def __init__(
        self,
        file: io.BytesIO,
        allowance: Allowance,
        elements: Callable[[str], bytes] | None = None,
        order: Literal["little", "big"] = "little",
        locations: Locations | None = None,
    ) -> None:
        super().__init__(file)
        self._allowance, self._locations = allowance, locations or Locations()
        self._elements, self._order = elements, order
        self.storages: dict[str, _Storage] = {}
        self._flat: dict[tuple[str, str], Tensor] = {}
        self._functions: Mapping[str, Callable[..., Any]] = {
            "collections.OrderedDict": OrderedDict[Any, Any],
            "torch.Size": tuple,
            "torch.device": lambda *parts: device(":".join(map(str, parts))),
            "torch._utils._rebuild_tensor": self._tensor,
            "torch._utils._rebuild_tensor_v2": self._tensor,
            "torch._utils._rebuild_tensor_v3": self._tensor,
            "torch._utils._rebuild_parameter": self._parameter,
            "torch._utils._rebuild_parameter_with_state": self._parameter,
            "_codecs.encode": _bytes,
            "builtins.set": set,
            "__builtin__.set": set,
            "builtins.complex": complex,
            "__builtin__.complex": complex,
        }

    def find_class(self, module: str, name: str) -> Any:
        """Return a dtype, for a dtype or a class of storages, or an allowed function."""
        dtype = name.removesuffix("Storage")
        if module == "torch" and name in DTYPES:
            return DTYPES[name]
        if module.partition(".")[0] == "torch" and dtype in STORAGES:
            return STORAGES[dtype]
        if (module, name) == ("torch.storage", "UntypedStorage"):
            return None
        function = self._functions.get(f"{module}.{name}")
        if function is None:
            raise FileError(
                f"{self._allowance.source} refers to {module}.{name}, and load() executes no code "
                "of a file: it reads tensors, numbers, strings and plain containers. In torch, "
                "save those, such as model.state_dict() or vars(args)."
            )
        return _Callable(function, self._allowance)

    def persistent_load(self, saved: Any) -> _Storage:
        """Return the description of a storage."""
        kind, dtype, key, location, count, *view = saved
        if kind != "storage" or not isinstance(location, str) or (view and view[0] is not None):
            raise pickle.UnpicklingError("it refers to something other than a storage")
        self.storages[key] = _Storage(dtype, key, count, location)
        return self.storages[key]

    def load_build(self) -> None:
        """Drop the state of a dictionary, such as `_metadata` of a state dictionary."""
        stack: list[Any] = self.stack  # type: ignore[attr-defined]
        stack.pop()
        if type(stack[-1]) is not OrderedDict:
            raise pickle.UnpicklingError("it sets the state of something other than a dictionary")

    dispatch[pickle.BUILD[0]] = load_build

    def _tensor(
        self,
        storage: _Storage,
        offset: int,
        shape: Any,
        strides: Any,
        requires_grad: bool = False,
        _hooks: Any = None,
        dtype: Any = None,
        *_: Any,
    ) -> Tensor | None:
        """Return a tensor; the arguments are those of torch's `_rebuild_tensor_v3`."""
        name = dtype.name if isinstance(dtype, DType) else None  # v2 has metadata in its place
        stored = name or storage.dtype
        if stored is None or (name and storage.dtype):
            raise ValueError("a tensor has no dtype, or two of them")
        if self._elements is None:
            return None
        flat = self._storage(storage, DTYPES[stored])
        if any(type(number) is not int or number < 0 for number in (offset, *shape, *strides)):
            raise ValueError("a tensor has an invalid shape")
        last = offset + sum(step * (size - 1) for step, size in zip(strides, shape, strict=True))
        if len(shape) > MAX_DIMENSIONS or (size_of(shape) and last >= flat.numel()):
            raise ValueError("a tensor is larger than its storage")
        data = flat._tensor.like(tuple(shape), tuple(strides), offset)
        tensor = Tensor._make(data, flat.backend)
        return tensor.requires_grad_() if requires_grad else tensor

    def _parameter(self, tensor: Tensor | None, requires_grad: bool, *_: Any) -> Parameter | None:
        return None if tensor is None else Parameter(tensor.detach(), requires_grad)

    def _storage(self, storage: _Storage, dtype: DType) -> Tensor:
        """Return all elements of a storage as a tensor."""
        key = storage.key, dtype.name
        if key not in self._flat:
            stored = np.dtype(f"u{dtype.itemsize}").newbyteorder(self._order)
            bits: Array = np.frombuffer(self._elements(storage.key), stored)  # type: ignore[misc]
            if storage.dtype is not None and len(bits) != storage.size:
                raise ValueError(f"a storage has {len(bits)} elements instead of {storage.size}")
            bits = bits.astype(stored.newbyteorder("="))
            array = bits != 0 if dtype is bool_ else bits.view(dtype.numpy)
            backend = self._locations.backend_of(storage.location)
            self._flat[key] = Tensor._make(backend.from_host(array), backend)
        return self._flat[key]


def read(content: bytearray, allowance: Allowance, locations: Locations) -> Any:
    """Return the value in a file that `torch.save` wrote.

    Args:
        content: the content of the file.
        allowance: the limits of what may be read.
        locations: the choice of the backends of the tensors.

    Raises:
        FileError: the file is damaged or compressed, or contains something other than tensors,
            numbers, strings, dtypes, devices, lists, tuples, sets and dictionaries.
    """
    try:
        if content.startswith(FIRST[0]):
            return _from_archive(content, allowance, locations)
        return _from_pickles(content, allowance, locations)
    except FileError:
        raise
    except Exception as error:  # an invalid pickle or archive may raise any error
        if error is locations.error:
            raise
        raise FileError(
            f"{allowance.source} is damaged, or not a file that torch.save() wrote ({error!r})."
        ) from error


def _from_archive(content: bytearray, allowance: Allowance, locations: Locations) -> Any:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}

        def entry(name: str) -> bytes:
            found = entries[name]
            if found.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"{name} is compressed")
            allowance.take("model", found.file_size)
            return archive.read(found)

        (pickled,) = [name for name in entries if name.split("/")[1:] == ["data.pkl"]]
        folder = pickled.removesuffix("data.pkl")
        order = entry(f"{folder}byteorder") if f"{folder}byteorder" in entries else b"little"
        return _Unpickler(
            io.BytesIO(entry(pickled)),
            allowance,
            lambda key: entry(f"{folder}data/{key}"),
            "big" if order == b"big" else "little",
            locations,
        ).load()


def _from_pickles(content: bytearray, allowance: Allowance, locations: Locations) -> Any:
    if not content.startswith(MAGIC):
        raise ValueError("it is a pickle of another program")
    file = io.BytesIO(content)
    for _ in range(2):  # the magic number and the version
        _Unpickler(file, allowance).load()
    is_little_endian = _Unpickler(file, allowance).load()["little_endian"]
    order: Literal["little", "big"] = "little" if is_little_endian else "big"
    start = file.tell()
    value = _Unpickler(file, allowance)
    value.load()  # finds the storages, which come after it
    contents = {}
    for key in _Unpickler(file, allowance).load():
        count = int.from_bytes(file.read(8), order)
        contents[key] = file.read(count * DTYPES[value.storages[key].dtype or "uint8"].itemsize)
    file.seek(start)
    return _Unpickler(file, allowance, contents.__getitem__, order, locations).load()
