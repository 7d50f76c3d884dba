"""The core stands alone: it imports nothing of the rest, and trains LeNet without it."""

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
def test_the_core_imports_cores_and_stages_below(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    # Type checkers take the table of methods that are defined beside the core for a base class.
    for_types = [node for node in tree.body if isinstance(node, ast.If)]
    assert all(ast.unparse(node.test) == "TYPE_CHECKING" for node in for_types)
    tables = [node for block in for_types for node in block.body]
    for node in tables:
        assert isinstance(node, ast.ImportFrom)
        assert [alias.name for alias in node.names] == ["Methods"]
    for node in ast.walk(tree):
        if node in tables:
            continue
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            assert not module.startswith("mt_nn") or module.startswith("mt_nn.core."), module
        elif isinstance(node, ast.Import):
            assert not any(alias.name.startswith("mt_nn") for alias in node.names)


def test_the_core_trains_alone(tmp_path: Path) -> None:
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


def test_less_common_settings_need_the_rest() -> None:
    from mt_nn.core.extensions import EXTENSIONS, extension

    assert "tea" not in EXTENSIONS
    with pytest.raises(mt_nn.SettingError, match="only the core of mt-nn is installed"):
        extension("tea")
