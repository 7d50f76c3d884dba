"""Export to ONNX: results of onnxruntime compared with the network's, and errors."""

import io
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.core.lenet import LeNet
from mt_nn.errors import ExportError, FileError, InputError
from mt_nn.onnx.graph import Graph
from mt_nn.onnx.views import View, add_view
from mt_nn.train.networks import LSTMLanguageModel, ResNet9, TextCNN, TransformerLanguageModel

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

BATCH = {"input_names": ["x"], "dynamic_axes": {"x": {0: "batch"}}}


@pytest.fixture(autouse=True)
def _seed() -> None:
    mt.manual_seed(0)


def tensors(value: Any) -> list[mt.Tensor]:
    """Return the tensors in the result of a network."""
    if isinstance(value, tuple | list):
        return [tensor for each in value for tensor in tensors(each)]
    return [value] if isinstance(value, mt.Tensor) else []


def run(proto: Any, *args: mt.Tensor) -> list[Any]:
    """Run a model in onnxruntime."""
    session = runtime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    given = zip(session.get_inputs(), args, strict=True)
    return session.run(None, {value.name: x.numpy() for value, x in given})


def agree(proto: Any, model: Any, *args: mt.Tensor) -> None:
    """Check that an exported model returns the network's results, in evaluation mode."""
    model.eval()
    with mt.no_grad():
        expected = tensors(model(*args))
    for ours, found in zip(expected, run(proto, *args), strict=True):
        assert ours.dtype.numpy == found.dtype
        assert ours.shape == found.shape
        np.testing.assert_allclose(found, ours.numpy(), rtol=1e-5, atol=1e-5)


def operations(proto: Any) -> Counter[str]:
    return Counter(node.op_type for node in proto.graph.node)


class Function(nn.Module):
    """A function as a network."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


class Classifier(nn.Module):
    """The last state of a recurrent network, classified."""

    def __init__(self, kind: Any, **settings: Any) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 6)
        self.recurrent = kind(6, 5, batch_first=True, **settings)
        self.classes = nn.Linear(10 if settings.get("bidirectional") else 5, 3)

    def forward(self, ids: mt.Tensor) -> mt.Tensor:
        return self.classes(self.recurrent(self.embedding(ids))[0][:, -1])


class GPT(nn.Module):
    """A causal transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 16)
        self.positions = nn.LearnedPositions(12, 16)
        block = nn.TransformerEncoderLayer(
            16, 2, 32, dropout=0.1, activation="gelu", batch_first=True, norm_first=True
        )
        self.blocks = nn.TransformerEncoder(block, 2, nn.LayerNorm(16))
        self.scores = nn.Linear(16, 20)

    def forward(self, ids: mt.Tensor) -> mt.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.scores(self.blocks(self.positions(self.embedding(ids)), mask, is_causal=True))


def images(*shape: int) -> mt.Tensor:
    return mt.randn(2, *shape)


def ids() -> mt.Tensor:
    return mt.randint(20, (4, 9))


NETWORKS = {
    "mlp": (
        lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)),
        lambda: mt.randn(5, 4),
        {"Gemm": 2, "Relu": 1},
    ),
    "lenet": (LeNet, lambda: images(1, 8, 8), {"Conv": 2, "Gemm": 2, "MaxPool": 1}),
    "resnet": (lambda: ResNet9(width=4), lambda: images(3, 16, 16), {"Conv": 8, "MaxPool": 4}),
    "lstm": (lambda: Classifier(nn.LSTM), ids, {"Gemm": 1}),
    "gru": (
        lambda: Classifier(nn.GRU, num_layers=2, bidirectional=True),
        ids,
        {"Gemm": 1},
    ),
    "rnn": (lambda: Classifier(nn.RNN, nonlinearity="relu"), ids, {"Gemm": 1}),
    "gpt": (GPT, ids, {"LayerNormalization": 5, "Softmax": 2, "Erf": 2}),
    "textcnn": (lambda: TextCNN(20, 8), ids, {"Conv": 3}),
    "quantized": (
        lambda: nn.quantize_dynamic(nn.Sequential(nn.Linear(4, 3))),
        lambda: mt.randn(5, 4),
        {"MatMul": 1, "Cast": 1},
    ),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_exported_network_matches_model_for_any_batch_size(name: str) -> None:
    make, example, expected = NETWORKS[name]
    model, x = make(), example()
    proto = nn.onnx.export(model, x, **BATCH)
    assert operations(proto) >= Counter(expected)
    many = mt.cat([x, x, x, x])
    for size in (len(x), 1, 2, 3, 8):
        agree(proto, model, many[:size])
    assert proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert proto.graph.output[0].type.tensor_type.shape.dim[0].dim_param == "batch"


LAYERS = {
    "conv1d": (lambda: nn.Conv1d(2, 4, 3, padding=1, groups=2), (2, 9)),
    "conv2d": (lambda: nn.Conv2d(4, 4, 3, 2, 1, 2, 2), (4, 9, 9)),
    "conv2d same": (lambda: nn.Conv2d(2, 4, 3, padding="same", padding_mode="reflect"), (2, 5, 5)),
    "conv3d": (lambda: nn.Conv3d(2, 3, 3), (2, 5, 5, 5)),
    "conv_transpose2d": (lambda: nn.ConvTranspose2d(2, 3, 3, 2, output_padding=1), (2, 5, 5)),
    "avg_pool2d": (lambda: nn.AvgPool2d(3, 2, 1), (2, 7, 7)),
    "max_pool1d": (lambda: nn.MaxPool1d(2), (2, 7)),
    "max_pool2d ceil": (lambda: nn.MaxPool2d(2, ceil_mode=True), (2, 7, 7)),
    "adaptive_avg_pool2d": (lambda: nn.AdaptiveAvgPool2d(3), (2, 7, 7)),
    "batch_norm": (lambda: nn.BatchNorm2d(4), (4, 3, 3)),
    "group_norm": (lambda: nn.GroupNorm(2, 4), (4, 5)),
    "instance_norm": (lambda: nn.InstanceNorm2d(3), (3, 4, 4)),
    "layer_norm": (lambda: nn.LayerNorm(5, elementwise_affine=False), (5,)),
    "local_response_norm": (lambda: nn.LocalResponseNorm(2), (4, 4, 4)),
    "rms_norm": (lambda: nn.RMSNorm(5), (5,)),
    "bilinear": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), (2, 3, 3)),
    "pixel_shuffle": (lambda: nn.PixelShuffle(2), (4, 3, 3)),
    "zero_pad": (lambda: nn.ZeroPad2d(2), (4, 3, 3)),
    "unfold": (lambda: nn.Unfold(2), (3, 4, 4)),
    "rotary": (lambda: nn.RotaryPositions(4), (3, 4)),
    "softmax": (lambda: nn.Softmax(1), (3, 4)),
    "log_softmax": (lambda: nn.LogSoftmax(-1), (3,)),
    "prelu": (nn.PReLU, (3,)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_exported_layer_matches_model_for_any_batch_size(name: str) -> None:
    make, shape = LAYERS[name]
    model, x = make(), images(*shape)
    proto = nn.onnx.export(model, x, **BATCH)
    agree(proto, model, x)
    agree(proto, model, mt.cat([x, x, x])[:5])


ACTIVATIONS = [
    *("CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh"),
    *("LeakyReLU", "LogSigmoid", "Mish", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softplus"),
    *("Softshrink", "Softsign", "Tanh", "Tanhshrink"),
]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_exported_activation_matches_layer(name: str) -> None:
    model, x = getattr(nn, name)(), 3.0 * mt.randn(2, 6)
    agree(nn.onnx.export(model, x), model, x)


def changed_in_place(x: mt.Tensor) -> Any:
    y, z = x.clone(), mt.zeros(3, 4)
    y[:, 1] = 5.0
    y += x
    y[0] *= 2.0
    y[y > 1] = 0.5
    z[1:, ::2] = x[1:3, ::2]
    return y, z


def of_integers(i: mt.Tensor) -> Any:
    return i + 1, i * 2, i % 3, i // 2, i == 2, (i > -1) & (i < 2), i.to(mt.int32), i / 3


INTEGERS = mt.tensor([[0], [1], [2]])

FUNCTIONS = {
    "in place": changed_in_place,
    "views": lambda x: (x[:, [2, 0]], x[..., None, 1:3], x.flip(0), x[::2, ::-1], x[-1], x[0, 0]),
    "shapes": lambda x: (x.T.reshape(2, 6), x.repeat(2, 1), x.roll(1, 0), x.unfold(1, 2, 1)),
    "parts": lambda x: (mt.stack([x, x]), mt.cat([x, x[:0]]), x.split(1), x.diagonal(), x.triu()),
    "reductions": lambda x: (x.mean(0), x.var(1), x.amax(), x.argmax(1), x.prod(1), x.norm()),
    "bools": lambda x: ((x > 0).any(1), (x > 0).all(), ~(x > 0), (x > 0).sum(1), x.isnan()),
    "integers": lambda x: of_integers((3 * x).long()),
    "functions": lambda x: (
        *(x.exp(), x.sin(), x.abs().sqrt(), x.abs().log1p(), x.expm1(), x**3, x.round()),
        *(x.trunc(), x.logsumexp(1), x.remainder(0.7), x.fmod(2.0), x.clamp(-1, 1), x.erf()),
    ),
    "products": lambda x: (mt.einsum("ij,kj->ik", x, x), x @ x[0], x.cumsum(1)),
    "indices": lambda x: (
        x.masked_fill(x > 0, -1).gather(1, INTEGERS),
        x.scatter_add(1, INTEGERS, x),
    ),
    "constants": lambda x: x + mt.arange(4) + mt.tensor([1.0, 2.0, 3.0, 4.0]),
    "nothing": lambda x: x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_exported_function_matches_eager_result(name: str) -> None:
    model, x = Function(FUNCTIONS[name]), mt.randn(3, 4)
    agree(nn.onnx.export(model, x), model, x)


def test_float64_arguments_and_numbers_are_exported_with_given_names() -> None:
    model = Function(lambda x, y, scale: {"sum": x + y * scale, "chosen": mt.where(x > y, x, y)})
    x, y = mt.randn(2, 3, dtype="float64"), mt.randn(3, dtype="float64")
    proto = nn.onnx.export(model, (x, y, 2.0), input_names=["x"], output_names=["a", "b"])
    assert [each.name for each in proto.graph.input] == ["x", "args_1"]
    assert [each.name for each in proto.graph.output] == ["a", "b"]
    np.testing.assert_allclose(run(proto, x, y)[0], (x + y * 2.0).numpy())


@pytest.mark.parametrize("kind", [LSTMLanguageModel, TransformerLanguageModel])
def test_exported_model_with_steps_before_batch_matches_model(kind: Any) -> None:
    model = kind(20, 8, 2) if kind is LSTMLanguageModel else kind(20, 8, 2, 2, 9)
    agree(nn.onnx.export(model, ids()), model, ids())


def test_exported_transformer_matches_model() -> None:
    model = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    args = mt.randn(3, 5, 8), mt.randn(3, 6, 8)
    agree(nn.onnx.export(model, args), model, *args)


def test_shared_parameter_is_stored_once_under_its_name() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 4))
    model[2].weight = model[0].weight
    proto = nn.onnx.export(model, mt.randn(2, 4))
    names = {each.name for each in proto.graph.initializer if not each.name.startswith("/")}
    batch_norm = {f"1.{name}" for name in ("weight", "bias", "running_mean", "running_var")}
    assert names == {"0.weight", "0.bias", "2.bias", *batch_norm}


def test_export_leaves_training_mode_and_parameters_unchanged() -> None:
    model, x = nn.Sequential(nn.Linear(3, 3), nn.Dropout(), nn.BatchNorm1d(3)), mt.randn(2, 3)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    nn.onnx.export(model, x)
    assert model.training
    assert all(mt.equal(before[name], value) for name, value in model.state_dict().items())


def test_export_writes_to_path_or_file_or_raises_file_error(tmp_path: Path) -> None:
    model, x, file = nn.Linear(3, 2), mt.randn(2, 3), io.BytesIO()
    proto = nn.onnx.export(model, x, tmp_path / "model.onnx", opset_version=21)
    nn.onnx.export(model, x, file)
    assert onnx.load(tmp_path / "model.onnx") == proto
    assert proto.opset_import[0].version == 21
    agree(onnx.load_from_string(file.getvalue()), model, x)
    with pytest.raises(FileError):
        nn.onnx.export(model, x, tmp_path / "missing" / "model.onnx")


def test_model_on_fast_backend_is_exported() -> None:
    pytest.importorskip("mt_fast")
    with mt.use_backend("fast"):
        model, x = GPT(), ids()
        agree(nn.onnx.export(model, x, **BATCH), model, x)


# --- Errors ---------------------------------------------------------------------------------------


class Wild(nn.Module):
    """A network that may change its parameter."""

    def __init__(self, change: Any) -> None:
        super().__init__()
        self.weight, self.change = nn.Parameter(mt.ones(3)), change

    def forward(self, x: mt.Tensor) -> Any:
        return self.change(x, self.weight)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x, w: x + mt.rand(3), "it draws random numbers"),
        (lambda x, w: nn.functional.dropout(x), "draws random numbers"),
        (lambda x, w: x if x.sum() > 0 else -x, "reads elements that depend on its arguments"),
        (lambda x, w: mt.tensor(x.numpy() * 2), "reads elements that depend on its arguments"),
        (lambda x, w: x.nonzero(), "reads elements"),
        (lambda x, w: x.add_(1.0), "changes an argument, a parameter or a buffer in place"),
        (lambda x, w: w.mul_(2.0) + x, "changes an argument, a parameter or a buffer in place"),
        (lambda x, w: x.argsort(), r"calls argsort\(\), which is computed outside"),
        (lambda x, w: x.atan2(w), "ONNX has no operator for atan2"),
        (lambda x, w: x.bfloat16(), "bfloat16 cannot be exported"),
    ],
)
def test_unsupported_operation_raises_export_error(function: Any, said: str) -> None:
    with pytest.raises(ExportError, match=said):
        nn.onnx.export(Wild(function), mt.randn(2, 3))


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x: x if len(x) > 12 else -x, "the network depends on the batch size"),
        (lambda x: x / len(x), "a constant of Div differs"),
        (lambda x: x.mean(), "a constant of Div differs"),
        (lambda x: mt.ones(len(x) ** 2), "not a linear function of the batch size"),
    ],
)
def test_dependence_on_batch_size_raises_export_error(function: Any, said: str) -> None:
    with pytest.raises(ExportError, match=said):
        nn.onnx.export(Function(function), mt.randn(2, 3), dynamic_axes={"args_0": [0]})


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"dynamic_axes": {"input": {1: "steps"}}}, ExportError, "only the first dimension"),
        ({"dynamic_axes": {"image": {0: "batch"}}}, InputError, "names none of the arguments"),
        ({"input_names": ["a", "b"]}, InputError, "2 input_names"),
        ({"output_names": ["a", "b"]}, InputError, "2 output_names"),
        ({"opset_version": 9}, InputError, "at least 18"),
    ],
)
def test_invalid_export_setting_raises_error_that_names_it(
    settings: Any, error: Any, said: str
) -> None:
    with pytest.raises(error, match=said):
        nn.onnx.export(nn.Linear(3, 2), mt.randn(2, 3), **settings)


# --- Views ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "view", "expected"),
    [
        ((6, 4), View((6, 4), (4, 1), 0), ""),
        ((6, 4), View((4, 6), (1, 4), 0), "Transpose"),
        ((6, 4), View((2, 3, 4), (12, 4, 1), 0), "Reshape"),
        ((6, 4), View((6, 2), (4, 1), 1), "Slice"),
        ((6, 4), View((6, 2), (4, -2), 3), "Slice"),
        ((6, 4), View((4,), (1,), 20), "Slice Reshape"),
        ((2, 3, 12), View((2, 2, 3, 3), (36, 3, 12, 1), 6), "Reshape Slice Transpose"),
        ((4,), View((3, 4), (0, 1), 0), "Reshape Expand"),
        ((8,), View((6, 3), (1, 1), 0), "Gather"),
        ((2, 8), View((2, 6, 3), (8, 1, 1), 0), "Gather"),
    ],
)
def test_view_is_exported_as_few_operators(base: Any, view: View, expected: str) -> None:
    graph = Graph()
    add_view(graph, "x", base, view)
    assert " ".join(node.operation for node in graph.nodes) == expected
