"""The JSON report of the conformance kit: the results of a backend by operation.

`pytest --pyargs mt_tensor.conformance --mt-backend NAME --mt-report FILE` writes it, also with
several processes of pytest-xdist.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from mt_tensor.backends import get_backend
from mt_tensor.core.named import FUSED

OPERATION = "mt_operation"


class Report:
    """A pytest plugin that counts passed and failed tests of each operation and writes a file."""

    def __init__(self, path: Path, backend: str) -> None:
        self.path = path
        self.backend = backend
        self.outcomes: dict[str, Counter[str]] = {}

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Store the operation of a test: the name of its `spec`, or its parameter `name`."""
        callspec = getattr(item, "callspec", None)
        given = callspec.params if callspec else {}
        name = given["spec"].name if "spec" in given else given.get("name")
        if name is not None:
            item.user_properties.append((OPERATION, name))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count each test once, when it ran or its setup failed."""
        if report.when == "call" or report.failed:
            for key, name in report.user_properties:
                if key == OPERATION:
                    self.outcomes.setdefault(str(name), Counter())[report.outcome] += 1

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the file, unless this is a worker process of pytest-xdist."""
        if hasattr(session.config, "workerinput"):
            return
        backend = get_backend(self.backend)
        found = {
            "backend": self.backend,
            "kernels": sorted(name for name in FUSED if backend.kernel(name) is not None),
            "operations": {name: dict(count) for name, count in sorted(self.outcomes.items())},
        }
        self.path.write_text(json.dumps(found, indent=1) + "\n")
