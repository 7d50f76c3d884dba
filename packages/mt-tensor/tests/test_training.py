"""The training example: layers, network, loss, optimizer, training and command."""

import math
from typing import Any

import pytest

import mt_tensor as mt
from mt_autodiff import Scalar
from mt_autodiff.examples import training as scalar_training
from mt_operators import Parameter
from mt_operators.datasets import DATASETS, spiral, xor
from mt_tensor.examples import classify
from mt_tensor.examples.network import Linear, Network
from mt_tensor.examples.training import GradientDescent, accuracy, as_tensors, cross_entropy, train


def test_linear_computes_weighted_sums_plus_bias() -> None:
    layer = Linear(3, 2, mt.Generator().manual_seed(0))
    assert [p.value.shape for p in layer.parameters()] == [(3, 2), (2,)]
    assert all(p.value.requires_grad for p in layer.parameters())
    points = mt.tensor([[0.5, -1.0, 2.0], [0.0, 0.0, 0.0]])
    weight, bias = layer.weight.value.tolist(), layer.bias.value.tolist()
    for point, sums in zip(points.tolist(), layer(points).tolist(), strict=True):
        expected = [sum(x * row[k] for x, row in zip(point, weight, strict=True)) for k in (0, 1)]
        assert sums == pytest.approx([w + b for w, b in zip(expected, bias, strict=True)], abs=1e-6)


def test_linear_initializes_uniformly_in_minus_1_to_1() -> None:
    layer = Linear(6, 200, mt.Generator().manual_seed(0))
    for parameter in layer.parameters():
        values = parameter.value.detach()
        assert -1.0 <= values.min() < -0.95
        assert 0.95 < values.max() <= 1.0
        assert values.mean().abs() < 0.1


def test_network_applies_relu_between_layers() -> None:
    network = Network(hidden=(5, 4), seed=3)
    points = mt.rand(7, 2)
    first, second, last = network.layers
    expected = last(second(first(points).relu()).relu())[:, 0]
    assert network(points).tolist() == expected.tolist()
    assert sum(p.value.numel() for p in network.parameters()) == 2 * 5 + 5 + 5 * 4 + 4 + 4 + 1
    same_seed = Network(hidden=(5, 4), seed=3)
    assert (
        same_seed(points).tolist() == expected.tolist() != Network(hidden=(5, 4))(points).tolist()
    )


def test_cross_entropy_is_mean_of_scalar_losses() -> None:
    scores, labels = [-1e4, -2.0, 0.0, 0.5, 30.0], [0, 1, 1, 0, 1]
    pairs = zip(scores, labels, strict=True)
    losses = [scalar_training.cross_entropy(Scalar(score), label).data for score, label in pairs]
    loss = cross_entropy(mt.tensor(scores), mt.tensor(labels, dtype="float32"))
    assert loss.item() == pytest.approx(sum(losses) / 5, rel=1e-6)
    assert cross_entropy(mt.tensor([-1e4]), mt.ones(1)).item() == 1e4


def test_gradient_descent_with_momentum_takes_expected_steps() -> None:
    parameter, unused = Parameter(mt.ones(2)), Parameter(mt.ones(1))
    tensor = parameter.value
    optimizer = GradientDescent([parameter, unused], momentum=0.5)
    for expected in (0.8, 0.54):  # steps of -0.1 * 2 x plus half of the previous step
        optimizer.zero_grad()
        parameter.value.square().sum().backward()
        optimizer.step(rate=0.1)
        assert parameter.value is tensor
        assert tensor.tolist() == pytest.approx([expected] * 2)
    assert unused.value.tolist() == [1.0]


@pytest.mark.parametrize("name", DATASETS)
def test_network_learns_every_dataset_perfectly(name: str) -> None:
    dataset = DATASETS[name](100)
    network = Network(hidden=(32, 32))
    history = train(network, dataset, 1000, 0.1)
    assert accuracy(network, dataset) == 1.0
    assert history[-1].accuracy == 1.0
    assert history[-1].loss < 0.1 < 0.4 < history[0].loss
    assert [epoch.number for epoch in history] == list(range(1, 1001))


def test_training_losses_agree_on_both_backends() -> None:
    losses = []
    for backend in ("simple", "numpy"):
        with mt.use_backend(backend):
            network = Network(hidden=(6,), seed=1)
            assert next(network.parameters()).value.backend.name == backend
            losses.append([epoch.loss for epoch in train(network, xor(20), 15, 0.2)])
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert losses[0][-1] < losses[0][0]


def test_training_rejects_invalid_arguments_and_divergence() -> None:
    with pytest.raises(ValueError, match="empty data set"):
        train(Network(), xor(0), 1, 0.1)
    with pytest.raises(ValueError, match="empty data set"):
        accuracy(Network(), xor(0))
    with pytest.raises(ValueError, match="at least 1 epoch"):
        train(Network(), xor(4), 0, 0.1)
    for rate in (math.nan, math.inf):
        with pytest.raises(ValueError, match="a finite rate"):
            train(Network(), xor(4), 1, rate)
    for rate in (1e30, 1e39):  # the loss or a parameter overflows
        with pytest.raises(ValueError, match="diverged in epoch .* smaller rate"):
            train(Network(), xor(20), 5, rate)
    with pytest.raises(ValueError, match="at least one input and one output"):
        Network(hidden=(0,))
    for inputs, outputs in ((0, 1), (1, 0), (-1, 1)):
        with pytest.raises(ValueError, match=f"got {inputs} and {outputs}"):
            Linear(inputs, outputs, mt.Generator())
    assert as_tensors(xor(3))[0].shape == (3, 2)


def test_classify_command_defaults_to_spiral(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments: list[Any] = []
    monkeypatch.setattr(classify, "train", lambda *args, **kwargs: arguments.extend(args))
    classify.main([])
    network, dataset, epochs, rate = arguments
    assert (dataset, epochs, rate) == (spiral(200), 1000, 0.1)
    assert [parameter.value.shape for parameter in network.parameters()] == [
        parameter.value.shape for parameter in Network(hidden=(32, 32)).parameters()
    ]


def test_classify_command_prints_epochs_and_reports_errors(
    capsys: pytest.CaptureFixture[str],
) -> None:
    classify.main(["diag", "--points", "20", "--epochs", "100", "--hidden", "4"])
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("epoch    1  loss ")
    assert printed[-1] == "diag: 100% of 20 points"
    for arguments, message in (
        (["diag", "--backend", "nunpy"], "Did you mean 'numpy'"),
        (["diag", "--rate", "1e30"], "smaller rate"),
    ):
        with pytest.raises(SystemExit):
            classify.main([*arguments, "--epochs", "2", "--points", "5"])
        assert message in capsys.readouterr().err
