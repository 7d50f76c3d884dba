"""The site for tests, which `hatch run prove-site` builds in a minute."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def site_for_tests() -> Path:
    """Return the folder in the environment variable MT_SITE; skip the test if it is not set."""
    given = os.environ.get("MT_SITE")
    if not given:
        pytest.skip("MT_SITE is not set: hatch run prove-site")
    return Path(given).resolve()
