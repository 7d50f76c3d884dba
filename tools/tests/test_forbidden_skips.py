"""Where skipping is forbidden, whatever skips fails; only a test for a GPU may skip."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mt.skeleton.folder import shared

HEAD = "import pytest\n"
FUNCTION = HEAD + "def test_it():\n    pytest.skip('no compiler')\n"
MODULE = HEAD + "pytest.skip('no compiler', allow_module_level=True)\n"
IMPORT = HEAD + "pytest.importorskip('no_such_module', reason='no compiler')\n"
GPU = HEAD + "@pytest.mark.gpu\ndef test_it():\n    pytest.skip('no GPU')\n"
XFAIL = HEAD + "@pytest.mark.xfail(strict=True)\ndef test_it():\n    raise ValueError\n"
PASSING = "def test_pass():\n    pass\n"


def run(folder: Path, test: str, forbid: str) -> subprocess.CompletedProcess[str]:
    for file in shared():
        shutil.copy(file, folder)
    (folder / "pyproject.toml").write_text(
        "[tool.pytest.ini_options]\nmarkers = ['gpu', 'torch']\npythonpath = ['.']\n"
    )
    (folder / "test_skipping.py").write_text(test)
    (folder / "test_passing.py").write_text(PASSING)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder,
        env=os.environ | {"MT_FORBID_SKIPS": forbid},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("test", [FUNCTION, MODULE, IMPORT], ids=["function", "module", "import"])
def test_a_skip_fails(tmp_path: Path, test: str) -> None:
    done = run(tmp_path, test, forbid="1")
    assert done.returncode != 0
    assert "MT_FORBID_SKIPS is set" in done.stdout
    assert "no compiler" in done.stdout


@pytest.mark.parametrize("test", [GPU, XFAIL], ids=["gpu", "xfail"])
def test_the_gpu_and_expected_failures_are_exempt(tmp_path: Path, test: str) -> None:
    assert run(tmp_path, test, forbid="1").returncode == 0


@pytest.mark.parametrize("test", [FUNCTION, MODULE, IMPORT], ids=["function", "module", "import"])
def test_a_skip_is_allowed_elsewhere(tmp_path: Path, test: str) -> None:
    assert run(tmp_path, test, forbid="").returncode == 0
