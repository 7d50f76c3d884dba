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
"""The number of bytes reserved for each argument; no argument is larger."""


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
        self._loaded = launch.loaded  # must stay loaded
        self.parameters = to = gpu.driver.CUDA_KERNEL_NODE_PARAMS()
        to.kern, to.kernelParams = launch.loaded.handle.handle, ctypes.addressof(self._pointers)
        to.gridDimX, to.gridDimY, to.gridDimZ = *launch.grid, 1
        to.blockDimX, to.blockDimY, to.blockDimZ = launch.threads, 1, 1
        self.handle: Any = None


class Graph:
    """A chain of launches that the driver enqueues at once.

    Args:
        gpu: the GPU.
        launches: the launches.
        variables: the arguments that may change.
        fixed: the values of the other variables in the launches.

    Raises:
        KernelError: the driver refuses the graph.
    """

    def __init__(
        self, gpu: Gpu, launches: list[Launch], variables: list[Any], fixed: dict[Variable, int]
    ) -> None:
        self._gpu, driver = gpu, gpu.driver
        self._suspect = SimpleNamespace(name=f"(one of {len(launches)} in a CUDA graph)")
        self._values: Sequence[int] = [0] * len(variables)
        values = fixed | dict.fromkeys(variables, 0)
        self._nodes = [Node(gpu, launch, values) for launch in launches]
        uses: dict[Any, list[tuple[Node, int]]] = {x: [] for x in variables}
        gpu.make_current()
        graph = self._created(driver.cuGraphCreate(0), driver.cuGraphDestroy)
        before: list[Any] = []
        for node, launch in zip(self._nodes, launches, strict=True):
            added = driver.cuGraphAddKernelNode(graph, before, len(before), node.parameters)
            gpu.check(added)
            node.handle = added[1]
            before = [node.handle]
            for at, x in enumerate(launch.arguments):
                if x in uses:
                    uses[x].append((node, at))
        self._uses = list(uses.values())
        executable = driver.cuGraphInstantiate(graph, 0)
        self._executable = self._created(executable, driver.cuGraphExecDestroy)

    def _created(self, returned: tuple[Any, ...], destroy: Any) -> Any:
        """Return the handle that a driver call created; it is destroyed with this object."""
        self._gpu.check(returned)
        weakref.finalize(self, destroy, returned[1]).atexit = False  # the process ends anyway
        return returned[1]

    def launch(self, values: Sequence[int]) -> None:
        """Enqueue the launches on the stream, with new values of the variables.

        After an error the graph is in an unknown state.

        Raises:
            KernelError: the driver refuses the new arguments or the launch.
        """
        gpu, driver = self._gpu, self._gpu.driver
        gpu.make_current()
        changed: dict[Node, None] = {}
        for value, old, uses in zip(values, self._values, self._uses, strict=True):
            if value != old:
                for node, at in uses:
                    node.values[at] = value
                    changed[node] = None
        for node in changed:
            update = driver.cuGraphExecKernelNodeSetParams
            gpu.check(update(self._executable, node.handle, node.parameters))
        self._values = values
        gpu.waiting.append(self._suspect)
        gpu.check(driver.cuGraphLaunch(self._executable, gpu.stream.handle))


def bits(value: Any) -> int:
    """Return a kernel argument as an integer with the same low bytes.

    >>> import numpy as np
    >>> bits(-1), hex(bits(np.float32(1)))
    (-1, '0x3f800000')
    """
    return value if isinstance(value, int) else int.from_bytes(value.tobytes(), "little")
