"""The programs in `examples` run, and learn within a short training."""

from pathlib import Path
from typing import Any

import pytest

import mt_nn as nn
import mt_tensor as mt
from mt.testing import EXAMPLES, example

pytest.importorskip("rich")
pytest.importorskip("sklearn")


@pytest.mark.slow
def test_language_model_learns_in_12_steps(capsys: pytest.CaptureFixture[str]) -> None:
    assert example("language_model").main(["--steps", "12"]) < 3.1
    assert "on monday " in capsys.readouterr().out


def test_autoencoder_learns_in_3_epochs(capsys: pytest.CaptureFixture[str]) -> None:
    assert example("autoencoder").main(["--epochs", "3"]) < 29
    assert "██" in capsys.readouterr().out


@pytest.mark.slow
def test_loss_of_translator_decreases_in_10_steps() -> None:
    program = example("translation")
    losses = program.train(program.Translator(), steps=10)
    assert losses[-1] < 0.8 * losses[0]


def test_translation_program_returns_accuracy_and_prints_attention(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert 0.0 <= example("translation").main(["--steps", "1"]) <= 1.0
    assert "looked at" in capsys.readouterr().out


def test_generated_dates_contain_day_and_year_of_the_answer() -> None:
    import datetime as dt
    import random

    program = example("translation")
    numbers = random.Random(0)
    for _ in range(200):
        question, answer = program.date(numbers)
        day = dt.date.fromisoformat(answer)
        assert str(day.year) in question
        assert str(day.day) in question
        assert program.codes(question).numel() == len(question)


def test_oscillator_approaches_the_exact_motion_in_100_steps(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert (
        example("oscillator").main(["--steps", "100"]) < 1.0
    )  # less than the amplitude of the motion
    assert "largest distance" in capsys.readouterr().out


def test_exact_motion_of_the_oscillator_has_zero_loss() -> None:
    program = example("oscillator")
    moments = mt.linspace(0, 2, 9, dtype="float64").view(-1, 1)
    assert program.loss_of(program.solution, moments).item() < 1e-20


def test_treasure_program_ends_its_walk_within_40_moves() -> None:
    found, moves = example("treasure").main(["--walks", "30"])
    assert isinstance(found, bool)
    assert 1 <= moves <= 40


def test_treasure_is_reachable_in_eight_moves() -> None:
    program = example("treasure")
    places = {(0, 0)}
    for _ in range(8):
        steps = [program.after(place, move) for place in places for move in range(4)]
        places = {place for place, reward, _ in steps if reward > -1.0}
    assert any(program.ISLAND[row][column] == "T" for row, column in places)


@pytest.mark.slow
def test_segmentation_network_learns_in_25_steps(capsys: pytest.CaptureFixture[str]) -> None:
    assert example("segmentation").main(["--steps", "25"]) > 0.05
    assert "#" in capsys.readouterr().out


SHORT = {
    "autoencoder": ["--epochs", "1"],
    "language_model": ["--steps", "2"],
    "oscillator": ["--steps", "30"],
    "segmentation": ["--steps", "3"],
    "translation": ["--steps", "2"],
    "treasure": ["--walks", "20"],
}
"""Examples that train, with arguments for a short run."""


@pytest.mark.filterwarnings("ignore::mt_tensor.errors.CompileWarning")
@pytest.mark.parametrize("name", SHORT)
def test_compiled_example_gives_the_same_result(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program, compiled = example(name), []

    def run() -> Any:
        mt.manual_seed(0)
        return program.main(SHORT[name]), capsys.readouterr().out

    wanted = run()
    own = [x for x in vars(program).values() if getattr(x, "__module__", "") == program.__name__]
    kinds = [x for x in own if isinstance(x, type) and issubclass(x, nn.Module)]
    places: list[tuple[Any, str]] = [
        (each, "forward") for each in (*kinds, nn.Sequential) if "forward" in vars(each)
    ]
    places += [(program, "loss_of")] * hasattr(program, "loss_of")
    for place, attribute in places:
        compiled.append(mt.compile(getattr(place, attribute)))
        monkeypatch.setattr(place, attribute, compiled[-1])
    assert run() == wanted
    assert any(each.programs for each in compiled)


def test_every_training_example_is_tested_compiled() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} - {"search"} == SHORT.keys()


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_has_a_description_and_a_test(path: Path) -> None:
    text = example(path.stem).__doc__
    assert text is not None
    assert "This example shows" in text
    assert f"python examples/{path.name}" in text
    tests = Path(__file__).parent.glob("test_*.py")
    assert any(f'example("{path.stem}")' in test.read_text() for test in tests)
