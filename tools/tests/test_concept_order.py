"""The reading order, and searching concepts by their names and by questions."""

from pathlib import Path

import pytest

from mt.__main__ import main
from mt.concept.finding import Answer, ConceptError, found
from mt.concept.maps import read_map
from mt.concept.order import Addition, read_order
from mt.site.build import neighbours
from mt.tables import TableError
from mt.workspace import Workspace

CONCEPTS = read_map()
ORDER = read_order(CONCEPTS)


# --- The order ----------------------------------------------------------------------------------


def test_the_order_has_every_concept_once() -> None:
    names = [concept.name for theme in ORDER.themes for concept in theme.concepts]
    assert sorted(names) == sorted(CONCEPTS)
    assert list(ORDER.concepts) == names


def test_each_concept_leads_to_the_next_and_back() -> None:
    names = list(ORDER.concepts)
    forward = [names[0]]
    while (after := ORDER.neighbours(forward[-1])[1]) is not None:
        forward.append(after.name)
    backward = [names[-1]]
    while (before := ORDER.neighbours(backward[-1])[0]) is not None:
        backward.append(before.name)
    assert forward == names
    assert backward == names[::-1]


def test_a_concept_has_a_theme() -> None:
    assert ORDER.theme_of("backward").name == "Derivatives"
    for theme in ORDER.themes:
        assert theme.text.endswith(".")
        assert {ORDER.theme_of(concept.name) for concept in theme.concepts} == {theme}


def test_there_are_questions_about_each_pair_of_adjacent_stages() -> None:
    pairs = [(before.short, after.short) for before, after in neighbours(Workspace.read())]
    assert sorted((each.before, each.after) for each in ORDER.additions) == sorted(pairs)


def test_questions_are_questions_and_unique() -> None:
    answers: list[Answer] = [*ORDER.concepts.values(), *ORDER.additions]
    questions = [question for answer in answers for question in answer.asks]
    assert all(answer.asks for answer in answers)
    assert all(question.endswith("?") for question in questions)
    assert len(set(questions)) == len(questions)


THEME = """
[[themes]]
name = "One"
text = "a"
concepts = ["{}"]
"""
ADDITIONS = "additions = []\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("themes = a", r"order\.toml: Invalid value"),
        ("themes = []", "'additions' is missing"),
        ("themes = [1]\nadditions = []", "'themes' must hold values of type dict"),
        (ADDITIONS + THEME.format("summ"), "theme 'One': unknown concept 'summ'"),
        (ADDITIONS + THEME.format('sum", "sum'), "theme 'One': 'sum' is used twice"),
        (ADDITIONS + THEME.format("sum"), r"order\.toml: no theme contains attention, backend, "),
        (ADDITIONS + THEME.format("sum") + "color = 1", "'color' is unknown"),
    ],
)
def test_an_invalid_order_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "order.toml"
    file.write_text(text)
    with pytest.raises(TableError, match=message):
        read_order(CONCEPTS, file)


# --- Finding ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("sum", "sum"),
        ("Topological-Sort", "topological sort"),
        ("toposort", "topological sort"),
        ("no_grad", "no grad"),
        ("conv", "convolution"),
        ("create_graph", "higher derivative"),
        ("zipWith", "zip"),
        ("why depth first", "topological sort"),
        ("naive depth-first order fails", "topological sort"),
        ("where does broadcasting live", "broadcast"),
        ("one sum becomes a CUDA kernel", "sum"),
        ("subtract maximum softmax", "softmax"),
        ("what does autodiff add to operators", "mt diff operators autodiff"),
    ],
)
def test_names_and_words_lead_to_an_answer(asked: str, name: str) -> None:
    answer = found(ORDER, asked)
    assert (answer.command if isinstance(answer, Addition) else answer.name) == name


@pytest.mark.parametrize("answer", [*ORDER.concepts.values(), *ORDER.additions])
def test_every_question_finds_its_concept(answer: Answer) -> None:
    for question in answer.asks:
        assert found(ORDER, question) is answer, question


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("broadcats", "'broadcats'. Is it broadcast or"),
        ("xyzzy", "'xyzzy'. `mt concept` lists all"),
        ("elephants of topological kind", "Is it topological order or topological sort"),
        ("the", "'the'. "),
        ("", "''. "),
    ],
)
def test_an_unanswered_question_is_an_error_with_suggestions(asked: str, hint: str) -> None:
    with pytest.raises(ConceptError, match=hint):
        found(ORDER, asked)


# --- The command --------------------------------------------------------------------------------


def test_the_command_lists_all_in_the_order_of_reading(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["concept"]) == 0
    shown = capsys.readouterr().out
    places = [shown.index(f"\n  {name}: ") for name in ORDER.concepts]
    assert places == sorted(places)
    assert "    - Why does naive depth-first order fail on `b = a + a; c = b + b`?\n" in shown
    assert "  mt diff operators autodiff\n    - What does mt-autodiff add" in shown


def test_the_command_finds_by_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["concept", "why", "depth", "first", "--no-run"]) == 0
    shown = capsys.readouterr().out
    assert "topological sort" in shown
    assert "backward" in shown
    assert "no grad" in shown


def test_the_command_names_the_comparison_that_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["concept", "what does mt-autodiff add to mt-operators?"]) == 0
    assert "`mt diff operators autodiff`" in capsys.readouterr().out
    assert main(["concept", "numba when there is numpy"]) == 0
    assert "`mt diff tensor fast`" in capsys.readouterr().out


def test_the_command_refuses_an_unknown_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="1"):
        main(["concept", "summ"])
    assert "mt concept: no concept is called 'summ'. Is it sum or " in capsys.readouterr().err
