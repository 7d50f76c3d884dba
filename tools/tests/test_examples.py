"""The programs in `examples` run, and learn as far as a short training goes."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("rich")
pytest.importorskip("sklearn")

EXAMPLES = Path(__file__).parents[2] / "examples"


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"examples_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_language_model_learns(capsys: pytest.CaptureFixture[str]) -> None:
    assert loaded("language_model").main(["--steps", "12"]) < 3.1
    assert "on monday " in capsys.readouterr().out


def test_the_autoencoder_learns(capsys: pytest.CaptureFixture[str]) -> None:
    assert loaded("autoencoder").main(["--epochs", "3"]) < 29
    assert "██" in capsys.readouterr().out


@pytest.mark.slow
def test_the_translator_learns() -> None:
    example = loaded("translation")
    losses = example.train(example.Translator(), steps=10)
    assert losses[-1] < 0.8 * losses[0]


def test_the_translator_translates(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0.0 <= loaded("translation").main(["--steps", "1"]) <= 1.0
    assert "looked at" in capsys.readouterr().out


def test_dates_are_written_in_many_ways() -> None:
    import datetime as dt
    import random

    example = loaded("translation")
    numbers = random.Random(0)
    for _ in range(200):
        question, answer = example.date(numbers)
        day = dt.date.fromisoformat(answer)
        assert str(day.year) in question
        assert str(day.day) in question
        assert example.codes(question).numel() == len(question)


def test_the_oscillator_is_solved(capsys: pytest.CaptureFixture[str]) -> None:
    assert loaded("oscillator").main(["--steps", "100"]) < 1.0  # as the motion itself is
    assert "largest distance" in capsys.readouterr().out


def test_the_known_motion_obeys_its_equation() -> None:
    import mt_tensor as mt

    example = loaded("oscillator")
    moments = mt.linspace(0, 2, 9, dtype="float64").view(-1, 1)
    assert example.loss_of(example.solution, moments).item() < 1e-20


def test_the_agent_learns_what_moves_are_worth() -> None:
    found, moves = loaded("treasure").main(["--walks", "30"])
    assert isinstance(found, bool)
    assert 1 <= moves <= 40


def test_the_island_can_be_crossed_in_eight_moves() -> None:
    example = loaded("treasure")
    places = {(0, 0)}
    for _ in range(8):
        steps = [example.after(place, move) for place in places for move in range(4)]
        places = {place for place, reward, _ in steps if reward > -1.0}
    assert any(example.ISLAND[row][column] == "T" for row, column in places)


@pytest.mark.slow
def test_the_network_colours_in(capsys: pytest.CaptureFixture[str]) -> None:
    assert loaded("segmentation").main(["--steps", "25"]) > 0.05
    assert "#" in capsys.readouterr().out


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_says_what_it_shows(path: Path) -> None:
    text = loaded(path.stem).__doc__
    assert text is not None
    assert "It shows" in text
    assert f"python examples/{path.name}" in text
    assert f'"{path.stem}"' in Path(__file__).read_text()
