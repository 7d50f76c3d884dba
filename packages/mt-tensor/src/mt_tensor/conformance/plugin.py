"""The pytest plugin of the conformance kit: its options, its marker and its fixtures.

pytest loads it, and with it mt_tensor, wherever mt-tensor is installed. It loads only a backend
that is requested by name, and if that backend cannot be used, pytest stops before collection. A
backend that is registered in code must be registered by the conftest.py where pytest is started.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from mt_tensor.backends import TensorBackend

for _file in Path(__file__).parent.glob("test_*.py"):
    pytest.register_assert_rewrite(f"mt_tensor.conformance.{_file.stem}")
pytest.register_assert_rewrite("mt_tensor.conformance.kernels")

DEFAULT = "numpy"
"""The backend under test by default, which is always available."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the backend under test."""
    parser.addoption(
        "--mt-backend",
        default=DEFAULT,
        metavar="NAME",
        help=f"the tensor backend that conformance kits test (default: {DEFAULT})",
    )
    parser.addoption(
        "--mt-report",
        metavar="FILE",
        help="write a JSON report of which operations passed",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, check the backend, and set up the report if one is requested.

    Raises:
        pytest.UsageError: the backend cannot be used, or the report cannot be written.
    """
    config.addinivalue_line(
        "markers", "conformance: a conformance test, run on the backend of --mt-backend"
    )
    name = config.getoption("--mt-backend")
    if name != DEFAULT:
        _check(name)
    path = config.getoption("--mt-report")
    if path:
        from mt_tensor.conformance.report import Report

        config.pluginmanager.register(Report(_writable(Path(path)), name))


def _check(name: str) -> None:
    """Raise UsageError unless there is a usable backend with this name."""
    from mt_tensor.backends import get_backend
    from mt_tensor.errors import BackendError

    try:
        get_backend(name)
    except BackendError as error:
        raise pytest.UsageError(f"--mt-backend {name}: {error}") from error


def _writable(file: Path) -> Path:
    """Create a file and its folder, and return the file; an invalid path stops pytest early."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.open("a").close()
    except OSError as error:
        raise pytest.UsageError(f"--mt-report {file}: {error.strerror}.") from error
    return file


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of every package's conformance kit, even if a module imports them."""
    for item in items:
        function = getattr(item, "function", None)
        if "conformance" in getattr(function, "__module__", "").split("."):
            item.add_marker(pytest.mark.conformance)


@pytest.fixture(scope="session")
def backend_name(pytestconfig: pytest.Config) -> str:
    """The name of the backend under test. Override this fixture to choose it in code."""
    return pytestconfig.getoption("--mt-backend")  # type: ignore[no-any-return]


@pytest.fixture
def backend(backend_name: str) -> Iterator[TensorBackend]:
    """The backend under test, current while the test runs."""
    from mt_tensor.backends import get_backend, use_backend

    with use_backend(backend_name):
        yield get_backend(backend_name)
