"""The machines that the tests of mt-cuda run on, and a mock GPU."""

import collections
import ctypes
import itertools
import weakref
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from mt_cuda import CudaOps
from mt_cuda.core import elementwise, gpu, indexed, matrix
from mt_cuda.core.compiler import Compiled
from mt_cuda.core.elements import computed
from mt_cuda.core.errors import KernelError
from mt_cuda.core.simulator import Memory, Simulator
from mt_cuda.core.tables import GPU
from mt_cuda.cubins import cache
from mt_cuda.inspection import kernels as inspection
from mt_cuda.matrices import blas
from mt_fast.extending import integer_functions
from mt_operators import OPERATORS
from mt_operators.core.lowering import expanded
from mt_operators.core.tracing import graph_of
from mt_tensor import bool_
from mt_tensor.errors import BackendUnavailableError
from mt_tensor.extending import DTYPES

COMPILERS = ["ptx", "cubin"]
"""How kernels are compiled: by the core alone, or by registered extensions."""


def made_by(compiler):
    """Return a function that creates a machine with this compiler."""

    def make():
        with pytest.MonkeyPatch.context() as patch:
            if compiler == "ptx":
                patch.delitem(GPU, "load")
                patch.delitem(GPU, "pool")
            return gpu.Gpu()

    return make


def _gpu(compiler="cubin") -> CudaOps:
    try:
        return CudaOps(made_by(compiler)(), plain=compiler == "ptx")
    except BackendUnavailableError as error:
        pytest.skip(f"needs a GPU: {str(error).split('. ')[0]}")


MACHINES = {
    "forward": lambda: CudaOps(Simulator("forward"), plain=True),
    "reversed": lambda: CudaOps(Simulator("reversed"), plain=True),
    "gpu": _gpu,
}


@pytest.fixture(
    scope="session", params=["forward", "reversed", pytest.param("gpu", marks=pytest.mark.gpu)]
)
def ops(request):
    """The backend on the simulator, with threads in either order, and on a GPU if there is one."""
    return MACHINES[request.param]()


@pytest.fixture(scope="session", params=COMPILERS)
def gpu_ops(request):
    """The backend on a GPU, with our kernels by either compiler; skips without a GPU."""
    ops = _gpu(request.param)
    blas._LIBRARIES[ops.machine] = None
    return ops


@pytest.fixture(scope="session")
def cubin_ops():
    """The backend that users get, on a GPU; skips without a GPU."""
    return _gpu()


# --- Every kernel -------------------------------------------------------------------------------

SIGNED = ("pow", *integer_functions.INTEGERS)
"""Operators whose kernels differ for signed and unsigned integers."""


@pytest.fixture(scope="session")
def every_kernel():
    """Kernels by name that together use every operator, template and element type.

    Those of uint16 and uint32 are the ones of uint8 with another name in their text.
    """
    elements = [dtype for name, dtype in DTYPES.items() if name not in ("uint16", "uint32")]
    return {kernel.name: kernel for kernel in _kernels(elements)}


def _kernels(elements):
    for operator in OPERATORS.values():
        yield from _elementwise(operator)
        if operator.identity is not None or operator.name in {"maximum", "minimum"}:
            for element, way in itertools.product(elements, inspection.FOLDS):
                if operator.result != "bool" or element is bool_:
                    yield inspection.kernel(operator.name, dtype=element, layout=way)
    for element, target in itertools.product(elements, repeat=2):
        yield inspection._copy(element, target)
    for element in elements:
        for name in ("gather", "scatter") if element is bool_ else ("gather", "scatter", "matmul"):
            yield inspection.kernel(name, dtype=element)
        yield indexed.gather(element, 3, "int64")
        types = elementwise.Signature((None,), (element,), computed(element))
        yield elementwise.contiguous("id", graph_of(OPERATORS["id"].value), types, (True,))
        for name in ("add", "mul", "maximum", "minimum"):
            yield _scatter(OPERATORS[name], element)
    for tiling, a_by_rows, b_by_rows in itertools.product(
        (matrix.LARGE, matrix.SMALL), (True, False), (True, False)
    ):
        yield matrix.matmul(DTYPES["float32"], tiling, 1, a_by_rows, b_by_rows)


def _elementwise(operator):
    every, wide = inspection.ELEMENTWISE, ("vector", "strided")
    for name, layouts in (
        ("float32", every),
        ("float64", ("vector",)),
        ("int32", every),
        ("float16", wide),
        ("uint8", wide),
        ("uint64", ("strided",) if operator.name in SIGNED else ()),
    ):
        element = DTYPES[name]
        if operator.result == ("real" if element.kind == "integer" else "integer"):
            continue  # computed in float32, or not supported
        has_gradient = element.is_floating_point and any(inspection._needed(operator))
        for layout, gradient in itertools.product(layouts, (False, True)[: 1 + has_gradient]):
            yield inspection._elementwise(operator, element, layout, gradient)


def _scatter(operator, dtype):
    if dtype.name in indexed.ATOMIC.get(operator.name, ()):
        return indexed.scatter(dtype, 2, "index32", operator.name)
    graph = expanded(graph_of(operator.value))
    return indexed.scatter_lines(operator.name, graph, dtype, 2, "index32")


# --- A mock GPU ---------------------------------------------------------------------------------


class Status(SimpleNamespace):
    CUDA_SUCCESS = "CUDA_SUCCESS"
    CUDA_ERROR_NO_DEVICE = "CUDA_ERROR_NO_DEVICE"


class Buffer:
    """A block of host memory in place of device memory; it is freed when it is collected."""

    def __init__(self, device, size):
        assert size > 0  # as drivers require
        self.device = device
        self.bytes = np.zeros(size, np.uint8)
        self.handle = self.bytes.ctypes.data
        self.size = size

    def __del__(self):
        self.device.taken -= self.bytes.size
        self.device.kept += self.bytes.size


def memory_at(place, dtype, buffers):
    """Return the memory that is passed to a kernel, as a buffer or as an address.

    Kernels that are given addresses do not know how long the memory is. Where it is none of ours it
    is some array of NumPy's, which is longer than what a test does with it.
    """
    if isinstance(place, Buffer):
        return Memory(place.bytes.view(dtype.numpy), dtype)
    ends = (b.handle + b.size for b in buffers if b.handle <= place < b.handle + b.size)
    size = next(ends, place + 64 * dtype.itemsize) - place
    size -= size % dtype.itemsize
    there = np.frombuffer((ctypes.c_char * size).from_address(place), dtype.numpy)
    return Memory(there, dtype)


class Pretended:
    """A GPU with its driver and `cuda.core`, on host memory, whose kernels the simulator runs.

    Attributes:
        total: its memory, in bytes; of which so much is `taken`, and kept for later by the pool.
        fault: what every call says from now on; kernels that were launched before find it.
        loaded: the code that was handed to the driver, by the name of its kernel.
        compiled: the kernels that a compiler was asked for, by their names.
        out_of_memory: what `cuda.core` says when there is none.
        missing: what the compiler says, if it is not there.
        waiting: the streams of others that have been let wait.
        calls: how often the driver has been called.
        buffers: the memory that has been given out.
    """

    CUresult = Status
    CUDA_VERSION = 13000
    LaunchConfig = SimpleNamespace

    def __init__(self, status="CUDA_SUCCESS", devices=1, version=13000, missing=""):
        self.status, self.devices, self.version = status, devices, version
        self.total, self.taken, self.kept = 1 << 20, 0, 0
        self.fault, self.missing = None, missing
        self.out_of_memory = "CUDA_ERROR_OUT_OF_MEMORY: as the driver explains it."
        self.loaded, self.compiled, self.waiting = {}, {}, []
        self.calls = collections.Counter()
        self.buffers = weakref.WeakSet()
        self.ObjectCode = SimpleNamespace(from_ptx=self.from_ptx, from_cubin=self.from_cubin)

    def says(self):
        return (SimpleNamespace(name=self.fault) if self.fault else "CUDA_SUCCESS",)

    def check(self):
        if self.fault:
            raise Exception(f"{self.fault}: as the driver explains it.\n")

    # The driver.

    def cuInit(self, flags):
        if isinstance(self.status, Exception):
            raise self.status
        return (self.status,)

    def cuDriverGetVersion(self):
        return "CUDA_SUCCESS", self.version

    def cuDeviceGetCount(self):
        return "CUDA_SUCCESS", self.devices

    def cuMemcpyHtoDAsync(self, target, source, count, stream):
        self.calls["copy"] += 1
        if not self.fault:
            ctypes.memmove(target, source, count)
        return self.says()

    cuMemcpyDtoHAsync = cuMemcpyDtoDAsync = cuMemcpyHtoDAsync

    def cuMemGetInfo(self):
        return "CUDA_SUCCESS", self.total - self.taken - self.kept, self.total

    def cuMemPoolTrimTo(self, pool, least):
        self.kept = least
        return self.says()

    def cuEventCreate(self, flags):
        return "CUDA_SUCCESS", "event"

    def cuEventRecord(self, event, stream):
        assert (event, stream) == ("event", 7)
        return self.says()

    def cuStreamWaitEvent(self, stream, event, flags):
        self.waiting.append(stream)
        return self.says()

    def cuEventDestroy(self, event):
        return self.says()

    # `cuda.core`.

    def Device(self):
        return SimpleNamespace(
            name="Pretended",
            device_id=0,
            compute_capability=(9, 0),
            properties=SimpleNamespace(multiprocessor_count=2),
            memory_resource=SimpleNamespace(allocate=self.allocate, handle="pool"),
            set_current=lambda: None,
            create_stream=lambda: SimpleNamespace(handle=7, sync=self.synchronize),
        )

    def synchronize(self):
        self.calls["synchronize"] += 1
        self.check()

    def allocate(self, size, stream):
        self.calls["allocate"] += 1
        self.check()
        if self.taken + self.kept + size > self.total:  # the cached blocks are too small
            raise RuntimeError(self.out_of_memory)
        self.taken += size
        buffer = Buffer(self, size)
        self.buffers.add(buffer)
        return buffer

    def from_ptx(self, ptx, name):
        return self.code(ptx, name, self.compiled[name])

    def from_cubin(self, cubin, name):
        kernel = self.compiled[name]
        all_pointers = (
            replace(each, passed="pointer") if each.passed == "array" else each
            for each in kernel.parameters
        )
        return self.code(cubin, name, replace(kernel, parameters=tuple(all_pointers)))

    def code(self, code, name, kernel):
        def get_kernel(entry):
            self.check()
            assert entry == name
            self.loaded[name] = code
            return SimpleNamespace(handle=kernel)

        return SimpleNamespace(name=name, get_kernel=get_kernel)

    def launch(self, stream, config, kernel, *arguments):
        self.calls["launch"] += 1
        self.run(config.grid[:2], config.block[0], kernel.handle, arguments)

    def run(self, grid, threads, kernel, arguments):
        self.check()
        rest, given = list(arguments), []
        for parameter in kernel.parameters:
            if parameter.passed == "array":
                assert rest[:2] == [0, 0]
                assert rest[2:4] == rest[5:7]
                rest = [rest[4], *rest[7:]]
            value = rest.pop(0)
            if parameter.passed != "value":
                value = memory_at(value, DTYPES[parameter.type], self.buffers)
            given.append(value)
        assert not rest
        machine = Simulator()
        machine.launch(machine.load(kernel), grid, threads, given, ())

    # Graphs: a node is its number.

    CUDA_KERNEL_NODE_PARAMS = SimpleNamespace

    def cuGraphCreate(self, flags):
        self.calls["graph"] += 1
        return *self.says(), []

    def cuGraphAddKernelNode(self, graph, before, count, parameters):
        assert before == [len(graph) - 1][: len(graph)]  # a chain
        assert count == len(before)
        graph.append(self.described(parameters))
        return *self.says(), len(graph) - 1

    def cuGraphInstantiate(self, graph, flags):
        return *self.says(), SimpleNamespace(nodes=list(graph))

    def cuGraphExecKernelNodeSetParams(self, executable, node, parameters):
        self.calls["parameters"] += 1
        assert executable.nodes[node][:3] == self.described(parameters)[:3]
        executable.nodes[node] = self.described(parameters)
        return self.says()

    def cuGraphLaunch(self, executable, stream):
        assert stream == 7
        self.calls["graph launch"] += 1
        for node in executable.nodes if not self.fault else ():
            self.run(*node)
        return self.says()

    def cuGraphExecDestroy(self, executable):
        self.calls["destroyed"] += 1
        return self.says()

    cuGraphDestroy = cuGraphExecDestroy

    def described(self, parameters):
        """Read a launch from host memory, as the driver does."""
        kernel = parameters.kern
        assert (parameters.gridDimZ, parameters.blockDimY, parameters.blockDimZ) == (1, 1, 1)
        words = []
        for each in kernel.parameters:
            dtype = np.dtype(each.type if each.passed == "value" else "i8")
            words += [np.dtype("i8")] * 6 * (each.passed == "array") + [dtype]
        places = (ctypes.c_void_p * len(words)).from_address(parameters.kernelParams)
        arguments = [
            np.frombuffer(ctypes.string_at(place, dtype.itemsize), dtype)[0]
            for place, dtype in zip(places, words, strict=True)
        ]
        arguments = [int(x) if isinstance(x, np.int64) else x for x in arguments]
        return (parameters.gridDimX, parameters.gridDimY), parameters.blockDimX, kernel, arguments

    # The compilers.

    def asked(self, kernel):
        if self.missing:
            raise KernelError(self.missing)
        self.compiled[kernel.name] = kernel

    def ptx(self, kernel, capability):
        self.asked(kernel)
        return Compiled(kernel, "PTX", kernel.name)

    def cubin(self, kernel, capability):
        self.asked(kernel)
        return b"cubin"


@pytest.fixture
def pretend(monkeypatch):
    """Return a function that creates a mock GPU with a compiler."""
    monkeypatch.setattr(gpu, "THREADS", 16)

    def pretending(compiler="ptx", **facts):
        there = Pretended(**facts)
        monkeypatch.setattr(gpu, "_import_cuda", lambda: (there, there))
        monkeypatch.setattr(gpu, "compile_kernel", there.ptx)
        monkeypatch.setattr(cache, "cubin", there.cubin)
        return made_by(compiler)(), there

    return pretending


@pytest.fixture(params=COMPILERS)
def pretended(request, pretend):
    """The backend on a mock GPU, with kernels of either compiler."""
    machine, _ = pretend(request.param)
    return CudaOps(machine, plain=True)
