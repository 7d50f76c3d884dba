"""Kernel cache on disk: loading, processes, damaged files, permissions, settings."""

import hashlib
import os
import pickle
import re
import stat
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mt_fast import cache_folder
from mt_fast.cache import folder as folders
from mt_fast.cache import kernels as cache
from mt_fast.core.kernel import Kernel, defined
from mt_fast.core.lowering import NAMESPACE
from mt_fast.core.source import Source

TEXT = """\
def halves(lo, hi, x_data, out_data):
    for i in range(lo, hi):
        out_data[i] = x_data[i] * {factor}
"""


def _kernel(factor: float = 0.5) -> Kernel:
    """Return a kernel that has not been compiled in this process."""
    text = TEXT.format(factor=factor)
    source = Source("halves", text, ("x_data", "out_data"))
    return Kernel(source, defined("halves", text, dict(NAMESPACE)))


def _run(kernel: Kernel, parallel: bool = False, dtype: Any = "f4") -> list[float]:
    x = np.arange(4, dtype=dtype)
    out = np.empty_like(x)
    kernel.run(4, parallel, x, out)
    result: list[float] = out.tolist()
    return result


def _hits(kernel: Kernel) -> int:
    return sum(kernel.serial.stats.cache_hits.values())  # type: ignore[attr-defined]


def _signatures(kernel: Kernel) -> Any:
    return kernel.serial.signatures  # type: ignore[attr-defined]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    chosen = tmp_path / "a new" / "folder"
    monkeypatch.setenv(cache.FOLDER.variable, str(chosen))
    return chosen


HALVES = [0.0, 0.5, 1.0, 1.5]


def test_kernel_is_loaded_from_cache_in_second_run(folder: Path) -> None:
    for hits in (0, 1):
        kernel = _kernel()
        assert _run(kernel) == HALVES
        assert _hits(kernel) == hits
    assert sorted(path.suffix for path in folder.iterdir()) == [".nbc", ".py"]
    (text,) = folder.glob("*.py")
    assert text.read_text().strip() == TEXT.format(factor=0.5).strip()


def test_sources_dtypes_and_options_have_separate_files(folder: Path) -> None:
    assert _run(_kernel()) == HALVES
    for kernel, dtype in ((_kernel(0.25), "f4"), (_kernel(), "f8")):
        assert _run(kernel, dtype=dtype)[3] == 3 * (0.25 if dtype == "f4" else 0.5)
        assert _hits(kernel) == 0
    assert len(list(folder.glob("*.nbc"))) == 3
    for options in ({}, {"fastmath": True}):
        cache.KernelCache("f", [""], repr(options))
    stems = {cache.KernelCache("f", [""], repr(o))._stem() for o in ({}, {"fastmath": True})}
    assert len(stems) == 2


def test_parallel_function_is_cached(folder: Path) -> None:
    for _ in range(2):
        kernel = _kernel()
        assert _run(kernel, parallel=True) == HALVES
    parallel: Any = kernel.parallel
    assert sum(parallel.stats.cache_hits.values()) == 1


def test_parallel_function_is_compiled_for_each_dtype(folder: Path) -> None:
    kernel = _kernel()
    for dtype in ("f4", "f8", "f4", "f8"):
        assert _run(kernel, parallel=True, dtype=dtype) == HALVES
    types = [signature[2].dtype.name for signature in _signatures(kernel)]
    assert types == ["float32", "float64"]


def test_version_change_invalidates_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _run(_kernel()) == HALVES
    monkeypatch.setattr(cache, "_meaning", lambda: b"another version")
    kernel = _kernel()
    assert _run(kernel) == HALVES
    assert _hits(kernel) == 0


def _halves(lo, hi, x_data, out_data):  # type: ignore[no-untyped-def]
    for i in range(lo, hi):
        out_data[i] = x_data[i] * FACTOR


FACTOR = 0.5


def test_functions_of_other_packages_are_not_cached(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source of such a function does not determine the values of its global variables."""
    assert _run(Kernel.of(_halves)) == HALVES
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 2.0)
    assert _run(Kernel.of(_halves)) == [0.0, 2.0, 4.0, 6.0]
    assert not folder.exists()


def test_same_source_in_two_modules_is_compiled_for_each(folder: Path) -> None:
    text = TEXT.format(factor="factor")
    source = Source("halves", text, ("x_data", "out_data"))
    for factor in (0.5, 2.0):
        names = {"__name__": f"mt_fast.times_{factor}", "factor": factor}
        exec(text, names)
        kernel = Kernel(source, names["halves"])  # type: ignore[arg-type]
        assert _run(kernel)[3] == 3 * factor
        assert _hits(kernel) == 0


def test_package_does_not_import_its_examples() -> None:
    package = Path(cache.__file__).parents[1]
    assert all((package / name).exists() for name in cache.UNRELATED)
    for module in package.rglob("*.py"):
        if module.relative_to(package).parts[0] not in cache.UNRELATED:
            used = re.search(r"mt_fast(\.| import .*)examples", module.read_text())
            assert used is None, module


@pytest.mark.parametrize("damage", ["empty", "short", "one bit", "text"])
def test_damaged_file_is_compiled_again_and_replaced(folder: Path, damage: str) -> None:
    assert _run(_kernel()) == HALVES
    (file,) = folder.glob("*.nbc")
    data = file.read_bytes()
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 1
    damaged = {"empty": b"", "short": data[:100], "one bit": bytes(flipped), "text": b"hello"}
    file.write_bytes(damaged[damage])
    kernel = _kernel()
    assert _run(kernel) == HALVES
    assert _hits(kernel) == 0
    assert file.read_bytes() == data or len(file.read_bytes()) > 1000
    again = _kernel()
    assert _run(again) == HALVES
    assert _hits(again) == 1


@pytest.mark.parametrize(
    "content",
    [b"", b"no pickle", b"(lp0\n.", pickle.dumps(("a", "b"))],
    ids=["empty", "no pickle", "truncated pickle", "pickle of another object"],
)
def test_file_without_a_kernel_is_compiled_again_and_replaced(folder: Path, content: bytes) -> None:
    assert _run(_kernel()) == HALVES
    (file,) = folder.glob("*.nbc")
    file.write_bytes(hashlib.sha256(content).digest() + content)
    kernel = _kernel()
    assert _run(kernel) == HALVES
    assert _hits(kernel) == 0
    again = _kernel()
    assert _run(again) == HALVES
    assert _hits(again) == 1


class Payload:
    """An object that fails the test when it is unpickled."""

    def __reduce__(self) -> Any:
        return pytest.fail, ("unpickled a file of another user",)


def _plant_payload(file: Path) -> None:
    payload = pickle.dumps(Payload())
    file.write_bytes(hashlib.sha256(payload).digest() + payload)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owner on this platform")
@pytest.mark.parametrize("who", ["group", "all", "owner"])
@pytest.mark.parametrize("what", ["folder", "file"])
def test_files_that_others_could_write_are_not_loaded(
    folder: Path, monkeypatch: pytest.MonkeyPatch, who: str, what: str
) -> None:
    assert _run(_kernel()) == HALVES
    (file,) = folder.glob("*.nbc")
    _plant_payload(file)
    target = folder if what == "folder" else file
    if who == "owner":
        status = target.stat
        fstat = os.fstat

        def fstat_of_another_user(number: Any) -> Any:
            result = fstat(number)
            if (result.st_ino, result.st_dev) == (status().st_ino, status().st_dev):
                return os.stat_result([*result[:4], os.geteuid() + 1, *result[5:]])
            return result

        monkeypatch.setattr(folders.private.os, "fstat", fstat_of_another_user)
    else:
        target.chmod(target.stat().st_mode | (stat.S_IWGRP if who == "group" else stat.S_IWOTH))
    reason = "belongs to the user" if who == "owner" else "others may write to it"
    with pytest.warns(RuntimeWarning, match=f"{target} is not used.*{reason}.*chmod go-w"):
        assert _run(_kernel()) == HALVES
    if what == "folder" and who != "owner":  # nothing is stored there either
        assert _run(_kernel(0.25))[3] == 0.75
        assert len(list(folder.glob("*.nbc"))) == 1


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="O_NOFOLLOW is not available")
def test_symlinks_and_pipes_are_not_read(folder: Path, tmp_path: Path) -> None:
    assert _run(_kernel()) == HALVES
    (file,) = folder.glob("*.nbc")
    elsewhere = tmp_path / "elsewhere"
    _plant_payload(elsewhere)
    file.unlink()
    file.symlink_to(elsewhere)
    assert _run(_kernel()) == HALVES
    assert not file.is_symlink()  # replaced by a file
    file.unlink()
    os.mkfifo(file)
    assert _run(_kernel()) == HALVES
    assert file.is_file()


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("MT_FAST_CACHE", "~nosuchuser/kernels", ".*is not a folder: the user does not exist"),
        ("NUMBA_DISABLE_JIT", "1", "NUMBA_DISABLE_JIT is set, so Numba does not compile: unset it"),
    ],
)
def test_invalid_environment_variable_raises_error_with_advice(
    variable: str, value: str, message: str
) -> None:
    completed = subprocess.run(
        [sys.executable, "-c", "import mt_tensor; mt_tensor.ones(2, backend='fast')"],
        env={**os.environ, variable: value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.search(f"BackendUnavailableError: {message}", completed.stderr)


def test_full_disk_does_not_raise(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        assert _run(_kernel()) == HALVES
    assert list(folder.iterdir()) == []  # no incomplete file remains


def test_folder_that_cannot_be_created_does_not_raise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a file"
    file.write_text("not a folder")
    monkeypatch.setenv(cache.FOLDER.variable, str(file / "folder"))
    assert _run(_kernel()) == HALVES
    assert file.read_text() == "not a folder"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder_does_not_raise(folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o500)
    assert _run(_kernel()) == HALVES
    assert list(folder.iterdir()) == []


def test_cache_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.FOLDER.variable, "off")
    assert cache_folder() is None
    kernel = _kernel()
    assert _run(kernel) == HALVES
    assert _hits(kernel) == 0


def test_cache_folder_follows_environment_variables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(cache.FOLDER.variable, "~/kernels")
    assert cache_folder() == Path.home() / "kernels"
    monkeypatch.delenv(cache.FOLDER.variable)
    folders.among_caches.cache_clear()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    result = cache_folder()
    folders.among_caches.cache_clear()
    assert result is not None
    assert result.name == "mt-fast"


PROGRAM = textwrap.dedent(
    """
    import mt_tensor as mt
    x = mt.arange(6, dtype="float32", backend="fast", requires_grad=True)
    y = x.tanh().reshape(2, 3).sum(0)
    y.square().sum().backward()
    mt.rand(3, 70000, backend="fast").exp().sum()
    print([round(v, 5) for v in y.tolist() + x.grad.tolist()])
    """
)


SAME_NAME_PROGRAM = """
import sys
import numpy as np
from mt_fast.core.kernel import Kernel
from mt_fast.core.source import Source
from mt_fast.core import kernel

def make_kernel(factor):
    text = f"def scaled(lo, hi, x):\\n    for i in range(lo, hi):\\n        x[i] *= {factor}\\n"
    return Kernel(Source("scaled", text, ("x",)), kernel.defined("scaled", text, {}))

kernels = {float(factor): make_kernel(factor) for factor in sys.argv[1:]}
for parallel in (False, True):
    for factor, scaled in kernels.items():
        x = np.ones(9, np.float32)
        scaled.run(9, parallel, x)
        print(x.tolist() == [factor] * 9)
"""


@pytest.mark.slow
def test_kernels_of_same_name_from_several_processes_stay_distinct(folder: Path) -> None:
    for factors in (["2"], ["3"], ["2", "3"], ["3", "2"]):
        completed = subprocess.run(
            [sys.executable, "-c", SAME_NAME_PROGRAM, *factors],
            env={**os.environ, "NUMBA_NUM_THREADS": "2"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert completed.stdout == "True\n" * 2 * len(factors), factors


@pytest.mark.slow
def test_processes_share_compiled_kernels(folder: Path) -> None:
    """Two processes start at once, a third one later, and a fourth runs without a cache."""

    def run_program(_: int, **environment: str) -> str:
        completed = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        return completed.stdout

    with ThreadPoolExecutor(2) as pool:
        first = list(pool.map(run_program, range(2)))
    files = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert len(files) > 4
    third = run_program(2)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == files
    assert len({*first, third, run_program(3, MT_FAST_CACHE="off")}) == 1
