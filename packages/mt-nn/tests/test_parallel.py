"""Training on several ranks, which are threads here: results, samplers, errors."""

import contextlib
import copy
import itertools
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mt_nn as nn
import mt_tensor as mt
from mt_nn import functional as F
from mt_nn import optim
from mt_nn.conformance.ranks import Threads, on_ranks
from mt_nn.data import (
    BatchSampler,
    DataLoader,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    TensorDataset,
)
from mt_nn.errors import InputError, RankError, SettingError
from mt_nn.jobs.text import SaveHiddenState, Windows
from mt_nn.parallel import (
    DataParallel,
    DistributedSampler,
    Group,
    SharedBatches,
    SyncBatchNorm,
    ZeroRedundancyOptimizer,
    world,
)
from mt_nn.train import Accuracy, Callback, EarlyStopping, SaveCheckpoints, Trainer
from mt_nn.train.networks import LSTMLanguageModel
from mt_tensor import Generator
from mt_tensor.backends import backends

BACKENDS = [name for name in ("numpy", "fast") if name in backends()]


def _convolutional() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 5)
    )


def _perceptron() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(36, 8), nn.Tanh(), nn.Linear(8, 5))


def _batches(steps: int, samples: int, points: int) -> list[tuple[Any, Any]]:
    numbers = np.random.default_rng(3)
    return [
        (numbers.standard_normal((samples, 1, points, points)), numbers.integers(0, 5, samples))
        for _ in range(steps)
    ]


def _train(
    group: Group,
    network: nn.Module,
    make_optimizer: Callable[[Any], Any] = lambda params: optim.SGD(params, 0.1, momentum=0.9),
    parts: int = 1,
    points: int = 6,
    **settings: Any,
) -> tuple[list[float], dict[str, Any]]:
    """Return the mean loss of each step, and the parameters and buffers after all steps."""
    network.double().to(mt.get_backend())
    model = DataParallel(network, process_group=group, **settings)
    optimizer = make_optimizer(model.parameters())
    losses = []
    for images, labels in _batches(4, 24, points):
        optimizer.zero_grad()
        chunks = np.array_split(np.arange(group.rank, len(labels), group.size), parts)
        total = 0.0
        for number, chunk in enumerate(chunks, 1):
            x, y = mt.tensor(images[chunk]), mt.tensor(labels[chunk])
            if number < parts:
                with model.no_sync():
                    loss = F.cross_entropy(model(x), y) / parts
                    loss.backward()
            else:
                loss = F.cross_entropy(model(x), y) / parts
                loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(float(np.mean(group.gather(total, "losses"))))
    return losses, {name: np.array(value) for name, value in network.state_dict().items()}


def _assert_same(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-10)
    assert ours[1].keys() == theirs[1].keys()
    for name, value in ours[1].items():
        np.testing.assert_allclose(value, theirs[1][name], rtol=1e-8, atol=1e-12, err_msg=name)


# --- Averages of gradients ------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("size", "bucket"), [(2, 25.0), (3, 1e-4), (4, 1e-9)])
def test_training_on_ranks_matches_one_rank(backend: str, size: int, bucket: float) -> None:
    mt.manual_seed(1)
    model = _perceptron()
    expected = _train(Group(), copy.deepcopy(model))
    results = on_ranks(
        size, lambda group: _train(group, copy.deepcopy(model), bucket_cap_mb=bucket), backend
    )
    for each in results:
        _assert_same(each, expected)


@pytest.mark.parametrize("name", ["lenet", "transformer"])
def test_accumulating_training_on_2_and_4_ranks_matches_one_rank(name: str) -> None:
    """Gradients are accumulated over three parts of a step."""
    spec = spec_from_file_location("networks", Path(__file__).parent / "programs" / "networks.py")
    assert spec is not None
    assert spec.loader is not None
    networks = module_from_spec(spec)
    spec.loader.exec_module(networks)
    mt.manual_seed(4)
    model = networks.NETWORKS[name](nn)
    expected = _train(Group(), copy.deepcopy(model), parts=3, points=8)
    for size in (2, 4):
        results = on_ranks(
            size,
            lambda group: _train(
                group, copy.deepcopy(model), parts=3, points=8, bucket_cap_mb=0.01
            ),
        )
        for each in results:
            _assert_same(each, expected)


def test_gradient_sums_start_before_backward_has_ended() -> None:
    def learn(group: Threads) -> list[int]:
        model = _perceptron()
        gradient_counts: list[int] = []

        def count_and_start(array: Any, name: str, begin: Any = group.start_sum) -> Any:
            gradient_counts.append(sum(p.grad is not None for p in model.parameters()))
            return begin(array, name)

        group.start_sum = count_and_start  # type: ignore[method-assign]
        parallel = DataParallel(model, bucket_cap_mb=1e-4, process_group=group)
        parallel(mt.ones(2, 1, 6, 6)).sum().backward()
        return gradient_counts

    counts = on_ranks(2, learn)[0]
    assert counts[0] < 4 == counts[-1]


def test_overflow_on_one_rank_skips_the_step_on_all() -> None:
    def train(group: Group) -> tuple[float, list[float]]:
        model = DataParallel(nn.Linear(1, 1, bias=False), process_group=group)
        optimizer, scaler = optim.SGD(model.parameters(), 1.0), nn.GradScaler(init_scale=4.0)
        with mt.no_grad():
            model.module.weight.fill_(1.0)
        weights = []
        for large in (3e38, 1.0):
            optimizer.zero_grad()
            scaler.scale(model(mt.full((1, 1), large if group.rank else 1.0)).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            weights.append(model.module.weight.item())
        return scaler.get_scale(), weights

    assert on_ranks(2, train) == [(2.0, [1.0, 0.0])] * 2


def test_parameters_and_buffers_are_copied_from_rank_0() -> None:
    def state_after_copy(group: Group) -> list[Any]:
        model = _convolutional()
        model[1].running_mean.fill_(group.rank + 1.0)
        DataParallel(model, process_group=group)
        return [np.array(value) for value in model.state_dict().values()]

    one, *others = on_ranks(3, state_after_copy)
    assert one[4].tolist() == [1.0] * 3
    for other in others:
        for mine, its in zip(one, other, strict=True):
            np.testing.assert_array_equal(mine, its)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bit_gradients_are_averaged_without_overflow(dtype: str) -> None:
    def averaged(group: Group) -> float:
        weight = nn.Parameter(mt.ones(3, dtype=getattr(mt, dtype)))
        holder = nn.Module()
        holder.weight = weight
        holder.forward = lambda: weight.float().sum() * 60000.0  # type: ignore[method-assign]
        DataParallel(holder, process_group=group)().backward()
        assert weight.grad is not None
        return float(weight.grad.float()[0].item())

    assert on_ranks(3, averaged) == [float(mt.tensor(60000.0, dtype=getattr(mt, dtype)).item())] * 3


@given(st.integers(2, 4), st.integers(1, 2))
def test_no_sync_accumulates_gradients(size: int, parts: int) -> None:
    model = _perceptron()
    expected = _train(Group(), copy.deepcopy(model), parts=parts)
    groups: list[Threads] = []

    def learn(group: Threads) -> Any:
        groups.append(group)
        return _train(group, copy.deepcopy(model), parts=parts)

    for each in on_ranks(size, learn):
        _assert_same(each, expected)
    sums = [name for name in groups[0].operations if name.startswith("gradients")]
    assert len(sums) == 4  # one bucket per step, for any number of parts


class _Branches(nn.Module):
    """A model that uses one of two layers, depending on its argument, and never the third."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.third = (nn.Linear(2, 1) for _ in range(3))

    def forward(self, x: mt.Tensor, which: int) -> mt.Tensor:
        return self.second(x) if which else self.first(x)


def test_find_unused_parameters_averages_gradients_of_ranks_that_use_them() -> None:
    x = mt.tensor([[1.0, 2.0]])

    def gradients(group: Group) -> list[Any]:
        branches = _Branches()
        model = DataParallel(branches, find_unused_parameters=True, process_group=group)
        model(x, group.rank).sum().backward()
        return [None if p.grad is None else p.grad.tolist() for p in branches.parameters()]

    expected = [[[0.5, 1.0]], [0.5], [[0.5, 1.0]], [0.5], None, None]
    assert on_ranks(2, gradients) == [expected, expected]


def test_missing_gradient_raises_in_the_next_forward() -> None:
    def learn(group: Group) -> None:
        model = DataParallel(_Branches(), process_group=group)
        model(mt.ones(1, 2), 0).sum().backward()
        with pytest.raises(RankError, match=r"third\.weight.*find_unused_parameters"):
            model(mt.ones(1, 2), 0)
        model(mt.ones(1, 2), 0)  # works again

    on_ranks(2, learn)


def test_second_gradient_of_a_parameter_raises() -> None:
    def learn(group: Group) -> None:
        model = DataParallel(_Branches(), process_group=group)
        out = model(mt.ones(1, 2), 0)
        out.sum().backward(retain_graph=True)
        with pytest.raises(RankError, match="second gradient"):
            out.sum().backward()

    on_ranks(2, learn)


def test_models_with_different_shapes_raise() -> None:
    def make(group: Group) -> None:
        model = nn.Linear(3, 2 + group.rank)
        with pytest.raises(RankError, match=r"rank 1 .*weight \(3, 3\).*instead of .*\(2, 3\)"):
            DataParallel(model, process_group=group)

    on_ranks(2, make)


def test_models_with_different_parameters_raise() -> None:
    def make(group: Group) -> None:
        model = nn.Linear(3, 2)
        if group.rank:
            model.bias.requires_grad_(False)
            model.more = nn.Linear(1, 1)
        with pytest.raises(RankError, match="bias"):
            DataParallel(model, process_group=group)

    on_ranks(2, make)


@pytest.mark.parametrize("bucket", [0, -1.0, float("nan")])
def test_invalid_bucket_size_raises(bucket: float) -> None:
    with pytest.raises(SettingError, match="bucket_cap_mb"):
        DataParallel(nn.Linear(1, 1), bucket_cap_mb=bucket)


def test_single_process_is_a_group_of_size_1() -> None:
    group = world()
    assert (group.rank, group.size) == (0, 1)
    assert group.gather("x", "x") == ["x"]
    model = DataParallel(nn.Linear(2, 1))
    model(mt.ones(1, 2)).sum().backward()
    assert model.module.weight.grad.tolist() == [[1.0, 1.0]]
    assert [name for name, _ in model.named_parameters()] == ["module.weight", "module.bias"]


def test_ranks_draw_different_random_numbers() -> None:
    mt.manual_seed(5)
    dropout = nn.Dropout(0.5)
    before = mt.get_rng_state()

    def dropped(group: Group) -> list[Any]:
        model = DataParallel(copy.deepcopy(dropout), process_group=group)
        return [model(mt.ones(50)).tolist() for _ in range(2)]

    one, other = on_ranks(2, dropped)
    repeated = on_ranks(2, dropped)[0]
    assert len({tuple(each) for each in (*one, *other)}) == 4
    assert one == repeated
    assert mt.get_rng_state() == before


# --- Batch statistics -----------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_sync_batch_norm_on_ranks_matches_one_rank(backend: str, size: int) -> None:
    mt.manual_seed(2)
    model = _convolutional()
    expected = _train(Group(), copy.deepcopy(model))

    def learn(group: Group) -> Any:
        converted = SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(model), group)
        assert isinstance(converted[1], SyncBatchNorm)
        return _train(group, converted)

    for each in on_ranks(size, learn, backend):
        _assert_same(each, expected)


def test_batch_norm_without_sync_uses_local_statistics() -> None:
    mt.manual_seed(2)
    model = _convolutional()
    one_rank = _train(Group(), copy.deepcopy(model))
    one, other = on_ranks(2, lambda group: _train(group, copy.deepcopy(model)))
    assert not np.allclose(one[0], one_rank[0], rtol=1e-6)
    np.testing.assert_array_equal(one[1]["4.weight"], other[1]["4.weight"])


def test_convert_sync_batchnorm_keeps_state_and_mode() -> None:
    model = nn.Sequential(nn.BatchNorm1d(3), nn.Sequential(nn.BatchNorm2d(2, affine=False)))
    model[0].running_var.fill_(4.0)
    before = {name: value.tolist() for name, value in model.state_dict().items()}
    converted = SyncBatchNorm.convert_sync_batchnorm(model.eval())
    assert {name: value.tolist() for name, value in converted.state_dict().items()} == before
    assert [each.training for each in (converted[0], converted[1][0])] == [False, False]
    np.testing.assert_allclose(np.array(converted[0](mt.ones(1, 3)).detach()), 0.5, rtol=1e-5)


def test_sync_batch_norm_of_one_value_per_channel_raises() -> None:
    def normalize(group: Group) -> None:
        layer = SyncBatchNorm(2, process_group=group)
        with pytest.raises(InputError, match="more than one value"):
            layer(mt.ones(1 - group.rank, 2))

    on_ranks(2, normalize)
    with pytest.raises(InputError, match=r"SyncBatchNorm\(2\) takes shape"):
        SyncBatchNorm(2)(mt.ones(3, 4))


# --- Sharded optimizers ---------------------------------------------------------------------------

OPTIMIZERS: dict[str, Callable[..., Any]] = {
    "Adam": optim.Adam,
    "SGD": lambda params, **more: optim.SGD(params, momentum=0.9, **more),
    "Adagrad": optim.Adagrad,
}


@pytest.mark.parametrize(("name", "size"), [*itertools.product(OPTIMIZERS, [1, 2, 3])])
def test_sharded_optimizer_matches_the_regular_one(name: str, size: int) -> None:
    model, kind = _perceptron(), OPTIMIZERS[name]
    expected = _train(Group(), copy.deepcopy(model), lambda params: kind(params, lr=0.05))

    def learn(group: Group) -> Any:
        def sharded(params: Any) -> Any:
            return ZeroRedundancyOptimizer(params, kind, process_group=group, lr=0.05)

        return _train(group, copy.deepcopy(model), sharded)

    for each in on_ranks(size, learn):
        _assert_same(each, expected)


def test_sharded_state_is_loaded_on_another_number_of_ranks() -> None:
    start = [np.full(size, size, np.float32) for size in (5, 4, 3, 2)]

    def stepped(group: Group, state: Any) -> tuple[int, Any]:
        params = [nn.Parameter(mt.tensor(each)) for each in start]
        sharded = ZeroRedundancyOptimizer(params, optim.Adam, process_group=group, lr=0.5)
        if state is not None:
            sharded.load_state_dict(state)
        for parameter in params:
            parameter.grad = mt.ones_like(parameter)
        sharded.step()
        sharded.consolidate_state_dict()
        return len(sharded.optim.state), sharded.state_dict()

    state: Any = None
    regular = optim.Adam([nn.Parameter(mt.tensor(each)) for each in start], 0.5)
    for size, counts in ((2, [2, 2]), (1, [4]), (4, [1, 1, 1, 1])):
        results = on_ranks(size, lambda group: stepped(group, state))  # noqa: B023 - run at once
        assert [count for count, _ in results] == counts
        state = results[0][1]
        for group in regular.param_groups:
            for parameter in group["params"]:
                parameter.grad = mt.ones_like(parameter)
        regular.step()
        expected = regular.state_dict()["state"]
        assert sorted(state["state"]) == sorted(expected)
        for number, each in expected.items():
            assert state["state"][number]["step"] == each["step"]
            np.testing.assert_allclose(
                np.array(state["state"][number]["exp_avg"]), np.array(each["exp_avg"]), rtol=1e-6
            )


def test_lbfgs_cannot_be_sharded() -> None:
    with pytest.raises(SettingError, match="LBFGS"):
        ZeroRedundancyOptimizer([nn.Parameter(mt.ones(2))], optim.LBFGS)


def test_scheduler_changes_the_rate_of_a_sharded_optimizer() -> None:
    parameter = nn.Parameter(mt.ones(2))
    sharded = ZeroRedundancyOptimizer([parameter], optim.SGD, lr=1.0)
    scheduler = optim.lr_scheduler.StepLR(sharded, 1, 0.5)
    parameter.grad = mt.ones(2)
    sharded.step()
    scheduler.step()
    sharded.step()
    assert parameter.tolist() == [-0.5, -0.5]


# --- Samplers and streams of ranks ----------------------------------------------------------------


@given(st.integers(0, 20), st.integers(1, 5), st.booleans(), st.booleans())
def test_distributed_samplers_of_all_ranks_cover_the_dataset(
    count: int, size: int, shuffle: bool, drop_last: bool
) -> None:
    samplers = [
        DistributedSampler(range(count), size, rank, shuffle, seed=3, drop_last=drop_last)
        for rank in range(size)
    ]
    for epoch in range(2):
        for sampler in samplers:
            sampler.set_epoch(epoch)
        indices = [list(sampler) for sampler in samplers]
        assert {len(each) for each in indices} == {len(samplers[0])}
        all_indices = sorted(itertools.chain(*indices))
        if drop_last:
            assert len(all_indices) == count // size * size
            assert len(set(all_indices)) == len(all_indices)
        else:
            assert len(all_indices) == -(-count // size) * size
            assert {*all_indices} == {*range(count)}


def test_distributed_sampler_order_depends_on_epoch_and_seed() -> None:
    sampler = DistributedSampler(range(100), 2, 0)
    first = list(sampler)
    assert list(sampler) == first
    sampler.set_epoch(1)
    assert list(sampler) != first
    # As in torch, the epoch is added to the seed.
    assert list(DistributedSampler(range(100), 2, 0, seed=1)) == list(sampler)
    assert list(DistributedSampler(range(5), 2, 1, shuffle=False)) == [1, 3, 0]


@given(st.integers(1, 30), st.integers(1, 7), st.integers(1, 4))
def test_shared_batches_split_each_batch_evenly(count: int, batch: int, size: int) -> None:
    batches = BatchSampler(SequentialSampler(range(count)), batch, drop_last=False)
    batches_of_ranks = [list(SharedBatches(batches, size, rank)) for rank in range(size)]
    assert (
        {len(each) for each in batches_of_ranks}
        == {len(batches)}
        == {len(SharedBatches(batches, size, 0))}
    )
    for expected, *parts in zip(batches, *batches_of_ranks, strict=True):
        assert {len(part) for part in parts} == {-(-len(expected) // size)}
        assert {*itertools.chain(*parts)} == {*expected}


class _Stream(IterableDataset):
    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Any:
        return iter(range(self.count))

    def __len__(self) -> int:
        return self.count


@pytest.mark.parametrize("kind", [DistributedSampler, SharedBatches])
def test_rank_out_of_range_raises(kind: Any) -> None:
    with pytest.raises(SettingError, match="rank must be less than num_replicas=2"):
        kind(range(3), 2, 2)
    assert kind(range(3)).num_replicas == 1


# --- The trainer ----------------------------------------------------------------------------------


class _CountEpochs(Callback):
    def __init__(self) -> None:
        self.epochs = 0

    def on_epoch_end(self, trainer: Trainer) -> None:
        self.epochs += 1


def _fit(
    group: Group,
    folder: Path,
    epochs: int,
    resume: bool = False,
) -> tuple[Any, ...]:
    """Return the history, the parameters, and the number of epochs that a callback has counted."""
    numbers = np.random.default_rng(5)
    images, labels = numbers.standard_normal((40, 1, 6, 6)), numbers.integers(0, 5, 40)
    samples = TensorDataset(mt.tensor(images), mt.tensor(labels))
    order = BatchSampler(RandomSampler(samples), 12, drop_last=True)
    order = SharedBatches(order, group.size, group.rank)
    loader = DataLoader(samples, batch_sampler=order, generator=Generator().manual_seed(1))
    validation = Subset(samples, range(group.rank, 13, group.size))
    network = _perceptron().double()
    with mt.no_grad():
        for parameter in network.parameters():
            parameter.copy_(mt.linspace(-0.5, 0.5, parameter.numel()).view(*parameter.shape))
    model = DataParallel(network, process_group=group)
    optimizer: Any = ZeroRedundancyOptimizer(
        model.parameters(), optim.Adam, process_group=group, lr=0.01
    )
    counter = _CountEpochs()
    trainer = Trainer(
        model,
        optimizer,
        F.cross_entropy,
        {"accuracy": Accuracy()},
        accumulate=2,
        clip_norm=1.0,
        callbacks=[counter, EarlyStopping(patience=50), SaveCheckpoints(folder)],
    )
    history = trainer.fit(
        loader,
        epochs,
        DataLoader(validation, 4),
        resume=folder if resume else None,
    )
    return history, [np.array(p.detach()) for p in network.parameters()], counter.epochs


def _assert_same_history(ours: Any, theirs: Any) -> None:
    assert ours[0].names() == theirs[0].names()
    for name in ours[0].names():
        np.testing.assert_allclose(ours[0][name], theirs[0][name], rtol=1e-9, err_msg=name)
    for mine, its in zip(ours[1], theirs[1], strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("size", [2, 3])
def test_trainer_on_ranks_matches_one_rank(tmp_path: Path, size: int) -> None:
    expected = _fit(Group(), tmp_path / "one", 3)
    results = on_ranks(size, lambda group: _fit(group, tmp_path / "several", 3))
    for rank, each in enumerate(results):
        _assert_same_history(each, expected)
        assert each[2] == (0 if rank else 3)
    assert [p.name for p in (tmp_path / "several").iterdir()] == [
        p.name for p in (tmp_path / "one").iterdir()
    ]


def test_resuming_on_another_number_of_ranks_gives_the_same_result(tmp_path: Path) -> None:
    expected = _fit(Group(), tmp_path / "one", 4)
    for epochs, size in ((1, 4), (2, 1), (3, 2), (4, 3)):
        results = on_ranks(
            size,
            lambda group: _fit(group, tmp_path / "folder", epochs, resume=epochs > 1),  # noqa: B023
        )
    for each in results:
        _assert_same_history(each, expected)


class _StopAfter(Callback):
    """Save a checkpoint and raise KeyboardInterrupt after some steps."""

    everywhere = True

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def on_step_end(self, trainer: Trainer) -> None:
        if trainer.step == self.steps:
            trainer.save(self.path)
            raise KeyboardInterrupt

    path: Path


def test_resuming_hidden_states_on_another_number_of_ranks_gives_the_same_result(
    tmp_path: Path,
) -> None:
    tokens = mt.tensor(np.random.default_rng(0).integers(0, 7, (41, 12)))
    path = tmp_path / "checkpoint"
    mt.manual_seed(2)
    initial = LSTMLanguageModel(7, width=5).double()

    def train(group: Group, stop: int | None, resume: bool) -> list[float]:
        network = copy.deepcopy(initial)
        model = DataParallel(network, process_group=group) if group.size > 1 else network
        stopping = _StopAfter(stop or 0)
        stopping.path = path
        trainer = Trainer(
            model,
            optim.SGD(model.parameters(), 0.5),
            F.cross_entropy,
            callbacks=[SaveHiddenState(), stopping] if stop else [SaveHiddenState()],
        )
        windows = Windows(tokens[:, group.rank :: group.size], 5)
        with contextlib.suppress(KeyboardInterrupt):
            trainer.fit(DataLoader(windows, None), 1, resume=path if resume else None)
        return trainer.history.losses

    (expected,) = on_ranks(1, lambda group: train(group, None, False))
    for before, after in ((1, 1), (1, 3), (2, 1), (3, 2), (2, 4)):
        on_ranks(before, lambda group: train(group, 3, False))
        losses = on_ranks(after, lambda group: train(group, None, True))
        assert {len(each) for each in losses} == {len(expected)} == {8}
        mean_losses = np.mean(losses, axis=0)  # each has the mean loss of its columns
        np.testing.assert_allclose(
            mean_losses[3:], expected[3:], rtol=1e-9, err_msg=f"{before}, {after}"
        )
