"""The pytest plugin of the conformance kit: its two options, and the fixture `backend`.

pytest loads it, and with it mt_tensor, wherever mt-tensor is installed; it loads no backend.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from mt_tensor.backends import TensorBackend

for _module in (
    "test_elementwise",
    "test_operations",
    "test_primitives",
    "test_exchange",
    "test_programs",
):
    pytest.register_assert_rewrite(f"mt_tensor.conformance.{_module}")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the backend under test."""
    parser.addoption(
        "--mt-backend",
        default="numpy",
        metavar="NAME",
        help="the tensor backend that mt_tensor.conformance tests (default: numpy)",
    )
    parser.addoption(
        "--mt-report",
        metavar="FILE",
        help="write there, as JSON, which operations passed (see mt_tensor.conformance.table)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Record what each operation does, if a report is wanted."""
    path = config.getoption("--mt-report")
    if path:
        from mt_tensor.conformance.report import Report

        config.pluginmanager.register(Report(Path(path), config.getoption("--mt-backend")))


@pytest.fixture(scope="session")
def backend_name(pytestconfig: pytest.Config) -> str:
    """The name of the backend under test. Override this fixture to choose it in code."""
    name: str = pytestconfig.getoption("--mt-backend")
    return name


@pytest.fixture
def backend(backend_name: str) -> Iterator[TensorBackend]:
    """The backend under test, current while the test runs."""
    from mt_tensor.backends import get_backend, use_backend

    with use_backend(backend_name):
        yield get_backend(backend_name)
