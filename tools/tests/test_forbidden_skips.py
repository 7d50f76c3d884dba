"""If `MT_FORBID_SKIPS` is set, every skipped test fails, except those that need a GPU."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from mt.skeleton.folder import shared

HEAD = "import pytest\n"
SKIPPING = {
    "function": HEAD + "def test_it():\n    pytest.skip('no compiler')\n",
    "module": HEAD + "pytest.skip('no compiler', allow_module_level=True)\n",
    "import": HEAD + "pytest.importorskip('no_such_module', reason='no compiler')\n",
}
EXEMPT = {
    "gpu": HEAD + "@pytest.mark.gpu\ndef test_it():\n    pytest.skip('no GPU')\n",
    "xfail": HEAD + "@pytest.mark.xfail(strict=True)\ndef test_it():\n    raise ValueError\n",
    "passing": "def test_it():\n    pass\n",
}


def run(
    folder: Path, tests: Mapping[str, str], forbid: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """Run test files together; return the finished process and the reason of each failure."""
    for file in shared():
        shutil.copy(file, folder)
    (folder / "pyproject.toml").write_text(
        "[tool.pytest.ini_options]\nmarkers = ['gpu', 'torch']\npythonpath = ['.']\n"
    )
    for name, test in tests.items():
        (folder / f"test_{name}.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-q", "--continue-on-collection-errors"]
    done = subprocess.run(
        [*command, "-p", "no:anyio", "-p", "no:cacheprovider"],
        cwd=folder,
        env=os.environ | {"MT_FORBID_SKIPS": forbid, "COLUMNS": "1000"},
        capture_output=True,
        text=True,
        check=False,
    )
    failed = re.findall(r"^(?:FAILED|ERROR) test_(\w+)\.py\S*(.*)$", done.stdout, re.MULTILINE)
    return done, dict(failed)


def test_skips_fail_if_forbidden_except_in_gpu_tests(tmp_path: Path) -> None:
    done, failed = run(tmp_path, SKIPPING | EXEMPT, forbid="1")
    assert done.returncode != 0
    assert failed.keys() == SKIPPING.keys()
    for reason in failed.values():
        assert "MT_FORBID_SKIPS is set" in reason
        assert "no compiler" in reason
    assert re.search(r"1 passed, 1 skipped, 1 xfailed", done.stdout)


def test_skips_are_allowed_unless_forbidden(tmp_path: Path) -> None:
    done, failed = run(tmp_path, SKIPPING | EXEMPT, forbid="")
    assert (done.returncode, failed) == (pytest.ExitCode.OK, {})
    assert "1 passed, 4 skipped, 1 xfailed" in done.stdout
