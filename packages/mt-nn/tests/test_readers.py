"""Readers of published data formats, on generated files: results and errors."""

import gzip
import io
import tarfile
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.data import (
    BPTTWindows,
    DataLoader,
    Vocabulary,
    batchify,
    cifar10,
    read_idx,
    read_movie_reviews,
    read_penn_treebank,
    read_sst2,
    read_text,
    tokenize,
)
from mt_nn.data.formats import images
from mt_nn.data.formats.archives import read_members
from mt_nn.files.reading import read_bytes


def read_archive(path: Path) -> Any:
    return read_members(path, ["file"])


def read_cifar10(path: Path) -> Any:
    return images.parse_cifar10(str(path), read_bytes(path))


READERS: list[Any] = [
    read_archive,
    read_cifar10,
    read_idx,
    read_movie_reviews,
    read_penn_treebank,
    read_sst2,
    read_text,
]


@pytest.fixture(params=["plain", "compressed"])
def write(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Return a function that writes a file, plain or compressed, and returns its path."""

    def written(content: str | bytes, name: str = "file") -> Path:
        path = tmp_path / name
        raw = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(raw) if request.param == "compressed" else raw)
        return path

    return written


# --- All readers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("read", READERS)
def test_missing_or_damaged_file_raises(read: Any, tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path, tmp_path / "missing" / "file"):
        with pytest.raises(nn.FileError, match=f"could not read {path}"):
            read(path)
    path = tmp_path / "damaged"
    compressed = gzip.compress(np.random.default_rng(0).bytes(1000))
    for content in (
        compressed[:-4],
        compressed[:500],
        compressed[:-8] + bytes(8),
        compressed[:10] + b"x" + compressed[11:],
    ):
        path.write_bytes(content)
        with pytest.raises(nn.FileError, match="damaged"):
            read(path)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("unit", [b"\0", b"a b 1\n", b"x" * 999 + b"\n"])
def test_readers_do_not_decompress_bombs(read: Any, unit: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(gzip.compress(unit * (2**24 // len(unit)), 1))
    tracemalloc.start()
    try:
        with nn.limits(data=10**5), pytest.raises(nn.FileError):
            read(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**22


def test_read_text_decodes_utf8_and_checks_the_limit(write: Any) -> None:
    assert read_text(write("naïve\r\ntext\n")) == "naïve\r\ntext\n"
    assert read_text(write("\ufefftext")) == "text"
    with pytest.raises(nn.FileError, match="line 2: not UTF-8"):
        read_text(write(b"fine\nnot \xff\n"))
    with (
        nn.limits(data=3),
        pytest.raises(nn.FileError, match="exceeds the limit of 3 bytes of data"),
    ):
        read_text(write("four"))


def test_line_that_is_not_utf8_raises(write: Any) -> None:
    with pytest.raises(nn.FileError, match="line 2: not UTF-8"):
        read_penn_treebank(write(b"fine\n\xc3\n"))


# --- Images ---------------------------------------------------------------------------------------


def cifar(count: int, seed: int = 0) -> bytes:
    rng = np.random.default_rng(seed)
    records = rng.integers(0, 256, (count, 3073), np.uint8)
    records[:, 0] %= 10
    return records.tobytes()


def test_cifar10_returns_images_and_labels(write: Any, tmp_path: Path) -> None:
    content = cifar(4)
    pixels, labels = read_cifar10(write(content))
    records = np.frombuffer(content, np.uint8).reshape(4, 3073)
    assert (pixels.shape, pixels.dtype) == ((4, 3, 32, 32), np.uint8)
    assert np.array_equal(labels, records[:, 0])
    assert pixels[2, 1, 3, 5] == records[2, 1 + 1024 + 3 * 32 + 5]
    for number in range(1, 6):
        write(cifar(number, number), f"data_batch_{number}.bin")
    with pytest.raises(nn.FileError, match=r"does not contain test_batch\.bin"):
        cifar10(tmp_path)
    write(cifar(2), "test_batch.bin.gz")
    train, test = cifar10(tmp_path)
    assert (len(train), len(test)) == (15, 2)
    pixels, targets = test[:]
    assert (pixels.shape, pixels.dtype, targets.dtype) == ((2, 3, 32, 32), mt.float32, mt.int64)
    expected = read_cifar10(tmp_path / "test_batch.bin.gz")[0].astype(np.float32) / np.float32(255)
    assert np.array_equal(pixels.numpy(), expected)


def test_invalid_cifar10_file_raises(write: Any, tmp_path: Path) -> None:
    for content in (b"", cifar(2)[:-1], b"\0" * 100):
        with pytest.raises(nn.FileError, match="not a positive multiple of"):
            read_cifar10(write(content))
    with pytest.raises(nn.FileError, match="record 1 has class 10"):
        read_cifar10(write(cifar(1) + b"\x0a" + bytes(3072)))
    write(b"\x80", "data_batch_1")
    with pytest.raises(nn.FileError, match=r"unpickling can .* binary version, cifar-10-bin"):
        cifar10(tmp_path)


def archive(files: dict[str, bytes], **settings: Any) -> bytes:
    """Return a tar archive."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for name, inside in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(inside)
            for setting, value in settings.items():
                setattr(member, setting, value)
            tar.addfile(member, io.BytesIO(inside))
    return content.getvalue()


CIFAR10_FILES = {
    "cifar-10-batches-bin/readme.html": b"<html>",
    **{f"cifar-10-batches-bin/data_batch_{n}.bin": cifar(n, n) for n in range(5, 0, -1)},
    "cifar-10-batches-bin/test_batch.bin": cifar(2),
}


def test_cifar10_reads_the_published_archive(write: Any, tmp_path: Path) -> None:
    path = write(archive(CIFAR10_FILES), "cifar-10-binary.tar.gz")
    for source in (path, tmp_path):
        train, test = cifar10(source)
        assert (len(train), len(test)) == (15, 2)
        (expected,) = read_cifar10(write(cifar(1, 1), "one"))[0]
        np.testing.assert_array_equal(train[0][0].numpy(), expected / np.float32(255))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["cifar-10-binary.tar.gz", "one"]


def test_malicious_archive_is_read_safely_or_raises(write: Any, tmp_path: Path) -> None:
    """Reading writes no files, reads no other file and does not trust sizes in headers."""
    outside = tmp_path / "secret"
    outside.write_bytes(b"secret")
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("../../file", "/file", "a/../file"):
        assert read_archive(write(archive({name: b"x"}), "in/a")) == {"file": b"x"}
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE):
        path = write(archive({"file": b""}, type=kind, linkname=str(outside)), "in/a")
        with pytest.raises(nn.FileError, match="does not contain file"):
            read_archive(path)
    assert [file.name for file in folder.iterdir()] == ["a"]
    complete = archive({"file": b"x" * 2000})
    first = read_archive(write(complete[:2560] + archive({"b/file": b"other"}), "in/a"))
    assert first == {"file": b"x" * 2000}
    for content in (complete[:1000], b"x" * 1024, b"", complete[:600]):
        with pytest.raises(nn.FileError, match="damaged or not a tar archive"):
            read_archive(write(content, "in/a"))
    names = archive({"n" * 200: b""}, type=tarfile.GNUTYPE_LONGNAME)[:512]
    with pytest.raises(nn.FileError, match="damaged or not a tar archive"):
        read_archive(write(names * 5000, "in/a"))
    with pytest.raises(nn.FileError, match="limit of 1,000 files in an archive"):
        read_archive(write(archive({"n": b""})[:512] * 5000, "in/a"))
    some = {name: inside for name, inside in CIFAR10_FILES.items() if "test" not in name}
    with pytest.raises(nn.FileError, match=r"does not contain test_batch\.bin"):
        cifar10(write(archive(some), "in/a"))
    with pytest.raises(nn.FileError, match=r"data_batch_1\.bin is damaged"):
        cifar10(write(archive({"data_batch_1.bin": b"x", **CIFAR10_FILES}), "in/a"))
    with pytest.raises(nn.FileError, match="could not read"):
        cifar10(tmp_path / "nowhere")


# --- Language models ------------------------------------------------------------------------------


def test_penn_treebank_returns_words_with_ends_of_sentences(write: Any) -> None:
    path = write(" no it was <unk> \n\n N years \n")
    first, last = ["no", "it", "was", "<unk>", "<eos>"], ["N", "years", "<eos>"]
    assert read_penn_treebank(path) == [*first, "<eos>", *last]
    assert read_penn_treebank(path, end="\n")[4] == "\n"


def test_windows_of_batchify_cover_the_text() -> None:
    text = batchify(mt.arange(23), 4)
    assert (text.shape, text.dtype) == ((5, 4), mt.int64)
    assert text.numpy().T.reshape(-1).tolist() == list(range(20))
    windows = BPTTWindows(text, 3)
    assert len(windows) == len(list(windows)) == 2
    assert [part.shape for part in windows[0]] == [(3, 4), (3, 4)]
    assert [part.shape for part in windows[-1]] == [(1, 4), (1, 4)]
    inputs = np.concatenate([window[0].numpy() for window in windows])
    targets = np.concatenate([window[1].numpy() for window in windows])
    assert np.array_equal(inputs, text.numpy()[:-1])
    assert np.array_equal(targets, text.numpy()[1:])
    loaded = [part.tolist() for part, _ in DataLoader(windows, batch_size=None, num_workers=2)]
    assert loaded == [windows[0][0].tolist(), windows[1][0].tolist()]
    for index in (2, -3):
        with pytest.raises(IndexError, match="out of range for 2 windows"):
            windows[index]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: batchify([1, 2], 3), nn.InputError, "too few for 3 parts"),
        (lambda: batchify([], 1), nn.InputError, "0 token"),
        (lambda: batchify([0.5], 1), nn.InputError, "takes 1-D integers"),
        (lambda: batchify([[1]], 1), nn.InputError, "2-D int64 was given"),
        (lambda: batchify([1], 0), nn.SettingError, "batch_size must be a positive integer"),
        (lambda: BPTTWindows(mt.arange(3), 1), nn.InputError, "shape"),
        (lambda: BPTTWindows(mt.ones(1, 3), 1), nn.InputError, "at least two steps"),
        (lambda: BPTTWindows(mt.ones(3, 3), 0), nn.SettingError, "bptt must be a positive integer"),
    ],
)
def test_invalid_tokens_or_sizes_raise(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


# --- Vocabularies ---------------------------------------------------------------------------------

WORDS = ["the", "cat", "and", "the", "dog", "and", "the", "<unk>", "bird"]


def test_vocabulary_encodes_and_decodes() -> None:
    vocabulary = Vocabulary.build(WORDS, padding="<pad>")
    assert vocabulary.tokens == ["<pad>", "<unk>", "the", "and", "bird", "cat", "dog"]
    assert vocabulary.encode(["the", "fish", "<pad>"]) == [2, 1, 0]
    assert vocabulary.decode(np.array([2, 6])) == ["the", "dog"]
    assert ("cat" in vocabulary, "fish" in vocabulary, len(vocabulary)) == (True, False, 7)
    assert (vocabulary["cat"], vocabulary["fish"]) == (5, 1)
    assert Vocabulary.build(WORDS, min_frequency=2).tokens == ["<unk>", "the", "and"]
    assert Vocabulary.build(WORDS, max_size=4).tokens == ["<unk>", "the", "and", "bird"]
    letters = Vocabulary(sorted(set("banana")))
    assert letters.encode("banana") == [1, 0, 2, 0, 2, 0]
    with pytest.raises(nn.InputError, match="'x' is not in the vocabulary"):
        letters.encode("ax")
    for numbers in ([3], [-1]):
        with pytest.raises(nn.InputError, match="numbered from 0 to 2"):
            letters.decode(numbers)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Vocabulary(["a", "b", "a"]), "'a' occurs twice"),
        (lambda: Vocabulary([1]), "must be strings"),
        (lambda: Vocabulary(["a"], unknown="b"), "unknown token 'b' must be among"),
        (lambda: Vocabulary(["a"], padding="b"), "padding token 'b' must be among"),
        (lambda: Vocabulary.build(["a"], padding="<unk>"), "occurs twice"),
        (
            lambda: Vocabulary.build(["a"], min_frequency=0),
            "min_frequency must be a positive integer",
        ),
        (lambda: Vocabulary.build(["a"], max_size=0), "max_size must be a positive integer"),
    ],
)
def test_invalid_vocabulary_raises(make: Any, message: str) -> None:
    with pytest.raises(nn.SettingError, match=message):
        make()


def test_tokenize_splits_words_and_punctuation() -> None:
    text = " It\u2019s 10% o'clock--NOW!\n"
    assert tokenize(text) == ["it\u2019s", "10", "%", "o'clock", "-", "-", "now", "!"]
    assert tokenize("naïve 'quoted'") == ["naïve", "'", "quoted", "'"]
    assert tokenize("") == []


# --- Sentences ------------------------------------------------------------------------------------


def test_sst2_returns_texts_and_labels(write: Any) -> None:
    reviews = read_sst2(write('sentence\tlabel\na "fine" film \t1\nbad\t0\n'))
    assert reviews == [('a "fine" film', 1), ("bad", 0)]
    for content, message in (
        ("", "not an SST-2 file"),
        ("index\tsentence\n0\tx\n", "never published"),
        ("sentence\tlabel\nx\t2\n", "line 2: a label must be 0 or 1; got '2'"),
        ("sentence\tlabel\nx\t1\n\n", "line 3: 2 tab-separated fields"),
        ("sentence\tlabel\nx\ty\t1\n", "line 2: 2 tab-separated fields expected, 3"),
    ):
        with pytest.raises(nn.FileError, match=message):
            read_sst2(write(content))


def test_movie_reviews_return_texts_and_labels(write: Any) -> None:
    reviews = read_movie_reviews(write("1\t2.5\tIt\u2019s good.\r\n2\t-0.25\tBad\r\n3\t0\tNeither"))
    assert reviews == [("It\u2019s good.", 1), ("Bad", 0), ("Neither", 0)]
    for content, message in (
        ("1\tgood\tx\n", "line 1: a rating must be a number from -4 to 4; got 'good'"),
        ("1\t1\tx\n2\tnan\tx\n", "line 2: a rating"),
        ("1\t1\n", "line 1: 3 tab-separated fields"),
    ):
        with pytest.raises(nn.FileError, match=message):
            read_movie_reviews(write(content))
