"""Ranks that send what is on a GPU: `python links.py mpi` or `nccl`, with memory that only says so.

The memory of `Card` is that of NumPy, which claims to be a GPU's. MPI takes its addresses as it
would those of a GPU. NCCL is a stand-in that adds up by MPI.
"""

import inspect
import json
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

import mt_nn as nn
import mt_tensor as mt
from mt_nn import functional as F
from mt_nn import optim
from mt_nn.parallel import DataParallel, world
from mt_tensor.backends.extending import CUDA, SharedMemory
from mt_tensor.core.numpy_backend import NumpyOps

DONE: list[str] = []
"""What the link has done."""


class Memory(SharedMemory):
    """NumPy's memory."""

    device, stream = (CUDA, 0), 1

    def address(self, storage: Any) -> int:
        """Return where an array begins."""
        return int(storage.ctypes.data)

    def adopted(self, address: int, count: int, dtype: Any, owner: object) -> Any:
        """Nobody lends anything."""
        raise NotImplementedError

    def let_wait(self, stream: int) -> None:
        """Note who waits."""
        DONE.append(f"stream {stream} waits")


class Card(NumpyOps):
    """The backend of a GPU, as it were."""

    name = "card"

    def shared_memory(self) -> Memory:
        """Return its memory."""
        return Memory()

    def synchronize(self) -> None:
        """Note who waits."""
        DONE.append("host waits")


def stand_in_for_nccl() -> None:
    """Let `nccl.core` and `cuda.core` be imported, whatever is installed."""
    from mpi4py import MPI

    class Communicator:
        """Adds up by MPI."""

        @classmethod
        def init(cls, nranks: int, rank: int, unique_id: Any) -> "Communicator":
            """Check that all are there, and know one name."""
            ranks = MPI.COMM_WORLD
            assert (nranks, rank) == (ranks.size, ranks.rank)
            assert set(ranks.allgather(unique_id)) == {b"the ranks"}
            return cls()

        def allreduce(self, sendbuf: Any, recvbuf: Any, op: Any, *, stream: Any) -> None:
            """Add up at once."""
            assert (sendbuf is recvbuf, op, stream.handle) == (True, "sum", 7)
            MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, recvbuf._tensor.array)
            DONE.append("sum")

        def broadcast(self, sendbuf: Any, recvbuf: Any, root: int, *, stream: Any) -> None:
            """Send at once."""
            assert (sendbuf is recvbuf, stream.handle) == (True, 7)
            MPI.COMM_WORLD.Bcast(recvbuf._tensor.array, root)
            DONE.append("broadcast")

    try:  # the library itself takes what the stand-in does
        from nccl.core import Communicator as Real
    except ImportError:
        pass
    else:
        for name in ("init", "allreduce", "broadcast"):
            ours = inspect.signature(getattr(Communicator, name)).parameters
            theirs = inspect.signature(getattr(Real, name)).parameters
            assert [*ours] == [each for each in theirs if each != "config"], name
    library, core, cuda = ModuleType("nccl"), ModuleType("nccl.core"), ModuleType("cuda.core")
    vars(core).update(
        Communicator=Communicator,
        SUM="sum",
        get_unique_id=lambda: b"the ranks",
        UniqueId=SimpleNamespace(from_bytes=lambda given: given),
    )
    stream = SimpleNamespace(handle=7, sync=lambda: DONE.append("host waits"))
    vars(cuda)["Device"] = lambda: SimpleNamespace(create_stream=lambda: stream)
    sys.modules.update({"nccl": library, "nccl.core": core, "cuda.core": cuda})


def train() -> None:
    """Let rank 0 print the losses of some steps, and what the link has done in the last."""
    group, card = world(), Card()
    losses: dict[str, list[float]] = {}
    for home in (mt.get_backend("numpy"), card):
        mt.manual_seed(0)
        with mt.use_backend(home):
            network = nn.Sequential(nn.Linear(30, 20), nn.Tanh(), nn.Linear(20, 4))
            model = DataParallel(network, bucket_cap_mb=1e-3)
            optimizer = optim.SGD(model.parameters(), 0.5)
            numbers = np.random.default_rng(group.rank)
            losses[home.name] = []
            for _ in range(4):
                x, y = numbers.standard_normal((8, 30)), numbers.integers(0, 4, 8)
                DONE.clear()
                optimizer.zero_grad()
                loss = F.cross_entropy(model(mt.tensor(x, dtype="float32")), mt.tensor(y))
                loss.backward()
                optimizer.step()
                losses[home.name].append(loss.item())
    if group.rank == 0:
        print(json.dumps({"losses": losses, "done": DONE}))


if __name__ == "__main__":
    if sys.argv[1] == "nccl":
        stand_in_for_nccl()
    train()
