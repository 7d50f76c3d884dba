"""The examples of the README and of the docstrings run and give what they show."""

from pathlib import Path

import mt_tensor
from mt_operators.testing.documentation import run_docstrings, run_readme

README = Path(__file__).parents[1] / "README.md"


def test_readme() -> None:
    assert run_readme(README) > 0


def test_docstrings() -> None:
    assert run_docstrings(mt_tensor) > 0
