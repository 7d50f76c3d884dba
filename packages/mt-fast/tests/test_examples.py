"""Examples of the README and the guide give the output shown."""

from pathlib import Path

from mt_operators.testing.documentation import run_readme

FOLDER = Path(__file__).parents[1]


def test_readme_examples_run():
    assert run_readme(FOLDER / "README.md") > 0


def test_guide_examples_run():
    assert run_readme(FOLDER / "docs" / "fusion.md") > 0
