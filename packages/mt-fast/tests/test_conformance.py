"""Conformance tests of the backend `fast`."""

import pytest

from mt_tensor.conformance.test_bfloat16 import *  # noqa: F403
from mt_tensor.conformance.test_elementwise import *  # noqa: F403
from mt_tensor.conformance.test_exchange import *  # noqa: F403
from mt_tensor.conformance.test_operations import *  # noqa: F403
from mt_tensor.conformance.test_primitives import *  # noqa: F403
from mt_tensor.conformance.test_promotion import *  # noqa: F403
from mt_tensor.conformance.test_updates import *  # noqa: F403


@pytest.fixture(scope="session")
def backend_name() -> str:
    return "fast"
