"""The benchmark measures both sides and reports the results; speed itself is not tested."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

import mt_tensor as mt
from mt import elsewhere
from mt.bench import command, in_jax, steps, twin
from mt.bench.chart import draw
from mt.bench.command import main
from mt.bench.comparison import names_of
from mt.bench.learning import Learner, models_of, twin_of
from mt.bench.libraries import library
from mt.bench.startup import first_step, import_seconds
from mt.bench.workloads import WORKLOADS
from mt.errors import ToolError
from mt_nn.jobs import JOBS, job_class
from mt_nn.jobs.images import Images
from mt_nn.jobs.job import Settings
from mt_nn.jobs.points import Points
from mt_nn.jobs.text import Text
from mt_nn.train.trainer import Trainer

ITSELF = ("--against", "mt_tensor", "--rounds", "2")


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit, match="[12]"):
        main(arguments)
    return capsys.readouterr().err


def test_a_side_that_cannot_run_is_reported_and_rows_that_were_written_stay(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rows.json"
    file.write_text("earlier rows")
    with pytest.raises(SystemExit, match="1"):
        main(["8 elements", *ITSELF, "--backend", "nobody", "--json", str(file)])
    said = capfd.readouterr().err
    assert "no backend is called 'nobody'" in said
    assert "mt bench: the process measuring" in said
    assert file.read_text() == "earlier rows"


def test_rows_are_measured_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.json"
    assert main(["8 elements", *ITSELF, "--json", str(file)]) == 0
    rows = json.loads(file.read_text())
    assert [row["name"] for row in rows] == [name for name in WORKLOADS if "8 elements" in name]
    for row in rows:
        assert row["ours"] > 0
        assert row["torch"] > 0
        assert row["ratio"] == row["ours"] / row["torch"]
        assert row["quartiles"][0] <= row["median"] <= row["quartiles"][1]
    printed = capsys.readouterr().out
    assert all(row["name"] in printed for row in rows)
    assert "geometric mean of 4 ratios" in printed


def test_programs_are_measured_from_one_backward_pass_to_the_next(
    capsys: pytest.CaptureFixture[str],
) -> None:
    began = time.perf_counter()
    assert main(["gat", "--group", "programs", *ITSELF]) == 0
    (row,) = (line.split() for line in capsys.readouterr().out.splitlines() if "gat" in line)
    ours, other = (float(column.removesuffix("us")) / 1e6 for column in row[1:3])
    runs, steps = 2 + 1, 40  # the first one warms up
    assert 0 < runs * (steps - 2) * (ours + other) < time.perf_counter() - began


@pytest.mark.parametrize(
    "pattern", ["(x * y + z).sum(), 8 elements: forward and backward", r"^\(x .*, 8 .*backward$"]
)
def test_a_row_is_chosen_by_its_name_or_a_pattern(pattern: str) -> None:
    assert names_of("kernels", pattern) == ["(x * y + z).sum(), 8 elements: forward and backward"]


def test_an_unknown_row_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    said = complaint(capsys, "no such row", *ITSELF)
    assert "no row of the group 'kernels' matches 'no such row'; there are: " in said


def test_an_unwritable_file_is_an_error_before_measuring(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = complaint(capsys, "8 elements", *ITSELF, "--json", str(tmp_path / "gone" / "rows.json"))
    assert "cannot be written (No such file or directory)" in said


@pytest.mark.parametrize("arguments", [("--rounds", "0"), ("--threads", "-1"), ("--against", "me")])
def test_settings_that_make_no_sense(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"argument {arguments[0]}: " in complaint(capsys, *arguments)


# --- Elsewhere ------------------------------------------------------------------------------------


@pytest.fixture
def _no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "missing", list)
    monkeypatch.delenv("HATCH_ENV_ACTIVE", raising=False)


@pytest.mark.usefixtures("_no_torch")
@pytest.mark.skipif(os.name == "nt", reason="the fake hatch is a script for sh")
@pytest.mark.parametrize(
    "arguments", [("8 elements", "--backend", "fast"), ("startup",), ("chart", "a", "b.svg")]
)
def test_it_starts_itself_where_torch_is(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hatch, log = tmp_path / "hatch", tmp_path / "log"
    hatch.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {log}\nexit 4\n")
    hatch.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(arguments) == 4
    assert log.read_text().splitlines() == ["run", "torch:mt", "bench", *arguments]


@pytest.mark.usefixtures("_no_torch")
def test_without_hatch_the_error_explains_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    assert "needs torch, which is not installed: pip install torch, or pip" in complaint(capsys)


@pytest.mark.usefixtures("_no_torch")
def test_it_does_not_start_itself_for_ever(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HATCH_ENV_ACTIVE", "torch")
    assert "torch is missing from the environment 'torch': hatch env prune" in complaint(capsys)


def test_what_is_missing() -> None:
    assert elsewhere.missing(["json", "no_such_module", "no_such_package.part"]) == [
        "no_such_module",
        "no_such_package.part",
    ]


# --- The other parts ------------------------------------------------------------------------------


def test_the_chart_names_every_row(tmp_path: Path) -> None:
    rows = [
        {"name": f"row {i}", "ratio": ratio, "quartiles": [0.9 * ratio, 1.2 * ratio], "target": 0.5}
        for i, ratio in enumerate((0.1, 0.9, 3.0))
    ]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    picture = tmp_path / "chart.svg"
    assert main(["chart", str(tmp_path / "rows.json"), str(picture)]) == 0
    text = picture.read_text()
    assert all(f"row {i}" in text for i in range(3))
    draw(rows, tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text() == text


@pytest.mark.parametrize(
    ("rows", "picture"), [("[1]", "a.svg"), ("[", "a.svg"), (None, "a.svg"), ("[]", "a.nonsense")]
)
def test_a_chart_of_an_invalid_file_is_an_error(
    rows: str | None, picture: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rows.json"
    if rows is not None:
        file.write_text(rows)
    said = complaint(capsys, "chart", str(file), str(tmp_path / picture))
    assert "no picture can be made of" in said
    assert "what `mt bench --json FILE` writes" in said


def test_every_workload_runs_here_and_says_what_is_expected_of_it() -> None:
    side = library("mt_tensor", 1)
    small = (
        *("(x * y + z).sum(), 8 elements: forward and backward", "matmul, 64 x 64", "Linear("),
        *("digits, ", "spiral, ", "MLP "),
    )
    for name in (name for name in WORKLOADS if name.startswith(small)):
        WORKLOADS[name].make(side)()
    assert all(0 < workload.target <= 1.5 for workload in WORKLOADS.values())


def test_steps_are_measured_compiled_and_eager(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rows.json"
    arguments = ["--group", "steps", "MLP", "--rounds", "2", "--threads", "1", "--json", str(file)]
    assert main([*arguments, *ITSELF]) == 0
    (row,) = json.loads(file.read_text())
    assert row["ratio"] is None
    assert sorted(row["sides"]) == ["mt_tensor", "mt_tensor+compile"]
    for side in row["sides"].values():
        assert 0 < side["minimum"] <= side["median"]
        assert side["memory"] > 10**7
    assert "mt_tensor+compile" in capsys.readouterr().out


def test_a_row_of_steps_reports_stalls_and_missed_targets() -> None:
    quick, slow = steps.Measured(0.001, 0.002, 10**8), steps.Measured(0.002, 0.1, 10**8)
    row = steps.Row("a step", 2, {"mt_tensor+compile": quick, "torch": slow}, 0.5, 0.3)
    told = "\n".join(steps.lines(row))
    assert told.count("stalled") == 1
    assert "0.50, target 0.30  above" in told
    assert set(in_jax.STEPS) <= set(WORKLOADS)


def test_waiting_times_are_measured() -> None:
    assert import_seconds("json", 1) > 0
    assert 0 < first_step("mt_tensor", {"MT_BACKEND": "numpy"}) < 600


def test_a_process_that_fails_is_reported() -> None:
    with pytest.raises(ToolError, match="ModuleNotFoundError: No module named 'no_such_module'"):
        import_seconds("no_such_module", 1)


def test_a_row_of_a_job_is_as_large_as_its_step() -> None:
    rows = [name for name, workload in WORKLOADS.items() if workload.group == "jobs"]
    for name in ("digits", "mnist", "cifar10", "sentiment", "language", "shakespeare", "spiral"):
        assert any(row.startswith(f"{name}, ") for row in rows)
    assert "language, lstm: a step of 35 x 10 words" in rows


MODELS = [(name, model) for name in JOBS for model in models_of(name)]


def job_and_batch(name: str, model: str) -> tuple[Any, Any, Any]:
    """Return a job with its vocabulary, and samples with their targets."""
    settings = Settings(model=model, epochs=1, batch_size=4, lr=0.1, seed=0, data_dir=".")
    job: Any = job_class(name)(settings)
    if isinstance(job, Images):
        return job, mt.rand(4, *job.shape), mt.randint(0, 10, (4,))
    if isinstance(job, Points):
        return job, mt.rand(4, 2), mt.randint(0, 2, (4,))
    tokens = ["<pad>", "<unk>", *"abcdef"]
    job.load_state({"tokens": tokens, "unknown": "<unk>"})
    targets = mt.randint(0, 7, (12,)) if isinstance(job, Text) else mt.randint(0, 2, (4,))
    return job, mt.randint(1, 7, (4, 3)), targets


def values_of(copy: Any) -> dict[str, mt.Tensor]:
    """Return the parameters and buffers of a copy, under their names in the job's network."""
    return {
        "positions.weight" if name == "positions" else name: value
        for name, value in copy.state_dict().items()
    }


def dropouts(network: Any) -> dict[str, float]:
    """Return the dropout probabilities of the layers of a network."""
    shares = {
        name: getattr(module, "p", getattr(module, "dropout", None))
        for name, module in network.named_modules()
    }
    return {name: share for name, share in shares.items() if isinstance(share, float)}


@pytest.mark.parametrize(("name", "model"), MODELS)
def test_the_networks_are_those_of_the_jobs(name: str, model: str) -> None:
    job, inputs, _ = job_and_batch(name, model)
    ours, copy = job.network(), twin_of(job, library("mt_tensor", 1))
    ours.load_state_dict(values_of(copy))
    with mt.no_grad():
        assert copy.eval()(inputs).allclose(ours.eval()(inputs), rtol=1e-4, atol=1e-5)
    assert dropouts(copy) == dropouts(ours)


@pytest.mark.parametrize(("name", "model"), MODELS)
def test_a_step_is_that_of_the_job(name: str, model: str) -> None:
    job, inputs, target = job_and_batch(name, model)
    learner = Learner(job, library("mt_tensor", 1))
    ours = job.network()
    ours.load_state_dict(values_of(learner.network))
    trainer = Trainer(ours, job.optimizer(ours), job.loss, clip_norm=job.clip_norm)
    mt.manual_seed(0)
    trainer.fit([(inputs, target)], 1)
    mt.manual_seed(0)
    learner.step(inputs, target)
    learnt = values_of(learner.network)
    for value_name, value in ours.state_dict().items():
        assert value.allclose(learnt[value_name], rtol=1e-4, atol=1e-5)


OTHERS = [pair for pair in MODELS if pair not in {("mnist", "resnet9"), ("fashion", "resnet9")}]
"""Without networks that are those of `cifar10`, for images of another size."""


@pytest.mark.parametrize(("name", "model"), OTHERS)
def test_a_job_learns_the_same_from_programs(name: str, model: str) -> None:
    job, inputs, target = job_and_batch(name, model)
    learnt = []
    for compile in (False, True):
        mt.manual_seed(0)
        network = job.network()
        optimizer = job.optimizer(network)
        trainer = Trainer(
            network, optimizer, job.loss, clip_norm=job.clip_norm, compile=compile,
            scheduler=job.scheduler(optimizer, 5), schedule="step",
        )  # fmt: skip
        trainer.fit([(inputs, target)] * 4, 1)
        learnt.append({name: value.tolist() for name, value in network.state_dict().items()})
        learn: Any = trainer._learn
        assert not compile or learn.programs
    assert learnt[0] == learnt[1]


@pytest.mark.parametrize("model", ["lstm", "transformer"])
def test_a_job_and_its_twin_in_torch_learn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    pytest.importorskip("torch")
    (tmp_path / "input.txt").write_text("to be or not to be that is the question\n" * 100)
    short = ["--epochs", "2", "--batch-size", "4", "--threads", "1", "--backend", "numpy"]
    twin.main(["shakespeare", "--model", model, "--data-dir", str(tmp_path), *short])
    *learnt, fastest, middle = capsys.readouterr().out.splitlines()
    for side in ("mt", "torch"):
        first, second, test = (
            float(line.split("s  " if "epoch" in line else side)[1].split()[0])
            for line in learnt
            if f" {side} " in line
        )
        assert first > second
        assert abs(test - second) < 0.2
    assert fastest.startswith("fastest epoch: ")
    assert middle.startswith("median epoch: ")


def refusal(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the error message of a twin."""
    with pytest.raises(SystemExit, match="1"):
        twin.main(arguments)
    said = capfd.readouterr().err
    assert said.startswith("mt bench.twin: ")
    assert said.count("\n") == 1
    return said


def test_a_failing_twin_reports_why_and_cleans_up(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    before = dict(os.environ)
    assert "does not contain t10k-images" in refusal(capfd, "mnist", "--data-dir", str(tmp_path))
    assert "no backend is called 'nobody'" in refusal(capfd, "digits", "--backend", "nobody")
    assert dict(os.environ) == before


def test_a_twin_that_ends_is_reported(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(twin, "missing", lambda _: [])
    monkeypatch.setattr(twin, "_answer", abs)  # which takes other arguments
    with pytest.raises(SystemExit, match="1"):
        twin.main(["digits"])
    assert "mt bench.twin: the training process ended" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("digits", "--model", "resnet9"), "--model must be one of lenet; got 'resnet9'"),
        (("sentiment", "--model", "glove"), "--model must be one of random; got 'glove'"),
        (("digits", "--seed", "-1"), "seed must be a non-negative integer"),
    ],
)
def test_invalid_settings_of_a_twin(
    arguments: tuple[str, ...],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(twin, "missing", lambda _: [])
    assert says in refusal(capfd, *arguments)


def test_a_twin_needs_torch(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(twin, "missing", list)
    assert "hatch run torch:twin" in refusal(capfd, "digits")


def test_torch_learns_without_the_backend_of_the_other_side() -> None:
    pytest.importorskip("torch")
    settings = Settings(
        model="lenet", epochs=1, batch_size=4, lr=0.01, seed=0, data_dir="", batches=1
    )
    side = twin._Process("torch", "digits", settings, "nobody", 1)
    side.wait()
    assert side.ask(1)[0] > 0
