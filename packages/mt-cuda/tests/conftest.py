"""Fixtures: backends on the simulator, on a GPU, and on a mock GPU."""

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
from mt_operators.core.row import zero
from mt_operators.core.tracing import graph_of
from mt_tensor import bool_
from mt_tensor.errors import BackendUnavailableError
from mt_tensor.extending import DTYPES

COMPILERS = ["ptx", "cubin"]
"""How kernels are compiled: to PTX by the core alone, or to cubins by NVRTC."""


def machine_factory(compiler):
    """Return a function that creates a GPU machine with this compiler."""

    def make():
        with pytest.MonkeyPatch.context() as patch:
            if compiler == "ptx":
                patch.delitem(GPU, "load")
                patch.delitem(GPU, "pool")
            return gpu.Gpu()

    return make


def _gpu(compiler="cubin") -> CudaOps:
    try:
        return CudaOps(machine_factory(compiler)(), plain=compiler == "ptx")
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
    """Return the backend on the simulator, with threads in both orders, and on a GPU."""
    return MACHINES[request.param]()


@pytest.fixture(scope="session", params=COMPILERS)
def gpu_ops(request):
    """Return the backend on a GPU, without cuBLAS, for each compiler; skip without a GPU."""
    ops = _gpu(request.param)
    blas._LIBRARIES[ops.machine] = None
    return ops


@pytest.fixture(scope="session")
def cubin_ops():
    """Return the default backend on a GPU; skip the test without a GPU."""
    return _gpu()


# --- Every kernel -------------------------------------------------------------------------------

SIGNED = ("pow", *integer_functions.INTEGERS)
"""Operators whose kernels differ for signed and unsigned integers."""


@pytest.fixture(scope="session")
def every_kernel():
    """Return kernels by name that together use every operator, template and dtype.

    Kernels of uint16 and uint32 are left out: they differ from those of uint8 only in names.
    """
    elements = [dtype for name, dtype in DTYPES.items() if name not in ("uint16", "uint32")]
    return {kernel.name: kernel for kernel in _kernels(elements)}


def _kernels(elements):
    for operator in OPERATORS.values():
        yield from _elementwise(operator)
        if operator.identity is not None or operator.name in {"maximum", "minimum"}:
            for element, layout in itertools.product(elements, inspection.FOLDS):
                if operator.result != "bool" or element is bool_:
                    yield inspection.kernel(operator.name, dtype=element, layout=layout)
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
    all_layouts, two_layouts = inspection.ELEMENTWISE, ("vector", "strided")
    for name, layouts in (
        ("float32", all_layouts),
        ("float64", ("vector",)),
        ("int32", all_layouts),
        ("float16", two_layouts),
        ("uint8", two_layouts),
        ("uint64", ("strided",) if operator.name in SIGNED else ()),
    ):
        element = DTYPES[name]
        if operator.result == ("real" if element.kind == "integer" else "integer"):
            continue  # computed in float32, or not supported
        has_gradient = element.is_floating_point and any(p is not zero for p in operator.partials)
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
    """Host memory in place of device memory; it is freed by garbage collection."""

    def __init__(self, device, size):
        assert size > 0  # as drivers require
        self.device = device
        self.bytes = np.zeros(size, np.uint8)
        self.handle = self.bytes.ctypes.data
        self.size = size

    def __del__(self):
        self.device.allocated -= self.bytes.size
        self.device.pooled += self.bytes.size


def memory_at(pointer, dtype, buffers):
    """Return the memory of a kernel's argument, which is a buffer or an address.

    An address has no size. An address outside of all buffers belongs to a NumPy array of a test,
    for which 64 elements are enough.
    """
    if isinstance(pointer, Buffer):
        return Memory(pointer.bytes.view(dtype.numpy), dtype)
    ends = (b.handle + b.size for b in buffers if b.handle <= pointer < b.handle + b.size)
    size = next(ends, pointer + 64 * dtype.itemsize) - pointer
    size -= size % dtype.itemsize
    array = np.frombuffer((ctypes.c_char * size).from_address(pointer), dtype.numpy)
    return Memory(array, dtype)


class MockDriver:
    """A mock of the driver and of `cuda.core`: memory is on the host, the simulator runs kernels.

    Attributes:
        status: The result of `cuInit`, or the exception that it raises.
        devices: The number of GPUs.
        version: The CUDA version of the driver, such as 13000.
        total: The size of device memory, in bytes.
        allocated: The number of bytes in use.
        pooled: The number of bytes that are freed and cached by the memory pool.
        fault: The name of the error with which calls fail, or None.
        loaded: The code that was loaded, by kernel name.
        compiled: The kernels that were compiled, by name.
        out_of_memory: The message of `cuda.core` if there is no memory left.
        missing: The message of the compiler if it is not installed.
        waiting: The streams of other libraries that wait for ours.
        calls: The number of calls of each kind.
        buffers: All allocated buffers.
    """

    CUresult = Status
    CUDA_VERSION = 13000
    LaunchConfig = SimpleNamespace

    def __init__(self, status="CUDA_SUCCESS", devices=1, version=13000, missing=""):
        self.status, self.devices, self.version = status, devices, version
        self.total, self.allocated, self.pooled = 1 << 20, 0, 0
        self.fault, self.missing = None, missing
        self.out_of_memory = "CUDA_ERROR_OUT_OF_MEMORY: as the driver explains it."
        self.loaded, self.compiled, self.waiting = {}, {}, []
        self.calls = collections.Counter()
        self.buffers = weakref.WeakSet()
        self.ObjectCode = SimpleNamespace(from_ptx=self.from_ptx, from_cubin=self.from_cubin)

    def result(self):
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
        return self.result()

    cuMemcpyDtoHAsync = cuMemcpyDtoDAsync = cuMemcpyHtoDAsync

    def cuMemGetInfo(self):
        return "CUDA_SUCCESS", self.total - self.allocated - self.pooled, self.total

    def cuMemPoolTrimTo(self, pool, least):
        self.pooled = least
        return self.result()

    def cuEventCreate(self, flags):
        return "CUDA_SUCCESS", "event"

    def cuEventRecord(self, event, stream):
        assert (event, stream) == ("event", 7)
        return self.result()

    def cuStreamWaitEvent(self, stream, event, flags):
        self.waiting.append(stream)
        return self.result()

    def cuEventDestroy(self, event):
        return self.result()

    # `cuda.core`.

    def Device(self):
        return SimpleNamespace(
            name="Mock GPU",
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
        if self.allocated + self.pooled + size > self.total:  # the cached blocks are too small
            raise RuntimeError(self.out_of_memory)
        self.allocated += size
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
        rest, values = list(arguments), []
        for parameter in kernel.parameters:
            if parameter.passed == "array":
                assert rest[:2] == [0, 0]
                assert rest[2:4] == rest[5:7]
                rest = [rest[4], *rest[7:]]
            value = rest.pop(0)
            if parameter.passed != "value":
                value = memory_at(value, DTYPES[parameter.type], self.buffers)
            values.append(value)
        assert not rest
        machine = Simulator()
        machine.launch(machine.load(kernel), grid, threads, values, ())

    # Graphs: a node is its index.

    CUDA_KERNEL_NODE_PARAMS = SimpleNamespace

    def cuGraphCreate(self, flags):
        self.calls["graph"] += 1
        return *self.result(), []

    def cuGraphAddKernelNode(self, graph, before, count, parameters):
        assert before == [len(graph) - 1][: len(graph)]  # a chain
        assert count == len(before)
        graph.append(self.read_parameters(parameters))
        return *self.result(), len(graph) - 1

    def cuGraphInstantiate(self, graph, flags):
        return *self.result(), SimpleNamespace(nodes=list(graph))

    def cuGraphExecKernelNodeSetParams(self, executable, node, parameters):
        self.calls["parameters"] += 1
        assert executable.nodes[node][:3] == self.read_parameters(parameters)[:3]
        executable.nodes[node] = self.read_parameters(parameters)
        return self.result()

    def cuGraphLaunch(self, executable, stream):
        assert stream == 7
        self.calls["graph launch"] += 1
        for node in executable.nodes if not self.fault else ():
            self.run(*node)
        return self.result()

    def cuGraphExecDestroy(self, executable):
        self.calls["destroyed"] += 1
        return self.result()

    cuGraphDestroy = cuGraphExecDestroy

    def read_parameters(self, parameters):
        """Read the parameters of a launch from host memory, as the driver does."""
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

    def compile(self, kernel):
        if self.missing:
            raise KernelError(self.missing)
        self.compiled[kernel.name] = kernel

    def ptx(self, kernel, capability):
        self.compile(kernel)
        return Compiled(kernel, "PTX", kernel.name)

    def cubin(self, kernel, capability):
        self.compile(kernel)
        return b"cubin"


@pytest.fixture
def make_mock_gpu(monkeypatch):
    """Return a function that creates a machine on a mock GPU, and returns it with its driver."""
    monkeypatch.setattr(gpu, "THREADS", 16)

    def make(compiler="ptx", **settings):
        driver = MockDriver(**settings)
        monkeypatch.setattr(gpu, "_import_cuda", lambda: (driver, driver))
        monkeypatch.setattr(gpu, "compile_kernel", driver.ptx)
        monkeypatch.setattr(cache, "cubin", driver.cubin)
        return machine_factory(compiler)(), driver

    return make


@pytest.fixture(params=COMPILERS)
def mock_ops(request, make_mock_gpu):
    """Return the backend on a mock GPU, for each compiler."""
    machine, _ = make_mock_gpu(request.param)
    return CudaOps(machine, plain=True)
