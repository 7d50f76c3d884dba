"""The map of ideas and the additions of each stage: names are defined, and both are printed."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from mt.__main__ import main
from mt.source.symbols import find, load
from mt.stages.additions import addition
from mt.stages.excerpts import excerpt
from mt.stages.ideas import COLUMNS, UnknownIdeaError, find_idea, read_themes
from mt.stages.printing import print_addition, print_idea
from mt.tables import TableError
from mt.workspace import Workspace

WORKSPACE = Workspace.read()
MODULES = load(*WORKSPACE.sources)
THEMES = read_themes()


def printed(show: object, *arguments: object) -> str:
    console = Console(file=io.StringIO(), width=100)
    show(*arguments, console)  # type: ignore[operator]
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return text


def test_every_name_in_the_map_is_defined() -> None:
    for idea in (idea for theme in THEMES for idea in theme.ideas):
        for symbol in (symbol for step in idea.steps for symbol in step.symbols):
            find(MODULES, symbol)


def test_every_stage_and_backend_appears_in_some_idea() -> None:
    ideas = [idea for theme in THEMES for idea in theme.ideas]
    assert {step.column for idea in ideas for step in idea.steps} == set(COLUMNS)


@pytest.mark.parametrize("name", ["sum", "Topological Sort", "topological_sort", "backends"])
def test_idea_is_found_by_each_of_its_names(name: str) -> None:
    idea = find_idea(THEMES, name)
    assert name.lower().replace("_", " ") in (idea.name, *idea.also)


def test_unknown_idea_is_an_error_that_suggests_a_similar_name() -> None:
    message = "no idea is called 'brodcast'. Did you mean broadcast"
    with pytest.raises(UnknownIdeaError, match=message):
        find_idea(THEMES, "brodcast")


def test_idea_is_printed_with_the_code_of_each_column() -> None:
    text = printed(print_idea, find_idea(THEMES, "tanh"), MODULES)
    for column in ("operators", "autodiff", "tensor", "fast", "cuda"):
        assert f"\n{column} " in text
    assert 'define_real("tanh", tanh, lambda x, out: 1.0 - out * out' in text


def test_text_of_a_step_keeps_the_lines_of_a_numbered_list_only() -> None:
    text = next(step.text for step in find_idea(THEMES, "sum").steps if step.column == "cuda")
    first = [line.partition(" ")[0] for line in text.splitlines()]
    assert first == ["From", "", "1.", "2.", "3.", "4.", "5.", "6.", "", "Without"]


def test_addition_of_a_stage_lists_new_names_and_dependencies() -> None:
    added = addition(WORKSPACE, MODULES, "autodiff")
    assert [stage.short for stage in added.upstream] == ["operators"]
    assert {"Scalar", "backpropagate", "topological_sort"} <= added.new.keys()
    assert added.dependencies == ("mt-operators<0.2,>=0.1",)
    assert added.files[0] == "core/numeric.py"
    text = printed(print_addition, added)
    assert "Scalar" in text
    assert "A float with automatic differentiation." in text


def test_name_defined_in_a_lower_stage_is_listed_as_redefined() -> None:
    redefined = addition(WORKSPACE, MODULES, "nn").redefined
    before, after = redefined["Parameter"]
    assert before.path.startswith("mt_operators")
    assert after.path.startswith("mt_nn")


@pytest.mark.parametrize("stage", [stage.short for stage in WORKSPACE.stages.values()])
def test_addition_of_a_stage_omits_dependencies_of_lower_stages(stage: str) -> None:
    added = addition(WORKSPACE, MODULES, stage)
    below = {str(each) for lower in added.upstream for each in lower.dependencies}
    assert not below & set(added.dependencies)


def test_excerpt_contains_docstrings_only_on_request() -> None:
    symbol = find(MODULES, "mt_autodiff.core.numeric.central_difference")
    assert '"""' not in excerpt(symbol)
    assert "Approximate the partial derivative of `f`" in excerpt(symbol, docstring=True)
    assert excerpt(symbol).splitlines()[-1] == "    return (f(*upper) - f(*lower)) / width"


def test_excerpt_replaces_unselected_members_by_an_ellipsis() -> None:
    symbol = find(MODULES, "mt_autodiff.core.scalar.Scalar")
    assert (
        excerpt(symbol, only=["detach", "clone"])
        == """\
class Scalar(Infix, Methods):
    ...
    def detach(self) -> Scalar:
        return constant(self.data)

    def clone(self) -> Scalar:
        return SCALAR_OPERATORS["id"](self)
    ..."""
    )
    with pytest.raises(ValueError, match="Scalar has no forward; it has __init__, data"):
        excerpt(symbol, only=["forward"])


def test_invalid_map_of_ideas_raises_table_error(tmp_path: object) -> None:
    folder = tmp_path / "ideas"  # type: ignore[operator]
    folder.mkdir()
    (folder / "one.toml").write_text(
        'text = "x"\nquestions = []\n[[steps]]\ncolumn = "nn"\ntext = ""\nsymbols = []\n'
        '[[steps]]\ncolumn = "cuda"\ntext = ""\nsymbols = []\n'
    )
    with pytest.raises(TableError, match="'cuda' comes after 'nn'"):
        read_themes(tmp_path)  # type: ignore[arg-type]
    (folder / "one.toml").write_text('text = "x"\nquestions = []\nsteps = []\n')
    themes = tmp_path / "themes.toml"  # type: ignore[operator]
    themes.write_text('themes = [{name = "A", text = "a", ideas = ["two"]}]')
    with pytest.raises(TableError, match="there is no idea 'two'"):
        read_themes(tmp_path)  # type: ignore[arg-type]
    themes.write_text('themes = [{name = "A", text = "a", ideas = []}]')
    with pytest.raises(TableError, match="does not list one"):
        read_themes(tmp_path)  # type: ignore[arg-type]


def test_command_lists_stages_and_ideas(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stages"]) == 0
    text = capsys.readouterr().out
    assert "operators, autodiff, tensor, fast, cuda, nn" in text
    assert all(theme.name in text for theme in THEMES)


def test_unknown_stage_is_an_error_that_lists_the_stages(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["stages", "added", "autodif"])
    assert "unknown stage 'autodif'; the stages are" in capsys.readouterr().err


def test_first_theme_is_one_number_and_every_theme_has_ideas() -> None:
    names = [theme.name for theme in THEMES]
    assert names[0] == "One number"
    assert all(theme.ideas for theme in THEMES)
