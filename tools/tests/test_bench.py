"""The benchmark measures both sides and reports the results; speed itself is not tested."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

import mt_tensor as mt
from mt import torch_environment
from mt.bench import command, measuring, twin
from mt.bench.command import main
from mt.bench.comparison import names_of
from mt.bench.learning import Learner
from mt.bench.libraries import library
from mt.bench.networks import network_of
from mt.bench.workloads import WORKLOADS
from mt.bench.workloads.programs import seconds
from mt.errors import ToolError
from mt.port.comparison import Program
from mt_nn.jobs import JOBS, job_class
from mt_nn.jobs.images import Images
from mt_nn.jobs.job import Settings
from mt_nn.jobs.points import Points
from mt_nn.jobs.text import Text
from mt_nn.train.trainer import Trainer

ITSELF = ("--against", "mt_tensor", "--rounds", "2")


def error_message(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit, match="[12]"):
        main(arguments)
    return capsys.readouterr().err


def test_unknown_backend_exits_with_status_1(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="1"):
        main(["8 elements", *ITSELF, "--backend", "unknown"])
    message = capfd.readouterr().err
    assert "no backend is called 'unknown'" in message
    assert "mt bench: the process measuring" in message


def test_rows_are_measured_and_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["8 elements", *ITSELF, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["name"] for row in rows] == [name for name in WORKLOADS if "8 elements" in name]
    for row in rows:
        ours, other = row["sides"]
        assert min(ours["seconds"]) > 0
        assert row["ratio"] == min(ours["seconds"]) / min(other["seconds"])
        low, median, high = row["quartiles"]
        assert low <= median <= high


def test_programs_are_timed_from_one_backward_pass_to_the_next(
    capsys: pytest.CaptureFixture[str],
) -> None:
    began = time.perf_counter()
    assert main(["gat", "--group", "programs", *ITSELF]) == 0
    (row,) = (line.split() for line in capsys.readouterr().out.splitlines() if "gat" in line)
    ours, other = (float(column.removesuffix("us")) / 1e6 for column in row[1:3])
    runs, steps = 2 + 1, 40  # the first one warms up
    assert 0 < runs * (steps - 2) * (ours + other) < time.perf_counter() - began


def test_program_with_fewer_than_three_backward_passes_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mt.port.comparison.FOLDER", tmp_path)
    side, program = library("mt_tensor", 1), Program("brief", "a program", ())
    for count in (0, 1, 2):
        program.file.write_text(
            "import torch\nx = torch.ones(2, requires_grad=True)\n" + "x.sum().backward()\n" * count
        )
        with pytest.raises(ToolError, match=f"brief has {count} backward passes; .* at least 3"):
            seconds(program, side)


@pytest.mark.parametrize(
    "pattern", ["(x * y + z).sum(), 8 elements: forward and backward", r"^\(x .*, 8 .*backward$"]
)
def test_row_is_selected_by_name_or_regular_expression(pattern: str) -> None:
    assert names_of("kernels", pattern) == ["(x * y + z).sum(), 8 elements: forward and backward"]


def test_unknown_row_is_an_error_that_lists_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    message = error_message(capsys, "no such row", *ITSELF)
    assert "no row of the group 'kernels' matches 'no such row'; the rows are: " in message


@pytest.mark.parametrize("arguments", [("--rounds", "0"), ("--threads", "-1"), ("--against", "me")])
def test_invalid_option_is_a_usage_error(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"argument {arguments[0]}: " in error_message(capsys, *arguments)


# --- Without torch --------------------------------------------------------------------------------


@pytest.fixture
def _no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "missing", list)
    monkeypatch.delenv("HATCH_ENV_ACTIVE", raising=False)


@pytest.mark.usefixtures("_no_torch")
@pytest.mark.skipif(os.name == "nt", reason="the fake hatch is a script for sh")
@pytest.mark.parametrize("arguments", [("8 elements", "--backend", "fast"), ("launches",)])
def test_without_torch_the_command_restarts_in_the_torch_environment(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hatch, log = tmp_path / "hatch", tmp_path / "log"
    hatch.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {log}\nexit 4\n")
    hatch.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(arguments) == 4
    assert log.read_text().splitlines() == ["run", "torch:mt", "bench", *arguments]


@pytest.mark.usefixtures("_no_torch")
def test_without_torch_and_hatch_the_error_explains_the_installation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    assert "needs torch, which is not installed: pip install torch, or pip" in error_message(capsys)


@pytest.mark.usefixtures("_no_torch")
def test_torch_environment_without_torch_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HATCH_ENV_ACTIVE", "torch")
    message = "torch is missing from the environment 'torch': run `hatch env prune`"
    assert message in error_message(capsys)


def test_missing_returns_modules_that_are_not_installed() -> None:
    assert torch_environment.missing(["json", "no_such_module", "no_such_package.part"]) == [
        "no_such_module",
        "no_such_package.part",
    ]


# --- The other parts ------------------------------------------------------------------------------


def test_small_workloads_run_and_all_workloads_have_targets() -> None:
    side = library("mt_tensor", 1)
    small = (
        *("(x * y + z).sum(), 8 elements: forward and backward", "matmul, 64 x 64", "Linear("),
        *("digits, ", "spiral, ", "MLP "),
    )
    for name in (name for name in WORKLOADS if name.startswith(small)):
        WORKLOADS[name].make(side)()
    assert all(0 < workload.target <= 1.5 for workload in WORKLOADS.values())


def test_steps_are_measured_compiled_and_eager(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--group", "steps", "MLP", "--threads", "1", *ITSELF]) == 0
    head, row, memory, _ = capsys.readouterr().out.splitlines()
    assert head.split()[4:6] == ["mt_tensor+compile", "mt_tensor"]
    assert row.startswith("MLP 784-256-10, batch 32, Adam ")
    assert all(int(peak.removesuffix("MB")) > 10 for peak in memory.split()[2:])


def test_row_compares_with_the_fastest_and_reports_stalls_and_missed_targets() -> None:
    times = (1e-3, 2e-3), (1e-6, 1e-6), (2e-3, 1e-1), (4e-3, 2e-2)
    row = measuring.Row("a step", ("ours", "eager", "torch", "jax"), times, (1, 2, 3, 4), 2, 0.3)
    assert row.ratio == 0.5
    assert row.quartiles[1] == pytest.approx(0.3)
    assert row.stalled
    assert str(row).endswith("0.30  above  stalled")


def test_jax_steps_are_named_like_workloads_and_run() -> None:
    pytest.importorskip("jax")
    from mt.bench.in_jax import STEPS

    assert set(STEPS) <= set(WORKLOADS)
    STEPS["MLP 784-256-10, batch 32, Adam"]()()


def test_every_job_has_a_row_named_after_its_step() -> None:
    rows = [name for name, workload in WORKLOADS.items() if workload.group == "jobs"]
    for name in ("digits", "mnist", "cifar10", "sentiment", "language", "shakespeare", "spiral"):
        assert any(row.startswith(f"{name}, ") for row in rows)
    assert "language, lstm: a step of 35 x 10 words" in rows


MODELS = [(name, model) for name in JOBS for model in job_class(name).models]


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


@pytest.mark.parametrize(("name", "model"), MODELS)
def test_network_of_a_job_matches_its_torch_version(name: str, model: str) -> None:
    torch = pytest.importorskip("torch")
    job, inputs, _ = job_and_batch(name, model)
    ours, theirs = job.network(), network_of(job, library("torch", 1))
    values = {name: torch.tensor(value.numpy()) for name, value in ours.state_dict().items()}
    theirs.load_state_dict(values)
    with mt.no_grad(), torch.no_grad():
        expected = mt.tensor(theirs.eval()(torch.tensor(inputs.numpy())).numpy())
        assert ours.eval()(inputs).allclose(expected, rtol=1e-3, atol=1e-5)
    assert dropouts(theirs) == dropouts(ours)


def dropouts(network: Any) -> list[float]:
    """Return the dropout probabilities of the layers of a network."""
    modules = [module for _, module in network.named_modules()]
    return [module.p for module in modules if type(module).__name__.startswith("Dropout")]


@pytest.mark.parametrize(("name", "model"), MODELS)
def test_step_of_the_learner_matches_the_trainer(name: str, model: str) -> None:
    job, inputs, target = job_and_batch(name, model)
    learner = Learner(job, library("mt_tensor", 1))
    ours = job.network()
    ours.load_state_dict(learner.network.state_dict())
    trainer = Trainer(ours, job.optimizer(ours), job.loss, clip_norm=job.clip_norm)
    mt.manual_seed(0)
    trainer.fit([(inputs, target)], 1)
    mt.manual_seed(0)
    learner.step(inputs, target)
    learnt = learner.network.state_dict()
    for value_name, value in ours.state_dict().items():
        assert value.allclose(learnt[value_name], rtol=1e-4, atol=1e-5)


OTHERS = [pair for pair in MODELS if pair not in {("mnist", "resnet9"), ("fashion", "resnet9")}]
"""Without two networks that differ from that of `cifar10` only in the size of images."""


@pytest.mark.parametrize(("name", "model"), OTHERS)
def test_compiled_training_of_a_job_matches_eager_training(name: str, model: str) -> None:
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
def test_job_and_its_torch_twin_both_learn(
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


def twin_error_message(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the error message of a twin that exits with status 1."""
    with pytest.raises(SystemExit, match="1"):
        twin.main(arguments)
    message = capfd.readouterr().err
    assert message.startswith("mt bench.twin: ")
    return message


def test_twin_with_missing_data_or_unknown_backend_exits_with_status_1(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    assert "does not contain t10k-images" in twin_error_message(
        capfd, "mnist", "--data-dir", str(tmp_path)
    )
    assert "no backend is called 'unknown'" in twin_error_message(
        capfd, "digits", "--backend", "unknown"
    )


def test_ended_twin_process_raises_tool_error(capfd: pytest.CaptureFixture[str]) -> None:
    settings = Settings(model="none", epochs=1, batch_size=4, lr=0.01, seed=0, data_dir="")
    with twin.Twin("mt", "digits", settings, "numpy", 1) as side:
        side.send_request()
        with pytest.raises(ToolError, match="the training process ended"):
            side.send_request("nonsense")
    assert "nonsense" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("digits", "--model", "resnet9"), "--model must be one of lenet; got 'resnet9'"),
        (("sentiment", "--model", "glove"), "--model must be one of random; got 'glove'"),
        (("digits", "--seed", "-1"), "seed must be a non-negative integer"),
    ],
)
def test_invalid_setting_of_a_twin_exits_with_status_1(
    arguments: tuple[str, ...],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(twin, "missing", lambda _: [])
    assert says in twin_error_message(capfd, *arguments)


def test_twin_without_torch_names_the_torch_environment(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(twin, "missing", list)
    assert "hatch run torch:twin" in twin_error_message(capfd, "digits")


def test_torch_twin_ignores_the_backend() -> None:
    pytest.importorskip("torch")
    settings = Settings(
        model="lenet", epochs=1, batch_size=4, lr=0.01, seed=0, data_dir="", batches=1
    )
    with twin.Twin("torch", "digits", settings, "unknown", 1) as side:
        side.send_request()
        assert side.send_request(1)[0] > 0
