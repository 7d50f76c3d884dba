"""Memory that other libraries reach, beside that of NumPy's arrays: what a backend says of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from mt_tensor.core.dtypes import DType
from mt_tensor.core.tensor_data import TensorData

CUDA = 2
"""DLPack's number for the memory of NVIDIA's GPUs."""


class SharedMemory(ABC):
    """The memory of one device, whose bytes have addresses, and whose work has an order.

    A backend returns one of its method `shared_memory`. Its tensors can then be exported and
    imported without copies.

    Attributes:
        device: DLPack's numbers for kind and index of the device, as (2, 0) for the first GPU.
        stream: the handle of the stream that orders all work of the backend.
    """

    device: tuple[int, int]
    stream: int

    @abstractmethod
    def address(self, storage: Any) -> int:
        """Return the address of the first element of a storage of the backend."""

    @abstractmethod
    def adopted(self, address: int, count: int, dtype: DType, owner: object) -> TensorData:
        """Return elements of somebody else's memory as a contiguous 1-D view.

        Args:
            address: of the first one, a multiple of their size.
            count: how many, at least one.
            dtype: their type.
            owner: what to hold on to for as long as the memory is used.
        """

    @abstractmethod
    def let_wait(self, stream: int) -> None:
        """Let what others give to a stream of theirs from now on wait for all work until now."""
