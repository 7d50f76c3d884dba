"""The examples: networks of Scalars that learn, their commands and pictures."""

import math
import random
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_autodiff import Scalar, derivative_check
from mt_autodiff.examples import classify, moons, picture
from mt_autodiff.examples.network import Linear, Network
from mt_autodiff.examples.training import (
    Epoch,
    GradientDescent,
    accuracy,
    cross_entropy,
    hinge,
    train,
)
from mt_operators import Module, Parameter
from mt_operators.datasets import DATASETS, Dataset, xor


@pytest.mark.slow
def test_network_learns_xor_perfectly() -> None:
    dataset = xor(50)
    network = Network(hidden=(10,))
    history = train(network, dataset, 300, 0.2)
    assert accuracy(network, dataset) == 1.0
    assert history[-1].accuracy == 1.0
    assert history[-1].loss < 0.1 < 0.5 < history[0].loss


@pytest.mark.parametrize("name", DATASETS)
def test_training_lowers_the_loss_on_every_dataset(name: str) -> None:
    dataset = DATASETS[name](30)
    seen: list[float] = []
    network = Network(hidden=(6,), seed=1)
    train(network, dataset, 40, 0.2, report=lambda epoch: seen.append(epoch.loss))
    assert len(seen) == 40
    assert seen[-1] < 0.9 * seen[0]


def test_linear_computes_weighted_sums_plus_bias() -> None:
    layer = Linear(3, 2, random.Random(0))
    inputs = [0.5, -1.0, 2.0]
    for row, bias, out in zip(layer.rows, layer.biases, layer(inputs), strict=True):
        expected = float(bias.value) + sum(
            float(w.value) * x for w, x in zip(row, inputs, strict=True)
        )
        assert out.data == pytest.approx(expected)
    assert len(list(layer.parameters())) == 2 * 3 + 2


def test_linear_initializes_uniformly_in_minus_1_to_1() -> None:
    layer = Linear(6, 200, random.Random(0))
    weights = [float(weight.value) for row in layer.rows for weight in row]
    for values in (weights, [float(bias.value) for bias in layer.biases]):
        assert -1.0 <= min(values) < -0.95
        assert 0.95 < max(values) <= 1.0
        assert abs(sum(values)) < 0.1 * len(values)


def test_network_has_one_layer_per_hidden_width_and_output() -> None:
    network = Network(hidden=(5, 4))
    assert len(list(network.parameters())) == 2 * 5 + 5 + 5 * 4 + 4 + 4 + 1
    assert [name for name, _ in network.named_children()] == ["layer0", "layer1", "layer2"]
    line = Network(hidden=())
    (w1, w2, bias) = (p.value.data for p in line.parameters())
    assert float(line((2.0, 3.0))) == pytest.approx(2.0 * w1 + 3.0 * w2 + bias)
    assert Network(seed=3).state_dict().keys() == Network(seed=4).state_dict().keys()


def test_state_dict_copies_a_network_without_sharing() -> None:
    first, second = Network(seed=1), Network(seed=2)
    second.load_state_dict(first.state_dict())
    point = (0.3, 0.7)
    assert second(point).data == first(point).data
    train(second, xor(10), 3, 0.5)
    assert second(point).data != first(point).data


@given(st.floats(-30, 30), st.integers(0, 1))
def test_losses_match_formulas_and_differentiate(score: float, label: int) -> None:
    probability = 1.0 / (1.0 + math.exp(-score if label else score))
    exact = -math.log(probability)
    assert cross_entropy(Scalar(score), label).data == pytest.approx(exact, rel=1e-6, abs=1e-12)
    derivative_check(lambda s: cross_entropy(s, label), Scalar(score))
    side = 1 if label else -1
    assert hinge(Scalar(score), label).data == max(0.0, 1.0 - side * score)


def test_cross_entropy_of_extreme_score_is_finite() -> None:
    assert cross_entropy(Scalar(-1e4), 1).data == 1e4


def test_gradient_descent_with_momentum_takes_expected_steps() -> None:
    parameter = Parameter(Scalar(1.0))
    optimizer = GradientDescent([parameter], momentum=0.5)
    for expected in (0.8, 0.54):  # steps of -0.1 * 2 x, and half of the step before
        optimizer.zero_grad()
        parameter.value.square().backward()
        optimizer.step(rate=0.1)
        assert parameter.value.data == pytest.approx(expected)


def test_penalty_shrinks_weights_and_is_part_of_the_loss() -> None:
    def size(network: Module) -> float:
        return sum(p.value.data**2 for p in network.parameters())

    free, penalized = Network(seed=5), Network(seed=5)
    train(free, xor(20), 20, 0.1)
    train(penalized, xor(20), 20, 0.1, penalty=0.1)
    assert size(penalized) < size(free)
    before = Network(seed=5)
    plain, dataset = train(Network(seed=5), xor(20), 1, 0.1), xor(20)
    (epoch,) = train(Network(seed=5), dataset, 1, 0.1, penalty=0.1)
    assert epoch.loss == pytest.approx(plain[0].loss + 0.1 * size(before))


def test_rate_may_be_a_function_of_the_epoch() -> None:
    constant, changing, other = Network(), Network(), Network()
    train(constant, xor(5), 3, 0.1)
    train(changing, xor(5), 3, lambda epoch: 0.1)
    train(other, xor(5), 3, lambda epoch: 0.1 * epoch)
    point = (0.3, 0.7)
    assert constant(point).data == changing(point).data != other(point).data


def test_train_rejects_empty_datasets_bad_epochs_and_rates() -> None:
    with pytest.raises(ValueError, match="empty data set"):
        train(Network(), xor(0), 1, 0.1)
    with pytest.raises(ValueError, match="empty data set has no accuracy"):
        accuracy(Network(), xor(0))
    for epochs in (0, -1):
        with pytest.raises(ValueError, match=f"at least 1 epoch, got {epochs}"):
            train(Network(), xor(5), epochs, 0.1)
    for rate in (math.nan, math.inf):
        with pytest.raises(ValueError, match=f"must be finite; it is {rate} in epoch 1"):
            train(Network(), xor(5), 1, rate)
        with pytest.raises(ValueError, match=f"must be finite; it is {rate} in epoch 3"):
            train(Network(), xor(5), 5, lambda epoch, rate=rate: rate if epoch == 3 else 0.1)


def test_train_raises_when_the_loss_diverges() -> None:
    with pytest.raises(ValueError, match=r"diverged in epoch \d+ .* smaller rate"):
        train(Network(), xor(10), 50, 1e6)
    with pytest.raises(ValueError, match=r"diverged in epoch 1 .* smaller rate"):
        train(Network(), Dataset(((1e10, 1e10),), (0,)), 1, 1e305)


@pytest.mark.parametrize(("inputs", "outputs"), [(0, 1), (2, 0), (2, -1)])
def test_linear_and_network_reject_sizes_below_1(inputs: int, outputs: int) -> None:
    with pytest.raises(ValueError, match=f"got {inputs} and {outputs}"):
        Linear(inputs, outputs, random.Random(0))
    with pytest.raises(ValueError, match="got 2 and 0"):
        Network(hidden=(0,))


@pytest.mark.slow
def test_commands_print_epochs_and_write_a_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "diag.png"
    classify.main(["diag", "--points", "12", "--epochs", "20", "--picture", str(file)])
    out = capsys.readouterr().out
    assert out.splitlines()[0].startswith("epoch    1  loss ")
    assert out.splitlines()[1].startswith("epoch   20  loss ")
    assert out.splitlines()[-1].endswith("of 12 points")
    assert file.read_bytes().startswith(b"\x89PNG")
    moons.main(["--points", "10", "--epochs", "2"])
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 1 + 24 + 1
    assert out.splitlines()[-1].startswith("moons: ")


@pytest.mark.parametrize(
    ("command", "wrong", "message"),
    [
        (classify, ["--points", "0"], "--points: 1 or more is needed; 0 was given"),
        (classify, ["--epochs", "0"], "--epochs: 1 or more is needed; 0 was given"),
        (classify, ["--hidden", "4", "0"], "--hidden: 1 or more is needed; 0 was given"),
        (classify, ["--hidden", "-1"], "--hidden: 1 or more is needed; -1 was given"),
        (classify, ["--rate", "0"], "--rate: a finite number above 0 is needed; 0 was given"),
        (classify, ["--rate", "-0.1"], "--rate: a finite number above 0 is needed"),
        (classify, ["--rate", "nan"], "--rate: a finite number above 0 is needed"),
        (classify, ["--rate", "inf"], "--rate: a finite number above 0 is needed"),
        (moons, ["--points", "-5"], "--points: 1 or more is needed; -5 was given"),
        (moons, ["--epochs", "0"], "--epochs: 1 or more is needed; 0 was given"),
        (moons, ["--epochs", "ten"], "--epochs: invalid positive_int value: 'ten'"),
        (moons, ["--picture", ""], "the picture must be a .png file in an existing folder"),
        (classify, ["--picture", "."], "the picture must be a .png file in an existing folder"),
        (classify, ["--picture", "folder.png"], "got 'folder.png'"),
        (classify, ["--picture", "missing/a.png"], "missing"),
        (classify, ["--picture", "a.jpg"], "got 'a.jpg'"),
    ],
)
def test_commands_reject_bad_arguments_before_training(
    command: ModuleType,
    wrong: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "folder.png").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        command.main(wrong)
    out, err = capsys.readouterr()
    assert message in err
    assert not out  # nothing was trained


def test_classify_command_reports_divergence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        classify.main(["--points", "5", "--rate", "1e9"])
    assert "smaller rate" in capsys.readouterr().err


@pytest.mark.parametrize("command", [classify, moons])
@pytest.mark.parametrize("error", [ValueError, OSError])
def test_commands_report_errors_in_one_line(
    command: ModuleType,
    error: type[Exception],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails(*given: Any, **settings: Any) -> None:
        raise error("the disk is full")

    monkeypatch.setattr(command, "show", fails)
    with pytest.raises(SystemExit, match="2"):
        command.main(["--points", "2", "--epochs", "1"])
    assert capsys.readouterr().err.endswith(": error: the disk is full\n")


def test_moons_command_uses_micrograds_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded: list[Any] = []
    monkeypatch.setattr(
        moons, "train", lambda *given, **named: recorded.extend((given, named)) or []
    )
    monkeypatch.setattr(moons, "show", lambda *given: None)
    moons.main([])
    (network, dataset, epochs, rate), named = recorded
    assert [p.value.data for p in network.parameters()] == [
        p.value.data for p in Network(hidden=(16, 16)).parameters()
    ]
    assert (len(dataset), epochs) == (100, 100)
    assert [rate(1), rate(51), rate(101)] == pytest.approx([1.0, 0.55, 0.1])
    assert (named["loss"], named["penalty"], named["momentum"]) == (hinge, 1e-4, 0.0)


def test_classify_command_defaults_to_xor(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded: list[Any] = []
    monkeypatch.setattr(classify, "train", lambda *given, **named: recorded.extend(given) or [])
    monkeypatch.setattr(classify, "show", lambda *given: recorded.append(given[3]))
    classify.main([])
    network, dataset, epochs, rate, name = recorded
    assert (dataset, epochs, rate, name) == (xor(50), 300, 0.2, "xor")
    assert network.state_dict() == Network(hidden=(10,)).state_dict()


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_picture_shows_boundary_points_and_losses(
    side: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib.figure import Figure

    figures = []

    class Kept(Figure):
        def __init__(self, **looks: Any) -> None:
            super().__init__(**looks)
            figures.append(self)

    monkeypatch.setattr("matplotlib.figure.Figure", Kept)
    dataset = Dataset(((0.0, 0.0), (1.0, 3.0), (0.2, 1.0)), (0, 1, 1))
    history = [Epoch(1, 0.7, 0.5), Epoch(2, 0.3, 0.75)]
    drawn = picture.draw(dataset, lambda xs: [side * (x[0] - 0.3) for x in xs], history, "xor")
    assert drawn.startswith(b"\x89PNG")
    plane, loss, accuracies = figures[0].axes

    regions, boundary, *classes = plane.collections
    assert (plane.get_title(), plane.get_xlabel(), plane.get_ylabel()) == ("xor", "x1", "x2")
    assert plane.get_aspect() == 1.0
    assert regions.get_clim() == pytest.approx((-0.75, 0.75))  # white where the score is 0
    assert plane.dataLim.extents.tolist() == pytest.approx([-0.05, -0.15, 1.05, 3.15])
    assert boundary.levels.tolist() == [0.0]
    assert {round(x, 9) for x, _ in boundary.get_paths()[0].vertices} == {0.3}
    assert [points.get_offsets().tolist() for points in classes] == [
        [[0.0, 0.0]],
        [[1.0, 3.0], [0.2, 1.0]],
    ]
    assert legend(plane) == ["class 0", "class 1"]

    (falling,), (rising,) = loss.get_lines(), accuracies.get_lines()
    assert falling.get_xydata().tolist() == [[1.0, 0.7], [2.0, 0.3]]
    assert rising.get_xydata().tolist() == [[1.0, 50.0], [2.0, 75.0]]
    assert legend(loss) == ["loss", "accuracy"]
    assert (loss.get_xlabel(), loss.get_ylabel()) == ("epoch", "loss")
    assert accuracies.get_ylabel() == "training accuracy (%)"
    assert loss.get_ylim()[0] == accuracies.get_ylim()[0] == 0.0
    assert accuracies.get_ylim()[1] > 100.0


def legend(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


@pytest.mark.parametrize(("points", "labels"), [(((0.5, 2.0),), (1,)), (((1.0, 1.0),) * 2, (0, 0))])
def test_picture_of_coinciding_points_has_nonempty_axes(points: Any, labels: Any) -> None:
    assert picture.draw(Dataset(points, labels), lambda xs: [0.0] * len(xs), [], "one").startswith(
        b"\x89PNG"
    )


@pytest.mark.slow
def test_moons_command_separates_the_moons(capsys: pytest.CaptureFixture[str]) -> None:
    moons.main(["--points", "50", "--epochs", "40"])
    percent = int(re.findall(r"moons: (\d+)% of 50 points", capsys.readouterr().out)[0])
    assert percent >= 97


def test_picture_without_matplotlib_raises(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install .mt-autodiff\[plot\]"):
        picture.draw(xor(5), lambda points: [1.0] * len(points), [], "xor")
    with pytest.raises(SystemExit):
        classify.main(["--picture", "xor.png"])
    out, err = capsys.readouterr()
    assert 'pip install "mt-autodiff[plot]"' in err
    assert not out
