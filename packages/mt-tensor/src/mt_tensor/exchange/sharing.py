"""The interface of backends whose memory, other than NumPy arrays, can be shared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from mt_tensor.core.dtypes import DType
from mt_tensor.core.tensor_data import TensorData

CUDA = 2
"""DLPack's device type of NVIDIA GPUs."""


class SharedMemory(ABC):
    """The addressable memory of a device with one stream of work.

    The method `shared_memory` of a backend returns an instance. Its tensors can then be exported
    and imported without copies.

    Attributes:
        device: DLPack's device type and index, such as (2, 0) for the first GPU.
        stream: the handle of the stream on which the backend runs all work.
    """

    device: tuple[int, int]
    stream: int

    @abstractmethod
    def address(self, storage: Any) -> int:
        """Return the address of the first element of a storage of the backend."""

    @abstractmethod
    def from_address(self, address: int, count: int, dtype: DType, owner: object) -> TensorData:
        """Return a contiguous 1-D view of memory of another library.

        Args:
            address: the address of the first element, a multiple of the item size.
            count: the number of elements, at least one.
            dtype: the dtype.
            owner: an object to keep alive while the memory is used.
        """

    @abstractmethod
    def make_stream_wait(self, stream: int) -> None:
        """Make a stream of another library wait for all work that the backend has started."""
