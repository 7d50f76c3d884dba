"""Test that the examples in the README give the output shown."""

from pathlib import Path

from mt_operators.testing.documentation import run_readme


def test_readme_examples_give_the_output_shown():
    assert run_readme(Path(__file__).parents[1] / "README.md") == 2
