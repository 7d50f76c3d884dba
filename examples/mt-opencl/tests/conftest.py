"""The device that the tests of mt-opencl run on; there has to be one."""

import pytest
from mt_opencl import Device


@pytest.fixture(scope="session")
def device():
    """The first OpenCL device."""
    return Device()
