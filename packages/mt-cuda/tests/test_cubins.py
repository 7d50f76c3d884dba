"""Cubins: compiled by NVRTC, cached on disk, loaded by the driver."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

import mt_cuda
from mt_cuda.core.elements import operand
from mt_cuda.core.errors import KernelError
from mt_cuda.core.kernel import Parameter, define, numbers
from mt_cuda.cubins import cache, nvrtc
from mt_tensor import float32

HOPPER, AMPERE = (9, 0), (8, 0)


def kernel(name="one", number=1):
    parameters = [*numbers("n"), *operand("y", float32)]
    return define(name, parameters, [f"y[y_at] = float32(n + {number})"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the empty folder of the disk cache, as in a new process."""
    monkeypatch.setenv(cache.FOLDER.variable, str(tmp_path / "cubins"))
    return tmp_path / "cubins"


@pytest.fixture
def compiled(monkeypatch):
    """Return the names of the kernels that a mock compiler has compiled."""
    names = []

    def mock_compile(kernel, capability):
        names.append(kernel.name)
        return f"{kernel.source} for {capability}".encode()

    monkeypatch.setattr(nvrtc, "cubin", mock_compile)
    return names


def test_nvrtc_compiles_for_each_compute_capability(folder):
    codes = {capability: cache.cubin(kernel(), capability) for capability in (HOPPER, AMPERE)}
    for capability, code in codes.items():
        assert code[:4] == b"\x7fELF"
        assert b"one" in code
        assert cache.cubin(kernel(), capability) == code
    assert codes[HOPPER] != codes[AMPERE]
    assert len(list(folder.iterdir())) == 2


def test_compile_cubin_accepts_operator_name():
    code = mt_cuda.compile_cubin("neg", dtype="float64", layout="strided", capability=AMPERE)
    assert code[:4] == b"\x7fELF"
    assert b"neg_float64" in code
    with pytest.raises(KernelError, match="has no gradient"):
        mt_cuda.compile_cubin("eq", gradient=True)


def test_cached_kernel_is_not_compiled_again(folder, compiled):
    first = cache.cubin(kernel(), HOPPER)
    assert cache.cubin(kernel(), HOPPER) == first
    assert compiled == ["one"]
    (file,) = folder.iterdir()
    assert file.name.startswith("one-")


@pytest.mark.parametrize("changed_input", ["text", "parameters", "capability", "version", "C"])
def test_cache_file_name_depends_on_every_compiler_input(
    folder, compiled, monkeypatch, changed_input
):
    cache.cubin(kernel(), HOPPER)
    if changed_input == "version":
        monkeypatch.setattr(nvrtc, "version", lambda: (13, 99))
    if changed_input == "C":
        monkeypatch.setattr(cache, "_meaning", lambda: b"another translation")
    changed = kernel(number=2) if changed_input == "text" else kernel()
    if changed_input == "parameters":
        changed = replace(changed, parameters=(Parameter("n", "int32"), *changed.parameters[1:]))
    cache.cubin(changed, AMPERE if changed_input == "capability" else HOPPER)
    assert compiled == ["one", "one"]
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("damage", ["empty", "short", "one bit"])
def test_damaged_cache_file_is_recompiled_and_replaced(folder, compiled, damage):
    code = cache.cubin(kernel(), HOPPER)
    (file,) = folder.iterdir()
    data = file.read_bytes()
    flipped = bytearray(data)
    flipped[-1] ^= 1
    file.write_bytes({"empty": b"", "short": data[:20], "one bit": bytes(flipped)}[damage])
    for _ in range(2):
        assert cache.cubin(kernel(), HOPPER) == code
    assert compiled == ["one", "one"]


def test_nothing_is_cached_if_disabled_or_not_writable(tmp_path, compiled, monkeypatch):
    (tmp_path / "file").touch()
    for setting in ("off", str(tmp_path / "file" / "folder")):
        monkeypatch.setenv(cache.FOLDER.variable, setting)
        cache.cubin(kernel(), HOPPER)
    assert compiled == ["one", "one"]
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owner on this platform")
def test_cache_writable_by_others_is_ignored_with_warning(folder, compiled):
    cache.cubin(kernel(), HOPPER)
    folder.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="set MT_CUDA_CACHE to a folder of your own"):
        cache.cubin(kernel(), HOPPER)
    assert compiled == ["one", "one"]


def test_load_passes_cubin_to_driver(make_mock_gpu):
    machine, gpu = make_mock_gpu("cubin")
    loaded = machine.load(kernel("mine"))
    assert gpu.loaded["mine"] == b"cubin"
    memory = machine.allocate(1, float32)
    machine.launch(loaded, (1, 1), 1, (4,), (memory, 0))
    assert machine.download(memory, 1)[0] == 5


def test_compiler_error_names_the_kernel(folder, monkeypatch):
    monkeypatch.setattr(nvrtc, "PRELUDE", nvrtc.PRELUDE + "#error the prelude is wrong\n")
    with pytest.raises(
        KernelError, match=r"(?s)kernel one does not compile .*the prelude is wrong"
    ):
        cache.cubin(kernel(), HOPPER)
    assert not folder.exists()


def test_unsupported_gpu_raises_with_advice(folder):
    with pytest.raises(
        KernelError, match=r"does not support GPUs .* 99\.9\. .*pip install 'mt-cuda"
    ):
        cache.cubin(kernel(), (99, 9))


MISSING = """
import sys
sys.modules["{module}"] = None
from mt_cuda.core.errors import KernelError
from mt_cuda.core.elements import operand
from mt_cuda.core.kernel import define
from mt_cuda.cubins import cache
from mt_tensor import float32
try:
    cache.cubin(define("one", operand("y", float32), ["y[y_at] = float32(1)"]), (9, 0))
except KernelError as error:
    print(error)
"""


@pytest.mark.parametrize("module", ["cuda", "cuda.bindings.nvrtc"])
def test_missing_nvrtc_raises_with_advice(module):
    code = MISSING.format(module=module)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "compiled by NVRTC, which is missing" in run.stdout
    assert "pip install 'mt-cuda[cu13]'" in run.stdout


# --- On a GPU -----------------------------------------------------------------------------------


STEP = """
import sys
import mt_tensor as mt
from mt_cuda.cubins import nvrtc
compiled, compiles = [], nvrtc.cubin
nvrtc.cubin = lambda kernel, capability: compiled.append(kernel) or compiles(kernel, capability)
x = mt.rand(64, 784, backend="cuda")
w = mt.rand(784, 10, backend="cuda", requires_grad=True)
loss = (x @ w).tanh().square().mean()
loss.backward()
w.grad.sum().item()
print(len(compiled))
"""


@pytest.mark.gpu
def test_second_process_loads_every_kernel_from_cache(cubin_ops, tmp_path):
    compiled = [
        subprocess.run(
            [sys.executable, "-c", STEP],
            env={**os.environ, "MT_CUDA_CACHE": str(tmp_path / "cubins")},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert int(compiled[0]) > 5
    assert int(compiled[1]) == 0
