"""The conformance kit on the backend of the lesson, which is complete without the library's."""

import pytest

import mt_tensor as mt
from mt_tensor.backends.numpy.backend import NumpyOps
from mt_tensor.conformance.test_bfloat16 import *  # noqa: F403
from mt_tensor.conformance.test_elementwise import *  # noqa: F403
from mt_tensor.conformance.test_primitives import *  # noqa: F403
from mt_tensor.conformance.test_updates import *  # noqa: F403


class LessonOps(NumpyOps):
    """The same under a name of its own."""

    name = "lesson"


mt.register_backend("lesson", LessonOps)


@pytest.fixture(scope="session")
def backend_name() -> str:
    """The backend of the lesson."""
    return "lesson"
