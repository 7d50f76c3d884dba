"""The examples in the README run and give what they show."""

from pathlib import Path

from mt_operators.testing.documentation import run_readme


def test_readme():
    assert run_readme(Path(__file__).parents[1] / "README.md") == 2
