"""Examples in the README, the guides and the docstrings give the output they show."""

from pathlib import Path

import pytest

import mt_nn
from mt_operators.testing.documentation import run_docstrings, run_readme

FOLDER = Path(__file__).parents[1]
WITH_EXAMPLES = ("data", "export", "layers", "mt-train", "saving", "torch", "training")
GUIDES = [FOLDER / "docs" / f"{name}.md" for name in WITH_EXAMPLES]


def test_readme_examples_give_the_output_shown() -> None:
    assert run_readme(FOLDER / "README.md") > 0


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_guide_examples_give_the_output_shown(guide: Path) -> None:
    assert run_readme(guide) > 0


def test_docstring_examples_give_the_output_shown() -> None:
    assert run_docstrings(mt_nn) > 0
