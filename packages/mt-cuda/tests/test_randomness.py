"""Random numbers drawn on the device match NumPy, without copies from the host."""

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda import CudaOps, Simulator
from mt_cuda.c.translation import to_c
from mt_cuda.core.elements import stored_type
from mt_cuda.cubins import nvrtc
from mt_cuda.random_numbers.philox import DRAWN, uniform

TYPES = pytest.mark.parametrize("dtype", list(DRAWN), ids=lambda dtype: dtype.name)


@pytest.fixture(scope="module", params=["forward", "reversed"])
def ops(request):
    """The backend of users, on threads in either order."""
    return CudaOps(Simulator(request.param))


@TYPES
@pytest.mark.parametrize("far", [0, 2**32 - 2, 2**52 + 7])
def test_numbers_match_numpy(ops, dtype, far):
    """For any count, and at any position of a sequence."""
    here, host = mt.Generator(), mt.Generator()
    for generator in (here, host):
        generator.set_state({"seed": 2**65 + 3, "blocks": far})
    for size in (1, 3, 4, 8, 9, 150):
        drawn = mt.rand(size, dtype=dtype, generator=here, backend=ops)
        assert drawn.backend is ops
        expected = mt.rand(size, dtype=dtype, generator=host, backend="numpy")
        assert drawn.tolist() == expected.tolist(), size
        assert here.get_state() == host.get_state()


def test_unsupported_dtypes_are_drawn_on_the_host(ops, monkeypatch):
    monkeypatch.delitem(DRAWN, mt.float16)
    here, host = (mt.Generator().manual_seed(3) for _ in range(2))
    drawn = mt.rand(5, dtype="float16", generator=here, backend=ops)
    assert drawn.tolist() == mt.rand(5, dtype="float16", generator=host).tolist()


@TYPES
def test_the_kernel_compiles_with_every_compiler(dtype):
    kernel = uniform(dtype)
    assert f"GLOBAL {stored_type(dtype)} *y" in to_c(kernel)
    assert kernel.name in nvrtc.ptx(kernel)


@pytest.mark.parametrize(
    "draw",
    [
        pytest.param(lambda **home: mt.randn(3, 5, **home), id="randn"),
        pytest.param(lambda **home: mt.normal(2.0, 3.0, (7,), **home), id="normal"),
        pytest.param(lambda **home: mt.empty(9, **home).exponential_(2.0), id="exponential_"),
    ],
)
def test_other_distributions_are_formulas(ops, draw):
    """Nothing is copied, and numbers match other backends up to rounding."""
    found = {}
    for backend in (ops, mt.get_backend("numpy")):
        mt.manual_seed(5)
        found[backend.name] = draw(backend=backend).tolist()
    np.testing.assert_allclose(found["cuda"], found["numpy"], 1e-6)
