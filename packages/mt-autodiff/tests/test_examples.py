"""The examples in the README and in docstrings have the documented output."""

from pathlib import Path

import mt_autodiff
from mt_operators.testing.documentation import run_docstrings, run_readme

README = Path(__file__).parents[1] / "README.md"


def test_readme_examples_run() -> None:
    assert run_readme(README) > 0


def test_docstring_examples_run() -> None:
    assert run_docstrings(mt_autodiff) > 0
