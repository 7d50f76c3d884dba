"""`mt-train` jobs for text: hidden states, windows, text generation, errors."""

import re
from pathlib import Path

import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.errors import InputError
from mt_nn.jobs import job_class
from mt_nn.jobs.command import cli
from mt_nn.jobs.command.training import trainer_of
from mt_nn.jobs.job import Settings
from mt_nn.jobs.text import Text
from mt_nn.train import LSTMLanguageModel, TransformerLanguageModel

LINE = "to be or not to be that is the question\n"
FILES = {
    "language": {"ptb.train.txt": 300, "ptb.valid.txt": 100, "ptb.test.txt": 100},
    "shakespeare": {"input.txt": 100},
}
"""The files of each job, with the number of lines that these tests write."""

EPOCHS = 3

JOBS_AND_MODELS = [(job, model) for job in FILES for model in job_class(job).models]


def write(folder: Path, job: str, lines: float = 1.0) -> None:
    """Write the files of a job; `lines` scales the number of lines."""
    for name, count in FILES[job].items():
        (folder / name).write_text(LINE * int(lines * count))


def job_of(folder: Path, job: str, model: str) -> Text:
    instance = job_class(job)(Settings(model, EPOCHS, 4, 0.01, 0, str(folder)))
    assert isinstance(instance, Text)
    return instance


# --- Networks -------------------------------------------------------------------------------------


def close(one: mt.Tensor, other: mt.Tensor) -> bool:
    return bool(one.detach().allclose(other.detach(), rtol=1e-4, atol=1e-6))


def test_lstm_keeps_its_state_between_windows() -> None:
    mt.manual_seed(0)
    network, text = LSTMLanguageModel(5, 8, layers=2), mt.randint(0, 5, (9, 3))
    expected = network(text)
    parts = [network(text[:4]), network(text[4:7], False), network(text[7:], begins=False)]
    assert close(mt.cat(parts), expected)
    assert not close(network(text[4:7]), expected[12:21])  # begins=True resets the state


def test_evaluation_does_not_change_the_lstm_state_of_training() -> None:
    mt.manual_seed(0)
    network, text = LSTMLanguageModel(5, 8), mt.randint(0, 5, (8, 3))
    expected = network(text)
    network(text[:4])
    network.eval()(mt.randint(0, 5, (6, 2)))
    assert close(network.train()(text[4:], begins=False), expected[12:])


@pytest.mark.parametrize(
    "network", [LSTMLanguageModel(5, 8), TransformerLanguageModel(5, 8, 2, 2, 6)]
)
def test_language_models_are_causal(network: nn.Module) -> None:
    text = mt.randint(0, 5, (6, 2))
    before = network(text).view(6, 2, 5)
    text[4] = (text[4] + 1) % 5
    after = network(text).view(6, 2, 5)
    assert close(after[:4], before[:4])
    assert not close(after[4:], before[4:])


# --- The data -------------------------------------------------------------------------------------


@pytest.mark.parametrize("job", FILES)
def test_evaluation_does_not_depend_on_the_batch_size(tmp_path: Path, job: str) -> None:
    write(tmp_path, job, 4)
    batches = []
    for columns in (4, 16):
        settings = Settings("lstm", EPOCHS, columns, 0.01, 0, str(tmp_path))
        parts = job_class(job)(settings).read()
        batches.append([*parts.validation, *parts.test])
    for one, other in zip(*batches, strict=True):
        assert one[1] == other[1]
        assert (one[0] == other[0]).all()
        assert (one[2] == other[2]).all()


@pytest.mark.parametrize(("name", "model"), JOBS_AND_MODELS)
def test_every_token_except_the_first_is_a_target_once(
    tmp_path: Path, name: str, model: str
) -> None:
    write(tmp_path, name)
    job = job_of(tmp_path, name, model)
    parts = job.read()
    for loader, count in zip(parts[:3], parts.counts, strict=True):
        windows = list(loader)
        assert sum(len(targets) for *_, targets in windows) == count
        assert sum(begins for _, begins, _ in windows) == 1
        for tokens, _, targets in windows:
            rows = targets.view(tokens.shape)
            assert mt.equal(tokens[1:], rows[:-1])
    begins = [begins for _, begins, _ in parts.training]
    assert (begins == sorted(begins, reverse=True)) or not job.is_recurrent()


def test_language_job_without_training_file_splits_the_validation_file(tmp_path: Path) -> None:
    write(tmp_path, "language")
    (tmp_path / "ptb.test.txt").write_text("to be is news\n" * 13)
    job = job_of(tmp_path, "language", "lstm")
    counts = job.read().counts
    assert counts == (300 * 11 - 4, 100 * 11 - 10, 60 - 10)
    (tmp_path / "ptb.train.txt").unlink()
    assert job.read().counts == (988 - 4, 110 - 10, 60 - 10)  # ptb.valid.txt is split 9 : 1
    assert len(job.vocabulary) == 10
    assert job.vocabulary.decode(job.read().test.dataset[0][-1][:4].tolist()) == [
        "be", "is", "<unk>", "<eos>",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "model"), JOBS_AND_MODELS)
def test_training_of_language_model_lowers_the_loss(tmp_path: Path, name: str, model: str) -> None:
    write(tmp_path, name)
    job = job_of(tmp_path, name, model)
    mt.manual_seed(0)
    parts = job.read()
    trainer = trainer_of(job, parts)
    first = trainer.evaluate(parts.validation)["loss"]
    trainer.fit(parts.training, EPOCHS)
    assert trainer.evaluate(parts.validation)["loss"] < 0.8 * first


# --- Generation -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "model"), JOBS_AND_MODELS)
def test_training_and_predict_write_generated_text(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    model: str,
) -> None:
    monkeypatch.setattr(job_class(name), "length", 20)
    write(tmp_path, name, 0.5)
    out = tmp_path / "out"
    folders = ["--data-dir", str(tmp_path), "--out", str(out)]
    assert cli.main([name, "--model", model, "--epochs", "2", "--batch-size", "8", *folders]) == 0
    printed = capsys.readouterr().out
    texts = re.findall(r"^epoch  [12] .*\n\n(.+)", printed, re.MULTILINE)
    assert len(texts) == 2
    assert cli.main(["predict", str(out), "to be or"]) == 0
    written = capsys.readouterr().out
    assert written.startswith("to be or")
    assert len(written) > 20
    assert cli.main(["predict", str(out), "to be or"]) == 0
    assert capsys.readouterr().out == written
    for text, message in {
        "": f"the text is empty: pass some {job_class(name).samples} to continue.",
        "to zé": "is not one of the",
    }.items():
        assert cli.main(["predict", str(out), text]) == 1
        error = capsys.readouterr().err
        assert re.match(r"mt-train: .*\n\Z", error)
        assert message in error


def test_generation_from_nan_scores_raises_input_error(tmp_path: Path) -> None:
    write(tmp_path, "language")
    job = job_of(tmp_path, "language", "lstm")
    job.read()
    network = job.network()
    for parameter in network.parameters():
        nn.init.constant_(parameter, float("nan"))
    with pytest.raises(InputError, match="no text can be generated: the scores"):
        job.predict(network, "to be")
    assert job.format_loss(1e9) == "perplexity inf"


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("lines", [0.0, 0.01], ids=["empty", "too short"])
def test_too_short_text_ends_the_command_with_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, lines: float
) -> None:
    write(tmp_path, name, lines)
    assert cli.main([name, "--data-dir", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert re.match(r"mt-train: a text of \d+ \w+ was given; training, validation .*\n\Z", error)
    assert not (tmp_path / "out").exists()
