"""The doctor finds each problem, reports a fix, and fails; and the fix works."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from mt.doctor import backends, cache, gpu, packages, processors, settings
from mt.doctor.command import lines
from mt.doctor.findings import Finding
from mt.workspace import ROOT, Stage, Workspace

WORKSPACE = Workspace.read()

SET = [name for name in os.environ if name.startswith(("MT_", "NUMBA_", "OMP_"))]


def examine(environment: dict[str, str]) -> tuple[int, str]:
    """Run the command in a separate process; return its status and output."""
    done = subprocess.run(
        [sys.executable, "-m", "mt", "doctor"],
        cwd=ROOT / "tools",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def apply_fix(environment: dict[str, str], fix: str) -> dict[str, str]:
    """Return the environment variables after running a shell command."""
    printed = subprocess.run(
        ["bash", "-c", f"{fix}; env -0"], env=environment, capture_output=True, check=True
    ).stdout
    pairs = (pair.split("=", 1) for pair in printed.decode().split("\0") if "=" in pair)
    return {name: value for name, value in pairs}  # noqa: C416 - the pairs are lists


def problems(findings: Iterator[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.state != "fine"]


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SET:
        if name != "MT_FAST_CACHE":
            monkeypatch.delenv(name)


# --- The command ----------------------------------------------------------------------------------


def test_doctor_exits_with_status_0_in_this_environment() -> None:
    status, printed = examine({**os.environ})
    assert status == 0, printed
    for subject in ("Python", "mt-operators", "mt-nn", "numpy", "backend numpy", "vectors"):
        assert re.search(f"^fine   {subject} ", printed, re.MULTILINE)


def test_doctor_exits_with_status_1_and_its_fixes_remove_the_faults() -> None:
    faults = {
        "MT_BACKEND": "unknown",
        "NUMBA_DISABLE_JIT": "1",
        "MT_FAST_CACHE": "/dev/null/folder",
    }
    environment = {**os.environ, **faults}
    status, printed = examine(environment)
    assert status == 1
    for fix in re.findall(r"^fault \S.*?: (unset .*)$", printed, re.MULTILINE):
        environment = apply_fix(environment, fix)
    assert not faults.keys() & environment.keys()


def test_findings_with_the_same_fix_are_grouped() -> None:
    findings = [
        Finding("a", "fine", "is well"),
        Finding("b", "fault", "fails", "rest"),
        Finding("c", "fault", "fails too", "rest"),
    ]
    assert lines(findings) == [
        "fine   a  is well",
        "fault  b  fails",
        "fault  c  fails too",
        "\nfault b, c: rest",
    ]


# --- Settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "state"),
    [
        ("MT_CUDA_SIM", "off", "note"),
        ("MT_FORBID_SKIPS", "1", "note"),
        ("MT_BACKENDS", "fast", "note"),
        ("MT_SOMETHING_ELSE", "1", "note"),
        ("NUMBA_DISABLE_JIT", "1", "fault"),
        ("NUMBA_OPT", "0", "note"),
        ("NUMBA_CPU_NAME", "generic", "note"),
        ("NUMBA_ENABLE_CUDASIM", "1", "fault"),
        ("NUMBA_NUM_THREADS", "0", "fault"),
        ("OMP_NUM_THREADS", "two", "fault"),
        ("OMP_NUM_THREADS", "1000", "note"),
    ],
)
def test_harmful_environment_variable_is_reported_with_a_fix(
    name: str, value: str, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert problems(settings.check_settings()) == []
    monkeypatch.setenv(name, value)
    (finding,) = settings.check_settings()
    assert finding.state == state
    assert name in finding.text
    assert name not in apply_fix(dict(os.environ), finding.fix)


@pytest.mark.parametrize("name", settings.OURS)
def test_environment_variable_with_default_value_is_not_reported(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "0")
    assert list(settings.check_settings()) == []


def test_settings_list_every_environment_variable_in_the_source() -> None:
    patterns = ("packages/*/src/**/*.py", "tools/mt/**/*.py", "conftest.py")
    sources = {file for pattern in patterns for file in ROOT.glob(pattern)}
    sources.remove(Path(settings.__file__))
    read = {
        name for file in sources for name in re.findall(r'"(MT_[A-Z_]+)"', file.read_text("utf-8"))
    }
    assert read == set(settings.OURS)


# --- Packages -------------------------------------------------------------------------------------


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> dict[str, str | None]:
    """Fake versions, by distribution."""
    pretended: dict[str, str | None] = {}
    known = metadata.version

    def version(name: str) -> str:
        found = pretended[name] if name in pretended else known(name)
        if found is None:
            raise metadata.PackageNotFoundError(name)
        return found

    monkeypatch.setattr(metadata, "version", version)
    return pretended


def test_missing_stage_is_a_note_and_a_fault_of_its_dependents(
    versions: dict[str, str | None],
) -> None:
    versions["mt-fast"] = None
    found = {finding.subject: finding for finding in problems(packages.check_stages(WORKSPACE))}
    assert found["mt-fast"].state == "note"
    assert found["mt-fast"].fix == packages.install("-e", "packages/mt-fast")
    assert found["mt-cuda"].state == "fault"
    assert "needs mt-fast<0.2,>=0.1; none is installed" in found["mt-cuda"].text


@pytest.mark.parametrize(
    ("name", "version", "subjects"),
    [
        ("numpy", "1.26.4", {"mt-tensor"}),
        ("numba", "0.61.0", {"mt-fast"}),
        ("mt-tensor", "0.3.0", {"mt-fast", "mt-nn"}),
    ],
)
def test_unsupported_version_of_a_dependency_is_a_fault(
    name: str, version: str, subjects: set[str], versions: dict[str, str | None]
) -> None:
    versions[name] = version
    found = {f.subject: f for f in packages.check_stages(WORKSPACE) if "needs" in f.text}
    assert set(found) == subjects
    assert all(f"{version} is installed" in finding.text for finding in found.values())


@pytest.mark.parametrize(
    ("version", "state"), [((3, 10), "fault"), ((3, 11), "fine"), ((3, 99), "fault")]
)
def test_python_version_outside_the_range_is_a_fault(
    version: tuple[int, int], state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", version)
    (finding,) = packages.check_python(WORKSPACE)
    assert finding.state == state
    assert state == "fine" or "Python 3.11, 3.12, 3.13" in finding.fix


def stage(folder: Path, plugin: str) -> Stage:
    """Create a source of mt-nn with another backend."""
    (folder / "packages" / "mt-nn" / "src" / "mt_nn").mkdir(parents=True)
    (folder / "packages" / "mt-nn" / "pyproject.toml").write_text(
        '[project]\nname = "mt-nn"\nclassifiers = ["Programming Language :: Python :: 3.11"]\n'
        f'entry-points."mt_tensor.backends".{plugin} = "mt_nn:create"\n'
    )
    return Workspace.read(folder)["mt-nn"]


def test_outdated_metadata_is_a_fault_and_another_checkout_a_note(tmp_path: Path) -> None:
    outdated, elsewhere = packages.check_stages(Workspace([stage(tmp_path, "new")]))
    assert (outdated.state, elsewhere.state) == ("fault", "note")
    assert outdated.text == "declares other backends than its installed metadata"
    assert "is imported from" in elsewhere.text


def test_install_command_uses_uv_if_pip_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "find_spec", lambda name: object())
    assert packages.install("a>=1") == "pip install 'a>=1'"
    monkeypatch.setattr(packages, "find_spec", lambda name: None)
    assert packages.install("a").startswith("uv pip install --python ")


# --- Backends -------------------------------------------------------------------------------------


def test_crash_while_importing_numpy_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError('compiled for another Python')")
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{before}")
    (finding,) = backends.check_backends()
    assert (finding.subject, finding.state) == ("backends", "fault")
    assert "compiled for another Python" in finding.text


def test_broken_and_contested_backends_are_reported_with_a_fix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [
        ["shaky", "mt-shaky", "1.0", "broken", "half installed"],
        ["numpy", "", "", "contested", "mt-rival 1.0 is ignored"],
    ]
    monkeypatch.setattr(backends, "run_probe", lambda program: (0, rows, ""))
    shaky, numpy = backends.check_backends()
    assert shaky.text == "is broken: half installed"
    assert shaky.fix == packages.install("--force-reinstall", "mt-shaky")
    assert (numpy.state, numpy.fix) == ("fault", "mt-rival 1.0 is ignored")


# --- Processors -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "limited"), [("150000 100000", True), ("max 100000", False), (None, False)]
)
def test_processor_and_memory_limits_of_a_container_are_reported(
    text: str | None, limited: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if text:
        (tmp_path / "cpu.max").write_text(f"{text}\n")
    (tmp_path / "memory.max").write_text("536870912\n")
    monkeypatch.setattr(processors, "CGROUP", tmp_path)
    monkeypatch.setattr(processors, "processors", lambda: 8)
    cpus, memory = processors.check_processors()
    assert cpus.state == ("note" if limited else "fine")
    assert cpus.fix == ("export NUMBA_NUM_THREADS=1" if limited else "")
    assert memory.text == "the container is limited to 512 MiB"


def test_workqueue_threading_layer_is_reported_with_tbb_as_fix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = [256, 16, 4, "workqueue"]
    monkeypatch.setattr(processors, "run_probe", lambda program: (0, [row], ""))
    (finding,) = problems(processors.check_compiler())
    assert (finding.subject, finding.fix) == ("threads", packages.install("tbb"))


def test_crashing_compiler_is_reported_with_a_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors, "run_probe", lambda program: (-6, [], "LLVM ERROR"))
    (finding,) = processors.check_compiler()
    assert finding.text == "cannot compile and run a loop (LLVM ERROR)"
    assert finding.fix == packages.install("--force-reinstall", "numba")
    monkeypatch.setenv("NUMBA_THREADING_LAYER", "nonsense")
    (finding,) = processors.check_compiler()
    assert finding.fix == "unset NUMBA_THREADING_LAYER"


# --- The caches -----------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", cache.FOLDERS)
def test_large_disabled_or_unsafe_cache_folder_is_reported(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(folder: Path | str) -> Finding:
        monkeypatch.setenv(variable, str(folder))
        fast, cuda = cache.check_caches()
        return fast if "FAST" in variable else cuda

    assert check(tmp_path / "new").state == "fine"
    assert not (tmp_path / "new").exists()
    (tmp_path / "precious").touch()
    kernel = tmp_path / "add.nbc"
    kernel.write_bytes(bytes(2**20))
    assert check(tmp_path).text == f"{tmp_path}: 1 files, 1 MiB"
    os.truncate(kernel, 2**31)
    finding = check(tmp_path)
    assert finding.state == "note"
    subprocess.run(["bash", "-c", finding.fix], check=True)
    assert [file.name for file in tmp_path.iterdir()] == ["precious"]
    finding = check(tmp_path / "precious" / "folder")
    assert (finding.state, finding.fix) == ("fault", f"unset {variable}")
    assert check("off").fix == f"unset {variable}"
    tmp_path.chmod(0o777)
    assert "others may write to it" in check(tmp_path).text


# --- The GPU --------------------------------------------------------------------------------------


def with_gpu(
    monkeypatch: pytest.MonkeyPatch, found: tuple[int, int, int] | None, **compilers: str
) -> list[Finding]:
    there = {name.replace("_", "-"): version for name, version in compilers.items()}
    monkeypatch.setattr(gpu, "driver", lambda: found)
    monkeypatch.setattr(gpu, "installed", (there | {"mt-cuda": "0.1.0"}).get)
    return list(gpu.check_gpu())


def test_missing_or_incompatible_cuda_compiler_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    modern, older = (13, 1, 2), (12, 4, 1)
    found = with_gpu(monkeypatch, modern, nvidia_cuda_nvrtc="13.4.12")
    assert [finding.state for finding in found] == ["fine", "fine"]
    _, finding = with_gpu(monkeypatch, modern)
    assert finding.state == "fault"
    assert finding.fix == packages.install("-e", "packages/mt-cuda[cu13]")
    _, finding = with_gpu(monkeypatch, older, nvidia_cuda_nvrtc="13.0.88")
    assert "the driver supports CUDA 12.4" in finding.text
    assert finding.fix == packages.install("-e", "packages/mt-cuda[cu12]")
    _, finding = with_gpu(monkeypatch, (11, 8, 1))
    assert (finding.state, finding.fix) == ("fault", "install a newer NVIDIA driver")


def test_absent_gpu_is_fine_and_hidden_gpu_is_reported_with_a_fix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert [finding.state for finding in with_gpu(monkeypatch, None)] == ["fine"]
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert "nvidia-smi" in with_gpu(monkeypatch, (13, 0, 0))[0].fix
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    assert with_gpu(monkeypatch, (13, 0, 0))[0].fix == "unset CUDA_VISIBLE_DEVICES"


def test_driver_returns_none_or_a_cuda_version() -> None:
    found = gpu.driver()
    assert found is None or found >= (1, 0, 0)
