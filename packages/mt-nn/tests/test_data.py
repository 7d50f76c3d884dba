"""Data sets, loaders and file formats, with whole and with damaged files."""

import gzip
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mt_nn as nn
import mt_tensor as mt
from mt_nn.data import (
    DataLoader,
    Dataset,
    Subset,
    TensorDataset,
    digits,
    random_split,
    read_idx,
)
from mt_nn.data.idx import mnist


class Squares(Dataset):
    def __len__(self) -> int:
        return 7

    def __getitem__(self, index: int) -> tuple[int, Any, mt.Tensor]:
        return index, np.full(2, index, np.float32), mt.tensor(float(index**2))


ROWS = TensorDataset(mt.arange(10).view(10, 1), mt.arange(10) * 2)


def test_batches_in_order() -> None:
    loader = DataLoader(ROWS, batch_size=4)
    batches = list(loader)
    assert len(loader) == len(batches) == 3
    assert [b[1].tolist() for b in batches] == [[0, 2, 4, 6], [8, 10, 12, 14], [16, 18]]
    assert batches[0][0].shape == (4, 1)
    assert len(list(DataLoader(ROWS, 4, drop_last=True))) == 2


def test_samples_of_any_kind_are_joined() -> None:
    first, *_, last = DataLoader(Squares(), 3)
    assert first[0].tolist() == [0, 1, 2]
    assert first[1].shape == (3, 2)
    assert first[2].tolist() == [0, 1, 4]
    assert last[0].tolist() == [6]
    assert list(DataLoader(Squares(), 2, collate_fn=len)) == [2, 2, 2, 1]


def test_shuffling_shows_each_sample_once_and_follows_the_seed() -> None:
    mt.manual_seed(3)
    loader = DataLoader(ROWS, 3, shuffle=True)
    epochs = [[x for batch in loader for x in batch[1].tolist()] for _ in range(2)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(0, 20, 2))
    assert epochs[0] != epochs[1]
    mt.manual_seed(3)
    assert [x for batch in loader for x in batch[1].tolist()] == epochs[0]


def test_subsets_and_splits() -> None:
    subset = Subset(ROWS, [5, 1])
    assert [int(sample[1]) for sample in subset] == [10, 2]
    assert next(iter(DataLoader(subset, 2)))[1].tolist() == [10, 2]
    parts = random_split(ROWS, [7, 3])
    assert [len(part) for part in parts] == [7, 3]
    assert sorted(int(s[0]) for part in parts for s in part) == list(range(10))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: DataLoader(ROWS, 0), nn.SettingError, "batch_size is an integer from 1 on"),
        (lambda: random_split(ROWS, [7, 4]), nn.SettingError, "add up to the 10 samples"),
        (lambda: TensorDataset(mt.ones(2), mt.ones(3)), nn.SettingError, "of one length"),
        (TensorDataset, nn.SettingError, "none were given"),
        (lambda: Dataset()[0], TypeError, "must define __getitem__"),
        (lambda: len(Dataset()), TypeError, "must define __len__"),
    ],
)
def test_bad_settings(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_samples_that_cannot_be_joined() -> None:
    class Words(Dataset):
        def __len__(self) -> int:
            return 1

        def __getitem__(self, index: int) -> str:
            return "word"

    with pytest.raises(nn.SettingError, match="type str cannot be joined"):
        next(iter(DataLoader(Words())))


def test_the_digits() -> None:
    train, test = digits()
    assert (len(train), len(test)) == (1437, 360)
    images, labels = train[:]
    assert images.shape == (1437, 1, 8, 8)
    assert (float(images.amin()), float(images.amax())) == (0, 1)
    assert np.bincount(labels.numpy()).min() > 130
    assert np.array_equal(test[:][1].numpy(), digits()[1][:][1].numpy())


# --- IDX ----------------------------------------------------------------------------------------


def idx(array: Any) -> bytes:
    codes = {"u1": 8, "i1": 9, "i2": 0x0B, "i4": 0x0C, "f4": 0x0D, "f8": 0x0E}
    head = bytes([0, 0, codes[array.dtype.str[1:]], array.ndim])
    extents = b"".join(struct.pack(">I", extent) for extent in array.shape)
    return head + extents + array.astype(array.dtype.newbyteorder(">")).tobytes()


@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "i4", "f4", "f8"])
@pytest.mark.parametrize("shape", [(3,), (2, 3, 4), (0, 2)])
def test_idx_files_are_read(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(0).integers(0, 100, shape).astype(dtype)
    (tmp_path / "plain").write_bytes(idx(array))
    (tmp_path / "packed").write_bytes(gzip.compress(idx(array)))
    for name in ("plain", "packed"):
        read = read_idx(tmp_path / name)
        assert read.dtype == np.dtype(dtype)
        assert np.array_equal(read, array)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(length=st.integers(0, 39), packed=st.booleans(), extra=st.booleans())
def test_damaged_idx_files(tmp_path: Path, length: int, packed: bool, extra: bool) -> None:
    whole = idx(np.arange(24, dtype=np.uint8).reshape(2, 3, 4))
    content = gzip.compress(whole)[:length] if packed else whole[:length]
    if extra and not packed:
        content = whole + b"x"
    path = tmp_path / "damaged"
    path.write_bytes(content)
    with pytest.raises(nn.FileError, match="damaged is (no IDX file|damaged)"):
        read_idx(path)


HUGE = 2**32 - 1


@pytest.mark.parametrize(
    "extents", [(HUGE,), (HUGE, HUGE, HUGE), (0, HUGE, HUGE, HUGE), (1,) * 80, (HUGE,) * 255]
)
def test_a_hostile_header_allocates_nothing(tmp_path: Path, extents: tuple[int, ...]) -> None:
    header = bytes([0, 0, 0x0E, len(extents)]) + struct.pack(f">{len(extents)}I", *extents)
    one_element = bytes(8 if set(extents) == {1} else 0)
    path = tmp_path / "hostile"
    path.write_bytes(header + one_element)
    tracemalloc.start()
    try:
        with pytest.raises(nn.FileError, match="hostile is damaged"):
            read_idx(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**20


def write_mnist(folder: Path, count: int = 6, labels: int = 6) -> None:
    rng = np.random.default_rng(0)
    for part in ("train", "t10k"):
        images = rng.integers(0, 256, (count, 28, 28)).astype(np.uint8)
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(images)))
        classes = rng.integers(0, 10, labels).astype(np.uint8)
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(idx(classes))


def test_mnist_folders(tmp_path: Path) -> None:
    write_mnist(tmp_path)
    train, _ = mnist(tmp_path)
    images, labels = train[:]
    assert (images.shape, images.dtype, labels.dtype) == ((6, 1, 28, 28), mt.float32, mt.int64)
    assert float(images.amax()) == 1.0
    write_mnist(tmp_path, labels=5)
    with pytest.raises(nn.FileError, match="do not belong together"):
        mnist(tmp_path)
    (tmp_path / "t10k-labels-idx1-ubyte").unlink()
    write_mnist(tmp_path)
    (tmp_path / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(nn.FileError, match="holds no t10k-labels-idx1-ubyte or"):
        mnist(tmp_path)
    with pytest.raises(nn.FileError, match="could not read"):
        read_idx(tmp_path / "missing")
