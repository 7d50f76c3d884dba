"""Devices: programs that name only "cpu" and "cuda" run on the backend that was chosen."""

import inspect

import pytest

import mt_tensor as mt
from mt_tensor.backends.extending import NumpyOps
from mt_tensor.core import registry
from mt_tensor.errors import UnknownBackendError


class ElsewhereOps(NumpyOps):
    """NumPy, which says that its elements are on another device."""

    name = "elsewhere"
    device = "elsewhere"


@pytest.fixture
def elsewhere():
    mt.register_backend("elsewhere", ElsewhereOps)
    return mt.get_backend("elsewhere")


def test_cpu_is_the_current_backend():
    with mt.use_backend("simple"):
        assert mt.zeros(2, device="cpu").backend.name == "simple"
        assert mt.device("cpu").backend.name == "simple"
    assert mt.zeros(2, device=mt.device("cpu")).backend.name == "numpy"


def test_what_is_on_the_cpu_stays_where_it_is():
    x = mt.ones(2, backend="simple")
    assert x.to("cpu") is x
    assert x.cpu() is x
    assert x.to(device=mt.device("cpu", 0), non_blocking=True) is x
    assert mt.as_tensor(x, device="cpu") is x
    assert mt.zeros_like(x, device="cpu").backend is x.backend
    assert x.new_zeros(3, device="cpu").backend is x.backend
    assert mt.tensor(x, device="cpu").backend is x.backend


def test_a_device_of_a_tensor_remembers_the_backend():
    x = mt.ones(2, backend="simple")
    assert mt.arange(3, device=x.device).backend is x.backend
    assert mt.ones(2).to(x.device).backend is x.backend
    assert mt.device(x.device).backend is x.backend
    assert x.device == mt.device("cpu")
    assert not x.is_cuda


def test_moving_to_another_device_and_back(elsewhere):
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


def test_what_a_device_shows():
    assert str(mt.device("cpu")) == "cpu"
    assert str(mt.device("cpu:0")) == "cpu:0"
    assert repr(mt.device("cpu", index=0)) == "device(type='cpu', index=0)"
    assert {mt.device("cpu"), mt.device("cpu:0"), mt.ones(1).device} == {mt.device("cpu")}
    assert mt.device("cpu") != "cpu"


GPU = (
    "To install 'cuda': pip install 'mt-cuda[cu13]' (or [cu12], by the CUDA version of the driver)."
)


@pytest.mark.parametrize(
    ("asked", "says"),
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
def test_what_is_not_installed_says_how_to_install_it(asked, says, monkeypatch):
    monkeypatch.setattr(registry, "installed", dict)
    monkeypatch.setattr(registry, "CREATED", {})
    with pytest.raises(UnknownBackendError) as error:
        asked()
    first, second = says
    assert f"no backend is called {first} Installed: " in str(error.value)
    assert second in str(error.value)
    assert mt.cuda.is_available() is False


def test_what_is_no_device_is_refused():
    with pytest.raises(UnknownBackendError, match="no backend is called 'mps'"):
        mt.ones(1).to("mps")
    with pytest.raises(UnknownBackendError, match="index of a device must be 0"):
        mt.device("cpu:1")
    with pytest.raises(UnknownBackendError, match="index of a device must be 0"):
        mt.device("cpu:first")
    with pytest.raises(UnknownBackendError, match="only the first device"):
        mt.ones(1, device=mt.device(3))
    with pytest.raises(TypeError, match="not both"):
        mt.ones(1, backend="numpy", device="cpu")
    with pytest.raises(TypeError, match="backend or device twice"):
        mt.ones(1).to("cpu", backend="numpy")


@pytest.mark.parametrize("name", ["cuda", "cuda:0", "cuda:1", "mps", "meta", "xpu"])
def test_devices_can_be_named_where_they_do_not_exist(name):
    device = mt.device(name)
    kind, _, index = name.partition(":")
    assert (str(device), device.type, device.index) == (name, kind, int(index) if index else None)
    assert device == mt.device(device) == mt.device(kind, device.index)
    assert device != mt.device("cpu")
    assert mt.ones(1).device != device


MAKERS = [
    lambda **place: mt.tensor([1.0], **place),
    lambda **place: mt.as_tensor([1.0], **place),
    lambda **place: mt.empty(2, **place),
    lambda **place: mt.full((2,), 1.0, **place),
    lambda **place: mt.zeros(2, **place),
    lambda **place: mt.ones(2, **place),
    lambda **place: mt.arange(2, **place),
    lambda **place: mt.linspace(0, 1, 2, **place),
    lambda **place: mt.logspace(0, 1, 2, **place),
    lambda **place: mt.eye(2, **place),
    lambda **place: mt.tril_indices(2, 2, **place),
    lambda **place: mt.triu_indices(2, 2, **place),
    lambda **place: mt.rand(2, **place),
    lambda **place: mt.uniform(0, 1, (2,), **place),
    lambda **place: mt.randint(3, (2,), **place),
    lambda **place: mt.randperm(2, **place),
    lambda **place: mt.randn(2, **place),
    lambda **place: mt.normal(0.0, 1.0, (2,), **place),
    lambda **place: mt.ones_like(mt.ones(2), **place),
    lambda **place: mt.full_like(mt.ones(2), 3, **place),
    lambda **place: mt.rand_like(mt.ones(2), **place),
    lambda **place: mt.ones(2).new_tensor([1.0], **place),
]


@pytest.mark.parametrize("make", MAKERS)
def test_whatever_makes_a_tensor_takes_a_device(make):
    assert make(device="simple").backend.name == "simple"
    assert make(device=mt.device("simple")).backend.name == "simple"


def test_no_maker_is_missing_above():
    takes = {
        name
        for name in mt.__all__
        if inspect.isfunction(getattr(mt, name))
        and {"backend", "options"} & set(inspect.signature(getattr(mt, name)).parameters)
    } - {"from_numpy", "from_dlpack", "printoptions"}
    source = inspect.getsource(inspect.getmodule(test_no_maker_is_missing_above))
    like = {name for name in takes if name.endswith("_like")}
    assert {name for name in takes - like if f"mt.{name}(" not in source} == set()


def test_the_gpu_is_available_only_if_its_backend_is():
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
