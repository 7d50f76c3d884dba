"""Random numbers that are drawn on the device, compared with the numpy backend."""

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda import CudaOps, Simulator
from mt_cuda.c.translation import to_c
from mt_cuda.core.elements import stored_type
from mt_cuda.cubins import nvrtc
from mt_cuda.random_numbers.philox import DRAWN, uniform

EACH_DTYPE = pytest.mark.parametrize("dtype", list(DRAWN), ids=lambda dtype: dtype.name)


@pytest.fixture(scope="module", params=["forward", "reversed"])
def ops(request):
    """Return the default backend on the simulator, with threads in both orders."""
    return CudaOps(Simulator(request.param))


@EACH_DTYPE
@pytest.mark.parametrize("start", [0, 2**32 - 2, 2**52 + 7])
def test_rand_matches_numpy_backend_for_any_size_and_position(ops, dtype, start):
    on_device, on_host = mt.Generator(), mt.Generator()
    for generator in (on_device, on_host):
        generator.set_state({"seed": 2**65 + 3, "blocks": start})
    for size in (1, 3, 4, 8, 9, 150):
        drawn = mt.rand(size, dtype=dtype, generator=on_device, backend=ops)
        assert drawn.backend is ops
        expected = mt.rand(size, dtype=dtype, generator=on_host, backend="numpy")
        assert drawn.tolist() == expected.tolist(), size
        assert on_device.get_state() == on_host.get_state()


def test_rand_of_unsupported_dtype_is_drawn_on_the_host(ops, monkeypatch):
    monkeypatch.delitem(DRAWN, mt.float16)
    on_device, on_host = (mt.Generator().manual_seed(3) for _ in range(2))
    drawn = mt.rand(5, dtype="float16", generator=on_device, backend=ops)
    assert drawn.tolist() == mt.rand(5, dtype="float16", generator=on_host).tolist()


@EACH_DTYPE
def test_uniform_kernel_translates_to_c_and_compiles(dtype):
    kernel = uniform(dtype)
    assert f"GLOBAL {stored_type(dtype)} *y" in to_c(kernel)
    assert kernel.name in nvrtc.ptx(kernel)


@pytest.mark.parametrize(
    "draw",
    [
        pytest.param(lambda **options: mt.randn(3, 5, **options), id="randn"),
        pytest.param(lambda **options: mt.normal(2.0, 3.0, (7,), **options), id="normal"),
        pytest.param(lambda **options: mt.empty(9, **options).exponential_(2.0), id="exponential_"),
    ],
)
def test_distribution_matches_numpy_backend_up_to_rounding(ops, draw):
    found = {}
    for backend in (ops, mt.get_backend("numpy")):
        mt.manual_seed(5)
        found[backend.name] = draw(backend=backend).tolist()
    np.testing.assert_allclose(found["cuda"], found["numpy"], 1e-6)
