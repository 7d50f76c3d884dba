"""The examples in the README, the guides and docstrings have the documented output."""

from pathlib import Path

import pytest

import mt_tensor
from mt_operators.testing.documentation import run_docstrings, run_readme

FOLDER = Path(__file__).parents[1]
WITH_EXAMPLES = ("autograd", "backends", "compile", "extending", "tensors")
GUIDES = [FOLDER / "docs" / f"{name}.md" for name in WITH_EXAMPLES]


def test_readme_examples_run() -> None:
    assert run_readme(FOLDER / "README.md") > 0


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_guide_examples_run(guide: Path) -> None:
    assert run_readme(guide) > 0


def test_docstring_examples_run() -> None:
    assert run_docstrings(mt_tensor) > 0
