"""Classifiers with weights set by hand, and the text plot."""

import math

import pytest

from mt_operators.datasets import DATASETS, Dataset, xor
from mt_operators.examples import manual
from mt_operators.examples.text_plot import text_plot


@pytest.mark.parametrize("name", ["simple", "diag", "split", "xor"])
def test_manual_network_separates_classes_bounded_by_lines(name: str) -> None:
    network = manual.network_for(name)
    for seed in range(5):
        assert manual.accuracy(network, DATASETS[name](200, seed)) == 1.0


def test_manual_network_approximates_circle() -> None:
    assert manual.accuracy(manual.network_for("circle"), DATASETS["circle"](2000)) > 0.98


def test_manual_network_is_a_module() -> None:
    network = manual.network_for("split")
    assert sorted(network.state_dict()) == [
        *(f"line{n}.{letter}" for n in (0, 1) for letter in "abc"),
        "threshold",
        "weight0",
        "weight1",
    ]
    assert network.training
    network.line0.c.update(-9.0)
    assert network((0.1, 0.5)) == 0


def test_text_plot_draws_points_and_predictions() -> None:
    corners = Dataset(((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)), (0, 1, 1, 0))
    assert text_plot(corners, lambda point: int(point[0] > 0.5), width=4, height=2) == "X. O\no. x"
    one_point = Dataset(((0.5, 0.5),), (1,))
    assert text_plot(one_point, lambda point: 1, width=2, height=2) == "x\n"


def test_text_plot_and_accuracy_reject_invalid_input() -> None:
    with pytest.raises(ValueError, match="cannot draw 0 point.s. on"):
        text_plot(xor(0), lambda point: 0)
    with pytest.raises(ValueError, match="on 1 by 24 characters"):
        text_plot(xor(5), lambda point: 0, width=1)
    for bad in (math.inf, math.nan):
        with pytest.raises(ValueError, match="infinite or nan"):
            text_plot(Dataset(((0.0, bad),), (1,)), lambda point: 0)
    for label in (-1, 2, 0.5):
        with pytest.raises(ValueError, match=f"classifier that returns 0 or 1, not {label}"):
            text_plot(xor(5), lambda point, label=label: label)
    with pytest.raises(ValueError, match="needs at least one point; the data set is empty"):
        manual.accuracy(manual.network_for("xor"), xor(0))


def test_command_prints_plot_and_accuracy(capsys: pytest.CaptureFixture[str]) -> None:
    manual.main(["diag", "--points", "30", "--seed", "3"])
    *plot, result = capsys.readouterr().out.splitlines()
    assert result == "diag: 100% of 30 points"
    assert len(plot) == 24
    assert sum(line.count("x") + line.count("o") for line in plot) <= 30
    manual.main([])
    output = capsys.readouterr().out
    manual.main(["xor", "--points", "100", "--seed", "0"])
    assert capsys.readouterr().out == output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["spiral"], "train one"),
        (["xor", "--points", "0"], "--points: must be a positive integer, got 0"),
        (["xor", "--points", "-3"], "--points: must be a positive integer, got -3"),
        (["xor", "--points", "many"], "--points: invalid positive_int value: 'many'"),
    ],
)
def test_command_rejects_invalid_arguments(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        manual.main(arguments)
    assert message in capsys.readouterr().err
