"""Datasets, and IDX files: valid, damaged and malicious ones."""

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
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    TransformedDataset,
    digits,
    mnist,
    random_split,
    read_idx,
)

ROWS = TensorDataset(mt.arange(10).view(10, 1), mt.arange(10) * 2)


def test_subset_and_random_split_select_samples() -> None:
    subset = Subset(ROWS, [5, 1])
    assert [int(sample[1]) for sample in subset] == [10, 2]
    parts = random_split(ROWS, [7, 3])
    assert [len(part) for part in parts] == [7, 3]
    assert sorted(int(s[0]) for part in parts for s in part) == list(range(10))


@pytest.mark.parametrize(
    ("lengths", "counts"),
    [
        ([0.5, 0.5], [5, 5]),
        ([0.85, 0.15], [9, 1]),
        ([0.34, 0.33, 0.33], [4, 3, 3]),
        ([1.0], [10]),
        ([10, 0], [10, 0]),
        ([0.999999999999, 1e-12], [10, 0]),
    ],
)
def test_random_split_by_fractions_has_expected_lengths_and_is_repeatable(
    lengths: Any, counts: list[int]
) -> None:
    generator = mt.Generator().manual_seed(1)
    parts = random_split(ROWS, lengths, generator)
    assert [len(part) for part in parts] == counts
    again = random_split(ROWS, lengths, generator.manual_seed(1))
    assert all(np.array_equal(a.indices, b.indices) for a, b in zip(parts, again, strict=True))


def test_repr_of_dataset_shows_its_length() -> None:
    rows = TensorDataset(mt.ones(3, 2))
    assert repr(rows) == "<TensorDataset of length 3>"
    assert repr(rows + rows) == "<ConcatDataset of length 6>"
    assert "length" not in repr(IterableDataset())


def test_concat_dataset_indexes_across_datasets() -> None:
    both = Subset(ROWS, [5, 1]) + ROWS
    assert isinstance(both, ConcatDataset)
    assert both.cumulative_sizes == [2, 12]
    assert [int(both[i][1]) for i in (0, 1, 2, 11, -1, -12)] == [10, 2, 0, 18, 18, 10]
    for index in (12, -13):
        with pytest.raises(IndexError, match="out of range for a data set of 12"):
            both[index]


def test_transformed_dataset_applies_transforms_to_input_and_target() -> None:
    doubled = TransformedDataset(ROWS, lambda x: x * 2, int)
    assert len(doubled) == 10
    assert (doubled[3][0].tolist(), doubled[3][1]) == ([6], 6)
    assert TransformedDataset(ROWS)[3][1].item() == 6


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: random_split(ROWS, [7, 4]), nn.SettingError, "add up to the 10 samples"),
        (lambda: random_split(ROWS, [11, -1]), nn.SettingError, "add up to the 10 samples"),
        (lambda: random_split(ROWS, [9.5, 0.5]), nn.SettingError, "add up to the 10 samples"),
        (lambda: random_split(ROWS, [0.5, 0.4]), nn.SettingError, "fractions that add up to 1"),
        (lambda: ConcatDataset([]), nn.SettingError, "one or more data sets"),
        (lambda: ConcatDataset([ROWS, IterableDataset()]), nn.SettingError, "no IterableDataset"),
        (lambda: iter(IterableDataset()), TypeError, "must define __iter__"),
        (lambda: IterableDataset()[0], TypeError, "samples have no index"),
        (lambda: TensorDataset(mt.tensor(1.0)), nn.SettingError, "of equal length"),
        (lambda: TensorDataset(mt.ones(2), mt.ones(3)), nn.SettingError, "of equal length"),
        (TensorDataset, nn.SettingError, "none were given"),
        (lambda: Dataset()[0], TypeError, "must define __getitem__"),
        (lambda: len(Dataset()), TypeError, "must define __len__"),
    ],
)
def test_invalid_dataset_arguments_raise(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_digits_has_expected_shapes_range_and_fixed_split() -> None:
    train, test = digits()
    assert (len(train), len(test)) == (1437, 360)
    images, labels = train[:]
    assert images.shape == (1437, 1, 8, 8)
    assert (float(images.amin()), float(images.amax())) == (0, 1)
    assert np.bincount(labels.numpy()).min() > 130
    assert np.array_equal(test[:][1].numpy(), digits()[1][:][1].numpy())


# --- IDX ----------------------------------------------------------------------------------------


def idx_bytes(array: Any) -> bytes:
    codes = {"u1": 8, "i1": 9, "i2": 0x0B, "i4": 0x0C, "f4": 0x0D, "f8": 0x0E}
    head = bytes([0, 0, codes[array.dtype.str[1:]], array.ndim])
    sizes = b"".join(struct.pack(">I", size) for size in array.shape)
    return head + sizes + array.astype(array.dtype.newbyteorder(">")).tobytes()


@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "i4", "f4", "f8"])
@pytest.mark.parametrize("shape", [(3,), (2, 3, 4), (0, 2)])
def test_read_idx_reads_plain_and_gzipped_arrays(
    tmp_path: Path, dtype: str, shape: tuple[int, ...]
) -> None:
    array = np.random.default_rng(0).integers(0, 100, shape).astype(dtype)
    (tmp_path / "plain").write_bytes(idx_bytes(array))
    (tmp_path / "compressed").write_bytes(gzip.compress(idx_bytes(array)))
    for name in ("plain", "compressed"):
        read = read_idx(tmp_path / name)
        assert read.dtype == np.dtype(dtype)
        assert np.array_equal(read, array)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(length=st.integers(0, 39), compressed=st.booleans(), extra=st.booleans())
def test_read_idx_raises_for_damaged_file(
    tmp_path: Path, length: int, compressed: bool, extra: bool
) -> None:
    valid = idx_bytes(np.arange(24, dtype=np.uint8).reshape(2, 3, 4))
    content = gzip.compress(valid)[:length] if compressed else valid[:length]
    if extra and not compressed:
        content = valid + b"x"
    path = tmp_path / "damaged"
    path.write_bytes(content)
    with pytest.raises(nn.FileError, match="damaged is (not an IDX file|damaged)"):
        read_idx(path)


HUGE = 2**32 - 1


@pytest.mark.parametrize(
    "sizes", [(HUGE,), (HUGE, HUGE, HUGE), (0, HUGE, HUGE, HUGE), (1,) * 80, (HUGE,) * 255]
)
def test_read_idx_of_malicious_header_allocates_little_memory(
    tmp_path: Path, sizes: tuple[int, ...]
) -> None:
    header = bytes([0, 0, 0x0E, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes)
    one_element = bytes(8 if set(sizes) == {1} else 0)
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


@pytest.mark.parametrize("sizes", [(2**14, 2**10), (HUGE, HUGE)])
def test_read_idx_does_not_decompress_gzip_bomb(tmp_path: Path, sizes: tuple[int, int]) -> None:
    header = bytes([0, 0, 8, 2]) + struct.pack(">2I", *sizes)
    path = tmp_path / "bomb"
    path.write_bytes(gzip.compress(header + bytes(2**24)))
    tracemalloc.start()
    try:
        with nn.limits(data=10**6), pytest.raises(nn.FileError, match="limit of 1,000,000 bytes"):
            read_idx(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**22


def write_mnist(folder: Path, count: int = 6, labels: int = 6) -> None:
    rng = np.random.default_rng(0)
    for part in ("train", "t10k"):
        images = rng.integers(0, 256, (count, 28, 28)).astype(np.uint8)
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx_bytes(images)))
        classes = rng.integers(0, 10, labels).astype(np.uint8)
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(idx_bytes(classes))


def test_mnist_reads_folder_and_raises_for_missing_or_mismatched_files(tmp_path: Path) -> None:
    write_mnist(tmp_path)
    train, _ = mnist(tmp_path)
    images, labels = train[:]
    assert (images.shape, images.dtype, labels.dtype) == ((6, 1, 28, 28), mt.float32, mt.int64)
    assert float(images.amax()) == 1.0
    write_mnist(tmp_path, labels=5)
    with pytest.raises(nn.FileError, match="do not match"):
        mnist(tmp_path)
    (tmp_path / "t10k-labels-idx1-ubyte").unlink()
    write_mnist(tmp_path)
    (tmp_path / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(nn.FileError, match="does not contain t10k-labels-idx1-ubyte or"):
        mnist(tmp_path)
    with pytest.raises(nn.FileError, match="could not read"):
        read_idx(tmp_path / "missing")


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("images", np.full((6, 28, 28), np.nan, np.float64)),
        ("images", np.full((6, 28, 28), 1e300, np.float64)),
        ("labels", np.full(6, -1, np.int8)),
        ("labels", np.full(6, np.nan, np.float32)),
        ("labels", np.full(6, 0.5, np.float32)),
    ],
    ids=["nan pixels", "large pixels", "negative labels", "nan labels", "fractional labels"],
)
def test_mnist_rejects_images_and_labels_that_are_not_uint8(
    tmp_path: Path, name: str, array: Any
) -> None:
    write_mnist(tmp_path)
    (tmp_path / f"t10k-{name}-idx{array.ndim}-ubyte").write_bytes(idx_bytes(array))
    with pytest.raises(
        nn.FileError, match=f"t10k contains images of .*{array.dtype}.* must be uint8"
    ):
        mnist(tmp_path)


def test_mnist_converts_images_without_extra_copy(tmp_path: Path) -> None:
    write_mnist(tmp_path, 10_000, 10_000)
    images, floats = 2 * 10_000 * 28 * 28, 4
    tracemalloc.start()
    try:
        training, _ = mnist(tmp_path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert training.tensors[0].dtype == mt.float32
    assert peak < (floats + 1.5) * images  # 1.5: the uint8 file, and a part of it as floats


def test_read_idx_error_for_255_dimensions_is_short(tmp_path: Path) -> None:
    (tmp_path / "many").write_bytes(bytes([0, 0, 8, 255]) + bytes([0, 0, 0, 1]) * 255 + b"x")
    with pytest.raises(nn.FileError, match="does not match its length") as raised:
        read_idx(tmp_path / "many")
    assert len(str(raised.value)) < 400
