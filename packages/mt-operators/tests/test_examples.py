"""Examples of the README, the guide and the docstrings give the output shown."""

from pathlib import Path

import mt_operators
from mt_operators.testing.documentation import run_docstrings, run_readme

FOLDER = Path(__file__).parents[1]


def test_readme_examples_run() -> None:
    assert run_readme(FOLDER / "README.md") > 0


def test_guide_examples_run() -> None:
    assert run_readme(FOLDER / "docs" / "modules.md") > 0


def test_docstring_examples_run() -> None:
    assert run_docstrings(mt_operators) > 0
