"""Dynamic quantization of linear layers to int8: accuracy, size, saving and errors."""

from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_nn.torch_names as torch
import mt_tensor as mt
from mt_nn.errors import InputError, SettingError
from mt_nn.quantization import int8_linear, quantize


@pytest.fixture(autouse=True)
def _seed() -> None:
    mt.manual_seed(0)


def test_quantize_rounds_rows_to_integers_up_to_127() -> None:
    weight = mt.tensor([[0.5, -1.27, 0.004], [0.0, 0.0, 0.0]])
    integers, scale = quantize(weight)
    assert integers.tolist() == [[50, -127, 0], [0, 0, 0]]
    np.testing.assert_allclose(scale.numpy(), [0.01, 1.0], rtol=1e-6)
    weight = mt.randn(20, 50)
    integers, scale = quantize(weight)
    error = (integers * scale.unsqueeze(1) - weight).abs()
    assert (error <= 0.5001 * scale.unsqueeze(1)).all()


@pytest.mark.parametrize("backend", ["numpy", "fast"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(5,), (1, 5), (2, 3, 5), (70, 5), (0, 5)])
@pytest.mark.parametrize("bias", [True, False])
def test_quantized_layer_matches_linear_with_rounded_weights(
    backend: str, dtype: str, shape: Any, bias: bool
) -> None:
    if backend == "fast":
        pytest.importorskip("mt_fast")
    with mt.use_backend(backend):
        linear, x = nn.Linear(5, 3, bias, dtype=dtype), mt.randn(*shape, dtype=dtype)
        layer = nn.quantize_dynamic(linear)
        with mt.no_grad():
            linear.weight.copy_(layer.weight * layer.scale.unsqueeze(1))
        found = layer(x)
        assert found.dtype is x.dtype
        assert mt.allclose(found, linear(x), atol=1e-5)
        y = x.clone().requires_grad_()
        if len(shape) == 2:
            layer(y).sum().backward()
            assert mt.allclose(y.grad, linear.weight.sum(0).expand(*shape), atol=1e-5)


def model() -> nn.Module:
    block = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return nn.Sequential(nn.Linear(4, 8), nn.TransformerEncoder(block, 2), nn.Linear(8, 3))


def test_quantize_dynamic_replaces_linear_layers_in_copy_or_in_place() -> None:
    before = model().eval()
    after = nn.quantize_dynamic(before)
    assert type(before[0]) is nn.Linear
    kinds = [type(each) for each in after.modules()]
    assert kinds.count(nn.QuantizedLinear) == 2 + 2 * 3
    assert nn.Linear not in kinds
    assert not after.training
    x = mt.randn(2, 5, 4)
    with mt.no_grad():
        assert 0 < (before(x) - after(x)).abs().max() < 0.1
    assert nn.quantize_dynamic(before, inplace=True) is before
    assert type(before[0]) is nn.QuantizedLinear


def test_shared_layer_stays_shared_and_subclass_is_kept() -> None:
    class Special(nn.Linear):
        pass

    shared = nn.Linear(3, 3)
    after = nn.quantize_dynamic(nn.Sequential(shared, shared, Special(3, 3)))
    assert after[0] is after[1]
    assert isinstance(after[0], nn.QuantizedLinear)
    assert type(after[2]) is Special


def test_quantized_state_dict_is_saved_and_loaded(tmp_path: Any) -> None:
    trained, other = nn.quantize_dynamic(model()), nn.quantize_dynamic(model())
    state = trained.state_dict()
    assert state["0.weight"].dtype is mt.int8
    assert list(nn.quantize_dynamic(nn.Linear(2, 2)).state_dict()) == ["bias", "weight", "scale"]
    nn.save(state, tmp_path / "model.safetensors")
    other.load_state_dict(nn.load(tmp_path / "model.safetensors"))
    x = mt.randn(2, 5, 4)
    assert mt.equal(trained.eval()(x), other.eval()(x))


def test_quantized_layer_takes_a_quarter_of_the_bytes() -> None:
    def size(layer: nn.Module) -> int:
        return sum(each.numel() * each.element_size() for each in layer.state_dict().values())

    linear = nn.Linear(256, 256)
    assert size(nn.quantize_dynamic(linear)) < 0.26 * size(linear)


def test_quantization_changes_accuracy_on_digits_by_at_most_one_percent() -> None:
    pytest.importorskip("sklearn")
    train, test = nn.data.digits()
    network = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = nn.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(3):
        for images, labels in nn.data.DataLoader(train, batch_size=64, shuffle=True):
            loss = nn.functional.cross_entropy(network(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    images, labels = test[:]
    with mt.no_grad():
        before = nn.functional.accuracy(network(images), labels)
        after = nn.functional.accuracy(nn.quantize_dynamic(network)(images), labels)
    assert before > 0.8
    assert abs(before - after) <= 0.01


def test_torch_ao_names_quantize_and_reject_unsupported_settings() -> None:
    after = torch.ao.quantization.quantize_dynamic(model(), {nn.Linear}, dtype=torch.qint8)
    assert type(after[0]) is nn.QuantizedLinear
    assert torch.quantization.quantize_dynamic is torch.ao.quantization.quantize_dynamic
    for settings in ({"dtype": mt.float16}, {"qconfig_spec": {nn.LSTM}}, {"mapping": {}}):
        with pytest.raises(SettingError, match="linear layers to int8"):
            torch.ao.quantization.quantize_dynamic(model(), **settings)


def test_quantized_layer_with_invalid_input_raises() -> None:
    layer = nn.quantize_dynamic(nn.Linear(3, 2))
    assert repr(layer) == "QuantizedLinear(in_features=3, out_features=2, bias=True)"
    for x in (mt.ones(2, 4), mt.ones(2, 3, dtype="float64"), mt.ones(())):
        with pytest.raises(InputError, match="QuantizedLinear takes 3 features of float32"):
            layer(x)
    with pytest.raises(TypeError):
        int8_linear(None, None, None, None)
