"""DataLoader: batches, samplers, collation, workers, errors, resuming."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter, namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
)

ROWS = TensorDataset(mt.arange(10).view(10, 1), mt.arange(10) * 2)
WORKERS = (0, 1, 3)


class Numbers(Dataset):
    """Integers, each with a random number; the index `fails` raises an error."""

    def __init__(self, count: int = 7, fails: int = -1) -> None:
        self.count, self.fails = count, fails

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        if index == self.fails:
            raise KeyError("this sample is missing")
        return index, mt.rand(1)


class Stream(IterableDataset):
    def __init__(self, count: int = 7) -> None:
        self.count = count

    def __iter__(self) -> Iterator[Any]:
        return ((index, mt.rand(1).item()) for index in range(self.count))


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    """Check that a test leaves no thread running."""
    before = {*threading.enumerate()}
    yield
    assert {*threading.enumerate()} <= before


def batches_of(loader: DataLoader) -> list[Any]:
    """Return the batches of an epoch, as lists."""
    return [[part.tolist() for part in batch] for batch in loader]


def first_column(loader: DataLoader) -> list[int]:
    return [number for batch in loader for number in batch[0].reshape(-1).tolist()]


# --- Batches and their order --------------------------------------------------------------------


def test_batches_follow_the_order_of_the_dataset() -> None:
    loader = DataLoader(ROWS, batch_size=4)
    batches = list(loader)
    assert len(loader) == len(batches) == 3
    assert [b[1].tolist() for b in batches] == [[0, 2, 4, 6], [8, 10, 12, 14], [16, 18]]
    assert batches[0][0].shape == (4, 1)
    assert len(list(DataLoader(ROWS, 4, drop_last=True))) == 2
    assert next(iter(DataLoader(Subset(ROWS, [5, 1]), 2)))[1].tolist() == [10, 2]
    assert list(DataLoader(Numbers(), 2, collate_fn=len)) == [2, 2, 2, 1]
    assert list(DataLoader(Numbers(0), 2)) == []


def test_subclass_of_tensor_dataset_is_indexed_by_sample() -> None:
    class Doubled(TensorDataset):
        def __getitem__(self, index: int) -> Any:
            assert isinstance(index, int)
            return 2 * super().__getitem__(index)[1]

    for dataset in (Doubled(*ROWS.tensors), Subset(Doubled(*ROWS.tensors), range(10))):
        assert next(iter(DataLoader(dataset, 3))).tolist() == [0, 4, 8]


def test_shuffling_permutes_and_depends_on_the_seed() -> None:
    mt.manual_seed(3)
    loader = DataLoader(ROWS, 3, shuffle=True)
    epochs = [first_column(loader) for _ in range(2)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(10))
    assert epochs[0] != epochs[1]
    mt.manual_seed(3)
    assert first_column(loader) == epochs[0]
    seeded = DataLoader(ROWS, 3, shuffle=True, generator=mt.Generator().manual_seed(3))
    assert first_column(seeded) == epochs[0]


def test_batch_size_none_yields_single_samples() -> None:
    loader = DataLoader(ROWS, batch_size=None)
    assert len(loader) == 10
    assert [int(target) for _, target in loader] == list(range(0, 20, 2))
    converted = next(iter(DataLoader([{"x": np.ones(2), "y": "word"}], batch_size=None)))
    assert (converted["x"].tolist(), converted["y"]) == ([1, 1], "word")
    windows = DataLoader(Numbers(), batch_size=None, sampler=[3, 1], collate_fn=lambda s: s[0])
    assert (list(windows), len(windows)) == ([3, 1], 2)


def test_sampler_and_batch_sampler_choose_the_samples() -> None:
    assert first_column(DataLoader(ROWS, 2, sampler=[4, 4, 9])) == [4, 4, 9]
    loader = DataLoader(ROWS, batch_sampler=[[1], [2, 3]])
    assert [batch[1].tolist() for batch in loader] == [[2], [4, 6]]
    assert (len(loader), loader.batch_size) == (2, None)
    with pytest.raises(TypeError, match="len"):
        len(DataLoader(ROWS, sampler=iter([1, 2])))


@pytest.mark.parametrize("workers", WORKERS)
def test_iterable_dataset_is_batched_in_order(workers: int) -> None:
    def numbers(**settings: Any) -> list[Any]:
        return [b[0].tolist() for b in DataLoader(Stream(), num_workers=workers, **settings)]

    assert numbers(batch_size=3) == [[0, 1, 2], [3, 4, 5], [6]]
    assert numbers(batch_size=3, drop_last=True) == [[0, 1, 2], [3, 4, 5]]
    one_by_one = DataLoader(Stream(), batch_size=None, num_workers=workers)
    assert [sample[0] for sample in one_by_one] == list(range(7))
    with pytest.raises(TypeError, match="must define __len__"):
        len(one_by_one)


def test_loader_of_iterable_dataset_with_len_has_a_length() -> None:
    class Counted(Stream):
        def __len__(self) -> int:
            return self.count

    assert [len(DataLoader(Counted(), 3)), len(DataLoader(Counted(), 3, drop_last=True))] == [3, 2]
    assert len(DataLoader(Counted(), None)) == 7


def test_getitems_loads_a_batch_at_once() -> None:
    class Several(Numbers):
        def __getitems__(self, indices: list[int]) -> list[int]:
            return [10 * index for index in indices][: self.fails]

    assert [b.tolist() for b in DataLoader(Several(fails=99), 4)] == [[0, 10, 20, 30], [40, 50, 60]]
    with pytest.raises(nn.SettingError, match="returned 3 sample"):
        list(DataLoader(Several(fails=3), 4))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": 0}, "batch_size must be a positive integer"),
        ({"batch_size": 2.5}, "batch_size must be an integer"),
        ({"batch_size": None, "drop_last": True}, "drop_last=True needs a batch_size"),
        ({"shuffle": True, "sampler": [1]}, "shuffle and sampler are mutually exclusive"),
        ({"batch_sampler": [[1]], "batch_size": 2}, "batch_sampler cannot be combined"),
        ({"batch_sampler": [[1]], "shuffle": True}, "batch_sampler cannot be combined"),
        ({"batch_sampler": [[1]], "sampler": [1]}, "batch_sampler cannot be combined"),
        ({"batch_sampler": [[1]], "drop_last": True}, "batch_sampler cannot be combined"),
        ({"dataset": Stream(), "shuffle": True}, "which an IterableDataset does not"),
        ({"dataset": Stream(), "sampler": []}, "which an IterableDataset does not"),
        ({"num_workers": -1}, "num_workers must be a non-negative integer"),
        ({"timeout": -1, "num_workers": 1}, "timeout must be a non-negative number of seconds"),
        (
            {"timeout": float("nan"), "num_workers": 1},
            "timeout must be a non-negative number of seconds",
        ),
        ({"timeout": "1", "num_workers": 1}, "timeout must be a non-negative number of seconds"),
        ({"timeout": 1}, "set num_workers"),
        ({"prefetch_factor": 2}, "set num_workers"),
        ({"prefetch_factor": 0, "num_workers": 1}, "prefetch_factor must be a positive integer"),
    ],
)
def test_invalid_setting_raises(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(nn.SettingError, match=message):
        DataLoader(**{"dataset": ROWS, **settings})


# --- Samplers -------------------------------------------------------------------------------------


def test_samplers_return_the_expected_indices() -> None:
    generator = mt.Generator().manual_seed(0)
    assert list(SequentialSampler(ROWS)) == list(range(10))
    sampler = RandomSampler(ROWS, num_samples=25, generator=generator)
    numbers = list(sampler)
    assert len(sampler) == len(numbers) == 25
    assert sorted(numbers[:10]) == sorted(numbers[10:20]) == list(range(10))
    assert len(set(numbers[20:])) == 5
    replaced = list(RandomSampler(range(3), True, 3000, generator))
    assert all(900 < count < 1100 for count in Counter(replaced).values())
    subset = SubsetRandomSampler([7, 8, 9], generator)
    assert sorted(subset) == [7, 8, 9]
    assert len({tuple(subset) for _ in range(50)}) == 6
    batches = BatchSampler(SequentialSampler(range(5)), 2, True)
    assert (list(batches), len(batches)) == ([[0, 1], [2, 3]], 2)


def test_weighted_sampler_draws_in_proportion_to_weights() -> None:
    generator = mt.Generator().manual_seed(0)
    sampler = WeightedRandomSampler([1.0, 0.0, 3.0], 4000, generator=generator)
    counts = Counter(sampler)
    assert counts[1] == 0
    assert abs(counts[2] / 4000 - 0.75) < 0.03
    distinct = WeightedRandomSampler(mt.tensor([1.0, 0.0, 3.0]), 2, False, generator)
    assert sorted(distinct) == [0, 2]
    assert len(distinct) == 2


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: RandomSampler([], num_samples=3), nn.SettingError, "an empty data set"),
        (lambda: RandomSampler(ROWS, num_samples=0), nn.SettingError, "a positive integer"),
        (lambda: RandomSampler(ROWS, 1), TypeError, "replacement must be True or False"),
        (lambda: WeightedRandomSampler([1.0, -1.0], 1), nn.SettingError, "non-negative weights"),
        (lambda: WeightedRandomSampler([[1.0]], 1), nn.SettingError, "a 1-D sequence"),
        (lambda: WeightedRandomSampler([0.0], 1), nn.SettingError, "only 0 weight"),
        (lambda: WeightedRandomSampler([1.0, 0.0], 2, False), nn.SettingError, "only 1 weight"),
        (lambda: BatchSampler([1], 0, False), nn.SettingError, "a positive integer"),
        (lambda: iter(Sampler()), TypeError, "must define __iter__"),
    ],
)
def test_invalid_sampler_raises(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


# --- Collation ------------------------------------------------------------------------------------

Point = namedtuple("Point", "x y")

SAMPLES: list[Any] = [
    [1, 2],
    [True, False],
    [1.5, 2],
    [np.float32(1), np.float32(2)],
    [np.ones((2, 1), np.int16), np.zeros((2, 1), np.int16)],
    ["a", "b"],
    [(1, 2.5), (3, 4.5)],
    [[1, [2, 3]], [4, [5, 6]]],
    [{"a": 1, "b": [2.0]}, {"b": [3.0], "a": 4}],
    [Point(1, "x"), Point(2, "y")],
]


def as_lists(batch: Any) -> Any:
    """Return a batch with tensors as pairs of dtype and list, and tuples as lists."""
    if isinstance(batch, dict):
        return {key: as_lists(value) for key, value in batch.items()}
    if isinstance(batch, tuple | list):
        return [as_lists(value) for value in batch]
    return batch if isinstance(batch, str) else (str(batch.dtype)[-5:], batch.tolist())


@pytest.mark.parametrize("samples", SAMPLES, ids=str)
def test_default_collate_matches_torch(samples: list[Any]) -> None:
    data = pytest.importorskip("torch.utils.data")
    collated = default_collate(samples)
    assert as_lists(collated) == as_lists(data.default_collate(samples))
    if not isinstance(samples[0], str | list | int | float):
        assert type(collated) in (type(samples[0]), mt.Tensor)


def test_default_collate_stacks_and_default_convert_keeps_structure() -> None:
    assert default_collate([mt.ones(2), mt.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    assert default_collate([np.bool_(True)]).dtype.name == "bool"
    assert default_convert([np.ones(1), (3, "word")])[1] == (3, "word")
    assert isinstance(default_convert(Point(np.ones(1), 2)).x, mt.Tensor)


@pytest.mark.parametrize(
    ("samples", "error", "message"),
    [
        ([], nn.SettingError, "at least one sample"),
        ([None], nn.SettingError, "type NoneType cannot be joined"),
        ([np.array(["a"])], nn.SettingError, "cannot be joined"),
        ([mt.ones(2), mt.ones(3)], nn.InputError, r"Tensor with shapes \(2,\), \(3,\)"),
        ([np.ones(2), 3], nn.InputError, "ndarray, int with|int, ndarray with"),
        ([1, "a"], nn.InputError, "others are not"),
        ([(1, 2), (1,)], nn.InputError, "2 member"),
        ([(1, 2), 3], nn.InputError, "2 member"),
        ([{"a": 1}, {"b": 1}], nn.InputError, "make the keys equal"),
        ([{"a": 1}, 1], nn.InputError, "another one has type int"),
    ],
)
def test_default_collate_of_incompatible_samples_raises(
    samples: Any, error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        default_collate(samples)


# --- Workers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dataset", [Numbers(23), Stream(23)], ids=["map-style", "iterable"])
def test_random_numbers_do_not_depend_on_workers(dataset: Dataset) -> None:
    shuffle = not isinstance(dataset, IterableDataset)
    epochs = []
    for workers, prefetch in ((0, None), (1, 1), (3, None), (4, 5)):
        mt.manual_seed(5)
        loader = DataLoader(
            dataset, 2, shuffle or None, num_workers=workers, prefetch_factor=prefetch
        )
        batches = []
        for batch in loader:
            mt.rand(3)  # random numbers of the model, between batches
            batches.append([part.tolist() for part in batch])
        epochs.append((batches, batches_of(loader), mt.rand(2).tolist()))
    assert all(epoch == epochs[0] for epoch in epochs)
    assert epochs[0][0] != epochs[0][1]
    values = [value for batch in epochs[0][0] for value in np.ravel(batch[1])]
    assert len(set(values)) == 23


def test_workers_run_concurrently() -> None:
    barrier = threading.Barrier(3, timeout=5)

    class Synchronized(Numbers):
        def __getitem__(self, index: int) -> Any:
            barrier.wait()
            return index

    assert len(list(DataLoader(Synchronized(6), num_workers=3))) == 6


def test_prefetch_factor_limits_batches_loaded_in_advance() -> None:
    loaded: list[int] = []

    class Counted(Numbers):
        def __getitem__(self, index: int) -> Any:
            loaded.append(index)
            return index

    batches = iter(DataLoader(Counted(50), num_workers=2, prefetch_factor=3))
    next(batches)
    time.sleep(0.1)
    assert len(loaded) <= 1 + 6
    batches.close()


@pytest.mark.parametrize("workers", WORKERS)
def test_dataset_error_is_raised_in_order_with_its_traceback(workers: int) -> None:
    batches = iter(DataLoader(Numbers(fails=4), num_workers=workers))
    assert [next(batches)[0].item() for _ in range(4)] == [0, 1, 2, 3]
    with pytest.raises(KeyError, match="this sample is missing") as raised:
        next(batches)
    lines = "".join(traceback.format_exception(raised.value))
    assert 'raise KeyError("this sample is missing")' in lines
    del batches


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("streams", [False, True])
def test_iteration_continues_after_a_dataset_error(workers: int, streams: bool) -> None:
    class Streamed(IterableDataset):
        def __iter__(self) -> Iterator[int]:
            # Unlike a generator, `map` can continue after an error.
            return map(Numbers(7, fails=4).__getitem__, range(7))

    loader = DataLoader(
        Streamed() if streams else Numbers(7, fails=4), batch_size=2, num_workers=workers
    )
    batches, results = iter(loader), []
    while True:
        try:
            results.append(next(batches)[0].tolist())
        except KeyError:
            results.append("error")
        except StopIteration:
            break
    assert results == [[0, 1], [2, 3], "error", [5, 6] if streams else [6]]
    assert loader.state_dict()["position"] == 0


@pytest.mark.parametrize("workers", WORKERS)
def test_stop_iteration_in_a_dataset_raises_runtime_error(workers: int) -> None:
    class Ends(Numbers):
        def __getitem__(self, index: int) -> Any:
            return next(iter(()))

    with pytest.raises(RuntimeError, match="StopIteration"):
        list(DataLoader(Ends(), num_workers=workers))


@pytest.mark.parametrize("workers", WORKERS)
def test_errors_of_sampler_stream_and_collate_fn_propagate(workers: int) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("broken")
        yield

    stream = Stream()
    stream.__class__ = type("Broken", (Stream,), {"__iter__": broken})
    for loader in (
        DataLoader(ROWS, sampler=broken(), num_workers=workers),
        DataLoader(stream, num_workers=workers),
        DataLoader(ROWS, collate_fn=lambda batch: 1 / 0, num_workers=workers),
    ):
        with pytest.raises(ZeroDivisionError):
            list(loader)


def test_worker_init_fn_is_called_once_per_worker() -> None:
    numbers: list[int] = []
    barrier = threading.Barrier(2, timeout=5)

    class Synchronized(Numbers):
        def __getitem__(self, index: int) -> Any:
            barrier.wait()
            return index

    list(DataLoader(Synchronized(4), num_workers=2, worker_init_fn=numbers.append))
    assert sorted(numbers) == [0, 1]
    with pytest.raises(ZeroDivisionError):
        list(DataLoader(Numbers(), num_workers=2, worker_init_fn=lambda number: 1 // 0))


def test_workers_stop_when_iteration_is_abandoned() -> None:
    before = threading.active_count()
    for batch in DataLoader(Numbers(1000), num_workers=3):
        assert batch[0].item() == 0
        assert threading.active_count() == before + 3
        break
    assert threading.active_count() == before
    batches = iter(DataLoader(Numbers(1000), num_workers=3))
    next(batches)
    del batches
    assert threading.active_count() == before
    unused = iter(DataLoader(Numbers(1000), num_workers=3))
    assert threading.active_count() == before
    del unused


def test_workers_stop_when_the_loop_body_raises() -> None:
    before = threading.active_count()

    def train() -> None:
        for _ in DataLoader(Numbers(1000), num_workers=3):
            raise ValueError("diverged")

    with pytest.raises(ValueError, match="diverged"):
        train()
    assert threading.active_count() == before


def test_timeout_raises_without_waiting_for_the_worker() -> None:
    released = threading.Event()

    class Waits(Numbers):
        def __getitem__(self, index: int) -> Any:
            released.wait(30)
            return index

    started = time.monotonic()
    with pytest.raises(nn.LoaderError, match=r"no batch arrived within 0\.05 second"):
        list(DataLoader(Waits(), num_workers=1, timeout=0.05))
    assert time.monotonic() - started < 4  # waits neither for the batch nor for the worker
    released.set()
    for thread in threading.enumerate():
        if thread.name.startswith("mt_nn-loader"):
            thread.join(5)

    class TimesOut(Numbers):
        def __getitem__(self, index: int) -> Any:
            raise TimeoutError("raised by the dataset")

    with pytest.raises(TimeoutError, match="raised by the dataset"):
        list(DataLoader(TimesOut(), num_workers=1, timeout=5))


@pytest.mark.parametrize("workers", WORKERS)
def test_workers_use_the_current_backend_of_the_loop(workers: int) -> None:
    with mt.use_backend("simple"):
        for numbers, values in DataLoader(Numbers(), 3, num_workers=workers):
            assert numbers.backend.name == values.backend.name == "simple"


SCRIPT = """
import signal, sys, time
from mt_nn.data import DataLoader

signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored by default

class Slow:
    def __len__(self): return 1000
    def __getitem__(self, index):
        time.sleep(1000 if index and "stuck" in sys.argv else 0.01)
        return index

batches = iter(DataLoader(Slow(), num_workers=2, timeout=0.2 if "stuck" in sys.argv else 0))
print(next(batches).item(), flush=True)
if "leave" in sys.argv:
    sys.exit(3)
for batch in batches:
    pass
"""


@pytest.mark.parametrize(
    ("mode", "status"), [("interrupt", -signal.SIGINT), ("leave", 3), ("stuck", 1)]
)
def test_workers_do_not_keep_the_process_alive(mode: str, status: int) -> None:
    command = [sys.executable, "-c", SCRIPT, mode]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "0\n"
    if mode == "interrupt":
        process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == status
    assert ("KeyboardInterrupt" in errors) == (mode == "interrupt")
    assert ("LoaderError" in errors) == (mode == "stuck")


# --- Resuming in the middle of an epoch -----------------------------------------------------------


def make_loader(kind: str, workers: int) -> DataLoader:
    """Return a loader; `kind` selects where its random numbers come from."""
    generator = mt.Generator().manual_seed(8)
    sampler_generator = mt.Generator().manual_seed(9)
    match kind:
        case "default":
            return DataLoader(Numbers(), 2, True, num_workers=workers)
        case "generator":
            return DataLoader(Numbers(), 2, True, num_workers=workers, generator=generator)
        case "sampler":
            sampler = RandomSampler(Numbers(), generator=sampler_generator)
            return DataLoader(
                Numbers(), 2, sampler=sampler, num_workers=workers, generator=generator
            )
        case "batch sampler":
            batches = BatchSampler(RandomSampler(Numbers(), True, 9, sampler_generator), 2, False)
            return DataLoader(Numbers(), batch_sampler=batches, num_workers=workers)
        case _:
            return DataLoader(Stream(), 2, num_workers=workers, generator=generator)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", ["default", "generator", "sampler", "batch sampler", "stream"])
@pytest.mark.parametrize("consumed", [0, 2, 4])
def test_loaded_state_resumes_the_epoch_and_the_next(
    kind: str, workers: int, consumed: int
) -> None:
    mt.manual_seed(1)
    loader = make_loader(kind, workers)
    batches_of(loader)
    batches = iter(loader)
    for _ in range(consumed):
        next(batches)
    state = json.loads(json.dumps(loader.state_dict()))
    rng_state = mt.get_rng_state()
    remaining = [[part.tolist() for part in batch] for batch in batches]
    following = batches_of(loader)

    mt.manual_seed(99)
    fresh = make_loader(kind, 2 - workers)
    fresh.load_state_dict(state)
    mt.set_rng_state(rng_state)
    assert fresh.state_dict() == state
    assert batches_of(fresh) == remaining
    assert batches_of(fresh) == following


def test_state_between_epochs_resumes_with_the_next_epoch() -> None:
    loader = make_loader("generator", 0)
    batches_of(loader)
    state = loader.state_dict()
    assert (state["seed"], state["position"]) == (None, 0)
    following = batches_of(loader)
    fresh = make_loader("generator", 0)
    fresh.load_state_dict(state)
    assert batches_of(fresh) == following


def test_state_describes_the_last_started_epoch() -> None:
    loader = make_loader("generator", 0)
    first, second = iter(loader), iter(loader)
    next(second)
    list(first)
    assert loader.state_dict()["position"] == 1


@pytest.mark.parametrize(
    "change",
    [
        {"batch_size": 3},
        {"samples": 8},
        {"generators": []},
        {"position": -1},
        {"position": "1"},
        {"seed": -5},
        {"seed": 2**70},
        {"generators": [{"seed": 1, "numbers": {"bit_generator": "MT19937"}}]},
        {"generators": [3]},
    ],
    ids=str,
)
def test_loading_an_invalid_state_raises(change: dict[str, Any]) -> None:
    loader = make_loader("generator", 0)
    next(iter(loader))
    state = loader.state_dict()
    with pytest.raises(nn.SettingError, match="state"):
        loader.load_state_dict({**state, **change})
    for missing in state:
        with pytest.raises(nn.SettingError, match="not the state of a DataLoader"):
            loader.load_state_dict({k: v for k, v in state.items() if k != missing})


@pytest.mark.parametrize("name", ["shuffle", "drop_last", "pin_memory", "persistent_workers"])
@pytest.mark.parametrize("value", ["yes", 1, 2.0])
def test_flag_that_is_not_a_bool_raises(name: str, value: Any) -> None:
    settings: dict[str, Any] = {name: value}
    with pytest.raises(TypeError, match=f"{name} must be True or False"):
        DataLoader([1, 2, 3], **settings)
