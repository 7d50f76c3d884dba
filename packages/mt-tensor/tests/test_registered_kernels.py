"""`register_kernels`: kernels that other packages add to a backend."""

import sys
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import pytest

import mt_tensor as mt
from mt_tensor.backends.extending import NumpyOps
from mt_tensor.core import kernels
from mt_tensor.extending import FUSED, register_kernels


@mt.fused("negation_for_tests")
def negation(x: mt.Tensor) -> mt.Tensor:
    return -x


def negated(x: mt.Tensor) -> mt.Tensor:
    return mt.full_like(x, -7.0)  # unlike -x, to show that this kernel ran


KERNEL_MODULE = "mt_tensor.kernels.numpy"


class Finder:
    """An import finder that creates a module of kernels and records its import."""

    def __init__(self) -> None:
        self.imported: list[str] = []

    def find_spec(self, name: str, *_: object) -> object:
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, self) if name.startswith("kernels_for_tests") else None

    def create_module(self, spec: object) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        time.sleep(0.01)  # lets other threads look for the kernel meanwhile
        self.imported.append(module.__name__)
        module.KERNELS = {"negation_for_tests": negated}  # type: ignore[attr-defined]


@pytest.fixture
def finder(monkeypatch: pytest.MonkeyPatch) -> Finder:
    finder = Finder()
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    monkeypatch.setattr(kernels, "_modules", defaultdict(list, numpy=[KERNEL_MODULE]))
    monkeypatch.setattr(kernels, "_kernels", defaultdict(dict))
    monkeypatch.setitem(FUSED, "negation_for_tests", negation.__wrapped__)  # type: ignore[attr-defined]
    monkeypatch.delitem(sys.modules, "kernels_for_tests", raising=False)
    return finder


@pytest.mark.parametrize("backend", ["numpy", "simple"])
def test_kernel_module_is_imported_on_first_use(finder: Finder, backend: str) -> None:
    register_kernels(backend, "kernels_for_tests")
    x = mt.ones(3, backend=backend)
    if backend == "numpy":
        mt.softmax(x, 0)  # has a NumPy kernel
    assert finder.imported == []
    assert negation(x).tolist() == [-7.0] * 3
    assert negation(x).tolist() == [-7.0] * 3
    assert finder.imported == ["kernels_for_tests"]


def test_kernels_apply_to_subclasses_of_backend_and_no_other(finder: Finder) -> None:
    class Derived(NumpyOps):
        name = "derived"

    register_kernels("numpy", "kernels_for_tests")
    assert negation(mt.ones(3, backend="simple")).tolist() == [-1.0] * 3
    assert finder.imported == []
    assert Derived().kernel("negation_for_tests") is negated


def test_kernels_may_be_registered_for_missing_backend(finder: Finder) -> None:
    register_kernels("missing_backend", "kernels_for_tests")
    assert negation(mt.ones(3)).tolist() == [-1.0] * 3
    assert finder.imported == []


def test_threads_wait_for_import_of_kernels(finder: Finder) -> None:
    register_kernels("numpy", "kernels_for_tests")
    barrier = threading.Barrier(4)

    def call(_: int) -> list[float]:
        barrier.wait()
        result: list[float] = negation(mt.ones(1)).tolist()
        return result

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(call, range(4))) == [[-7.0]] * 4
    assert finder.imported == ["kernels_for_tests"]
