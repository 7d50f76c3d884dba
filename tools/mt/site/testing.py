"""The site for tests: built once, however many of their modules and processes look at it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from mt.site.build import build


def site_for_tests(base: Path) -> Path:
    """Return the folder of the site: that of the variable MT_SITE, or else one without results.

    Args:
        base: the folder of this process for temporary files; the processes of pytest-xdist have
            theirs beside each other.
    """
    given = os.environ.get("MT_SITE")
    if given:
        return Path(given).resolve()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, finished = shared / "site", shared / "site.finished"
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not finished.exists():
            build(folder, run=False)
            finished.touch()
    return folder
