"""The examples of the README run and give the results shown."""

from pathlib import Path

from mt_operators.testing.documentation import run_readme

README = Path(__file__).parents[1] / "README.md"


def test_readme():
    assert run_readme(README) > 0
