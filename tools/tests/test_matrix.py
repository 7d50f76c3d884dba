"""The matrix covers every Python, NumPy and backend that a change can break."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mt.matrix import command, environments, jobs
from mt.matrix.jobs import Job
from mt.programs import ProgramError, output
from mt.workspace import Workspace

WORKSPACE = Workspace.read()
ALL = jobs.all_jobs(WORKSPACE)
PYTHONS = {"3.11", "3.12", "3.13"}
BACKENDS = {"simple", "numpy", "fast", "cuda"}

Configs = dict[str, dict[str, Any]]


def hatch(wanted: list[Job] = ALL) -> Configs:
    """Return the environments of the jobs, as hatch does."""
    found: Configs = {"default": {}, "layering": {"scripts": {"check": ["true"]}}}
    for job in wanted:
        found[job.environment] = {
            "python": job.python,
            "workspace": {
                "members": [
                    {"path": "packages/mt-{matrix:stage}", "features": ["plot"]},
                    *(f"packages/{name}" for name in job.needs if name != f"mt-{job.tested}"),
                ]
            },
            "scripts": {job.script: ["pytest"]},
            "env-vars": dict(environments.LOWEST) if job.numpy == "oldest" else {},
        }
    return found


def seen(*names: str) -> set[tuple[str, str]]:
    """Return the stage and backend of every job affected by a change of these packages."""
    found = jobs.concerned(ALL, [WORKSPACE[name] for name in names])
    return {(job.stage, job.backend) for job in found}


# --- Jobs -----------------------------------------------------------------------------------------


def test_backends_are_found_from_entry_points() -> None:
    found = {name: stage.short for name, stage in jobs.backends(WORKSPACE).items()}
    assert found == {"simple": "tensor", "numpy": "tensor", "fast": "fast", "cuda": "cuda"}


def test_installed_packages_have_the_declared_backends() -> None:
    import mt_tensor as mt

    assert set(mt.backends()) >= set(jobs.backends(WORKSPACE))


def test_stages_run_on_every_python_and_numpy() -> None:
    own = {(job.stage, job.python, job.numpy) for job in ALL if not job.backend}
    assert own == {
        (stage, python, numpy)
        for python in PYTHONS
        for stages, versions in [
            (("operators", "autodiff"), ("",)),
            (("tensor", "fast", "cuda", "nn"), ("oldest", "newest")),
        ]
        for stage in stages
        for numpy in versions
    }


def test_conformance_kits_run_on_every_backend() -> None:
    kits = {(job.stage, job.tested, job.backend) for job in ALL if job.backend}
    of_tensor = {("tensor", "simple"), ("tensor", "numpy"), ("fast", "fast"), ("cuda", "cuda")}
    assert kits == {
        *((stage, "tensor", backend) for stage, backend in of_tensor),
        *(("nn", "nn", backend) for backend in BACKENDS),
    }


def test_essential_jobs_run_kits_only_on_the_oldest_and_newest_versions() -> None:
    kits: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for job in ALL:
        if job.backend and job.essential:
            kits.setdefault((job.tested, job.backend), set()).add((job.python, job.numpy))
        assert job.backend or job.essential
    assert len(kits) == 8
    assert set(map(frozenset, kits.values())) == {
        frozenset({("3.11", "oldest"), ("3.13", "newest")})
    }


def test_names_of_jobs_and_environments_are_unique() -> None:
    assert len({job.environment for job in ALL}) == len({job.name for job in ALL}) == len(ALL)


# --- Jobs affected by a change --------------------------------------------------------------------


def test_change_of_a_package_affects_its_dependents_and_backends() -> None:
    nn = {("nn", ""), *(("nn", backend) for backend in BACKENDS)}
    fast = {("fast", ""), ("fast", "fast"), ("cuda", ""), ("cuda", "cuda")}
    tensor = {("tensor", ""), ("tensor", "simple"), ("tensor", "numpy")}
    assert seen("mt-nn") == nn
    assert seen("mt-cuda") == {("cuda", ""), ("cuda", "cuda"), ("nn", "cuda")}
    assert seen("mt-fast") == fast | {("nn", "fast"), ("nn", "cuda")}
    assert seen("mt-tensor") == tensor | fast | nn
    assert seen("mt-autodiff") == tensor | fast | nn | {("autodiff", "")}
    assert seen("mt-operators") == seen("mt-autodiff") | {("operators", "")}
    assert seen("mt-nn", "mt-cuda") == seen("mt-nn") | seen("mt-cuda")
    assert seen() == set()


def changed(*files: str) -> list[str]:
    return [stage.short for stage in jobs.stages_of_files(WORKSPACE, files)]


def test_change_of_a_package_file_affects_its_stage() -> None:
    assert changed("packages/mt-fast/src/mt_fast/loops.py", "packages/mt-fast/a.md") == ["fast"]
    assert changed() == []


@pytest.mark.parametrize(
    "file",
    ["pyproject.toml", "tools/mt/workspace.py", "packages/mt-gone/README.md", "packages/README.md"],
)
def test_change_of_any_other_file_affects_every_stage(file: str) -> None:
    stages = [stage.short for stage in WORKSPACE.stages.values()]
    assert changed("packages/mt-nn/README.md", file) == stages


# --- Environments ---------------------------------------------------------------------------------


def test_matching_environments_are_accepted() -> None:
    environments.check(hatch(), ALL)


def test_environments_of_this_workspace_match_the_jobs() -> None:
    if shutil.which("hatch") is None:
        pytest.skip("hatch is not on the search path; `mt matrix` itself checks the environments")
    environments.check(environments.environments(), ALL)


Fault = Callable[[Configs], object]


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        (
            lambda e: e.pop("stage.py3.12-cuda"),
            r"the environment stage\.py3\.12-cuda is missing.*envs\.stage\.matrix",
        ),
        (
            lambda e: e.pop("backend.py3.13-nn-fast-oldest"),
            r"the environment backend\.py3\.13-nn-fast-oldest is missing.*envs\.backend\.matrix",
        ),
        (
            lambda e: e.update({"stage.py3.10-nn": {}, "stage.py3.11-gone": {}}),
            r"needs the environment stage\.py3\.10-nn; .*environment stage\.py3\.11-gone: fix",
        ),
        (
            lambda e: e["stage.py3.11-fast"]["workspace"]["members"].append("packages/mt-nn"),
            r"stage\.py3\.11-fast contains .*mt-nn.*should contain .*mt-tensor: fix \[tool",
        ),
        (
            lambda e: e["backend.py3.11-nn-cuda"]["workspace"]["members"].pop(),
            r"backend\.py3\.11-nn-cuda contains .* fix \[tool\.hatch\.envs\.backend\]",
        ),
        (
            lambda e: e["stage.py3.11-nn-oldest"]["env-vars"].clear(),
            r"stage\.py3\.11-nn-oldest does not select the oldest .*UV_RESOLUTION",
        ),
        (
            lambda e: e["stage.py3.11-nn"].update({"env-vars": environments.LOWEST}),
            r"stage\.py3\.11-nn does select the oldest",
        ),
        (
            lambda e: e["stage.py3.11-nn"]["scripts"].clear(),
            r"stage\.py3\.11-nn has no script 'exercises': fix",
        ),
    ],
)
def test_mismatched_environment_raises_environments_error(fault: Fault, complaint: str) -> None:
    configs = hatch()
    fault(configs)
    with pytest.raises(environments.EnvironmentsError, match=complaint):
        environments.check(configs, ALL)


def test_missing_or_failing_program_raises_program_error() -> None:
    with pytest.raises(ProgramError, match="`no-such-program` is not installed"):
        output(["no-such-program"])
    with pytest.raises(ProgramError, match="(?s)failed with status .*no-such-revision"):
        output(["git", "diff", "no-such-revision...HEAD"])


# --- The command ----------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _without_hatch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "environments", hatch)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert command.main(arguments) == 0
    return capsys.readouterr().out


def test_output_to_a_pipe_is_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys)
    assert text.count("\n") == 1
    assert json.loads(text)["include"] == [job.as_json() for job in ALL if job.essential]
    everything = json.loads(printed(capsys, "--full", "--json"))["include"]
    assert everything == [job.as_json() for job in ALL]
    some = json.loads(printed(capsys, "mt-cuda"))["include"]
    assert {(job["stage"], job["backend"]) for job in some} == seen("mt-cuda")
    assert some[0]["command"] == "hatch run stage.py3.11-cuda-oldest:own"


def test_newest_option_selects_only_the_newest_versions(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(printed(capsys, "--newest"))["include"]
    assert {job["stage"] for job in found} == {stage.short for stage in WORKSPACE.stages.values()}
    assert {job["backend"] for job in found} == {"", *BACKENDS}
    assert {job["python"] for job in found} == {"3.13"}
    assert {job["numpy"] for job in found} == {"", "newest"}


def test_table_option_prints_a_table_of_jobs(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--table", "mt-cuda")
    assert "tensor's kit on cuda" in text
    assert "oldest, newest" in text
    assert "10 jobs; the first is `hatch run stage.py3.11-cuda-oldest:own`" in text


def test_since_option_selects_packages_changed_since_a_revision(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[list[str]] = []

    def output(words: list[str]) -> str:
        calls.append(words)
        return "packages/mt-cuda/README.md\n"

    monkeypatch.setattr(command, "output", output)
    some = json.loads(printed(capsys, "--since", "main"))["include"]
    assert {(job["stage"], job["backend"]) for job in some} == seen("mt-cuda")
    assert calls == [["git", "diff", "--name-only", "main...HEAD"]]


def test_unknown_package_exits_with_status_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="1"):
        command.main(["mt-tensors"])
    assert "unknown stage 'mt-tensors'" in capsys.readouterr().err


def test_new_stage_with_a_backend_gets_jobs_without_configuration(tmp_path: Path) -> None:
    for stage in WORKSPACE.stages.values():
        folder = tmp_path / "packages" / stage.name
        shutil.copytree(stage.folder, folder, ignore=shutil.ignore_patterns("tests", "docs"))
    folder = shutil.copytree(tmp_path / "packages" / "mt-fast", tmp_path / "packages" / "mt-new")
    settings = folder / "pyproject.toml"
    text = settings.read_text().replace('"mt-fast"', '"mt-new"').replace("fast = ", "new = ")
    settings.write_text(text)
    found = jobs.all_jobs(Workspace.read(tmp_path))
    new = {(job.stage, job.tested, job.backend) for job in found if "mt-new" in job.needs}
    assert new == {("new", "new", ""), ("new", "tensor", "new"), ("nn", "nn", "new")}
