"""`mt release` sets the version and date of a release, and rejects uninstallable ones."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mt.release import command, proving, state
from mt.workspace import ROOT, Workspace

WORKSPACE = Workspace.read()
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"


class Repository:
    """A small git repository of two packages; `upper` depends on `lower`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet")
        for name, dependencies in (("lower", "[]"), ("upper", '["lower>=0.1,<0.2"]')):
            source = folder / "packages" / name / "src" / name
            source.mkdir(parents=True)
            self.write(name, "pyproject.toml", f"""
                [project]
                name = "{name}"
                dependencies = {dependencies}
                """.replace("  ", ""))  # fmt: skip
            self.write(name, f"src/{name}/__init__.py", '__version__ = "0.1.0"\n')
            self.write(name, "CHANGELOG.md", "# Changelog\n\n## 0.1.0 (2026-01-31)\n\n- First.\n")
        self.commit("mt-first")
        for name in ("lower", "upper"):
            self.git("tag", f"{name}-v0.1.0")

    def git(self, *arguments: str) -> None:
        identity = ("-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *identity, *arguments], cwd=self.folder, check=True)

    def commit(self, message: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def file(self, package: str, name: str) -> Path:
        return self.folder / "packages" / package / name

    def write(self, package: str, name: str, text: str) -> None:
        self.file(package, name).write_text(text)

    def change(self, package: str) -> None:
        """Describe a change in the changelog of a package, and commit it."""
        file = self.file(package, "CHANGELOG.md")
        text = file.read_text()
        at = text.index("## ")
        file.write_text(f"{text[:at]}## Unreleased\n\n- Faster.\n\n{text[at:]}")
        self.commit(f"{package}: be faster")

    def allow(self, versions: str) -> None:
        """Set the range of the lower package that the upper accepts."""
        file = self.file("upper", "pyproject.toml")
        file.write_text(re.sub('"lower.*"', f'"lower{versions}"', file.read_text()))

    def set_version(self, package: str, version: str) -> None:
        self.write(package, f"src/{package}/__init__.py", f'__version__ = "{version}"\n')

    def run(self, *arguments: str) -> int:
        return command.main(arguments, self.folder)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def printed_text(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


# --- Prepare --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("in_source", "given", "released"),
    [
        ("0.1.0", [], "0.1.1"),
        ("0.1.0", ["0.1.5"], "0.1.5"),
        ("0.1.0", ["0.1.1rc1"], "0.1.1rc1"),
        ("0.1.3", [], "0.1.3"),
    ],
)
def test_release_sets_the_version_and_dates_the_changelog(
    repository: Repository,
    capsys: pytest.CaptureFixture[str],
    in_source: str,
    given: list[str],
    released: str,
) -> None:
    repository.change("lower")
    repository.set_version("lower", in_source)
    assert repository.run("lower", *given) == 0
    source = repository.file("lower", "src/lower/__init__.py").read_text()
    assert source == f'__version__ = "{released}"\n'
    changelog = repository.file("lower", "CHANGELOG.md").read_text()
    assert re.search(
        rf"^## {re.escape(released)} \(\d{{4}}-\d\d-\d\d\)\n\n- Faster.\n\n## 0.1.0 ",
        changelog,
        re.MULTILINE,
    )
    printed = printed_text(capsys)
    assert f"lower {released}, changes since 0.1.0: - Faster." in printed
    assert f"git tag -a lower-v{released}" in printed
    assert "To release as well" not in printed
    tags = subprocess.run(["git", "tag"], cwd=repository.folder, capture_output=True, check=True)
    assert tags.stdout.split() == [b"lower-v0.1.0", b"upper-v0.1.0"]


@pytest.mark.parametrize(
    ("changed", "arguments", "complaint"),
    [
        (True, ["lower", "0.1.0"], "0.1.0 is not newer than 0.1.0, the last release: choose"),
        (True, ["lower", "next"], "'next' is not a version such as 0.2.0 or 0.2.0rc1"),
        (True, ["lower", "v0.2.0"], "'v0.2.0' is not in the normal form: write 0.2.0"),
        (True, ["lower", "0.2.0"], "upper needs lower<0.2,>=0.1, which excludes 0.2.0: change the"),
        (False, ["lower"], "packages/lower/CHANGELOG.md has no entry below `## Unreleased`: desc"),
        (
            True,
            ["lowest"],
            "unknown stage 'lowest'; the stages are lower, upper; did you mean lower?",
        ),
    ],
)
def test_invalid_release_exits_with_status_1_and_changes_nothing(
    repository: Repository,
    capsys: pytest.CaptureFixture[str],
    changed: bool,
    arguments: list[str],
    complaint: str,
) -> None:
    if changed:
        repository.change("lower")
    with pytest.raises(SystemExit, match="1"):
        repository.run(*arguments)
    assert complaint in capsys.readouterr().err
    status = subprocess.run(
        ["git", "status", "--short"], cwd=repository.folder, capture_output=True, check=True
    )
    assert status.stdout == b""


@pytest.mark.parametrize("arguments", [[], ["lower", "--order"], ["--order", "--check", "x-v1"]])
def test_missing_or_conflicting_arguments_are_a_usage_error(
    repository: Repository, arguments: list[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        repository.run(*arguments)


# --- Several packages -----------------------------------------------------------------------------


def test_order_lists_dependencies_before_dependents(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert repository.run("--order") == 0
    assert printed_text(capsys) == ""
    repository.change("upper")
    repository.change("lower")
    repository.allow(">=0.2,<0.3")
    assert repository.run("lower", "0.2.0") == 0
    upper = "upper has changed since upper-v0.1.0, after lower<0.3,>=0.2"
    assert printed_text(capsys).endswith(f"dependencies first: {upper}")
    assert repository.run("--order") == 0
    assert printed_text(capsys) == f"lower has version 0.2.0, which is not tagged {upper}"

    repository.commit("lower: release 0.2.0")
    repository.git("tag", "lower-v0.2.0")
    assert repository.run("--order") == 0
    assert printed_text(capsys) == "upper has changed since upper-v0.1.0"


def test_first_release_has_the_version_in_the_source(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.git("tag", "--delete", "lower-v0.1.0", "upper-v0.1.0")
    assert repository.run("--order") == 0
    assert (
        printed_text(capsys)
        == "lower was never released upper was never released, after lower<0.2,>=0.1"
    )
    repository.change("lower")
    assert repository.run("lower") == 0
    assert "lower 0.1.0, changes since the beginning" in printed_text(capsys)


def test_order_of_circular_dependencies_exits_with_status_1(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    file = repository.file("lower", "pyproject.toml")
    file.write_text(file.read_text().replace("[]", '["upper"]'))
    with pytest.raises(SystemExit, match="1"):
        repository.run("--order")
    assert "these packages depend on each other in a cycle" in capsys.readouterr().err


# --- Check ----------------------------------------------------------------------------------------


def test_check_accepts_the_tag_of_a_prepared_release(repository: Repository) -> None:
    repository.change("lower")
    repository.run("lower")
    assert command.agreeing(Workspace.read(repository.folder), "lower-v0.1.1").name == "lower"


@pytest.mark.parametrize(
    ("tag", "complaint"),
    [
        (
            "lower-v0.1.1",
            "packages/lower/src/lower/__init__.py has version 0.1.0: tag lower-v0.1.0, or run",
        ),
        ("lower-v0.1.1", "CHANGELOG.md has no section `## 0.1.1 (date)` with entries: run `hatch"),
        ("lower-v0.2.0", "upper needs lower<0.2,>=0.1, which excludes 0.2.0: change the range in"),
        ("lower-v0.1", "packages/lower/CHANGELOG.md has no section `## 0.1 (date)`"),
        ("lower-vfirst", "'first' is not a version"),
        ("lowest-v0.1.0", "is not a tag such as mt-fast-v0.2.0; the packages are lower, upper"),
        ("0.1.0", "is not a tag such as mt-fast-v0.2.0; the packages are lower, upper"),
    ],
    ids=str,
)
def test_check_raises_for_a_mismatched_or_invalid_tag(
    repository: Repository, tag: str, complaint: str
) -> None:
    with pytest.raises(state.ReleaseError, match=re.escape(complaint)):
        command.agreeing(Workspace.read(repository.folder), tag)


@pytest.mark.parametrize("heading", ["## Unreleased", "## 0.1.0", "## 0.1.0 (unreleased)"])
def test_check_raises_for_a_changelog_without_a_date(repository: Repository, heading: str) -> None:
    repository.write("lower", "CHANGELOG.md", f"# Changelog\n\n{heading}\n\n- First.\n")
    with pytest.raises(state.ReleaseError, match="no section"):
        command.agreeing(Workspace.read(repository.folder), "lower-v0.1.0")


@pytest.mark.parametrize("same", [True, False])
def test_build_twice_raises_if_the_builds_differ(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, same: bool
) -> None:
    builds: list[dict[str, str]] = []

    def output(program: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
        if program[0] == "git":
            return "1234567890\n"
        assert environment is not None
        builds.append(environment)
        out = Path(program[program.index("--out-dir") + 1])
        out.mkdir()
        (out / "lower.whl").write_text("" if same else str(len(builds)))
        return ""

    monkeypatch.setattr(proving, "output", output)
    lower = Workspace.read(repository.folder)["lower"]
    if same:
        assert list(proving.build_twice(lower, tmp_path / "dist")) == ["lower.whl"]
    else:
        with pytest.raises(state.ReleaseError, match="two builds of lower differ"):
            proving.build_twice(lower, tmp_path / "dist")
    assert [each["SOURCE_DATE_EPOCH"] for each in builds] == ["1234567890"] * 2


# --- The packages and the workflow ----------------------------------------------------------------


@pytest.mark.parametrize("stage", WORKSPACE.stages.values(), ids=lambda stage: stage.short)
def test_sections_of_changelogs_are_unreleased_or_dated(stage: Any) -> None:
    first, *others = state.sections(stage)
    dated = re.compile(r"(\S+) \(\d{4}-\d\d-\d\d\)")
    assert first == state.UNRELEASED or dated.fullmatch(first)
    assert all(map(dated.fullmatch, others))
    assert str(state.parsed(str(state.version_of(stage)))) in stage.source.joinpath(
        "__init__.py"
    ).read_text(encoding="utf-8")


def test_only_the_publish_job_has_permission_to_publish() -> None:
    workflow = pytest.importorskip("yaml").safe_load(WORKFLOW.read_text())
    build, publish = workflow["jobs"]["build"], workflow["jobs"]["publish"]
    assert workflow["permissions"] == {"contents": "read"}
    assert "permissions" not in build
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["environment"]["name"] == "pypi"
    assert publish["needs"] == "build"
    assert all("run" not in step for step in publish["steps"]), "it runs no code of ours"


def test_release_workflow_checks_the_pushed_tag() -> None:
    workflow = pytest.importorskip("yaml").safe_load(WORKFLOW.read_text())
    (pattern,) = workflow[True]["push"]["tags"]  # YAML 1.1 reads `on` as true
    runs = [step["run"] for step in workflow["jobs"]["build"]["steps"] if "run" in step]
    assert pattern == "mt-*-v*"
    assert len(runs) == 1
    assert 'python -m mt release --check "$GITHUB_REF_NAME" --out dist' in runs[0]
