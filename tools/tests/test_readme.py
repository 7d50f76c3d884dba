"""The examples in the repository's README run, with the documented output."""

from pathlib import Path

from mt_operators.testing.documentation import run_readme


def test_readme_examples_print_the_documented_output() -> None:
    assert run_readme(Path(__file__).parents[2] / "README.md") == 3
