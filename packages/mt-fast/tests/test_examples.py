"""The examples of the README and of the guide run and give the results shown."""

from pathlib import Path

from mt_operators.testing.documentation import run_readme

FOLDER = Path(__file__).parents[1]


def test_readme():
    assert run_readme(FOLDER / "README.md") > 0


def test_guide():
    assert run_readme(FOLDER / "docs" / "fusion.md") > 0
