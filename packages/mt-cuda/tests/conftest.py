"""The machines that the tests of mt-cuda run on."""

import pytest

from mt_cuda.backend import CudaOps
from mt_cuda.simulator import Simulator
from mt_tensor.errors import BackendUnavailableError


def _gpu() -> CudaOps:
    from mt_cuda.gpu import Gpu

    try:
        return CudaOps(Gpu())
    except BackendUnavailableError as error:
        pytest.skip(f"needs a GPU: {str(error).split('. ')[0]}")


MACHINES = {
    "forward": lambda: CudaOps(Simulator("forward")),
    "reversed": lambda: CudaOps(Simulator("reversed")),
    "gpu": _gpu,
}


@pytest.fixture(
    scope="session", params=["forward", "reversed", pytest.param("gpu", marks=pytest.mark.gpu)]
)
def ops(request):
    """The backend on the simulator, with threads in either order, and on a GPU if there is one."""
    return MACHINES[request.param]()


@pytest.fixture(scope="session")
def gpu_ops():
    """The backend on a GPU; the test skips where there is none."""
    return _gpu()
