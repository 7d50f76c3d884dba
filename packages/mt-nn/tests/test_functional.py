"""Functions of mt_nn.functional: loops in NumPy, gradients, rounding, invalid arguments."""

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import mt_nn.functional as F
import mt_tensor as mt
from mt_nn import InputError, SettingError
from mt_tensor.errors import BackendMismatchError, IndexingError

Array = npt.NDArray[Any]


@pytest.fixture(autouse=True, params=["numpy", "simple"])
def backend(request: pytest.FixtureRequest) -> Any:
    with mt.use_backend(request.param):
        yield request.param


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


def leaf(array: Array) -> mt.Tensor:
    return mt.tensor(array, dtype="float64", requires_grad=True)


def every_window(
    x: Array, kernel: tuple[int, int], stride: int, padding: int, dilation: int, value: float
) -> Any:
    """Yield the index of each output and its input window."""
    padded = np.pad(x, ((0, 0), (0, 0), (padding,) * 2, (padding,) * 2), constant_values=value)
    rows, columns = (
        range(0, padded.shape[d] - dilation * (k - 1), stride)
        for d, k in zip((2, 3), kernel, strict=True)
    )
    for (i, r), (j, c) in itertools.product(enumerate(rows), enumerate(columns)):
        high, low = r + dilation * (kernel[0] - 1) + 1, c + dilation * (kernel[1] - 1) + 1
        yield (i, j), padded[:, :, r:high:dilation, c:low:dilation]


@pytest.mark.parametrize(
    "arguments",
    [{}, {"stride": 2, "padding": 1}, {"dilation": 2}, {"groups": 2, "padding": (1, 0)}],
)
def test_conv2d_passes_gradcheck_and_backends_agree(
    backend: str, arguments: dict[str, Any]
) -> None:
    groups = arguments.get("groups", 1)
    x, w, b = leaf(normal(1, 2, 5, 4)), leaf(normal(2, 2 // groups, 3, 2, seed=1)), leaf(normal(2))
    if backend == "simple":  # the same composition in slow loops: compare the forward pass only
        with mt.use_backend("numpy"):
            expected = F.conv2d(*(mt.tensor(t.detach().numpy()) for t in (x, w, b)), **arguments)
        np.testing.assert_allclose(F.conv2d(x, w, b, **arguments).detach(), expected, atol=1e-12)
        return
    assert mt.gradcheck(lambda *args: F.conv2d(*args, **arguments), [x, w, b])


@pytest.mark.parametrize(("kernel", "stride", "padding"), [(2, None, 0), (3, 2, 1), ((1, 2), 1, 0)])
def test_max_pool2d_and_avg_pool2d_match_numpy_and_pass_gradcheck(
    backend: str, kernel: Any, stride: Any, padding: int
) -> None:
    x = normal(2, 2, 5, 4)
    kernel_pair = (kernel, kernel) if isinstance(kernel, int) else kernel
    step = stride or kernel
    for pool, reduce, value in ((F.max_pool2d, np.max, -np.inf), (F.avg_pool2d, np.mean, 0.0)):
        out = pool(mt.tensor(x), kernel, stride, padding).numpy()
        for (i, j), window in every_window(x, kernel_pair, step, padding, 1, value):
            np.testing.assert_allclose(out[:, :, i, j], reduce(window, axis=(2, 3)))
        if backend == "numpy":
            assert mt.gradcheck(lambda t, pool=pool: pool(t, kernel, stride, padding), [leaf(x)])


def test_empty_batch_gives_empty_output() -> None:
    empty = mt.zeros(0, 4, 7, 6)
    assert F.conv2d(empty, mt.ones(2, 2, 3, 3), groups=2).shape == (0, 2, 5, 4)
    assert F.max_pool2d(empty, 2).shape == (0, 4, 3, 3)
    assert F.fractional_max_pool2d(empty, 2, output_size=3).shape == (0, 4, 3, 3)
    assert F.linear(empty.flatten(1), mt.ones(5, 168)).shape == (0, 5)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"padding": 1, "count_include_pad": False},
        {"ceil_mode": True, "stride": 2},
        {"divisor_override": 9},
    ],
    ids=str,
)
def test_avg_pool2d_of_float16_is_rounded_once(backend: str, arguments: dict[str, Any]) -> None:
    largest = float(np.finfo(np.float16).max)
    image = mt.full((1, 1, 6, 6), largest, dtype=mt.float16, backend=backend)
    found = F.avg_pool2d(image, 3, **arguments)
    assert (found.dtype, {*found.flatten().tolist()}) == (mt.float16, {largest})


def test_max_pool2d_gradient_goes_to_first_of_equal_elements() -> None:
    x = mt.ones(1, 1, 2, 2, requires_grad=True)
    F.max_pool2d(x, 2).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[[[1, 0], [0, 0]]]]


def test_linear_matches_numpy_for_vectors_and_matrices(backend: str) -> None:
    x, w, b = normal(4, 3), normal(2, 3, seed=1), normal(2, seed=2)
    out = F.linear(mt.tensor(x), mt.tensor(w), mt.tensor(b))
    np.testing.assert_allclose(out.numpy(), x @ w.T + b)
    assert F.linear(mt.tensor(x[0]), mt.tensor(w)).shape == (2,)


def test_cross_entropy_matches_numpy_for_each_reduction() -> None:
    scores, target = normal(4, 3) * 5, np.array([0, 2, 1, 2])
    shifted = np.exp(scores - scores.max(1, keepdims=True))
    expected = -np.log(shifted / shifted.sum(1, keepdims=True))[np.arange(4), target]
    for reduction, reduced in (
        ("none", expected),
        ("sum", expected.sum()),
        ("mean", expected.mean()),
    ):
        loss = F.cross_entropy(mt.tensor(scores), mt.tensor(target), reduction=reduction)  # type: ignore[arg-type]
        np.testing.assert_allclose(loss.numpy(), reduced)
    assert mt.gradcheck(lambda s: F.cross_entropy(s, mt.tensor(target)), [leaf(scores)])
    images = mt.tensor(normal(2, 3, 4, 5))
    classes = mt.zeros(2, 4, 5, dtype="int64")
    assert F.cross_entropy(images, classes, reduction="none").shape == (2, 4, 5)


def test_cross_entropy_of_large_scores_does_not_overflow() -> None:
    scores = mt.tensor([[1e4, 0.0], [0.0, -1e4]], requires_grad=True)
    loss = F.cross_entropy(scores, mt.tensor([0, 1]))
    assert loss.item() == 5000.0
    loss.backward()
    assert scores.grad is not None
    assert scores.grad.tolist() == [[0, 0], [0.5, -0.5]]


def test_functions_accept_torch_argument_names() -> None:
    x, w, b = mt.ones(1, 2, 4, 4), mt.ones(2, 2, 3, 3), mt.ones(2)
    target = mt.tensor([1])
    assert F.conv2d(input=x, weight=w, bias=b, stride=1, padding=1, dilation=1, groups=1).shape == (
        1,
        2,
        4,
        4,
    )
    for pool in (F.max_pool2d, F.avg_pool2d):
        assert pool(input=x, kernel_size=2, stride=2, padding=0).shape == (1, 2, 2, 2)
    assert F.linear(input=mt.ones(1, 2), weight=mt.ones(3, 2), bias=None).shape == (1, 3)
    assert F.dropout(input=x, p=0.5, training=False) is x
    for loss in (F.cross_entropy, F.nll_loss):
        assert loss(input=mt.zeros(1, 2), target=target, reduction="none").shape == (1,)
    assert F.mse_loss(input=b, target=b, reduction="sum").item() == 0
    assert F.accuracy(input=mt.tensor([[0.0, 1.0]]), target=target) == 1


@pytest.mark.parametrize(
    ("call", "name", "expected"),
    [
        (
            lambda x, w, t: F.conv2d(input=x, weight=w, padding=[1, 0]),
            "conv2d",
            [None, (1, 1), (1, 0), (1, 1), 1],
        ),
        (lambda x, w, t: F.max_pool2d(x, kernel_size=2), "max_pool2d", [(2, 2), (2, 2), (0, 0)]),
        (
            lambda x, w, t: F.avg_pool2d(x, (2, 1), stride=1, padding=(1, 0)),
            "avg_pool2d",
            [(2, 1), (1, 1), (1, 0)],
        ),
        (lambda x, w, t: F.cross_entropy(x, target=t), "cross_entropy", [-100, "mean"]),
    ],
)
def test_backend_kernel_receives_validated_arguments(
    backend: str, call: Any, name: str, expected: list[Any]
) -> None:
    received: list[Any] = []

    def run(*args: Any) -> str:
        received.extend(args)
        return "the kernel's result"

    class OneKernel(type(mt.get_backend(backend))):  # type: ignore[misc]
        def kernel(self, kernel_name: str) -> Any:
            return run if kernel_name == name else None

    with mt.use_backend(OneKernel()):
        x, w, classes = mt.ones(1, 2, 4, 4), mt.ones(2, 2, 2, 2), mt.zeros(1, 4, 4, dtype="int64")
    assert call(x, w, classes) == "the kernel's result"
    tensors = [arg for arg in received if isinstance(arg, mt.Tensor)]
    assert received[len(tensors) :] == expected
    if name == "conv2d":
        assert [id(t) for t in tensors] == [id(x), id(w)]
    received.clear()
    for wrong in (x[0, 0], x.long()):
        with pytest.raises(InputError):
            call(wrong, w, classes)
    assert received == []


def test_mse_loss_and_accuracy_have_expected_values() -> None:
    assert F.mse_loss(mt.tensor([1.0, 3.0]), mt.tensor([0.0, 0.0])).item() == 5.0
    scores = mt.tensor([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]])
    assert F.accuracy(scores, mt.tensor([1, 0, 0])) == pytest.approx(2 / 3)
    with pytest.raises(InputError, match="accuracy"):
        F.accuracy(scores, mt.tensor([[1], [0], [0]]))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: F.conv2d(x[0, 0], x), InputError, r"images of shape .* \(5, 5\)"),
        (lambda x: F.conv2d(x, mt.ones(2, 4, 3, 3)), InputError, "expects 4 channels"),
        (
            lambda x: F.conv2d(x, mt.ones(2, 3, 6, 6)),
            InputError,
            r"conv2d\(\): a window of 6 .* larger",
        ),
        (lambda x: F.conv2d(x, mt.ones(2, 3, 3, 3), stride=0), SettingError, "stride must be"),
        (
            lambda x: F.conv2d(x, mt.ones(2, 3, 3, 3), groups=0),
            SettingError,
            "groups must be a positive int",
        ),
        (lambda x: F.conv2d(x, mt.ones(2, 3, 3)), InputError, r"takes a weight of shape"),
        (lambda x: F.conv2d(x, mt.ones(2, 3, 3, 3), mt.ones(3)), InputError, "takes a bias of"),
        (lambda x: F.max_pool2d(x, True), SettingError, "positive integers; got True"),
        (lambda x: F.nll_loss(x[0, 0], mt.tensor([1]), reduction="no"), SettingError, "got 'no'"),
        (lambda x: F.mse_loss(x, x, reduction=[]), SettingError, "reduction must be"),
        (lambda x: F.cross_entropy(x.long()[0, 0], mt.tensor([1])), InputError, "int64 were given"),
        (lambda x: F.max_pool2d(x, 2, padding=2), SettingError, r"max_pool2d\(\): .*at most half"),
        (lambda x: F.max_pool2d(x.long(), 2), InputError, "int64 were given"),
        (lambda x: F.avg_pool2d(x, (1, 2, 3)), SettingError, "kernel_size must be one or two"),
        (lambda x: F.linear(x, mt.ones(2, 4)), InputError, "expects 4 inputs"),
        (lambda x: F.dropout(x, 1.5), SettingError, "between 0 and 1; got 1.5"),
        (lambda x: F.cross_entropy(x[0, 0], mt.tensor([1, 2])), InputError, "targets of shape"),
        (lambda x: F.cross_entropy(x[0, 0, 0, 0], mt.tensor(1)), InputError, "scores of shape"),
        (lambda x: F.cross_entropy(x[0, 0], mt.ones(5)), InputError, "float32 was given"),
        (
            lambda x: F.cross_entropy(x[0, 0], mt.tensor([0, 1, 2, 3, 5])),
            IndexingError,
            "index 5 is out of range",
        ),
        (
            lambda x: F.cross_entropy(x[0, 0], mt.tensor([0] * 5), reduction="maen"),  # type: ignore[arg-type]
            SettingError,
            "got 'maen'",
        ),
        (lambda x: F.mse_loss(x, x[0]), InputError, "one shape"),
    ],
)
def test_invalid_argument_raises(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(mt.ones(2, 3, 5, 5))


def test_tensors_of_different_backends_raise(backend: str) -> None:
    other = "simple" if backend == "numpy" else "numpy"
    x = mt.ones(1, 2, 3, 3)
    for call in (
        lambda: F.conv2d(x, mt.ones(2, 2, 2, 2, backend=other)),
        lambda: F.cross_entropy(x, mt.zeros(1, 3, 3, dtype="int64", backend=other)),
    ):
        with pytest.raises(BackendMismatchError, match="was given tensors of backends"):
            call()


# --- uint8 images -------------------------------------------------------------------------------


def test_interpolate_of_uint8_rounds_after_each_dimension() -> None:
    image = mt.tensor([[[[0, 100, 200], [50, 255, 3]]]], dtype="uint8")
    resized = F.interpolate(image, size=(3, 4), mode="bilinear")
    assert resized.dtype is mt.uint8
    assert resized.tolist() == [[[[0, 63, 138, 200], [25, 121, 150, 102], [50, 178, 161, 3]]]]
    bicubic = F.interpolate(image, size=(3, 4), mode="bicubic")
    assert (bicubic.tolist()[0][0][2][3], bicubic.dtype) == (0, mt.uint8)  # clamped from below 0
    with pytest.raises(InputError, match=r"int64 was given. Convert with x.float\(\)"):
        F.interpolate(image.long(), size=(3, 4), mode="bilinear")


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("align_corners", [None, True])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_interpolate_of_uint8_matches_torch(mode: str, align_corners: Any, antialias: bool) -> None:
    torch = pytest.importorskip("torch")
    array = np.random.default_rng(0).integers(0, 256, (2, 3, 7, 9)).astype(np.uint8)
    for size in ((4, 5), (11, 13), (3, 20)):
        settings = {"size": size, "mode": mode, "align_corners": align_corners}
        ours = F.interpolate(mt.tensor(array), antialias=antialias, **settings)
        theirs = torch.nn.functional.interpolate(
            torch.tensor(array), antialias=antialias, **settings
        )
        difference = np.abs(ours.numpy().astype(int) - theirs.numpy().astype(int))
        assert difference.max() <= 1  # torch's weights have 15 bits
        assert (difference > 0).mean() < 0.05


OVERLAPPING: dict[str, Any] = {
    "conv1d": lambda x: F.conv1d(x[:, :, 0], mt.ones(1, 1, 40, dtype=x.dtype)),
    "conv2d": lambda x: F.conv2d(x, mt.ones(1, 1, 1, 40, dtype=x.dtype)),
    "conv3d": lambda x: F.conv3d(x.unsqueeze(2), mt.ones(1, 1, 1, 1, 40, dtype=x.dtype)),
    "conv_transpose2d": lambda x: F.conv_transpose2d(
        x[..., 39:40], mt.ones(1, 1, 1, 40, dtype=x.dtype)
    ),
    "max_pool2d": lambda x: F.max_pool2d(x + (mt.arange(79) == 39).to(x.dtype), (1, 40), 1),
    "avg_pool2d": lambda x: F.avg_pool2d(x * 40, (1, 40), 1),
    "unfold": lambda x: F.unfold(x, (1, 40)),
    "Tensor.unfold": lambda x: x.unfold(3, 40, 1).mT,
    "bilinear": lambda x: F.interpolate(x[..., 39:40], size=(1, 40), mode="bilinear"),
}
"""Functions with 40 windows along the last dimension, all of which contain element 39."""


@pytest.mark.parametrize("dtype", [mt.bfloat16, mt.float16], ids=["bfloat16", "float16"])
@pytest.mark.parametrize("name", OVERLAPPING)
def test_overlapping_gradients_are_rounded_once(backend: str, name: str, dtype: mt.DType) -> None:
    large = 1 / mt.finfo(dtype).eps * 2  # adding 1 to it is lost
    with mt.use_backend(backend):
        x = mt.ones(1, 1, 1, 79, dtype=dtype, requires_grad=True)
        gradients = mt.tensor([large, *[1.0] * 38, large], dtype=dtype)
        result = OVERLAPPING[name](x)
        result.backward(gradients.expand(result.shape))
    assert x.grad is not None
    assert x.grad.dtype is dtype
    assert x.grad[0, 0, 0, 39].item() == pytest.approx(2 * large + 38, rel=2**-8)


@pytest.mark.parametrize("dtype", [mt.bfloat16, mt.float16], ids=["bfloat16", "float16"])
def test_fold_adds_overlapping_windows_in_float32(backend: str, dtype: mt.DType) -> None:
    with mt.use_backend(backend):
        columns = mt.ones(1, 300, 301, dtype=dtype)
        images = F.fold(columns, (1, 600), (1, 300))
    assert images.dtype is dtype
    assert images.max().item() == 300
