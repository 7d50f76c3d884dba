"""`save` and `load` of nested values: round trips, file objects, unsupported and damaged files."""

import collections
import contextlib
import enum
import functools
import io
import json
import math
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import mt_nn as nn
import mt_tensor as mt
from mt_nn.saving import layout, objects
from mt_nn.saving.checkpoint import Generators
from mt_nn.saving.values import SCALARS
from mt_tensor.extending import DTYPES

# --- Round trips --------------------------------------------------------------------------------

TENSOR_TYPES = [np.dtype(name) for name in DTYPES if name != "bfloat16"]
ARRAY_TYPES = [np.dtype(text) for text in layout.DTYPES.values()]
LAYOUTS = [
    lambda value: value,
    lambda value: value.T if value.ndim == 2 else value,
    lambda value: value[..., 1:] if value.ndim else value,
    lambda value: value[::2] if value.ndim else value,
]


def arrays_of_any_layout(types: list[np.dtype[Any]]) -> st.SearchStrategy[Any]:
    """Draw arrays, including empty, 0-D, transposed and strided ones."""
    shapes = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
    contiguous = st.sampled_from(types).flatmap(lambda dtype: arrays.arrays(dtype, shapes))
    return st.tuples(contiguous, st.sampled_from(LAYOUTS)).map(lambda pair: pair[1](pair[0]))


def as_tensor(array: Any, of: Any, leaf: bool) -> mt.Tensor:
    value: mt.Tensor = of(mt.tensor(np.ascontiguousarray(array)).reshape(array.shape))
    if leaf and value.dtype is mt.uint16:  # NumPy has no bfloat16 to draw
        value = value.view(mt.bfloat16)
    return value.detach().requires_grad_(leaf and value.dtype.is_floating_point)


TEXTS = st.text(st.characters(), max_size=6)  # including surrogates, which UTF-8 cannot encode
NUMBERS = st.one_of(st.integers(), st.floats(), st.integers(-(10**30), 10**30))
SINGLES = st.one_of(
    st.none(),
    st.booleans(),
    NUMBERS,
    st.complex_numbers(),
    TEXTS,
    st.sampled_from(list(DTYPES.values())),
    st.sampled_from([*SCALARS]).flatmap(
        lambda name: arrays.arrays(np.dtype(name), ()).map(lambda value: value[()])
    ),
    arrays_of_any_layout(ARRAY_TYPES),
    st.builds(
        as_tensor, arrays_of_any_layout(TENSOR_TYPES), st.sampled_from(LAYOUTS), st.booleans()
    ),
)
KEYS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    SINGLES,
    lambda parts: st.one_of(
        st.lists(parts, max_size=3),
        st.lists(parts, max_size=3).map(tuple),
        st.dictionaries(KEYS, parts, max_size=3),
        st.dictionaries(TEXTS, parts, max_size=3).map(collections.OrderedDict),
    ),
    max_leaves=8,
)


def assert_same(actual: Any, expected: Any) -> None:
    """Check that types and values agree exactly, to the last bit."""
    assert type(actual) is type(expected)
    if isinstance(expected, mt.Tensor):
        assert actual.requires_grad is expected.requires_grad
        assert actual.is_contiguous()
        assert actual.dtype is expected.dtype
        bits = [x.view(mt.int16) if x.dtype is mt.bfloat16 else x for x in (actual, expected)]
        actual, expected = (x.detach().numpy() for x in bits)
    if isinstance(expected, (np.ndarray, np.generic)):
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
        assert actual.tobytes() == expected.tobytes()
        assert not isinstance(actual, np.ndarray) or actual.flags.writeable
    elif isinstance(expected, (list, tuple)):
        assert len(actual) == len(expected)
        for ours, theirs in zip(actual, expected, strict=True):
            assert_same(ours, theirs)
    elif isinstance(expected, dict):
        assert_same([*actual.keys()], [*expected.keys()])
        assert_same([*actual.values()], [*expected.values()])
    elif isinstance(expected, float) and not math.isnan(expected):
        assert struct.pack("d", actual) == struct.pack("d", expected)
    elif isinstance(expected, complex):
        assert_same([actual.real, actual.imag], [expected.real, expected.imag])
    else:
        assert actual == expected or expected != expected


def content_of(value: Any, **more: Any) -> bytes:
    file = io.BytesIO()
    nn.save(value, file, **more)
    return file.getvalue()


@settings(max_examples=150, deadline=None)
@given(VALUES)
def test_loaded_values_equal_the_saved_ones(value: Any) -> None:
    content = content_of(value)
    assert_same(nn.load(io.BytesIO(content)), value)
    files = pytest.importorskip("safetensors")
    entries = files.deserialize(content)  # safetensors reads each array once
    assert len(entries) == count_of_arrays(value)


def count_of_arrays(value: Any) -> int:
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, (list, tuple)):
        return sum(map(count_of_arrays, value))
    return isinstance(value, (mt.Tensor, np.ndarray))


def training_state() -> dict[str, Any]:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    optimizer = nn.optim.Adam(model.parameters(), lr=0.1)
    scheduler = nn.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=9)
    model(mt.rand(5, 3)).sum().backward()
    optimizer.step()
    scheduler.step()
    return {
        "epoch": 3,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
    }


def test_training_state_is_saved_and_loaded_as_with_torch(tmp_path: Path) -> None:
    files = pytest.importorskip("safetensors.numpy")
    saved, path = training_state(), tmp_path / "c.pt"
    nn.save(saved, path)
    loaded = nn.load(path, map_location="cpu", weights_only=True)
    assert_same(loaded, saved)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    optimizer = nn.optim.Adam(model.parameters())
    model.load_state_dict(loaded["model"])
    optimizer.load_state_dict(loaded["optimizer"])
    assert_same(optimizer.state_dict(), saved["optimizer"])
    stored = files.load_file(path)
    np.testing.assert_array_equal(stored["model.0.weight"], saved["model"]["0.weight"])
    average = saved["optimizer"]["state"][1]["exp_avg"]
    np.testing.assert_array_equal(stored["optimizer.state.1.exp_avg"], average)
    rest = nn.load_checkpoint(path, model=model, optimizer=optimizer)
    assert rest.keys() == {"epoch", "scheduler"}


def test_conflicting_names_of_arrays_are_made_unique() -> None:
    value = {"a": {"b": mt.ones(1)}, "a.b": mt.zeros(1), "__metadata__": mt.ones(2), 1: mt.ones(3)}
    assert_same(nn.load(io.BytesIO(content_of(value))), value)
    assert_same(nn.load(io.BytesIO(content_of(mt.ones(2)))), mt.ones(2))
    files = pytest.importorskip("safetensors.numpy")
    assert files.load(content_of(value)).keys() == {"a.b", "a.b'", "__metadata__'", "1"}
    assert files.load(content_of(mt.ones(2))).keys() == {"value"}


def test_loaded_arrays_have_native_byte_order() -> None:
    loaded = nn.load(io.BytesIO(content_of(np.arange(3, dtype=">i4"))))
    assert_same(loaded, np.arange(3, dtype=np.int32))


def test_map_location_and_backend_choose_the_backend() -> None:
    content = content_of([mt.ones(2), {"a": mt.zeros(1)}])
    one, rest = nn.load(io.BytesIO(content), backend="simple")
    assert (one.backend.name, rest["a"].backend.name) == ("simple", "simple")
    one, rest = nn.load(io.BytesIO(content), {"cpu": "simple"})
    assert (one.backend.name, rest["a"].backend.name) == ("simple", "simple")
    locations: list[str] = []
    nn.load(io.BytesIO(content), lambda storage, location: locations.append(location))
    nn.load(io.BytesIO(content_of(mt.ones(2))), lambda _, location: locations.append(location))
    nn.load(io.BytesIO(content_of({"a": mt.ones(2)})), lambda _, where: locations.append(where))
    assert locations == ["cpu"] * 4
    with pytest.raises(TypeError, match=r"pass backend='simple' or map_location=\{\}, not both"):
        nn.load(io.BytesIO(content), {}, backend="simple")
    for error in (TypeError, KeyError, RecursionError):
        with pytest.raises(error, match="of the program"):
            nn.load(io.BytesIO(content), lambda *_, error=error: raising(error("of the program")))


def raising(error: Exception) -> None:
    raise error


# --- File objects ---------------------------------------------------------------------------------


JSON_VALUES = [None, True, 0, -(2**63), 2**64 - 1, "", "a", 0.0, 0.1, -1e300, [], [1, [2.5, "b"]]]


@pytest.mark.parametrize("value", JSON_VALUES, ids=repr)
def test_json_values_are_stored_unchanged(value: Any) -> None:
    content = content_of(value)
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    assert json.loads(header["__metadata__"][objects.STRUCTURE]) == value


def test_file_object_can_hold_several_values(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as file:
        for number in range(3):
            nn.save({"number": number, "value": mt.full((2,), number)}, file, {"n": str(number)})
        nn.save_checkpoint(file, model=nn.Linear(1, 1), epoch=4)
    with path.open("rb") as file:
        for number in range(3):
            loaded = nn.load(file)
            assert (loaded["number"], loaded["value"].tolist()) == (number, [number, number])
        assert nn.load_checkpoint(file, model=nn.Linear(1, 1)) == {"epoch": 4}
        with pytest.raises(nn.FileError, match="file is truncated .* .no header"):
            nn.load(file)
    with pytest.raises(nn.FileError, match="bytes after the last array"):
        nn.load(path)  # a path must refer to a single value
    assert nn.saving.read_metadata(io.BytesIO(content_of(1, metadata={"a": "b"}))) == {"a": "b"}


class Broken(io.RawIOBase):
    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        raise OSError(5, "broken")

    def write(self, content: Any) -> int:
        raise OSError(5, "broken")


def test_failing_or_invalid_file_object_raises() -> None:
    with pytest.raises(nn.FileError, match=r"could not write to Broken \(broken\)"):
        nn.save({}, Broken())
    with pytest.raises(nn.FileError, match=r"could not read Broken \(broken\)"):
        nn.load(Broken())
    for file in (io.StringIO(), 5, None, object()):
        with pytest.raises(nn.SettingError, match="f must be .* with a method write"):
            nn.save({}, file)  # type: ignore[arg-type]
        with pytest.raises(nn.SettingError, match="f must be .* with a method read"):
            nn.load(file)  # type: ignore[arg-type]


# --- Unsupported values ---------------------------------------------------------------------------


class Colour(enum.IntEnum):
    RED = 1


Point = collections.namedtuple("Point", "x y")

UNSUPPORTED: list[tuple[Any, str]] = [
    (lambda: 0, r"value is <function .* of type function, which cannot be saved: remove it"),
    ({"a": [0, {"hook": print}]}, r'value\["a"\]\[1\]\["hook"\] is <built-in function print>'),
    ({"model": nn.Linear(1, 1)}, r'value\["model"\] is Linear.*: save its state_dict\(\)'),
    ({1: nn.optim.SGD([mt.ones(1, requires_grad=True)])}, r"value\[1\] .*: save its state_dict"),
    ([mt.Generator()], r"value\[0\] is .*: save its get_state\(\)"),
    ([nn.Linear], r"value\[0\] is <class .*: remove it, or convert it to dictionaries"),
    ({"a": {1, 2}}, r'value\["a"\] is \{1, 2\} of type set, .*: save list\(...\) instead'),
    (collections.Counter("ab"), r"of type Counter, .*: save dict\(...\) instead"),
    (collections.defaultdict(list), r"of type defaultdict, .*: save dict\(...\) instead"),
    (Point(1, 2), r"of type Point, .*: save tuple\(...\) instead"),
    (Colour.RED, r"of type Colour, .*: save int\(...\) instead"),
    (Path("a"), r"of type PosixPath, .*: save str\(...\) instead"),
    (np.str_("a"), r"of type str_, .*: save str\(...\) instead"),
    (mt.device("cpu"), r"of type device, .*: save str\(...\) instead"),
    (b"bytes", r"of type bytes, .*: save numpy.frombuffer\(..., numpy.uint8\) instead"),
    (np.array(["a"]), "of type ndarray, .*: save an array of a plain type, numpy.asarray"),
    (np.array([None]), "of type ndarray, .*: save an array of a plain type, numpy.asarray"),
    (np.ma.array([1]), "of type MaskedArray, .*: save an array of a plain type"),
    (np.datetime64("2000-01-01"), "of type datetime64, which cannot be saved: remove it"),
    (
        {"a": {(1, 2): 3}},
        r'value\["a"\] has the key \(1, 2\) of type tuple, .*: use strings, numbers or None',
    ),
    ({np.int64(1): 3}, r"value has the key np.int64\(1\) of type int64"),
    (functools.reduce(lambda inner, _: [inner], range(101), 1), "more than 100 levels deep"),
]


@pytest.mark.parametrize(("value", "message"), UNSUPPORTED)
def test_unsupported_value_raises_with_its_path_and_advice(
    tmp_path: Path, value: Any, message: str
) -> None:
    with pytest.raises(nn.StateDictError, match=message):
        nn.save(value, tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


def test_depth_of_nested_values_is_limited() -> None:
    value: Any = functools.reduce(lambda inner, _: [inner], range(120), 1)
    with nn.limits(depth=120):
        content = content_of(value)
        assert nn.load(io.BytesIO(content)) == value
    with pytest.raises(nn.FileError, match="more than 100 levels deep; mt_nn.limits"):
        nn.load(io.BytesIO(content))
    endless: list[Any] = []
    endless.append(endless)
    for limit in (100, 10**6):
        with nn.limits(depth=limit), pytest.raises(nn.StateDictError, match="contains itself"):
            nn.save(endless, io.BytesIO())


def test_integer_of_too_many_digits_raises() -> None:
    with pytest.raises(nn.StateDictError, match="a number cannot be saved: .*4300 digits"):
        nn.save({"a": 10**5000}, io.BytesIO())


def test_header_that_is_too_long_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "LONGEST_HEADER", 1000)
    with pytest.raises(nn.FileError, match="the header has 3,.* bytes, more than the 1,000"):
        nn.save([0.5] * 800, io.BytesIO())
    nn.save(np.full(800, 0.5), io.BytesIO())


@pytest.mark.parametrize("name", [1, "\ud800", "mt_nn.", "mt_nn.structure"])
def test_invalid_metadata_raises(name: Any) -> None:
    for metadata in ({name: "a"}, {"a": name} if not str(name).startswith("mt") else {name: ""}):
        with pytest.raises(nn.SettingError, match="metadata"):
            nn.save({}, io.BytesIO(), metadata)


# --- Damaged and hostile files ------------------------------------------------------------------

SMALL = [
    ({"model": {"weight": mt.tensor([0.5, -1.0])}, "epoch": 3}, {"score": "0.25"}),
    ({"weight": mt.tensor([True, False]), "b": mt.ones(1).to("float16")}, {"by": "me"}),
]


@pytest.mark.parametrize(("value", "metadata"), SMALL)
def test_every_flipped_bit_is_detected(value: Any, metadata: dict[str, str]) -> None:
    """If the bit makes `mt_nn.crc32` another name, the file loads without a checksum."""
    content = content_of(value, metadata=metadata)
    for at in range(8 * len(content)):
        flipped = bytearray(content)
        flipped[at // 8] ^= 1 << at % 8
        try:
            loaded = nn.load(io.BytesIO(flipped))
        except nn.FileError:
            continue
        assert_same(loaded, value)
        assert b"mt_nn.crc32" not in flipped


def test_file_rewritten_by_safetensors_loads_the_same_value(tmp_path: Path) -> None:
    files = pytest.importorskip("safetensors.numpy")
    value = {"b": mt.ones(2), "a": [mt.zeros(3, dtype=mt.int8), 1.5]}
    content = content_of(value, metadata={"by": "me"})
    length = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8 : 8 + length])["__metadata__"]
    rewritten = files.save(files.load(content), metadata)
    assert_same(nn.load(io.BytesIO(rewritten)), value)


def with_structure(structure: Any, values: dict[str, Any] | None = None) -> bytes:
    """Return a file with this structure and a valid checksum."""
    text = structure if isinstance(structure, str) else json.dumps(structure)
    return layout.packed(values or {}, {objects.STRUCTURE: text})


@pytest.mark.parametrize(
    "structure",
    [
        *("", "{", "[" * 10_000, "NaN1", {}, {"what": 1}, {"dict": 3}, {"dict": [[1]]}),
        *({"tensor": "b"}, {"tensor": ["a"]}, {"array": 1}, {"a": 1, "b": 2}, {"dtype": "O"}),
        *({"scalar": ["object", "00" * 8]}, {"scalar": ["int8", "0000"]}, {"scalar": "ab"}),
        *({"complex": [1]}, {"complex": "ab"}),
        *({"dict": [[[1], 2]]}, {"dict": [[{"tensor": "a"}, 2]]}, {"tuple": 3}),
        [{"tensor": "a"}, {"tensor": "a"}],  # otherwise a small file could exhaust memory
        json.loads("[" * 120 + "]" * 120),
    ],
)
def test_invalid_structure_raises(structure: Any) -> None:
    with pytest.raises(nn.FileError, match="truncated or not a safetensors file"):
        nn.load(io.BytesIO(with_structure(structure, {"a": np.ones(1)})))


PIECES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 10**20),
    st.floats(allow_nan=False),
    TEXTS,
    st.sampled_from(["a", "b", "int8", "nan", "00", "0x1", "float32"]),
)
KINDS = (
    "tensor",
    "leaf",
    "array",
    "scalar",
    "tuple",
    "dict",
    "ordered",
    "complex",
    "dtype",
)
STRUCTURES = st.recursive(
    PIECES,
    lambda parts: st.one_of(
        st.lists(parts, max_size=3),
        st.dictionaries(st.sampled_from(KINDS), parts, min_size=1, max_size=1),
        st.dictionaries(TEXTS, parts, max_size=2),
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(STRUCTURES)
def test_random_structure_loads_or_raises_file_error(structure: Any) -> None:
    content = with_structure(structure, {"a": np.ones(2, np.float32), "b": np.ones(1, np.uint64)})
    for read in (nn.load, nn.load_checkpoint):
        with contextlib.suppress(nn.FileError, nn.StateDictError):
            read(io.BytesIO(content))


LEAVES = st.one_of(
    st.none(), st.integers(), st.floats(), TEXTS, st.lists(st.integers(), max_size=2)
)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_altered_generator_state_loads_or_raises_and_changes_nothing(data: st.DataObject) -> None:
    """Generators draw numbers afterwards; if loading raises, their state is unchanged."""
    state = Generators().state_dict()
    part: Any = state
    while True:
        keys = [*part] if isinstance(part, dict) else range(len(part))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(part[key], dict):
            break
        part = part[key]
    if isinstance(part, dict):
        part[key] = data.draw(LEAVES)
    before = Generators().state_dict()
    try:
        nn.load_checkpoint(io.BytesIO(content_of({"generators": state})))
    except nn.StateDictError:
        assert_same(Generators().state_dict(), before)
    finally:
        mt.rand(3), random.random()
        np.random.random(700), np.random.standard_normal(3)  # noqa: NPY002 - its state is saved
        Generators().load_state_dict(before)


def file_with_header(header: Any, elements: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + elements


def entry(shape: Any, offsets: Any, dtype: Any = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


HEADERS: list[tuple[bytes, bool]] = [  # and whether safetensors reads them
    (file_with_header({"a": entry([1], [0, 4])}, bytes(4)), True),
    (file_with_header({"a": entry([0], [0, 0])}), True),
    (file_with_header({"a": entry([], [0, 4])}, bytes(4)), True),
    (file_with_header({"a": {**entry([1], [0, 4]), "more": 1}}, bytes(4)), True),
    (
        file_with_header(b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}   ', bytes(4)),
        True,
    ),
    (file_with_header({"a": entry([1], [0, 4]), "b": entry([1], [4, 8])}, bytes(8)), True),
    (file_with_header({"b": entry([1], [4, 8]), "a": entry([1], [0, 4])}, bytes(8)), True),
    (file_with_header({"a": entry([1] * 65, [0, 4])}, bytes(4)), False),
    (file_with_header({"a": entry([0, 2**64 - 1], [0, 0])}), False),
    (file_with_header({"a": entry([0, 2**63], [0, 0])}), False),
    (file_with_header({"a": entry([2**40, 2**40], [0, 2**82])}), False),
    (file_with_header({"a": entry([-1], [0, -4])}), False),
    (file_with_header({"a": entry([True], [0, 4])}, bytes(4)), False),
    (file_with_header({"a": entry([1.0], [0, 4])}, bytes(4)), False),
    (file_with_header({"a": entry("1", [0, 4])}, bytes(4)), False),
    (file_with_header({"a": entry(1, [0, 4])}, bytes(4)), False),
    (file_with_header({"a": entry([1], [0, 4, 8])}, bytes(4)), False),
    (file_with_header({"a": entry([1], [4, 8])}, bytes(8)), False),
    (file_with_header({"a": entry([1], [0, 4]), "b": entry([1], [0, 4])}, bytes(4)), False),
    (file_with_header({"a": entry([1], [0, 4]), "b": entry([1], [8, 12])}, bytes(12)), False),
    (file_with_header({"a": entry([2], [0, 4])}, bytes(4)), False),
    (file_with_header({"a": entry([1], [0, 4], "F8_E5M2")}, bytes(4)), False),
    (file_with_header({"a": entry([1], [0, 4], ["F32"])}, bytes(4)), False),
    (file_with_header({"a": {"shape": [1], "data_offsets": [0, 4]}}, bytes(4)), False),
    (file_with_header({"a": 3}), False),
    (file_with_header([1]), False),
    (file_with_header(b"{}" * 2), False),
    (file_with_header({"__metadata__": {"a": 1}}), False),
    (file_with_header({"__metadata__": ["a"]}), False),
    (file_with_header('{"é":1}'.encode("utf-16")), False),
    (file_with_header(b'{"\xff":1}'), False),
    (file_with_header(b'{"a":' * 100_000), False),
    (file_with_header(b'{"a":' + b"9" * 5000 + b"}"), False),
    (file_with_header({"a": entry([1], [0, 4])}, bytes(3)), False),
    (b"", False),
    (b"\xff" * 8, False),
    ((100_000_001).to_bytes(8, "little"), False),
    ((99_999_999).to_bytes(8, "little") + b"{}", False),
    (b"PK\x03\x04" + bytes(100), False),
    (b"\x80\x02}q\x00.", False),
]


@pytest.mark.parametrize(("content", "valid"), HEADERS)
def test_valid_header_loads_as_in_safetensors_and_invalid_one_raises(
    tmp_path: Path, content: bytes, valid: bool
) -> None:
    """safetensors, which defines the format, is the reference."""
    files = pytest.importorskip("safetensors")
    (tmp_path / "file").write_bytes(content)
    for file in (io.BytesIO(content), tmp_path / "file"):
        if valid:
            loaded = nn.load(file)
            parts = dict(files.deserialize(content))
            assert {name: [*value.shape] for name, value in loaded.items()} == {
                name: part["shape"] for name, part in parts.items()
            }
        else:
            with pytest.raises(
                nn.FileError, match="truncated|not supported|damaged|exceeds the limit"
            ):
                nn.load(file)


def test_trailing_bytes_in_a_file_raise(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content_of({"a": mt.ones(1)}) + b"more")
    with pytest.raises(nn.FileError, match="bytes after the last array"):
        nn.load(path)


def test_aliases_of_a_tensor_share_memory() -> None:
    texts = {f"{number}.a": "a" for number in range(1000)}
    loaded = nn.load(
        io.BytesIO(file_with_header({"__metadata__": texts, "a": entry([1], [0, 4])}, bytes(4)))
    )
    assert len(loaded) == 1001
    assert len(set(map(id, loaded.values()))) == 1


def test_generator_position_out_of_range_raises() -> None:
    state = Generators().state_dict()
    state["numpy"]["state"]["pos"] = 2**30
    file = io.BytesIO(content_of({"generators": state}))
    with pytest.raises(
        nn.StateDictError, match="position in the state of NumPy's generator is out"
    ):
        nn.load_checkpoint(file)
