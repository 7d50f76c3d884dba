"""What the kit found out about a backend, operation by operation, as a file of JSON.

`pytest --pyargs mt_tensor.conformance --mt-backend NAME --mt-report FILE` writes it, in one process
or in several.
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
    """Counts passed and failed tests of each operation, and writes them down in the end."""

    def __init__(self, path: Path, backend: str) -> None:
        self.path = path
        self.backend = backend
        self.outcomes: dict[str, Counter[str]] = {}

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Note which operation a test is about: that of the row it walks, or is given by name."""
        callspec = getattr(item, "callspec", None)
        given = callspec.params if callspec else {}
        name = given["spec"].name if "spec" in given else given.get("name")
        if name is not None:
            item.user_properties.append((OPERATION, name))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test once: when it has run, or could not."""
        if report.when == "call" or report.failed:
            for key, name in report.user_properties:
                if key == OPERATION:
                    self.outcomes.setdefault(str(name), Counter())[report.outcome] += 1

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the file, unless this is one of several processes that report to another."""
        if hasattr(session.config, "workerinput"):
            return
        backend = get_backend(self.backend)
        found = {
            "backend": self.backend,
            "kernels": sorted(name for name in FUSED if backend.kernel(name) is not None),
            "operations": {name: dict(count) for name, count in sorted(self.outcomes.items())},
        }
        self.path.write_text(json.dumps(found, indent=1) + "\n")
