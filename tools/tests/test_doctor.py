"""The doctor finds each problem, reports a fix, and fails; and the fix works."""

import functools
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from mt.doctor import cache, gpu, imports, packages, settings, speed
from mt.doctor.backends import check_backends
from mt.doctor.driver import Driver, driver
from mt.doctor.findings import Finding
from mt.doctor.report import lines
from mt.workspace import ROOT, Stage, Workspace

WORKSPACE = Workspace.read()
OF_THE_SHELL = {"_", "OLDPWD", "PWD", "PYTEST_CURRENT_TEST", "SHLVL"}
"""Variables that differ between commands, and do not matter here."""

SET = [name for name in os.environ if name.startswith(("MT_", "NUMBA_", "OMP_", "PYTHON"))]


Examined = tuple[int, dict[str, list[dict[str, str]]]]


def examine(environment: dict[str, str]) -> Examined:
    """Run the command in a separate process; return its status and the findings by subject.

    Results are cached: the same environment is checked once.
    """
    kept = environment.keys() - OF_THE_SHELL
    return _examined(frozenset((name, environment[name]) for name in kept))


@functools.cache
def _examined(environment: frozenset[tuple[str, str]]) -> Examined:
    done = subprocess.run(
        [sys.executable, "-m", "mt", "doctor", "--json"],
        cwd=ROOT / "tools",
        env=dict(environment),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    found: dict[str, list[dict[str, str]]] = {}
    for finding in json.loads(done.stdout):
        found.setdefault(finding["subject"], []).append(finding)
    return done.returncode, found


def cured(environment: dict[str, str], fix: str) -> dict[str, str]:
    """Return the variables after a shell command, which changes nothing else."""
    printed = subprocess.run(
        ["bash", "-c", f"{fix}; env -0"], env=environment, capture_output=True, check=True
    ).stdout
    pairs = (pair.split("=", 1) for pair in printed.decode().split("\0") if "=" in pair)
    return {name: value for name, value in pairs}  # noqa: C416 - the pairs are lists


def only(findings: Iterator[Finding], *states: str) -> list[Finding]:
    return [finding for finding in findings if finding.state in (states or ("note", "fault"))]


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SET:
        if name not in {"PYTHONPATH", "MT_FAST_CACHE"}:
            monkeypatch.delenv(name)


# --- The command ----------------------------------------------------------------------------------


def test_nothing_is_wrong_here() -> None:
    status, found = examine({**os.environ})
    assert status == 0
    wanted = {"Python", "mt-operators", "mt-nn", "numpy", "backend numpy", "cache", "vectors"}
    assert wanted <= set(found)
    assert all(finding["state"] != "fault" for findings in found.values() for finding in findings)
    assert all(
        bool(finding["fix"]) == (finding["state"] != "fine")
        for findings in found.values()
        for finding in findings
    )


@pytest.mark.parametrize(
    "faults",
    [
        {  # none of these hides another
            "MT_BACKEND": ("nobody", "default backend"),
            "NUMBA_DISABLE_JIT": ("1", "compiler"),
            "MT_FAST_CACHE": ("/dev/null/folder", "cache"),
            "MT_PROGRAMS": ("many", "settings"),
        },
        {"NUMBA_THREADING_LAYER": ("nonsense", "compiler")},
        {"NUMBA_NUM_THREADS": ("0", "threads")},
    ],
    ids=", ".join,
)
def test_a_fault_is_found_and_its_cure_cures(faults: dict[str, tuple[str, str]]) -> None:
    environment = {**os.environ, **{name: value for name, (value, _) in faults.items()}}
    status, found = examine(environment)
    assert status == 1
    fixes = {
        name: {f["fix"] for f in found[subject] if f["state"] == "fault"}
        for name, (_, subject) in faults.items()
    }
    every = {f["fix"] for findings in found.values() for f in findings if f["state"] == "fault"}
    assert len(every) == len(faults)  # also of what else does not work for the same reason
    for name, (fix,) in fixes.items():
        every.remove(fix)
        environment = cured(environment, fix)
        assert name not in environment
    assert not every
    status, found = examine(environment)
    assert status == 0
    assert "fault" not in {each["state"] for findings in found.values() for each in findings}


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
    ("name", "value", "subject", "state"),
    [
        ("MT_CUDA_SIM", "off", "simulator", "note"),
        ("MT_FORBID_SKIPS", "1", "settings", "note"),
        ("MT_BACKENDS", "fast", "settings", "note"),
        ("MT_SOMETHING_ELSE", "1", "settings", "note"),
        ("MT_PROGRAMS", "-1", "settings", "fault"),
        ("NUMBA_DISABLE_JIT", "1", "compiler", "fault"),
        ("NUMBA_OPT", "0", "compiler", "note"),
        ("NUMBA_CPU_NAME", "generic", "compiler", "note"),
        ("NUMBA_BOUNDSCHECK", "1", "compiler", "note"),
        ("NUMBA_ENABLE_CUDASIM", "1", "simulator", "fault"),
        ("NUMBA_NUM_THREADS", "0", "threads", "fault"),
        ("OMP_NUM_THREADS", "two", "threads", "fault"),
        ("OMP_NUM_THREADS", "1000", "threads", "note"),
        ("PYTHONOPTIMIZE", "1", "Python", "fault"),
        ("PYTHONDONTWRITEBYTECODE", "1", "Python", "note"),
    ],
)
def test_a_variable_that_does_harm_is_found(
    name: str, value: str, subject: str, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert only(settings.check_settings()) == []
    monkeypatch.setenv(name, value)
    (finding,) = settings.check_settings()
    assert (finding.subject, finding.state) == (subject, state)
    assert name in finding.text
    after = cured(dict(os.environ), finding.fix)
    assert name not in after


@pytest.mark.parametrize(
    ("name", "value"), [(name, "0") for name in settings.OURS if name != "MT_PROGRAMS"]
)
def test_a_variable_that_does_nothing_is_left_alone(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert list(settings.check_settings()) == []


def test_fewer_threads_than_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "processors", lambda: 8)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    (finding,) = settings.check_settings()
    assert (finding.state, finding.fix) == ("note", "unset NUMBA_NUM_THREADS")
    monkeypatch.setenv("NUMBA_NUM_THREADS", "8")
    assert list(settings.check_settings()) == []


def test_a_misspelt_setting_is_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MT_BACKENDS", "fast")
    (finding,) = settings.check_settings()
    assert cured(dict(os.environ), finding.fix)["MT_BACKEND"] == "fast"


def test_every_variable_that_is_read_is_known() -> None:
    sources = [*ROOT.glob("packages/*/src/**/*.py"), ROOT / "conftest.py"]
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


def test_a_missing_stage_is_a_note_but_a_fault_for_its_dependents(
    versions: dict[str, str | None],
) -> None:
    versions["mt-fast"] = None
    found = {f.subject: f for f in only(packages.check_stages(WORKSPACE)) if "mt-fast" in f.fix}
    assert found["mt-fast"].state == "note"
    assert found["mt-fast"].fix == packages.install("-e packages/mt-fast")
    assert found["mt-cuda"].state == "fault"
    assert "needs mt-fast<0.2,>=0.1, which is not installed" in found["mt-cuda"].text
    assert found["mt-cuda"].fix == packages.install("-e packages/mt-fast", "-e packages/mt-cuda")


@pytest.mark.parametrize(
    ("found", "extra"),
    [(None, "cu13"), (Driver((12, 4), 1), "cu12"), (Driver((14, 0), 1), "cu13")],
)
def test_mt_cuda_is_installed_with_a_compiler_for_the_driver(
    found: Driver | None,
    extra: str,
    versions: dict[str, str | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    versions["mt-cuda"] = None
    monkeypatch.setattr(packages, "driver", lambda: found)
    (note,) = [f for f in packages.check_stages(WORKSPACE) if f.subject == "mt-cuda"]
    assert (note.state, note.text) == ("note", "is not installed")
    assert note.fix.endswith(f" -e 'packages/mt-cuda[{extra}]'")  # brackets mean files to a shell


@pytest.mark.parametrize(
    ("name", "version", "subjects"),
    [
        ("numpy", "1.26.4", {"mt-tensor"}),
        ("numba", "0.61.0", {"mt-fast"}),
        ("mt-tensor", "0.3.0", {"mt-fast", "mt-nn"}),
    ],
)
def test_a_version_that_does_not_fit_is_a_fault(
    name: str, version: str, subjects: set[str], versions: dict[str, str | None]
) -> None:
    versions[name] = version
    texts = {
        f.subject: f for f in only(packages.check_stages(WORKSPACE), "fault") if "needs" in f.text
    }
    assert set(texts) == subjects
    for finding in texts.values():
        assert f"{name} {version} is installed" in finding.text
        assert name in finding.fix


def test_an_optional_package_may_be_absent_but_not_too_old(
    versions: dict[str, str | None],
) -> None:
    versions |= {"rich": "13.6", "torch": None}
    found = {finding.subject: finding for finding in only(packages.check_libraries(WORKSPACE))}
    assert found["rich"].state == "fault"
    assert "13.6 is installed, but rich>=13.7 is needed" in found["rich"].text
    assert "'rich>=13.7'" in found["rich"].fix
    assert found["torch"].state == "note"
    assert found["torch"].fix == packages.install("torch")


@pytest.mark.parametrize(
    ("version", "state"), [((3, 10), "fault"), ((3, 11), "fine"), ((3, 99), "note")]
)
def test_pythons(version: tuple[int, int], state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", version)
    (finding,) = packages.check_python(WORKSPACE)
    assert finding.state == state
    assert state == "fine" or "Python 3.11 to 3.13" in finding.fix


def stage(folder: Path, version: str, plugin: str) -> Stage:
    """Create a stage with the name of mt-nn, installed or not."""
    source = folder / "packages" / "mt-nn" / "src" / "mt_nn"
    source.mkdir(parents=True)
    (source / "__init__.py").write_text(f'__version__ = "{version}"\n')
    (folder / "packages" / "mt-nn" / "pyproject.toml").write_text(
        '[project]\nname = "mt-nn"\nclassifiers = ["Programming Language :: Python :: 3.11"]\n'
        f'entry-points."mt_tensor.backends".{plugin} = "mt_nn:create"\n'
    )
    return Workspace.read(folder)["mt-nn"]


def install_into(folder: Path, editable: Path, version: str, plugin: str) -> None:
    """Write the metadata of an editable installation."""
    info = folder / f"mt_nn-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: mt-nn\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[mt_tensor.backends]\n{plugin} = mt_nn:create\n")
    (info / "direct_url.json").write_text(
        json.dumps({"url": editable.as_uri(), "dir_info": {"editable": True}})
    )


def test_an_installation_that_the_source_has_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = stage(tmp_path, "0.2.0", "new")
    install_into(tmp_path / "site", made.folder, "0.1.0", "old")
    monkeypatch.syspath_prepend(tmp_path / "site")
    workspace = Workspace([made])
    found = only(packages.check_stages(workspace), "fault")
    assert [finding.text for finding in found] == [
        "was installed as 0.1.0, but is now 0.2.0",
        "has the new backend 'new', unlike its installed metadata",
        "no longer has the backend 'old', unlike its installed metadata",
    ]
    assert {finding.fix for finding in found} == {packages.install("-e packages/mt-nn")}


def test_another_checkout_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = stage(tmp_path / "here", "0.1.0", "nn")
    other = tmp_path / "there" / "packages" / "mt-nn"
    install_into(tmp_path / "site", other, "0.1.0", "nn")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setenv("PYTHONPATH", "")
    (finding,) = packages.check_stages(Workspace([made]))
    assert (finding.state, finding.text) == ("note", f"is installed from another checkout, {other}")
    spec = find_spec("mt_nn")
    assert spec is not None
    assert spec.origin is not None
    monkeypatch.setenv("PYTHONPATH", str(Path(spec.origin).parents[1]))
    (finding,) = packages.check_stages(Workspace([made]))
    assert "because PYTHONPATH contains" in finding.text
    assert finding.fix == "unset PYTHONPATH"


def test_without_pip_another_installer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "find_spec", lambda name: object())
    assert packages.install("a>=1") == "pip install 'a>=1'"
    monkeypatch.setattr(packages, "find_spec", lambda name: None)
    command = packages.install("a>=1", "-e packages/mt-nn")
    words = ["uv", "pip", "install", "--python", sys.executable, "a>=1", "-e", "packages/mt-nn"]
    assert shlex.split(command) == words


# --- Imports and backends -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise ImportError('compiled for NumPy 1')", "ImportError: compiled for NumPy 1"),
        ("import os; os._exit(7)", "it crashes the process with status 7"),
        ("import sys; sys.exit(1)", "SystemExit: 1"),
    ],
)
def test_failing_imports_are_found(
    source: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "numba.py").write_text(source)
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{before}")
    (finding,) = imports.check_imports(WORKSPACE)
    assert (finding.subject, finding.state) == ("numba", "fault")
    assert reason in finding.text
    assert finding.fix == packages.install("--force-reinstall", "numba")


def test_importable_packages_are_not_mentioned() -> None:
    assert list(imports.check_imports(WORKSPACE)) == []


def test_backends_that_are_broken_or_claimed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    from mt_tensor.core import registry

    def broken() -> registry.Factory:
        raise RuntimeError("half installed")

    def claim(distribution: str, version: str) -> SimpleNamespace:
        return SimpleNamespace(
            dist=SimpleNamespace(name=distribution, version=version), load=broken
        )

    ours, theirs = claim("mt-fast", "0.1.0"), claim("mt-shaky", "1.0")
    installed = {"fast": [ours], "shaky": [theirs], "numpy": [claim("mt-rival", "1.0")]}
    monkeypatch.setattr(registry, "installed", lambda: installed)
    monkeypatch.setattr(registry, "CREATED", {})
    found: dict[str, list[Finding]] = {}
    for finding in only(check_backends(WORKSPACE), "fault"):
        found.setdefault(finding.subject, []).append(finding)
    assert found.keys() == {"backend fast", "backend shaky", "backend numpy"}
    assert "half installed" in found["backend fast"][0].text
    assert found["backend fast"][0].fix == packages.install("-e packages/mt-fast")
    assert found["backend shaky"][0].fix == packages.install("--force-reinstall", "mt-shaky")
    assert "mt-rival 1.0 is ignored" in found["backend numpy"][0].fix


# --- Speed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "limited"),
    [
        ({"cpu.max": "150000 100000"}, True),
        ({"cpu.max": "max 100000"}, False),
        ({"cpu/cpu.cfs_quota_us": "150000", "cpu/cpu.cfs_period_us": "100000"}, True),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, False),
        ({"cpu.max": "nonsense"}, False),
        ({}, False),
    ],
)
def test_limits_of_a_container_are_reported(
    files: dict[str, str], limited: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpu").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text + "\n")
    monkeypatch.setattr(speed, "CGROUP", tmp_path)
    monkeypatch.setattr(speed, "processors", lambda: 8)
    (finding,) = speed.check_processors()
    assert finding.state == ("note" if limited else "fine")
    if limited:
        assert "limited to 1.5" in finding.text
        assert finding.fix == "export NUMBA_NUM_THREADS=1"
    (tmp_path / "memory.max").write_text("536870912\n")
    memory = [finding for finding in speed.check_processors() if finding.subject == "memory"]
    assert [finding.text for finding in memory] == ["the container is limited to 512 MiB"]


def test_the_slow_layer_of_threads_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"bits": 256, "registers": 16, "threads": 4, "layer": "workqueue"}
    monkeypatch.setattr(speed, "answers", lambda program: (0, [found], ""))
    (finding,) = only(speed.check_compiler(WORKSPACE))
    assert (finding.subject, finding.fix) == ("threads", packages.install("tbb"))


def test_a_compiler_that_aborts_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "answers", lambda program: (-6, [], "LLVM ERROR"))
    (finding,) = speed.check_compiler(WORKSPACE)
    assert (finding.state, finding.text) == (
        "fault",
        "cannot compile and run a loop (LLVM ERROR)",
    )
    assert finding.fix == packages.install("--force-reinstall", "numba")


# --- The cache ------------------------------------------------------------------------------------


def looked_at(monkeypatch: pytest.MonkeyPatch, folder: Path | str) -> Finding:
    monkeypatch.setenv("MT_FAST_CACHE", str(folder))
    return next(cache.check_cache())


def kernel(folder: Path, size: int, when: float) -> None:
    folder.mkdir(exist_ok=True)
    file = folder / "add_float32_flat-12ae0e708e69bc42-6cd8c60f0ff8cf99.nbc"
    with file.open("wb") as sparse:
        sparse.truncate(size)
    os.utime(file, (when, when))


def test_a_cache_that_is_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert looked_at(monkeypatch, tmp_path / "new").state == "fine"
    assert not (tmp_path / "new").exists()
    (tmp_path / "something-else.bin").write_bytes(b"1" * 2**21)
    kernel(tmp_path, 2**20, 4e9)
    assert looked_at(monkeypatch, tmp_path).text == f"{tmp_path}: 1 files, 1 MiB"


def test_a_cache_that_cannot_be_written_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    finding = looked_at(monkeypatch, tmp_path / "file" / "folder")
    assert (finding.state, finding.fix) == ("fault", "unset MT_FAST_CACHE")
    monkeypatch.setattr(cache, "_default", lambda name: tmp_path / "file")
    finding = looked_at(monkeypatch, tmp_path / "file" / "folder")
    folder = cured(dict(os.environ), finding.fix)["MT_FAST_CACHE"]
    assert looked_at(monkeypatch, folder).state == "fine"


@pytest.mark.parametrize(
    ("size", "when", "complaint"),
    [(2**31, 4e9, "2,048 MiB"), (2**29, 1e9, "512 MiB are older than the source of mt-fast")],
)
def test_a_cache_that_has_grown_can_be_cleared(
    size: int, when: float, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel(tmp_path, size, when)
    (tmp_path / "precious").touch()
    finding = looked_at(monkeypatch, tmp_path)
    assert finding.state == "note"
    assert complaint in finding.text
    subprocess.run(["bash", "-c", finding.fix], check=True)
    assert [file.name for file in tmp_path.iterdir()] == ["precious"]
    assert looked_at(monkeypatch, tmp_path).state == "fine"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="nothing has an owner here")
def test_a_cache_that_others_may_write_to_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o777)
    finding = looked_at(monkeypatch, tmp_path)
    assert finding.state == "fault"
    assert finding.text == f"{tmp_path} is not used: others may write to it"
    subprocess.run(["bash", "-c", finding.fix], check=True)
    assert looked_at(monkeypatch, tmp_path).state == "fine"


def test_other_notes_of_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert looked_at(monkeypatch, "off").fix == "unset MT_FAST_CACHE"
    monkeypatch.chdir(tmp_path)
    relative = looked_at(monkeypatch, "kernels")
    assert relative.fix == f"export MT_FAST_CACHE={tmp_path / 'kernels'}"
    monkeypatch.setattr(cache, "FREE", 2**80)
    assert "the disk has" in looked_at(monkeypatch, tmp_path).text


def test_the_folder_of_cubins_is_looked_at_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked() -> Finding:
        (finding,) = [f for f in cache.check_cache() if f.subject == "cubins"]
        return finding

    monkeypatch.setenv("MT_CUDA_CACHE", str(tmp_path))
    (tmp_path / "one-0123.cubin").write_bytes(bytes(2**20))
    assert looked() == Finding("cubins", "fine", f"{tmp_path}: 1 files, 1 MiB")
    monkeypatch.setenv("MT_CUDA_CACHE", "off")
    assert (looked().state, looked().fix) == ("note", "unset MT_CUDA_CACHE")
    (tmp_path / "file").touch()
    monkeypatch.setenv("MT_CUDA_CACHE", str(tmp_path / "file" / "folder"))
    assert (looked().state, looked().fix) == ("fault", "unset MT_CUDA_CACHE")


# --- The GPU --------------------------------------------------------------------------------------


def with_gpu(
    monkeypatch: pytest.MonkeyPatch, found: Driver | None, **compilers: str
) -> list[Finding]:
    there = {name.replace("_", "-"): version for name, version in compilers.items()}
    monkeypatch.setattr(gpu, "driver", lambda: found)
    monkeypatch.setattr(
        gpu, "installed", lambda name: "0.1.0" if name == "mt-cuda" else there.get(name)
    )
    return list(gpu.check_gpu())


def test_a_gpu_and_its_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    modern, older = Driver((13, 1), 2), Driver((12, 4), 1)
    found = with_gpu(monkeypatch, modern, nvidia_cuda_nvrtc="13.0.88")
    assert [finding.state for finding in found] == ["fine", "fine"]
    _, finding = with_gpu(monkeypatch, modern, nvidia_cuda_nvrtc="13.4.12")
    assert finding.state == "fine"  # machine code of any CUDA 13
    _, finding = with_gpu(monkeypatch, modern)
    assert (finding.state, finding.fix) == ("fault", packages.install("-e packages/mt-cuda[cu13]"))
    _, finding = with_gpu(monkeypatch, older, nvidia_cuda_nvrtc="13.0.88")
    assert "the driver supports CUDA up to 12.4" in finding.text
    assert finding.fix == packages.install("-e packages/mt-cuda[cu12]")
    _, finding = with_gpu(monkeypatch, Driver((11, 8), 1))
    assert (finding.state, finding.fix) == ("fault", "install a newer NVIDIA driver")


def test_a_gpu_that_is_hidden_or_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [finding.state for finding in with_gpu(monkeypatch, None)] == ["fine"]
    nothing = Driver((13, 0), 0)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert "nvidia-smi" in with_gpu(monkeypatch, nothing)[0].fix
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    assert with_gpu(monkeypatch, nothing)[0].fix == "unset CUDA_VISIBLE_DEVICES"


def test_the_driver_of_this_machine_is_used() -> None:
    found = driver()
    assert found is None or found.version >= (1, 0)
