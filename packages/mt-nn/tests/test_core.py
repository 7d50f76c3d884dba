"""The core imports nothing else of mt_nn, and trains LeNet without the rest."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mt_nn

PACKAGE = Path(mt_nn.__file__).parent
CORE = sorted((PACKAGE / "core").glob("*.py"))

TRAINING = """
import numpy as np
from sklearn.datasets import load_digits
from mt_nn.core.adam import Adam
from mt_nn.core.dataset import TensorDataset
from mt_nn.core.lenet import LeNet, evaluate, train
from mt_nn.core.loader import DataLoader
from mt_tensor import manual_seed, tensor
digits = load_digits()
images = tensor((digits.images / 16.0).astype(np.float32)[:, None])
labels = tensor(digits.target.astype(np.int64))
manual_seed(0)
model = LeNet()
loader = DataLoader(TensorDataset(images[360:], labels[360:]), batch_size=64, shuffle=True)
train(model, loader, Adam(model.parameters(), lr=0.01), epochs=4)
print(evaluate(model, images[:360], labels[:360]) > 0.9)
"""


@pytest.mark.parametrize("file", CORE, ids=lambda file: file.stem)
def test_core_file_imports_only_core_and_earlier_stages(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    # For type checkers, the methods defined outside of the core are a base class.
    type_checking = [node for node in tree.body if isinstance(node, ast.If)]
    assert all(ast.unparse(node.test) == "TYPE_CHECKING" for node in type_checking)
    allowed = [node for block in type_checking for node in block.body]
    for node in allowed:
        assert isinstance(node, ast.ImportFrom)
        assert [alias.name for alias in node.names] == ["Methods"]
    for node in ast.walk(tree):
        if node in allowed:
            continue
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            assert not module.startswith("mt_nn") or module.startswith("mt_nn.core."), module
        elif isinstance(node, ast.Import):
            assert not any(alias.name.startswith("mt_nn") for alias in node.names)


def test_core_trains_lenet_without_the_rest(tmp_path: Path) -> None:
    (tmp_path / "mt_nn").mkdir()
    shutil.copytree(PACKAGE / "core", tmp_path / "mt_nn" / "core")
    shutil.copy(PACKAGE / "__init__.py", tmp_path / "mt_nn")
    result = subprocess.run(
        [sys.executable, "-c", TRAINING],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout == "True\n", result.stderr


def test_missing_extension_raises() -> None:
    from mt_nn.core.extensions import EXTENSIONS, extension

    assert "tea" not in EXTENSIONS
    with pytest.raises(mt_nn.SettingError, match="only the core of mt-nn is installed"):
        extension("tea")
