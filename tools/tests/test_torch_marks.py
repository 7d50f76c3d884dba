"""Exactly the tests that compare with torch have the mark `torch`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mt.workspace import ROOT

HEAD = "import pytest\nfrom hypothesis import given, strategies as st\n"

MARKED = {
    "the function": "def test_it():\n    pytest.importorskip('torch')\n",
    "a module of torch": "def test_it():\n    pytest.importorskip('torch.utils.data')\n",
    "an import": "def test_it():\n    import torch\n",
    "a nested function": "def test_it():\n    def inner():\n        import torch\n    inner()\n",
    "a called function": (
        "def theirs():\n    return pytest.importorskip('torch')\n"
        "def both():\n    return theirs()\n"
        "def test_it():\n    both()\n"
    ),
    "a parameter": (
        "@pytest.mark.parametrize('name', ['torch'])\ndef test_it(name):\n"
        "    pytest.importorskip(name)\n"
    ),
    "a class for a parameter": (
        "class TorchReference: pass\n"
        "@pytest.mark.parametrize('reference', [TorchReference])\ndef test_it(reference): pass\n"
    ),
    "an example": ("@given(st.booleans())\ndef test_it(flag):\n    pytest.importorskip('torch')\n"),
    "the module": "torch = pytest.importorskip('torch')\ndef test_it(): pass\n",
}

UNMARKED = {
    "nothing": "def test_it(): pass\n",
    "a failing import": "raise RuntimeError\n",
    "a message": "def test_it():\n    '''As in torch.'''\n    assert 'as in torch'\n",
    "another parameter": ("@pytest.mark.parametrize('name', ['numpy'])\ndef test_it(name): pass\n"),
    "an unused function": "def theirs():\n    import torch\ndef test_it(): pass\n",
}


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The kinds of files that have a marked test, with a fake torch installed."""
    folder = tmp_path_factory.mktemp("marks")
    shutil.copy(ROOT / "tools" / "torch_marks.py", folder)
    (folder / "torch.py").write_text("")
    (folder / "pyproject.toml").write_text(
        "[tool.pytest.ini_options]\nmarkers = ['torch']\npythonpath = ['.']\n"
        "addopts = ['-p', 'torch_marks', '--import-mode=importlib']\n"
    )
    for kind, text in (MARKED | UNMARKED).items():
        (folder / f"test_{kind.replace(' ', '_')}.py").write_text(HEAD + text)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--collect-only", "-m", "torch"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return {
        Path(line.partition("::")[0]).stem.removeprefix("test_").replace("_", " ")
        for line in done.stdout.splitlines()
        if "::" in line
    }


@pytest.mark.parametrize("kind", MARKED)
def test_tests_that_compare_with_torch_are_marked(marked: set[str], kind: str) -> None:
    assert kind in marked


@pytest.mark.parametrize("kind", UNMARKED)
def test_tests_that_do_not_compare_with_torch_are_not_marked(marked: set[str], kind: str) -> None:
    assert kind not in marked
