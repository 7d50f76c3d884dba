"""The conformance tests for the installed backends."""

import pytest

from mt_nn.conformance.test_kernels import *  # noqa: F403
from mt_tensor.backends import backends

WITH_KERNELS = [name for name in ("numpy", "fast") if name in backends()]


@pytest.fixture(scope="session", params=WITH_KERNELS)
def backend_name(request: pytest.FixtureRequest) -> str:
    """Return the name of each installed backend in turn."""
    name: str = request.param
    return name
