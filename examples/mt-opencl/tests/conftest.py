"""Fixture with the OpenCL device that the tests run on; one is required."""

import pytest
from mt_opencl import Device


@pytest.fixture(scope="session")
def device():
    """Return the first OpenCL device."""
    return Device()
