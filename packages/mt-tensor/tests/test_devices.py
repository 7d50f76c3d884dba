"""Devices: "cpu" and "cuda" as names of backends, moving tensors, and errors."""

import inspect

import pytest

import mt_tensor as mt
from mt_tensor.backends.extending import NumpyOps
from mt_tensor.core import registry
from mt_tensor.errors import UnknownBackendError


class ElsewhereOps(NumpyOps):
    """NumPy under the name of another device."""

    name = "elsewhere"
    device = "elsewhere"


@pytest.fixture
def elsewhere():
    mt.register_backend("elsewhere", ElsewhereOps)
    return mt.get_backend("elsewhere")


def test_cpu_device_is_the_current_backend():
    with mt.use_backend("simple"):
        assert mt.zeros(2, device="cpu").backend.name == "simple"
        assert mt.device("cpu").backend.name == "simple"
    assert mt.zeros(2, device=mt.device("cpu")).backend.name == "numpy"


def test_moving_to_cpu_keeps_backend_of_cpu_tensor():
    x = mt.ones(2, backend="simple")
    assert x.to("cpu") is x
    assert x.cpu() is x
    assert x.to(device=mt.device("cpu", 0), non_blocking=True) is x
    assert mt.as_tensor(x, device="cpu") is x
    assert mt.zeros_like(x, device="cpu").backend is x.backend
    assert x.new_zeros(3, device="cpu").backend is x.backend
    assert mt.tensor(x, device="cpu").backend is x.backend


def test_device_of_tensor_keeps_its_backend():
    x = mt.ones(2, backend="simple")
    assert mt.arange(3, device=x.device).backend is x.backend
    assert mt.ones(2).to(x.device).backend is x.backend
    assert mt.device(x.device).backend is x.backend
    assert x.device == mt.device("cpu")
    assert not x.is_cuda


def test_moving_to_another_device_and_back_is_differentiable(elsewhere):
    x = mt.ones(2, requires_grad=True)
    y = x.to("elsewhere", "float64")
    assert (y.backend, y.dtype, y.device.type) == (elsewhere, mt.float64, "elsewhere")
    assert y.device != x.device
    with mt.use_backend("simple"):
        assert y.cpu().backend.name == "simple"
    with mt.use_backend(elsewhere):
        assert y.cpu().backend.name == "numpy"
        assert mt.ones(1, device="cpu").backend.name == "numpy"
    y.cpu().sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_device_has_str_repr_hash_and_equality():
    assert str(mt.device("cpu")) == "cpu"
    assert str(mt.device("cpu:0")) == "cpu:0"
    assert repr(mt.device("cpu", index=0)) == "device(type='cpu', index=0)"
    assert {mt.device("cpu"), mt.device("cpu:0"), mt.ones(1).device} == {mt.device("cpu")}
    assert mt.device("cpu") != "cpu"


GPU = (
    "To install 'cuda': pip install 'mt-cuda[cu13]' (or mt-cuda[cu12] if the driver supports only "
    "CUDA 12)."
)


@pytest.mark.parametrize(
    ("call", "messages"),
    [
        (lambda: mt.ones(2).cuda(), ["'cuda'.", GPU]),
        (lambda: mt.ones(2).to("cuda"), ["'cuda'.", GPU]),
        (lambda: mt.ones(2, device="cuda:0"), ["'cuda'.", GPU]),
        (lambda: mt.get_backend("CUDA"), ["'CUDA'. Did you mean 'cuda'?", GPU]),
        (lambda: mt.use_backend("cud").__enter__(), ["'cud'. Did you mean 'cuda'?", GPU]),
        (lambda: mt.get_backend("fast"), ["'fast'.", "To install 'fast': pip install mt-fast."]),
        (
            lambda: mt.get_backend("Numpy"),
            ["'Numpy'. Did you mean 'numpy'?", "Install the package"],
        ),
    ],
)
def test_missing_backend_error_says_how_to_install_it(call, messages, monkeypatch):
    monkeypatch.setattr(registry, "installed", dict)
    monkeypatch.setattr(registry, "CREATED", {})
    with pytest.raises(UnknownBackendError) as error:
        call()
    first, second = messages
    assert f"no backend is called {first} Installed: " in str(error.value)
    assert second in str(error.value)
    assert mt.cuda.is_available() is False


def test_invalid_device_raises():
    with pytest.raises(UnknownBackendError, match="no backend is called 'mps'"):
        mt.ones(1).to("mps")
    with pytest.raises(UnknownBackendError, match=r"device\(\) takes index 0.*; 'cpu:1' was"):
        mt.device("cpu:1")
    with pytest.raises(UnknownBackendError, match=r"device\(\) takes index 0.*; 'cpu:first' was"):
        mt.device("cpu:first")
    for arguments in ((True,), ("cuda", True), ("cuda", 1.0)):
        with pytest.raises(TypeError, match="an integer as index"):
            mt.device(*arguments)
    with pytest.raises(UnknownBackendError, match="only the first device"):
        mt.ones(1, device=mt.device(3))
    with pytest.raises(TypeError, match="not both"):
        mt.ones(1, backend="numpy", device="cpu")
    with pytest.raises(TypeError, match="backend or device twice"):
        mt.ones(1).to("cpu", backend="numpy")


@pytest.mark.parametrize("name", ["cuda", "cuda:0", "cuda:1", "mps", "meta", "xpu"])
def test_device_can_name_missing_hardware(name):
    device = mt.device(name)
    device_type, _, index = name.partition(":")
    assert (str(device), device.type, device.index) == (
        name,
        device_type,
        int(index) if index else None,
    )
    assert device == mt.device(device) == mt.device(device_type, device.index)
    assert device != mt.device("cpu")
    assert mt.ones(1).device != device


FACTORIES = [
    lambda **options: mt.tensor([1.0], **options),
    lambda **options: mt.as_tensor([1.0], **options),
    lambda **options: mt.empty(2, **options),
    lambda **options: mt.full((2,), 1.0, **options),
    lambda **options: mt.zeros(2, **options),
    lambda **options: mt.ones(2, **options),
    lambda **options: mt.arange(2, **options),
    lambda **options: mt.linspace(0, 1, 2, **options),
    lambda **options: mt.logspace(0, 1, 2, **options),
    lambda **options: mt.eye(2, **options),
    lambda **options: mt.tril_indices(2, 2, **options),
    lambda **options: mt.triu_indices(2, 2, **options),
    lambda **options: mt.rand(2, **options),
    lambda **options: mt.randint(3, (2,), **options),
    lambda **options: mt.randperm(2, **options),
    lambda **options: mt.randn(2, **options),
    lambda **options: mt.normal(0.0, 1.0, (2,), **options),
    lambda **options: mt.ones_like(mt.ones(2), **options),
    lambda **options: mt.full_like(mt.ones(2), 3, **options),
    lambda **options: mt.rand_like(mt.ones(2), **options),
    lambda **options: mt.ones(2).new_tensor([1.0], **options),
]


@pytest.mark.parametrize("make", FACTORIES)
def test_factory_functions_take_a_device(make):
    assert make(device="simple").backend.name == "simple"
    assert make(device=mt.device("simple")).backend.name == "simple"


def test_every_factory_function_is_tested_above():
    factories = {
        name
        for name in mt.__all__
        if inspect.isfunction(getattr(mt, name))
        and {"backend", "options"} & set(inspect.signature(getattr(mt, name)).parameters)
    } - {"from_numpy", "from_dlpack", "printoptions"}
    source = inspect.getsource(inspect.getmodule(test_every_factory_function_is_tested_above))
    like = {name for name in factories if name.endswith("_like")}
    assert {name for name in factories - like if f"mt.{name}(" not in source} == set()


def test_cuda_is_available_only_with_its_backend():
    try:
        mt.get_backend("cuda")
    except mt.errors.BackendError:
        assert not mt.cuda.is_available()
        assert mt.cuda.device_count() == 0
        for needs_one in (mt.ones(1).cuda, mt.cuda.synchronize, mt.cuda.current_device):
            with pytest.raises(mt.errors.BackendError):
                needs_one()
    else:
        assert mt.cuda.is_available()
        assert mt.ones(1).cuda().is_cuda
        mt.cuda.synchronize()
    mt.cuda.empty_cache()
    mt.cuda.synchronize("cpu")
