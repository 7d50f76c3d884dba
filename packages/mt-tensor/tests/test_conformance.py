"""The conformance kit on the two built-in backends."""

import pytest

from mt_tensor.conformance.test_bfloat16 import *  # noqa: F403
from mt_tensor.conformance.test_elementwise import *  # noqa: F403
from mt_tensor.conformance.test_exchange import *  # noqa: F403
from mt_tensor.conformance.test_operations import *  # noqa: F403
from mt_tensor.conformance.test_primitives import *  # noqa: F403
from mt_tensor.conformance.test_promotion import *  # noqa: F403
from mt_tensor.conformance.test_updates import *  # noqa: F403


@pytest.fixture(scope="session", params=["numpy", "simple"])
def backend_name(request: pytest.FixtureRequest) -> str:
    """Return the name of each built-in backend in turn."""
    name: str = request.param
    return name
