"""A chain of kernels as a CUDA graph, whose arguments can be changed before each launch."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from mt_cuda.core.gpu import Gpu
from mt_cuda.graphs.recording import Launch, Variable

WORD = 8
"""The bytes that are reserved for each argument; none is larger."""


class Node:
    """A launch in a graph, with its arguments in host memory.

    Attributes:
        values: the arguments; the driver reads as many bytes of each as the kernel takes.
        parameters: the driver's description of the launch.
        handle: the driver's handle.
    """

    def __init__(self, gpu: Gpu, launch: Launch, values: Mapping[Variable, int]) -> None:
        count = len(launch.arguments)
        words = [values[x] if isinstance(x, Variable) else bits(x) for x in launch.arguments]
        self.values = (ctypes.c_uint64 * count)(*words)
        first = ctypes.addressof(self.values)
        self._pointers = (ctypes.c_void_p * count)(*range(first, first + WORD * count, WORD))
        self.parameters = gpu.driver.CUDA_KERNEL_NODE_PARAMS()
        self.parameters.kern = launch.loaded.handle.handle
        self.parameters.gridDimX, self.parameters.gridDimY = launch.grid
        self.parameters.blockDimX = launch.threads
        self.parameters.gridDimZ = self.parameters.blockDimY = self.parameters.blockDimZ = 1
        self.parameters.kernelParams = ctypes.addressof(self._pointers)
        self.handle: Any = None


class Graph:
    """A chain of launches that the driver enqueues at once."""

    def __init__(
        self,
        gpu: Gpu,
        launches: Sequence[Launch],
        variables: Sequence[Variable],
        values: Mapping[Variable, int],
    ) -> None:
        """Create a graph.

        Args:
            gpu: the machine.
            launches: the launches.
            variables: the arguments that may change.
            values: the present values of all variables in the launches.

        Raises:
            KernelError: the driver refuses it.
        """
        self._suspect = SimpleNamespace(name=f"(one of {len(launches)} of a CUDA graph)")
        self._gpu, driver = gpu, gpu.driver
        self._kernels = {launch.loaded for launch in launches}  # which stay loaded
        self._values = [values[x] for x in variables]
        slots = {x: at for at, x in enumerate(variables)}
        self._uses: list[list[tuple[Node, int]]] = [[] for _ in variables]
        gpu.make_current()
        graph = self._created(driver.cuGraphCreate(0), driver.cuGraphDestroy)
        before: list[Any] = []
        for launch in launches:
            node = Node(gpu, launch, values)
            status, node.handle = driver.cuGraphAddKernelNode(
                graph, before, len(before), node.parameters
            )
            gpu.check((status,))
            before = [node.handle]
            for at, x in enumerate(launch.arguments):
                if x in slots:
                    self._uses[slots[x]].append((node, at))
        executable = driver.cuGraphInstantiate(graph, 0)
        self._executable = self._created(executable, driver.cuGraphExecDestroy)

    def _created(self, returned: tuple[Any, ...], destroy: Any) -> Any:
        """Return what a driver call has created, which is destroyed with this object."""
        self._gpu.check(returned)
        weakref.finalize(self, destroy, returned[1]).atexit = False  # the process ends anyway
        return returned[1]

    def launch(self, values: Sequence[int]) -> None:
        """Enqueue the launches on the stream, with new values of the variables.

        After an error the graph is in an unknown state.

        Raises:
            KernelError: the driver refuses them.
        """
        gpu, driver = self._gpu, self._gpu.driver
        gpu.make_current()
        changed: dict[Node, None] = {}
        for slot, (value, old) in enumerate(zip(values, self._values, strict=True)):
            if value != old:
                for node, at in self._uses[slot]:
                    node.values[at] = value
                    changed[node] = None
        for node in changed:
            gpu.check(
                driver.cuGraphExecKernelNodeSetParams(
                    self._executable, node.handle, node.parameters
                )
            )
        self._values = list(values)
        gpu.waiting.append(self._suspect)
        gpu.check(driver.cuGraphLaunch(self._executable, gpu.stream.handle))


def bits(value: Any) -> int:
    """Return a kernel argument as an unsigned integer with the same low bytes.

    >>> import numpy as np
    >>> bits(-1) == 2**64 - 1, hex(bits(np.float32(1)))
    (True, '0x3f800000')
    """
    if isinstance(value, int):
        return value % (1 << 8 * WORD)
    return int.from_bytes(value.tobytes(), "little")
