"""Backends: discovery, selection, registration, and errors for unknown or broken ones."""

import importlib
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import mt_tensor as mt
from mt_tensor.backends import __main__ as command
from mt_tensor.core import registry
from mt_tensor.core.simple import SimpleOps
from mt_tensor.errors import (
    AmbiguousBackendError,
    BackendError,
    BackendLoadError,
    BackendUnavailableError,
    UnknownBackendError,
)


class Installer:
    """Write distributions with backends to a folder on the path, as pip would."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __call__(self, name: str, source: str, *, distribution: str = "mt-other") -> None:
        module = f"{distribution.replace('-', '_')}_{name}"
        sys.modules.pop(module, None)  # of an earlier test
        (self.root / f"{module}.py").write_text(textwrap.dedent(source))
        info = self.root / f"{module}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n"
        )
        (info / "entry_points.txt").write_text(
            f"[mt_tensor.backends]\n{name} = {module}:create_backend\n"
        )
        importlib.invalidate_caches()
        mt.backends(refresh=True)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installer]:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "CREATED", {})
    monkeypatch.setattr(registry, "FACTORIES", dict(registry.FACTORIES))
    yield Installer(tmp_path)
    monkeypatch.undo()
    mt.backends(refresh=True)


GOOD = """
    from mt_tensor.backends.extending import NumpyOps

    class Other(NumpyOps):
        name = "{name}"

    def create_backend():
        return Other()
"""


@pytest.mark.parametrize(
    ("variable", "name"), [(None, "numpy"), ("", "numpy"), ("simple", "simple")]
)
def test_environment_variable_selects_backend_of_process(variable: str | None, name: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "MT_BACKEND"}
    environment |= {} if variable is None else {"MT_BACKEND": variable}
    code = "import mt_tensor; print(mt_tensor.zeros(1).backend.name)"
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == name


def test_backend_argument_precedes_use_backend_and_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry, "SELECTED", "simple")
    assert mt.zeros(1).backend.name == "simple"
    with mt.use_backend("numpy"):
        assert mt.zeros(1).backend.name == "numpy"
        assert mt.zeros(1, backend="simple").backend.name == "simple"
    assert mt.zeros(1).backend.name == "simple"


def test_installed_backend_is_imported_on_first_use(install: Installer) -> None:
    install("swift", GOOD.format(name="swift"))
    info = mt.backends()["swift"]
    assert (info.distribution, info.version) == ("mt-other", "1.2")
    assert "mt_other_swift" not in sys.modules
    assert (mt.ones(2, backend="swift") + 1).tolist() == [2, 2]
    assert "mt_other_swift" in sys.modules
    assert info.status() == "ready"


def test_get_backend_suggests_close_name_for_unknown_name() -> None:
    with pytest.raises(UnknownBackendError, match="'nunpy'. Did you mean 'numpy'.*Installed: "):
        mt.get_backend("nunpy")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise RuntimeError('half installed')", "RuntimeError: half installed"),
        ("import a_module_that_is_missing", "ModuleNotFoundError"),
        ("x = 1", "AttributeError"),
        ("def create_backend(): return 3", "returned 3, which is not a TensorBackend"),
        (GOOD.format(name="another"), "name is 'another'"),
    ],
)
def test_broken_backend_raises_only_when_used(install: Installer, source: str, reason: str) -> None:
    install("shaky", source)
    assert mt.zeros(1, backend="numpy").tolist() == [0]
    with pytest.raises(BackendLoadError, match=f"'shaky' from mt-other 1.2.*{reason}"):
        mt.get_backend("shaky")
    assert mt.backends()["shaky"].status().startswith("broken: ")


def test_unavailable_backend_is_not_reported_as_broken(install: Installer) -> None:
    install(
        "distant",
        """
        from mt_tensor.errors import BackendUnavailableError

        def create_backend():
            raise BackendUnavailableError("no such device here")
        """,
    )
    with pytest.raises(BackendUnavailableError, match="no such device here"):
        mt.get_backend("distant")
    assert mt.backends()["distant"].status() == "unavailable: no such device here"


def test_name_claimed_by_two_distributions_raises_and_names_both(
    install: Installer, capsys: pytest.CaptureFixture[str]
) -> None:
    install("twin", GOOD.format(name="twin"), distribution="mt-first")
    install("twin", GOOD.format(name="twin"), distribution="mt-second")
    with pytest.raises(AmbiguousBackendError, match=r"mt-\w+ 1.2 and mt-\w+ 1.2"):
        mt.get_backend("twin")
    install("numpy", GOOD.format(name="numpy"), distribution="mt-squatter")
    assert type(mt.get_backend("numpy")).__name__ == "NumpyOps"  # built-in names take precedence
    command.main([])
    printed = capsys.readouterr().out
    assert "'twin' is claimed by mt-" in printed
    assert "'numpy' is built in; the claim of mt-squatter 1.2 is ignored" in printed


def test_distribution_found_twice_on_path_counts_once(
    install: Installer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("swift", GOOD.format(name="swift"))
    again = tmp_path / "again"
    again.mkdir()
    monkeypatch.syspath_prepend(str(again))
    Installer(again)("swift", GOOD.format(name="swift"))
    assert mt.get_backend("swift").name == "swift"


def test_register_backend_adds_backend_but_rejects_built_in_name(install: Installer) -> None:
    class Mine(SimpleOps):
        name = "mine"

    mt.register_backend("mine", Mine)
    assert mt.get_backend("mine") is mt.get_backend("mine")
    assert mt.backends()["mine"].distribution == "registered in code"
    with pytest.raises(AmbiguousBackendError, match="built-in"):
        mt.register_backend("numpy", Mine)


def test_probe_command_prints_status_of_every_backend(
    install: Installer, capsys: pytest.CaptureFixture[str]
) -> None:
    install("shaky", "raise RuntimeError('half installed')")
    command.main(["--probe"])
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "ready" in lines["simple"]
    assert "ready" in lines["numpy"]
    assert "broken: " in lines["shaky"]
    command.main([])
    assert "broken" not in capsys.readouterr().out


def test_backend_errors_share_a_base_class() -> None:
    for error in (UnknownBackendError, BackendLoadError, BackendUnavailableError):
        assert issubclass(error, BackendError)


def test_import_does_not_load_numba() -> None:
    code = "import sys, mt_tensor; mt_tensor.backends(); print('numba' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "False\n"
