"""Kernels that other packages give to a backend."""

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
    return mt.full_like(x, -7.0)  # which shows that it was this


OWN = "mt_tensor.kernels.numpy"


class Finder:
    """Finds a module of kernels, and notes when it is imported."""

    def __init__(self) -> None:
        self.imported: list[str] = []

    def find_spec(self, name: str, *_: object) -> object:
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, self) if name.startswith("kernels_for_tests") else None

    def create_module(self, spec: object) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        time.sleep(0.01)  # in which another thread may ask
        self.imported.append(module.__name__)
        module.KERNELS = {"negation_for_tests": negated}  # type: ignore[attr-defined]


@pytest.fixture
def finder(monkeypatch: pytest.MonkeyPatch) -> Finder:
    finder = Finder()
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    monkeypatch.setattr(kernels, "_modules", defaultdict(list, numpy=[OWN]))
    monkeypatch.setattr(kernels, "_kernels", defaultdict(dict))
    monkeypatch.setitem(FUSED, "negation_for_tests", negation.__wrapped__)  # type: ignore[attr-defined]
    monkeypatch.delitem(sys.modules, "kernels_for_tests", raising=False)
    return finder


@pytest.mark.parametrize("backend", ["numpy", "simple"])
def test_they_are_imported_when_one_is_needed(finder: Finder, backend: str) -> None:
    register_kernels(backend, "kernels_for_tests")
    x = mt.ones(3, backend=backend)
    if backend == "numpy":
        mt.softmax(x, 0)  # which has one there
    assert finder.imported == []
    assert negation(x).tolist() == [-7.0] * 3
    assert negation(x).tolist() == [-7.0] * 3
    assert finder.imported == ["kernels_for_tests"]


def test_they_are_for_backends_made_of_that_one_and_for_no_other(finder: Finder) -> None:
    class Derived(NumpyOps):
        name = "derived"

    register_kernels("numpy", "kernels_for_tests")
    assert negation(mt.ones(3, backend="simple")).tolist() == [-1.0] * 3
    assert finder.imported == []
    assert Derived().kernel("negation_for_tests") is negated


def test_a_backend_need_not_be_there(finder: Finder) -> None:
    register_kernels("of_another_machine", "kernels_for_tests")
    assert negation(mt.ones(3)).tolist() == [-1.0] * 3
    assert finder.imported == []


def test_threads_wait_for_them(finder: Finder) -> None:
    register_kernels("numpy", "kernels_for_tests")
    together = threading.Barrier(4)

    def ask(_: int) -> list[float]:
        together.wait()
        result: list[float] = negation(mt.ones(1)).tolist()
        return result

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(4))) == [[-7.0]] * 4
    assert finder.imported == ["kernels_for_tests"]
