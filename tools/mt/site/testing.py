"""The site that tests look at, which `hatch run prove-site` builds: it takes a minute."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def site_for_tests() -> Path:
    """Return the folder that the environment variable MT_SITE names, or else skip the test."""
    given = os.environ.get("MT_SITE")
    if not given:
        pytest.skip("no site has been built for it: hatch run prove-site")
    return Path(given).resolve()
