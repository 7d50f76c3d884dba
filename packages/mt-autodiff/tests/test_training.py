"""The examples: networks of Scalars that learn, and their command."""

import math
import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_autodiff import Scalar, derivative_check
from mt_autodiff.examples import classify
from mt_autodiff.examples.network import Linear, Network, class_of
from mt_autodiff.examples.training import GradientDescent, accuracy, cross_entropy, train
from mt_operators import Parameter
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


def test_history_has_the_accuracy_before_each_step() -> None:
    dataset = xor(20)
    network = Network(hidden=(3,), seed=2)
    before = accuracy(network, dataset)
    assert train(network, dataset, 1, 0.1)[0].accuracy == before
    for parameter in network.parameters():
        parameter.update(Scalar(0.0))
    bias = list(network.parameters())[-1]
    bias.update(Scalar(-0.5))  # the score of every point
    zeros = sum(label == 0 for _, label in dataset) / len(dataset)
    assert train(network, dataset, 1, 0.0)[0].accuracy == zeros


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
def test_cross_entropy_matches_formula_and_differentiates(score: float, label: int) -> None:
    probability = 1.0 / (1.0 + math.exp(-score if label else score))
    exact = -math.log(probability)
    assert cross_entropy(Scalar(score), label).data == pytest.approx(exact, rel=1e-6, abs=1e-12)
    derivative_check(lambda s: cross_entropy(s, label), Scalar(score))


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
    optimizer.zero_grad()
    optimizer.step(rate=0.1)  # without a derivative, half of the step before
    assert parameter.value.data == pytest.approx(0.41)


def test_train_rejects_empty_datasets_bad_epochs_and_rates() -> None:
    with pytest.raises(ValueError, match="needs at least one point; the data set is empty"):
        train(Network(), xor(0), 1, 0.1)
    with pytest.raises(ValueError, match="needs at least one point; the data set is empty"):
        accuracy(Network(), xor(0))
    for epochs in (0, -1):
        with pytest.raises(ValueError, match=f"at least 1 epoch and a finite rate, got {epochs}"):
            train(Network(), xor(5), epochs, 0.1)
    for rate in (math.nan, math.inf):
        with pytest.raises(ValueError, match=f"a finite rate, got 1 and {rate}"):
            train(Network(), xor(5), 1, rate)


def test_train_raises_when_the_loss_diverges() -> None:
    with pytest.raises(ValueError, match=r"diverged in epoch \d+ .* smaller rate"):
        train(Network(), xor(10), 50, 1e6)
    with pytest.raises(ValueError, match=r"diverged in epoch 1 .* smaller rate"):
        train(Network(), Dataset(((1e10, 1e10),), (0,)), 1, 1e305)


def test_class_of_a_score_of_zero_is_zero() -> None:
    network: Any = {(0, 0): 0.0, (0, 1): 0.5}.__getitem__
    assert class_of(network, (0, 0)) == 0
    assert class_of(network, (0, 1)) == 1


def test_linear_can_have_a_single_input() -> None:
    assert len(list(Linear(1, 1, random.Random(0)).parameters())) == 2


@pytest.mark.parametrize(("inputs", "outputs"), [(0, 1), (2, 0), (2, -1)])
def test_linear_and_network_reject_sizes_below_1(inputs: int, outputs: int) -> None:
    with pytest.raises(ValueError, match=f"got {inputs} and {outputs}"):
        Linear(inputs, outputs, random.Random(0))
    with pytest.raises(ValueError, match="got 2 and 0"):
        Network(hidden=(0,))


def test_command_prints_epochs_and_a_plot(capsys: pytest.CaptureFixture[str]) -> None:
    classify.main(["moons", "--points", "12", "--epochs", "20"])
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("epoch    1  loss ")
    assert out[1].startswith("epoch   20  loss ")
    assert len(out) == 2 + 24 + 1
    assert re.fullmatch(r"moons: \d+% of 12 points", out[-1])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--points", "0"], "--points: must be a positive integer, got 0"),
        (["--points", "-5"], "--points: must be a positive integer, got -5"),
        (["--epochs", "0"], "--epochs: must be a positive integer, got 0"),
        (["--epochs", "ten"], "--epochs: invalid positive_int value: 'ten'"),
        (["--hidden", "4", "0"], "--hidden: must be a positive integer, got 0"),
        (["--hidden", "-1"], "--hidden: must be a positive integer, got -1"),
        (["--rate", "0"], "--rate: must be a positive finite number, got 0"),
        (["--rate", "-0.1"], "--rate: must be a positive finite number"),
        (["--rate", "nan"], "--rate: must be a positive finite number"),
        (["--rate", "inf"], "--rate: must be a positive finite number"),
    ],
)
def test_command_rejects_bad_arguments_before_training(
    wrong: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        classify.main(wrong)
    out, err = capsys.readouterr()
    assert message in err
    assert not out  # nothing was trained


def test_classify_command_reports_divergence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        classify.main(["--points", "5", "--rate", "1e9"])
    assert "smaller rate" in capsys.readouterr().err


def test_classify_command_defaults_to_xor(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded: list[Any] = []
    monkeypatch.setattr(classify, "train", lambda *given, **named: recorded.extend(given))
    classify.main([])
    network, dataset, epochs, rate = recorded
    assert (dataset, epochs, rate) == (xor(50), 300, 0.2)
    assert network.state_dict() == Network(hidden=(10,)).state_dict()
