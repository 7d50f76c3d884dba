"""Tensors in the memory of GPUs, which ranks add up without the host.

By default everything goes through host memory, which every MPI can do. Where the environment
variable `MT_RANK_LINK` says so, a *link* takes messages from the memory of a GPU and puts them
there: MPI itself, if it has been built for that (`mpi`), or NVIDIA's library for it (`nccl`). Each
rank needs a GPU of its own then.
"""

from __future__ import annotations

import functools
import os
from abc import ABC, abstractmethod
from typing import Any

from mt_nn.errors import SettingError, packages_needed
from mt_nn.parallel.group import Pending
from mt_tensor import Tensor
from mt_tensor.backends import TensorBackend
from mt_tensor.backends.extending import CUDA

VARIABLE = "MT_RANK_LINK"


def on_gpu(backend: TensorBackend) -> bool:
    """Return whether the tensors of a backend lie in the memory of a GPU that others can reach."""
    memory = backend.shared_memory()
    return memory is not None and memory.device[0] == CUDA


class DeviceLink(ABC):
    """Sends tensors from GPU to GPU, all of which are contiguous; see `Group`.

    Args:
        communicator: the ranks, of mpi4py.
        mpi: its module.
    """

    def __init__(self, communicator: Any, mpi: Any) -> None:
        self._communicator, self._mpi = communicator, mpi

    @abstractmethod
    def start_sum(self, tensor: Tensor) -> Pending:
        """Begin to replace a tensor by its sum over all ranks."""

    @abstractmethod
    def start_broadcast(self, tensor: Tensor, root: int) -> Pending:
        """Begin to replace a tensor by that of one rank."""


class _Address:
    """Where a tensor lies, in the one way that all versions of mpi4py read."""

    def __init__(self, tensor: Tensor) -> None:
        self.__cuda_array_interface__ = tensor.__cuda_array_interface__
        self._lives_as_long = tensor


class CudaAwareMPI(DeviceLink):
    """An MPI that takes addresses on GPUs; it knows of no streams, so the host waits for them."""

    def start_sum(self, tensor: Tensor) -> Pending:
        """Begin to add up."""
        tensor.backend.synchronize()
        request = self._communicator.Iallreduce(self._mpi.IN_PLACE, _Address(tensor))
        return Pending(request.Wait, request.Test)

    def start_broadcast(self, tensor: Tensor, root: int) -> Pending:
        """Begin to send."""
        tensor.backend.synchronize()
        request = self._communicator.Ibcast(_Address(tensor), root)
        return Pending(request.Wait, request.Test)


class Nccl(DeviceLink):
    """NVIDIA's library of collective operations, on a stream of its own beside that of the backend.

    Raises:
        MissingPackageError: it is not installed.
    """

    def __init__(self, communicator: Any, mpi: Any) -> None:
        super().__init__(communicator, mpi)
        with packages_needed(f"{VARIABLE}=nccl takes NCCL: pip install 'mt-nn[nccl]'"):
            import nccl.core as library
            from cuda.core import Device
        self._library, self._device = library, Device

    @functools.cached_property
    def _ranks(self) -> tuple[Any, Any]:
        """The ranks as the library knows them, and the stream, made when the GPU is in use."""
        library, ranks = self._library, self._communicator
        own = bytes(library.get_unique_id()) if ranks.rank == 0 else b""
        identity = library.UniqueId.from_bytes(ranks.bcast(own))
        made = library.Communicator.init(ranks.size, ranks.rank, identity)
        return made, self._device().create_stream()

    def start_sum(self, tensor: Tensor) -> Pending:
        """Begin to add up."""
        ranks, stream = self._after_work_on(tensor)
        ranks.allreduce(tensor, tensor, self._library.SUM, stream=stream)
        return Pending(stream.sync)

    def start_broadcast(self, tensor: Tensor, root: int) -> Pending:
        """Begin to send."""
        ranks, stream = self._after_work_on(tensor)
        ranks.broadcast(tensor, tensor, root, stream=stream)
        return Pending(stream.sync)

    def _after_work_on(self, tensor: Tensor) -> tuple[Any, Any]:
        """Let the stream wait for what the backend has been given until now."""
        ranks, stream = self._ranks
        memory: Any = tensor.backend.shared_memory()
        memory.let_wait(int(stream.handle))
        return ranks, stream


LINKS: dict[str, type[DeviceLink] | None] = {"host": None, "mpi": CudaAwareMPI, "nccl": Nccl}
"""What `MT_RANK_LINK` may be."""


def wanted_name() -> str:
    """Return the name of the link that the environment asks for."""
    return os.environ.get(VARIABLE, "host")


def wanted_link(communicator: Any, mpi: Any) -> DeviceLink | None:
    """Return the link that the environment asks for; None for host memory.

    Raises:
        MissingPackageError: its library is not installed.
        SettingError: there is none of that name.
    """
    name = wanted_name()
    if name not in LINKS:
        raise SettingError(f"{VARIABLE} must be one of {', '.join(LINKS)}; got {name!r}.")
    kind = LINKS[name]
    return None if kind is None else kind(communicator, mpi)
