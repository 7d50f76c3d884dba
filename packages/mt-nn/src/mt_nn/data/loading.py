"""Checks of a loader's settings, worker threads, and resumption in the middle of an epoch."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mt_nn.core.dataset import Dataset
from mt_nn.core.errors import SettingError
from mt_nn.core.extensions import extends
from mt_nn.core.loader import SEED_BITS, DataLoader
from mt_nn.core.settings import integer
from mt_nn.data.datasets import IterableDataset
from mt_nn.data.workers import prefetch
from mt_tensor.extending import check_flags


@extends("worker threads")
def prefetched(
    loader: DataLoader, items: Iterator[Any], make: Callable[[Any], Any]
) -> Iterator[Any]:
    """Yield the batches of an epoch, made by threads ahead of the loop."""
    ahead = loader.num_workers * loader.prefetch_factor
    settings = (loader.num_workers, ahead, loader.timeout, loader.worker_init_fn)
    return prefetch(items, make, *settings)


# --- Resumption -----------------------------------------------------------------------------------


@extends("state of a loader")
def state_dict(loader: DataLoader) -> dict[str, Any]:
    """Return the position in the epoch: numbers and strings that JSON and pickle can hold.

    These are the seed of the epoch begun last, the number of its batches that have been yielded,
    and the states of the generators passed to loader and sampler. A program that draws from the
    default generator must save that as well: `mt_tensor.get_rng_state()`.
    """
    running = loader._seed is not None
    return {
        "seed": loader._seed,
        "position": loader._position,
        "batch_size": loader.batch_size,
        "samples": _sample_count(loader),
        "generators": loader._generators
        if running
        else [each.get_state() for each in loader.all_generators()],
    }


@extends("resumption of a loader")
def load_state_dict(loader: DataLoader, state: Mapping[str, Any]) -> None:
    """Let the next iteration continue where `state_dict` was called."""
    generators = loader.all_generators()
    try:
        seed, position, states = state["seed"], state["position"], state["generators"]
        fits = (
            state["batch_size"] == loader.batch_size
            and state["samples"] == _sample_count(loader)
            and len(states) == len(generators)
            and (seed is None or 0 <= seed < 2**SEED_BITS)
            and position >= 0
        )
        if fits:
            for each, its in zip(generators, states, strict=True):
                each.set_state(its)
    except (KeyError, TypeError, ValueError) as error:
        raise SettingError(f"this is no state of a DataLoader ({error!r}).") from error
    if not fits:
        raise SettingError(
            "the state is that of a loader with another data set, batch size or generators: "
            "make the loader as it was when state_dict() was called."
        )
    loader._seed, loader._position, loader._generators = seed, position, list(states)
    loader._resumes = True


def _sample_count(loader: DataLoader) -> int | None:
    """Return the number of samples, if it is known."""
    try:
        return len(loader.dataset)
    except TypeError:
        return None


# --- Settings -------------------------------------------------------------------------------------


@extends("settings of a loader")
def check_settings(settings: dict[str, Any]) -> None:
    """Raise SettingError for settings that are out of range, or contradict each other."""
    flags = ("drop_last", "pin_memory", "persistent_workers")
    shuffle = settings["shuffle"]
    check_flags(shuffle=False if shuffle is None else shuffle)
    check_flags(**{name: settings[name] for name in flags})
    order = ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "drop_last")
    _check_order(*(settings[name] for name in order))
    workers = ("num_workers", "timeout", "prefetch_factor")
    _check_workers(*(settings[name] for name in workers))


def _check_order(
    dataset: Dataset,
    batch_size: int | None,
    shuffle: bool | None,
    sampler: object,
    batch_sampler: object,
    drop_last: bool,
) -> None:
    """Raise SettingError if two settings contradict each other about the order of samples."""
    if batch_size is not None:
        integer("batch_size", batch_size, 1)
    elif drop_last:
        raise SettingError("drop_last needs a batch_size: without one there are no batches.")
    samplers = sampler is not None or batch_sampler is not None
    if isinstance(dataset, IterableDataset) and (shuffle or samplers):
        raise SettingError(
            "shuffle, sampler and batch_sampler choose samples by number, and an IterableDataset "
            "has none: let it yield its samples in the order wanted."
        )
    if shuffle and sampler is not None:
        raise SettingError("sampler and shuffle both set the order: give one of them.")
    if batch_sampler is not None and (
        batch_size != 1 or shuffle or sampler is not None or drop_last
    ):
        raise SettingError(
            "batch_sampler sets the batches: batch_size, shuffle, sampler and drop_last cannot be "
            "given beside it."
        )


def _check_workers(num_workers: int, timeout: Any, prefetch_factor: int | None) -> None:
    """Raise SettingError if a setting of the workers is out of range, or there are none."""
    integer("num_workers", num_workers, 0)
    if not (isinstance(timeout, int | float) and 0 <= timeout < threading.TIMEOUT_MAX):
        raise SettingError(f"timeout is a number of seconds from 0 on; got {timeout!r}.")
    if prefetch_factor is not None:
        integer("prefetch_factor", prefetch_factor, 1)
    if not num_workers and (timeout or prefetch_factor is not None):
        raise SettingError(
            "timeout and prefetch_factor are settings of workers: give num_workers as well."
        )


@extends("number of samples")
def check_samples(dataset: Dataset, samples: list[Any], numbers: Sequence[int]) -> None:
    """Raise SettingError unless `__getitems__` returned one sample for each number."""
    if len(samples) != len(numbers):
        raise SettingError(
            f"__getitems__ of {type(dataset).__name__} returned {len(samples)} sample(s) "
            f"for {len(numbers)} number(s)."
        )
