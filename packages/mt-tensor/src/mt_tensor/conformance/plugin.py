"""The pytest plugin of the conformance kit: its options, its marker, and the fixture `backend`.

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
    "kernels",
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
    """Name the marker, and record what each operation does if a report is wanted."""
    config.addinivalue_line("markers", "conformance: a test of the kit, run on some backend")
    path = config.getoption("--mt-report")
    if path:
        from mt_tensor.conformance.report import Report

        config.pluginmanager.register(Report(Path(path), config.getoption("--mt-backend")))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of every package's kit, from whatever module they are run."""
    for item in items:
        function = getattr(item, "function", None)
        if "conformance" in getattr(function, "__module__", "").split("."):
            item.add_marker(pytest.mark.conformance)


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
