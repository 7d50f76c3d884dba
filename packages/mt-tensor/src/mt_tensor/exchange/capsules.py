"""DLPack's capsules, written and read: where elements lie, and who is told when they are not used.

A capsule holds the address of a C structure, a *managed tensor*: the tensor's address, device,
shape, strides and element type, and a function to call when nobody uses it any more. Whoever reads
a capsule renames it, which says that calling is its duty from then on. The layout of the structures
is that of `dlpack.h`, before versions.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from mt_tensor.core.dtypes import DTYPES, Array, DType
from mt_tensor.core.layout import Layout
from mt_tensor.core.strides import Shape, Strides, strides_from_shape
from mt_tensor.errors import DTypeError, ExchangeError

UNUSED, USED = b"dltensor", b"used_dltensor"
"""The names of a capsule before and after somebody has read it; they must live as long as it."""

KINDS = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "bool": 6}
"""DLPack's numbers for the kinds of elements, by the names of types but for their sizes."""


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("index", ctypes.c_int32))


class _Type(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("rank", ctypes.c_int32),
        ("type", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_SetName", ctypes.pythonapi)
)


def exported(address: int, layout: Layout, device: tuple[int, int], owner: object) -> Any:
    """Return a capsule with elements in the memory of a device.

    It is one of NumPy's, of an array that lies where they do and that nobody reads: what becomes of
    a capsule that is read, thrown away, or lost in an error is NumPy's concern.

    Args:
        address: of the first element.
        layout: how they lie, and of which type they are; no stride is negative.
        device: DLPack's numbers for the device.
        owner: what to hold on to for as long as others use the elements.
    """
    size, ends = layout.dtype.itemsize, zip(layout.shape, layout.strides, strict=True)
    count = 1 + sum((length - 1) * stride for length, stride in ends) if layout.size else 0
    memory: Any = (ctypes.c_char * (count * size)).from_address(address)
    memory.owner = owner
    steps = [size * stride for stride in layout.strides]
    array: Array = np.ndarray(layout.shape, f"u{size}", memory, strides=steps)
    capsule = array.__dlpack__()
    tensor = _managed(capsule).tensor
    tensor.device = _Device(*device)
    tensor.type.kind = KINDS[layout.dtype.name.rstrip("0123456789")]
    return capsule


def of_bfloat16(capsule: Any) -> Any:
    """Return a capsule that nobody has read, and that speaks of uint16, as one of bfloat16."""
    _managed(capsule).tensor.type.kind = KINDS["bfloat"]
    return capsule


def _managed(capsule: Any) -> _Managed:
    """Return what is in a capsule that nobody has read."""
    return _Managed.from_address(_pointer(id(capsule), UNUSED))


@dataclass(frozen=True, slots=True)
class Imported:
    """What a capsule says.

    Attributes:
        address: of the first element.
        dtype, shape, strides: the elements; strides count elements.
        owner: what tells their owner, when it is forgotten, that they are not used any more.
    """

    address: int
    dtype: DType
    shape: Shape
    strides: Strides
    owner: object


def imported(capsule: Any) -> Imported:
    """Read a capsule that nobody has read yet.

    Raises:
        ExchangeError: somebody has, or it is none.
        DTypeError: tensors have no such elements.
    """
    try:
        place = _pointer(id(capsule), UNUSED)
    except ValueError as error:
        raise ExchangeError(
            f"the array has given {capsule!r} for a capsule of DLPack's, as it is before versions, "
            f"that nobody has read: {error}."
        ) from error
    tensor = _Managed.from_address(place).tensor
    dtype = _dtype(tensor.type)
    shape = tuple(tensor.shape[: tensor.rank])
    strides = tuple(tensor.strides[: tensor.rank]) if tensor.strides else strides_from_shape(shape)
    address = (tensor.data or 0) + tensor.byte_offset
    _rename(capsule, USED)
    return Imported(address, dtype, shape, strides, _Owner(place))


class _Owner:
    """The duty to tell the owner of a managed tensor that it is not used any more."""

    def __init__(self, place: int) -> None:
        self._place = place

    def __del__(self) -> None:
        """Tell it."""
        deleter = _Managed.from_address(self._place).deleter
        if deleter:
            _Deleter(deleter)(self._place)


def _dtype(given: _Type) -> DType:
    """Return the element type that DLPack means.

    Raises:
        DTypeError: tensors have none such.
    """
    names = {kind: name for name, kind in KINDS.items()}
    name = names.get(given.kind, f"{given.kind}, bits: ")
    name = name if name == "bool" else f"{name}{given.bits}"
    if given.lanes != 1 or name not in DTYPES:
        lanes = f" in vectors of {given.lanes}" if given.lanes != 1 else ""
        raise DTypeError(
            f"the array has elements of DLPack's type {name}{lanes}; there is no dtype for "
            f"them. Convert it to one of {', '.join(DTYPES)}."
        )
    return DTYPES[name]
