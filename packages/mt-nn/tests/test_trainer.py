"""`Trainer`: training, evaluation, callbacks, resuming, logs and progress."""

import builtins
import csv
import io
import itertools
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn import train
from mt_nn.train import Callback, Trainer, callbacks

cross_entropy = nn.functional.cross_entropy


def samples(count: int = 22) -> nn.data.TensorDataset:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((count, 4)).astype(np.float32)
    return nn.data.TensorDataset(mt.tensor(x), mt.tensor((x[:, 0] > 0).astype(np.int64)))


def loader(shuffle: bool = True, count: int = 22) -> nn.data.DataLoader:
    return nn.data.DataLoader(samples(count), 4, shuffle=shuffle)


def network() -> nn.Module:
    mt.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Dropout(0.2), nn.Linear(6, 2))


def trainer(*callbacks: Callback, **settings: Any) -> Trainer:
    model = network()
    optimizer = nn.optim.Adam(model.parameters(), lr=0.02)
    metrics = {"accuracy": train.Accuracy()}
    return Trainer(model, optimizer, cross_entropy, metrics, callbacks=callbacks, **settings)


class HalvingScheduler:
    """A scheduler that counts its steps and halves the learning rate."""

    def __init__(self, optimizer: nn.optim.Optimizer) -> None:
        self.optimizer, self.calls = optimizer, []

    def step(self, *metrics: float) -> None:
        self.calls.append(metrics)
        self.optimizer.param_groups[0]["lr"] /= 2

    def state_dict(self) -> Any:
        return {"calls": self.calls}

    def load_state_dict(self, state: Any) -> None:
        self.calls = state["calls"]


# --- Training -----------------------------------------------------------------------------------


def test_fit_matches_a_manual_training_loop() -> None:
    model = network()
    optimizer = nn.optim.Adam(model.parameters(), lr=0.02)
    losses, means, accuracies = [], [], []
    for _ in range(3):
        total = correct = 0.0
        for x, y in loader():
            output = model(x)
            loss = cross_entropy(output, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            total += loss.item() * len(y)
            correct += nn.functional.accuracy(output, y) * len(y)
        means.append(total / 22)
        accuracies.append(correct / 22)
    ours = trainer()
    history = ours.fit(loader(), 3)
    assert history.losses == losses
    assert history["loss"] == pytest.approx(means, rel=1e-12)
    assert history["accuracy"] == pytest.approx(accuracies, rel=1e-12)
    assert history["epoch"] == [1, 2, 3]
    assert (ours.epoch, ours.batch, ours.step) == (3, 0, 18)
    assert ours.fit(loader(), 3) is history
    assert len(ours.fit(loader(), 4)) == 4


def test_accumulate_3_matches_3_times_larger_batches() -> None:
    large, small = Trainer(*linear_setup()), Trainer(*linear_setup(), accumulate=3)
    data = samples(20)
    large.fit(nn.data.DataLoader(data, 12), 2)
    small.fit(nn.data.DataLoader(data, 4), 2)
    assert (large.step, small.step) == (4, 4)
    for one, two in zip(large.model.parameters(), small.model.parameters(), strict=True):
        np.testing.assert_allclose(one.value.detach(), two.value.detach(), rtol=1e-5, atol=1e-6)


def linear_setup() -> tuple[Any, Any, Any]:
    mt.manual_seed(0)
    model = nn.Linear(4, 2)
    return model, nn.optim.SGD(model.parameters(), lr=0.5, momentum=0.9), cross_entropy


def test_fit_accepts_loader_without_length() -> None:
    class WithoutLength:
        def __iter__(self) -> Any:
            return iter(list(loader(shuffle=False)))

    ours = Trainer(*linear_setup(), accumulate=4)
    assert len(ours.fit(WithoutLength(), 2).losses) == 12
    assert ours.step == 4


def test_clip_norm_limits_the_steps() -> None:
    class RecordChanges(Callback):
        def on_step_end(self, trainer: Trainer) -> None:
            weight = trainer.model.weight.detach().numpy().copy()
            changes.append(float(np.abs(weight - weights[-1]).max()))
            weights.append(weight)

    changes: list[float] = []
    model, _, loss = linear_setup()
    weights = [model.weight.detach().numpy().copy()]
    optimizer = nn.optim.SGD(model.parameters(), lr=1.0)
    Trainer(model, optimizer, loss, callbacks=[RecordChanges()], clip_norm=1e-3).fit(loader(), 1)
    assert 0 < max(changes) <= 1e-3 * 1.001


@pytest.mark.parametrize(
    ("schedule", "metric", "calls"), [("epoch", "loss", 2), ("step", None, 12)]
)
def test_scheduler_is_called_per_epoch_or_per_step(schedule: Any, metric: Any, calls: int) -> None:
    model = network()
    optimizer = nn.optim.Adam(model.parameters(), lr=1.0)
    scheduler = HalvingScheduler(optimizer)
    ours = Trainer(
        model, optimizer, cross_entropy, scheduler=scheduler, schedule=schedule, schedule_by=metric
    )
    history = ours.fit(loader(), 2)
    assert len(scheduler.calls) == calls
    if metric:
        assert scheduler.calls == [(loss,) for loss in history["loss"]]
        assert history["lr"] == [1.0, 0.5]


def test_evaluate_and_predict_use_eval_mode_and_all_batches() -> None:
    ours = trainer()
    before = ours.model.state_dict()["0.weight"].numpy().copy()
    measured = ours.evaluate(loader())
    outputs = ours.predict(loader(shuffle=False))
    data = samples()
    ours.model.eval()
    expected = ours.model(data.tensors[0]).detach().numpy()
    ours.model.train()
    np.testing.assert_allclose(outputs, expected, rtol=1e-6)
    assert measured["loss"] == pytest.approx(cross_entropy(outputs, data.tensors[1]).item())
    assert measured["accuracy"] == nn.functional.accuracy(outputs, data.tensors[1])
    assert ours.model.training
    assert not outputs.requires_grad
    np.testing.assert_array_equal(before, ours.model.state_dict()["0.weight"])
    images = data.tensors[0]
    for batches in ([images], [(images,)]):
        np.testing.assert_array_equal(ours.predict(batches), expected)
    np.testing.assert_array_equal(ours.predict([images]), expected)
    history = ours.fit(loader(), 1, validation=loader())
    measured = ours.evaluate(loader(shuffle=False))
    assert history["validation_loss"] == [pytest.approx(measured["loss"], rel=1e-6)]


def test_evaluate_and_predict_restore_modes_after_an_error() -> None:
    model = nn.Sequential(nn.Linear(4, 2), nn.Dropout(0.5), nn.Sequential(nn.Dropout(0.5)))
    model[2].eval()
    ours = Trainer(model, nn.optim.SGD(model.parameters(), lr=0.1), cross_entropy)
    modes_during: list[list[bool]] = []

    def modes() -> list[bool]:
        return [module.training for module in model.modules()]

    def batches() -> Any:
        for batch in loader():
            modes_during.append(modes())
            yield batch
        raise RuntimeError("disk error")

    before = modes()
    assert before == [True, True, True, False, False]
    for method in (ours.evaluate, ours.predict):
        with pytest.raises(RuntimeError, match="disk error"):
            method(batches())
        assert modes_during == [[False] * 5] * 6
        assert modes() == before
        modes_during.clear()


class Adder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(mt.ones(1))

    def forward(self, x: mt.Tensor, y: mt.Tensor) -> mt.Tensor:
        return self.scale * (x + y)


def test_model_with_two_inputs_is_trained_and_predicts() -> None:
    model = Adder()
    ours = Trainer(model, nn.optim.SGD(model.parameters(), lr=0.1), nn.functional.mse_loss)
    batches = [(mt.ones(3), mt.ones(3), mt.zeros(3))]
    assert ours.fit(batches, 1).losses == [4.0]
    assert ours.predict(batches).shape == (3,)


def test_invalid_batches_raise_input_error() -> None:
    ours = trainer()
    for batch in (mt.ones(2, 4), (mt.ones(2, 4),)):
        with pytest.raises(nn.InputError, match=r"a batch for training must be a tuple"):
            ours.fit([batch], 1)
    with pytest.raises(nn.InputError, match="no batches"):
        ours.predict([])
    assert math.isnan(ours.fit([], 1)["loss"][0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"schedule": "batch"}, "schedule must be one of epoch, step"),
        ({"accumulate": 0}, "accumulate must be a positive integer"),
        ({"clip_norm": -1}, "clip_norm must be a non-negative number"),
        ({"clip_norm": math.nan}, "clip_norm must be a non-negative number"),
    ],
)
def test_invalid_trainer_setting_raises_setting_error(settings: Any, message: str) -> None:
    with pytest.raises(nn.SettingError, match=message):
        trainer(**settings)


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ({"loss": train.Accuracy()}, "cannot be called 'loss'"),
        ({"validation_a": train.Accuracy()}, "cannot be called 'validation_a'"),
        ({"a": nn.functional.accuracy}, r"must be a Metric.*Mean\(function\)"),
    ],
)
def test_invalid_metric_name_or_type_raises_setting_error(metrics: Any, message: str) -> None:
    with pytest.raises(nn.SettingError, match=message):
        Trainer(*linear_setup(), metrics)


# --- Callbacks ----------------------------------------------------------------------------------


class CallRecorder(Callback):
    """Record the names of the methods that are called."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("on_"):
            self.calls.append(name.removeprefix("on_"))
        return super().__getattribute__(name)


def test_callback_methods_are_called_in_order() -> None:
    recorder = CallRecorder()
    ours = trainer(recorder, accumulate=4)
    ours.fit(loader(count=20), 1)
    assert recorder.calls == [
        "fit_start",
        "epoch_start",
        *["batch_end"] * 4,
        "step_end",
        "batch_end",
        "step_end",
        "epoch_end",
        "fit_end",
    ]
    recorder.calls.clear()
    with pytest.raises(nn.InputError):
        ours.fit([3], 2)
    assert recorder.calls == ["fit_start", "epoch_start", "fit_end"]


class PresetMetric(train.Metric):
    """A metric that returns preset values, one per epoch."""

    def __init__(self, values: list[float]) -> None:
        self.values = values
        super().__init__()

    def update(self, output: Any, target: Any) -> None:
        pass

    def compute(self) -> float:
        return self.values.pop(0)


@pytest.mark.parametrize(
    ("values", "settings", "epochs"),
    [
        ([3, 2, 2.5, 2.2, 1, 1], {}, 4),
        ([3, 2, 2.5, 1, 1, 1], {}, 6),
        ([1, 2, 1.5, 1.9, 0, 0], {"mode": "max"}, 4),
        ([3, 2.9, 2.8, 2.7, 0, 0], {"min_delta": 0.5}, 3),
        ([1, 1, 1, 1, 1, 1], {"patience": 0}, 2),
        ([math.nan, math.nan, 1, 0, 0, 0], {}, 2),
    ],
)
def test_early_stopping_ends_after_patience_epochs(
    values: list[float], settings: Any, epochs: int
) -> None:
    stopping = train.EarlyStopping("given", **{"patience": 1, **settings})
    ours = Trainer(*linear_setup(), {"given": PresetMetric(values)}, callbacks=[stopping])
    assert len(ours.fit(loader(), 6)) == epochs
    assert ours.should_stop or epochs == 6


def test_early_stopping_restores_the_best_parameters() -> None:
    weights: list[Any] = []

    class RecordWeights(Callback):
        def on_epoch_end(self, trainer: Trainer) -> None:
            weights.append(trainer.model.weight.detach().numpy().copy())

    stopping = train.EarlyStopping("given", patience=1, restore_best=True)
    ours = Trainer(
        *linear_setup(),
        {"given": PresetMetric([3, 1, 2, 2, 0])},
        callbacks=[stopping, RecordWeights()],
    )
    ours.fit(loader(), 5)
    assert len(weights) == 4
    np.testing.assert_array_equal(ours.model.weight.detach(), weights[1])


def test_invalid_callback_setting_raises_setting_error(tmp_path: Path) -> None:
    with pytest.raises(nn.SettingError, match="mode must be"):
        train.EarlyStopping(mode="least")  # type: ignore[arg-type]
    with pytest.raises(nn.SettingError, match="min_delta must be"):
        train.EarlyStopping(min_delta=-1)
    with pytest.raises(nn.SettingError, match="no number 'validation_loss' to monitor; it has"):
        trainer(train.EarlyStopping()).fit(loader(), 1)
    with pytest.raises(nn.SettingError, match="every_steps must be a positive integer"):
        train.SaveCheckpoints(tmp_path, every_steps=0)


# --- Resuming -----------------------------------------------------------------------------------


class Interrupt(Callback):
    """Save a checkpoint after the given step, and raise KeyboardInterrupt."""

    comes_last = True

    def __init__(self, path: Path, step: int, at_epoch_end: bool) -> None:
        self.path, self.step, self.at_epoch_end = path, step, at_epoch_end

    def on_step_end(self, trainer: Trainer) -> None:
        if trainer.step == self.step and not self.at_epoch_end:
            self.save(trainer)

    def on_epoch_end(self, trainer: Trainer) -> None:
        if trainer.step == self.step:
            self.save(trainer)

    def save(self, trainer: Trainer) -> None:
        trainer.save(self.path)
        raise KeyboardInterrupt


class StatefulLoader:
    """A loader with state_dict() and load_state_dict()."""

    def __init__(self) -> None:
        self.position, self.order = 0, np.zeros(0, int)
        self.resumed = False

    def __len__(self) -> int:
        return 6

    def __iter__(self) -> Any:
        if not self.resumed:
            self.position, self.order = 0, mt.randperm(22).numpy()
        self.resumed = False
        while self.position < 6:
            self.position += 1
            yield samples()[self.order[4 * self.position - 4 : 4 * self.position]]
        self.order = self.order[:0]

    def state_dict(self) -> Any:
        return {"position": self.position, "order": self.order}

    def load_state_dict(self, state: Any) -> None:
        self.position, self.order = state["position"], state["order"]
        self.resumed = len(self.order) > 0


class IterableLoader:
    """A loader without a state or a length."""

    def __init__(self, batches: Any) -> None:
        self.batches = batches

    def __iter__(self) -> Any:
        return iter(self.batches)


def trainer_with_state(*callbacks: Callback, accumulate: int = 1) -> Trainer:
    ours = trainer(*callbacks, train.EarlyStopping("loss", 9), accumulate=accumulate)
    ours.scheduler = HalvingScheduler(ours.optimizer)
    return ours


@pytest.mark.parametrize("make", [loader, StatefulLoader, lambda: IterableLoader(loader())])
@pytest.mark.parametrize(
    ("accumulate", "step", "at_epoch_end"),
    [(1, 8, False), (1, 12, False), (1, 12, True), (1, 7, False), (4, 3, False)],
)
def test_training_is_resumed_exactly(
    tmp_path: Path, make: Any, accumulate: int, step: int, at_epoch_end: bool
) -> None:
    path = tmp_path / "c.safetensors"
    expected = trainer_with_state(accumulate=accumulate)
    expected.fit(make(), 4, validation=loader())
    interrupted = trainer_with_state(Interrupt(path, step, at_epoch_end), accumulate=accumulate)
    with pytest.raises(KeyboardInterrupt):
        interrupted.fit(make(), 4, validation=loader())
    found = trainer_with_state(accumulate=accumulate)
    mt.manual_seed(99)
    history = found.fit(make(), 4, validation=loader(), resume=path)
    assert history.losses == expected.history.losses
    assert history.rows == expected.history.rows
    assert found.scheduler.calls == expected.scheduler.calls
    for one, two in zip(found.model.parameters(), expected.model.parameters(), strict=True):
        np.testing.assert_array_equal(one.value.detach(), two.value.detach())


@pytest.fixture
def handler() -> Iterator[Any]:
    """Install Python's SIGINT handler: background processes ignore the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def test_control_c_saves_a_checkpoint_and_training_can_be_resumed(
    tmp_path: Path, handler: Any
) -> None:
    class PressControlC(Callback):
        def on_batch_end(self, trainer: Trainer) -> None:
            for _ in range(presses[0] if trainer.step == 7 else 0):
                signal.raise_signal(signal.SIGINT)

    def make() -> Trainer:
        return trainer(train.SaveCheckpoints(tmp_path), PressControlC())

    presses = [0]
    expected = trainer().fit(loader(), 3).losses
    # The second press ends the training at once; the last checkpoint is then that of the epoch.
    for presses[0], step in ((2, 6), (1, 8)):
        with pytest.raises(KeyboardInterrupt):
            make().fit(loader(), 3)
        assert [path.name for path in tmp_path.iterdir()] == [f"step-0000000{step}.safetensors"]
        assert signal.getsignal(signal.SIGINT) is handler
    presses[0] = 0
    assert make().fit(loader(), 3, resume=tmp_path).losses == expected

    class PressAtEpochEnd(Callback):
        def on_epoch_end(self, trainer: Trainer) -> None:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        trainer(train.SaveCheckpoints(tmp_path), PressAtEpochEnd()).fit(loader(), 2)
    assert nn.load_checkpoint(nn.Checkpoints(tmp_path).paths()[0])["trainer"]["epoch"] == 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    presses[0] = 1
    assert make().fit(loader(), 3).losses == expected  # another SIGINT handler is kept


def test_early_stopping_state_is_restored_from_checkpoint(tmp_path: Path) -> None:
    def make(patience: int) -> Trainer:
        stopping = train.EarlyStopping("given", patience)
        saving = train.SaveCheckpoints(tmp_path)
        return Trainer(
            *linear_setup(), {"given": PresetMetric([1] * 9)}, callbacks=[saving, stopping]
        )

    assert len(make(1).fit(loader(), 5)) == 3
    assert len(make(1).fit(loader(), 5, resume=tmp_path)) == 3
    assert len(make(2).fit(loader(), 5, resume=tmp_path)) == 4


def test_checkpoint_of_other_model_metrics_or_loader_raises(tmp_path: Path) -> None:
    path = tmp_path / "c.safetensors"
    ours = trainer()
    ours.fit(loader(), 1)
    ours.save(path)
    other = Trainer(*linear_setup())
    with pytest.raises(nn.StateDictError, match="does not fit model"):
        other.fit(loader(), 1, resume=path)
    without_metrics = Trainer(ours.model, ours.optimizer, cross_entropy)
    with pytest.raises(nn.StateDictError, match="the metrics loss, accuracy; this .* has loss"):
        without_metrics.load(path)
    assert without_metrics.epoch == 0
    assert ours.epoch == 1
    with pytest.raises(nn.FileError, match="could not read"):
        ours.fit(loader(), 2, resume=tmp_path / "nowhere")
    interrupted = trainer(Interrupt(path, 5, at_epoch_end=False))
    with pytest.raises(KeyboardInterrupt):
        interrupted.fit(list(loader()), 1)  # a loader without a state
    with pytest.raises(nn.StateDictError, match="after 5 batches .* but the loader has 2"):
        trainer().fit(list(loader(count=8)), 1, resume=path)


def test_saving_with_accumulated_gradients_raises_setting_error(tmp_path: Path) -> None:
    class SaveEachBatch(Callback):
        def on_batch_end(self, trainer: Trainer) -> None:
            trainer.save(tmp_path / "c")

    with pytest.raises(nn.SettingError, match="accumulated gradients"):
        trainer(SaveEachBatch(), accumulate=2).fit(loader(), 1)


KILLED_PROGRAM = """
import os, random, signal, sys, time
from pathlib import Path
import mt_nn as nn, mt_tensor as mt
from mt_nn import saving
from mt_nn.train import SaveCheckpoints, Trainer

def run(folder):
    mt.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 3))
    optimizer = nn.optim.Adam(model.parameters(), lr=0.01)
    x = mt.randn(60, 8)
    data = nn.data.TensorDataset(x, x[:, :3].argmax(1))
    callbacks = [SaveCheckpoints(folder, every_steps=1, keep_last=2)]
    trainer = Trainer(model, optimizer, nn.functional.cross_entropy, callbacks=callbacks)
    return trainer.fit(nn.data.DataLoader(data, 8, shuffle=True), 25, resume=folder).losses

def in_child(folder, prepare=lambda: None):
    child = os.fork()
    if child == 0:
        try:
            prepare()
            run(folder)
        finally:
            os._exit(0)
    return child

def dies_in(owner, name):
    def die(*_, **__):
        os.kill(os.getpid(), signal.SIGKILL)
    return lambda: setattr(owner, name, die)

start = time.perf_counter()
expected = run(Path(sys.argv[1], "expected"))
duration = time.perf_counter() - start
folder = Path(sys.argv[1], "killed")
folder.mkdir()
while_writing = 0
for owner, name in ((os, "fsync"), (Path, "replace"), (Path, "unlink")):
    _, status = os.waitpid(in_child(folder, dies_in(owner, name)), 0)
    while_writing += os.WIFSIGNALED(status)
rng, steps = random.Random(0), set()
for number in range(20):
    child = in_child(folder)
    time.sleep(rng.uniform(0, duration / 12))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    last = nn.Checkpoints(folder).last()
    if last is not None:
        steps.add(nn.load_checkpoint(last, generators=False)["trainer"]["step"])
found = run(folder)
print(len(expected), found == expected, len(steps) > 3, while_writing, len(list(folder.iterdir())))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork()")
def test_repeatedly_killed_and_resumed_training_gives_the_same_losses(
    tmp_path: Path,
) -> None:
    single = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", KILLED_PROGRAM, str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=single)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["200", "True", "True", "3", "2"]


# --- Logs ---------------------------------------------------------------------------------------


def test_csv_log_contains_the_history(tmp_path: Path) -> None:
    table = tmp_path / "new" / "log.csv"
    history = trainer(train.CSVLog(table)).fit(loader(), 2, validation=loader())
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["loss"]) for row in rows] == history["loss"]
    assert [float(row["validation_accuracy"]) for row in rows] == history["validation_accuracy"]


def test_progress_bar_prints_a_line_per_epoch_with_or_without_rich(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("rich")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    plain_output = io.StringIO()
    trainer(train.ProgressBar(plain_output)).fit(loader(), 2, validation=loader())
    first, second = plain_output.getvalue().splitlines()  # one unwrapped line per epoch
    assert first.startswith("epoch   1  lr 0.02  loss ")
    assert "  validation_accuracy 0." in second
    assert len(second) > 80
    monkeypatch.setenv("FORCE_COLOR", "1")  # as in a terminal
    terminal_output = io.StringIO()
    trainer(train.ProgressBar(terminal_output)).fit(loader(), 2)
    assert "\x1b[" in terminal_output.getvalue()
    imported = builtins.__import__

    def without_rich(name: str, *args: Any) -> Any:
        if name.startswith("rich"):
            raise ImportError(name)
        return imported(name, *args)

    monkeypatch.setattr(builtins, "__import__", without_rich)
    fallback_output = io.StringIO()
    trainer(train.ProgressBar(fallback_output)).fit(loader(), 2)
    first, *lines = fallback_output.getvalue().splitlines()
    assert "pip install 'mt-nn[train]'" in first
    assert [line[:11] for line in lines] == ["epoch   1  ", "epoch   2  "]


def test_progress_bar_shows_batches_loss_and_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    progress = pytest.importorskip("rich.progress")
    states: list[Any] = []

    class RecordedProgress(progress.Progress):
        def update(self, *task: Any, **fields: Any) -> None:
            super().update(*task, **fields)
            (shown,) = self.tasks
            states.append((shown.completed, shown.total, shown.description, shown.fields["speed"]))

    monkeypatch.setenv("FORCE_COLOR", "1")  # as in a terminal
    monkeypatch.setattr("rich.progress.Progress", RecordedProgress)
    now = itertools.count()  # every call of perf_counter() is one second later
    monkeypatch.setattr(callbacks.time, "perf_counter", lambda: next(now))
    history = trainer(train.ProgressBar(io.StringIO(), "images")).fit(loader(), 2)
    assert states == [
        (number, 12, f"epoch {1 + number // 7}  loss {loss:.4f}", "4 images/s")
        for number, loss in enumerate(history.losses, 1)
    ]


def test_draw_curves_returns_png_and_raises_without_epochs_or_matplotlib(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("matplotlib")
    history = trainer().fit(loader(), 2, validation=loader())
    assert train.draw_curves(history).startswith(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(nn.SettingError, match="no epochs yet"):
        train.draw_curves(train.History())
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(nn.MissingPackageError, match="mt-nn"):
        train.draw_curves(history)


def test_history_is_indexed_by_column() -> None:
    history = train.History()
    with pytest.raises(nn.SettingError, match="no 'loss'; it has no epochs yet"):
        history["loss"]
    history.rows += [{"epoch": 1, "loss": 0.5}, {"epoch": 2, "loss": 0.25, "validation_loss": 1.0}]
    assert history["validation_loss"] == [None, 1.0]
    assert repr(history).startswith("History(2 epochs, the last {'epoch': 2,")
