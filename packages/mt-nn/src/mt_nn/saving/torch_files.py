"""Files written by `torch.save`: tensors and plain values, read without executing anything in them.

The current format is a ZIP archive, whose entries are stored without compression:

    NAME/data.pkl       the value, pickled
    NAME/data/KEY       the elements of a storage
    NAME/byteorder      little or big

The format before PyTorch 1.6 is a sequence of pickles: a magic number, a version, a description of
the machine, the value, and the keys of the storages; then the length and the elements of each
storage.

A pickle is a program that may call any function. Here it can call only those in `_functions`, which
return plain values and descriptions of tensors. After it has ended, these are replaced by tensors.
Tensors of one storage share memory, as they did when they were saved.
"""

from __future__ import annotations

import io
import pickle
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mt_nn.core.parameter import Parameter
from mt_nn.errors import FileError
from mt_nn.files.limits import Allowance, current_limits
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

_PLAIN = (type(None), bool, int, float, complex, str, bytes)


class _Named(NamedTuple):
    """The description of a dtype or a device."""

    make: Callable[[str], Any]
    name: str


class _Storage(NamedTuple):
    """The description of a storage.

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


class _Described(NamedTuple):
    """The description of a tensor in a storage."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    requires_grad: bool
    dtype: str | None
    is_parameter: bool


class _Callable:
    """A function that a pickle may call, but not change."""

    __slots__ = ("_allowance", "_function")

    def __init__(self, function: Callable[..., Any], allowance: Allowance) -> None:
        self._function, self._allowance = function, allowance

    def __call__(self, *arguments: Any) -> Any:
        result = self._function(*arguments)
        self._allowance.take("memory", sys.getsizeof(result))
        return result

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("a function has no state")


def _described(
    storage: _Storage, offset: int, shape: Any, strides: Any, requires_grad: bool = False,
    _hooks: Any = None, dtype: Any = None, *_: Any,
) -> _Described:  # fmt: skip
    """Describe a tensor; the arguments are those of torch's `_rebuild_tensor_v3`."""
    of_bytes = dtype.name if isinstance(dtype, _Named) else None  # v2 has metadata in its place
    return _Described(
        storage, offset, tuple(shape), tuple(strides), requires_grad, of_bytes, is_parameter=False
    )


def _parameter(described: _Described, requires_grad: bool, *_: Any) -> _Described:
    return described._replace(requires_grad=requires_grad, is_parameter=True)


def _bytes(text: str, encoding: str) -> bytes:
    """Return the bytes that Python has pickled as text."""
    if encoding != "latin1":
        raise ValueError(f"bytes are pickled in latin1, not in {encoding!r}")
    return text.encode(encoding)


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "collections.OrderedDict": OrderedDict[Any, Any],
    "torch.Size": tuple,
    "torch.device": lambda *parts: _Named(device, ":".join(map(str, parts))),
    "torch._utils._rebuild_tensor": _described,
    "torch._utils._rebuild_tensor_v2": _described,
    "torch._utils._rebuild_tensor_v3": _described,
    "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter,
    "_codecs.encode": _bytes,
    **{f"{module}.set": set for module in ("builtins", "__builtin__")},
    **{f"{module}.complex": complex for module in ("builtins", "__builtin__")},
}
"""The functions that pickles may call, by the names of torch's and Python's."""


class _Unpickler(pickle._Unpickler):
    """Read a pickle without executing code.

    It is Python's implementation: in C's, a few bytes can allocate any amount of memory.
    """

    def __init__(self, file: io.BytesIO, allowance: Allowance) -> None:
        super().__init__(file)
        self._allowance = allowance
        self.storages: dict[str, _Storage] = {}

    def find_class(self, module: str, name: str) -> Any:
        """Return a description of a dtype or storage, or one of the functions."""
        dtype = name.removesuffix("Storage")
        if module == "torch" and name in DTYPES:
            return _Named(DTYPES.__getitem__, name)
        if module.partition(".")[0] == "torch" and dtype in STORAGES:
            return STORAGES[dtype]
        if (module, name) == ("torch.storage", "UntypedStorage"):
            return None
        function = _FUNCTIONS.get(f"{module}.{name}")
        if function is None:
            raise FileError(
                f"{self._allowance.source} refers to {module}.{name}, and load() executes no code of a "
                "file: it reads tensors, numbers, strings and plain containers. In torch, save "
                "those, such as model.state_dict() or vars(args)."
            )
        return _Callable(function, self._allowance)

    def persistent_load(self, saved: Any) -> _Storage:
        """Return the description of a storage."""
        kind, dtype, key, location, count, *view = saved
        if kind != "storage" or not isinstance(location, str) or (view and view[0] is not None):
            raise pickle.UnpicklingError("it refers to something other than a storage")
        self.storages[key] = _Storage(dtype, key, count, location)
        return self.storages[key]


def _is_plain(value: Any) -> bool:
    """Return whether a value can be hashed, or is a set, and contains no description."""
    if type(value) in (tuple, set):
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN)


class _Builder:
    """Replace the descriptions in an unpickled value by tensors.

    Args:
        elements: a function that returns the bytes of a storage.
        order: the byte order of elements, "<" or ">".
        locations: the choice of the backends of the tensors.
    """

    def __init__(
        self, elements: Callable[[_Storage], bytes], order: str, locations: Locations
    ) -> None:
        self._elements, self._order, self._locations = elements, order, locations
        self._storages: dict[tuple[str, str], Tensor] = {}
        self._built: dict[int, Any] = {}  # by identity of values that the whole value contains
        self._depth = current_limits().depth

    def build(self, value: Any, depth: int = 0) -> Any:
        """Return the value with tensors; lists and dictionaries are changed in place."""
        if _is_plain(value) and not isinstance(value, tuple):
            return value
        if id(value) in self._built:
            return self._built[id(value)]
        if depth > self._depth:
            raise ValueError("it is nested too deep")
        kind = type(value)
        if kind is list or kind is dict or kind is OrderedDict:
            self._built[id(value)] = value  # it may contain itself
            for key, member in [*(enumerate(value) if kind is list else value.items())]:
                if not _is_plain(key):
                    raise TypeError(f"it has a key of type {type(key).__name__}")
                value[key] = self.build(member, depth + 1)
            if kind is OrderedDict:
                vars(value).clear()  # such as `_metadata` of a state dictionary
            return value
        if kind is tuple:
            result: Any = tuple([self.build(member, depth + 1) for member in value])
        elif kind is _Described:
            result = self._tensor(value)
        elif kind is _Named:
            result = value.make(value.name)
        else:
            raise TypeError(f"it contains {kind.__name__}")
        self._built[id(value)] = result
        return result

    def _tensor(self, described: _Described) -> Tensor:
        storage, offset, shape, strides, requires_grad, name, is_parameter = described
        stored = name or storage.dtype
        if stored is None or (name and storage.dtype):
            raise ValueError("a tensor has no dtype, or two")
        whole = self._storage(storage, DTYPES[stored])
        numbers = offset, *shape, *strides
        if any(type(number) is not int or number < 0 for number in numbers):
            raise ValueError("a tensor has an invalid shape")
        last = offset + sum(step * (size - 1) for step, size in zip(strides, shape, strict=True))
        if len(shape) > MAX_DIMENSIONS or (size_of(shape) and last >= whole.numel()):
            raise ValueError("a tensor is larger than its storage")
        tensor = Tensor._make(whole._tensor.like(shape, strides, offset), whole.backend)
        if is_parameter:
            return Parameter(tensor, requires_grad)
        return tensor.requires_grad_() if requires_grad else tensor

    def _storage(self, storage: _Storage, dtype: DType) -> Tensor:
        """Return all elements of a storage as a tensor."""
        key = storage.key, dtype.name
        if key not in self._storages:
            stored = np.dtype(f"{self._order}u{dtype.itemsize}")
            bits: Array = np.frombuffer(self._elements(storage), stored)
            if storage.dtype is not None and len(bits) != storage.size:
                raise ValueError(f"a storage has {len(bits)} elements instead of {storage.size}")
            bits = bits.astype(stored.newbyteorder("="))
            array = bits != 0 if dtype is bool_ else bits.view(dtype.numpy)
            backend = self._locations.backend_of(storage.location)
            self._storages[key] = Tensor._make(backend.from_host(array), backend)
        return self._storages[key]


def read(content: bytes, allowance: Allowance, locations: Locations) -> Any:
    """Return the value in a file that `torch.save` wrote.

    Args:
        content: the whole file.
        allowance: what may be read.
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


def _from_archive(content: bytes, allowance: Allowance, locations: Locations) -> Any:
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
        value = _Unpickler(io.BytesIO(entry(pickled)), allowance).load()
        elements = lambda storage: entry(f"{folder}data/{storage.key}")  # noqa: E731
        return _Builder(elements, ">" if order == b"big" else "<", locations).build(value)


def _from_pickles(content: bytes, allowance: Allowance, locations: Locations) -> Any:
    if not content.startswith(MAGIC):
        raise ValueError("it is a pickle of another program")
    file = io.BytesIO(content)
    for _ in range(2):  # the magic number and the version
        _Unpickler(file, allowance).load()
    machine = _Unpickler(file, allowance).load()
    unpickler = _Unpickler(file, allowance)
    value = unpickler.load()
    order = "<" if machine["little_endian"] else ">"
    contents = {}
    for key in _Unpickler(file, allowance).load():
        storage = unpickler.storages[key]
        count = int.from_bytes(file.read(8), "little" if order == "<" else "big")
        contents[key] = file.read(count * DTYPES[storage.dtype or "uint8"].itemsize)
    return _Builder(lambda storage: contents[storage.key], order, locations).build(value)
