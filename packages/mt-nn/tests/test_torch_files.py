"""Files of `torch.save`: values, both formats, map_location, index files and rejected content."""

import io
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.saving import torch_files

# --- Handmade files: pickles in the text protocol -------------------------------------------------

TENSOR = (
    "ctorch._utils\n_rebuild_tensor_v2\n("  # storage, offset, shape, strides, requires_grad, hooks
    "(Vstorage\nctorch\n{kind}Storage\nV{key}\nVcpu\nI{count}\ntQ"
    "I{offset}\n{shape}{strides}I00\nccollections\nOrderedDict\n(tRtR"
)


def pickled_tuple(numbers: tuple[int, ...]) -> str:
    return "(" + "".join(f"I{number}\n" for number in numbers) + "t"


def tensor(
    shape: tuple[int, ...], strides: tuple[int, ...], count: int, offset: int = 0,
    kind: str = "Float", key: str = "0",
) -> str:  # fmt: skip
    """Return the pickle of a tensor, without the final STOP."""
    return TENSOR.format(
        kind=kind,
        key=key,
        count=count,
        offset=offset,
        shape=pickled_tuple(shape),
        strides=pickled_tuple(strides),
    )


def zip_file(pickled: str, storages: dict[str, bytes], compression: int = 0) -> bytes:
    """Return a file in the current format."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as packed:
        packed.writestr("archive/data.pkl", pickled + ".")
        packed.writestr("archive/byteorder", "little")
        for key, content in storages.items():
            packed.writestr(f"archive/data/{key}", content)
    return file.getvalue()


def legacy_file(pickled: str, storages: dict[str, bytes], itemsize: int = 4) -> bytes:
    """Return a file in the format before PyTorch 1.6."""
    keys = "(" + "".join(f"V{key}\n" for key in storages) + "l."
    parts = [torch_files.MAGIC, b"I1001\n.", b"(Vlittle_endian\nI01\nd.", pickled.encode() + b"."]
    parts.append(keys.encode())
    for content in storages.values():
        parts += [(len(content) // itemsize).to_bytes(8, "little"), content]
    return b"".join(parts)


NUMBERS = np.arange(6, dtype=np.float32)
MATRIX = f"(Vw\n{tensor((2, 3), (3, 1), 6)}Vt\n{tensor((2, 2), (1, 3), 6, 1)}Vn\n(I1\nF2.5\nNtd"
"""The pickle of a dictionary: a matrix, a slice of its transpose, and a tuple."""

STORAGES = {"0": NUMBERS.tobytes()}


@pytest.mark.parametrize("write", [zip_file, legacy_file])
@pytest.mark.parametrize("backend", ["numpy", "simple"])
def test_tensors_of_one_storage_share_memory(write: Any, backend: str, tmp_path: Path) -> None:
    (tmp_path / "model.pth").write_bytes(write(MATRIX, STORAGES))
    loaded = nn.load(tmp_path / "model.pth", backend=backend)
    matrix = NUMBERS.reshape(2, 3)
    np.testing.assert_array_equal(loaded["w"].tolist(), matrix)
    np.testing.assert_array_equal(loaded["t"].tolist(), matrix.T[1:, :])
    assert (loaded["t"].stride(), loaded["w"].backend.name) == ((1, 3), backend)
    assert loaded["n"] == (1, 2.5, None)
    loaded["w"].mul_(2)
    np.testing.assert_array_equal(loaded["t"].tolist(), 2 * matrix.T[1:, :])


def test_big_endian_elements_are_converted() -> None:
    content = legacy_file(MATRIX, {"0": NUMBERS.astype(">f4").tobytes()})
    content = content.replace(b"I01\nd.", b"I00\nd.")  # not little_endian
    start = (6).to_bytes(8, "little")
    loaded = nn.load(io.BytesIO(content.replace(start, start[::-1])))
    np.testing.assert_array_equal(loaded["w"].tolist(), NUMBERS.reshape(2, 3))


REJECTED = {
    "function": ("cposix\nsystem\n(Vtrue\ntR", r"refers to posix\.system"),
    "class": (
        "c__main__\nModel\n)R",
        r"refers to __main__\.Model, and load\(\) executes no code",
    ),
    "bz2 codec": ("c_codecs\nencode\n(Vx\nVbz2\ntR", "damaged"),
    "function with state": ("ctorch\nSize\n(dV_function\nNsb", "the state of something other than"),
    "dtype with state": ("ctorch\nfloat32\n(N(dVname\nVx\nstb", "damaged"),
    "too few elements": (tensor((2, 4), (4, 1), 6), "larger than its storage"),
    "negative offset": (tensor((2,), (1,), 6, -1), "invalid shape"),
    "negative stride": (tensor((2,), (-1,), 6, 2), "invalid shape"),
    "wrong element count": (tensor((2,), (1,), 5), "6 elements instead of 5"),
    "missing storage": (tensor((2,), (1,), 6, key="7"), "damaged"),
    "65 dimensions": (tensor((1,) * 65, (1,) * 65, 6), "larger than its storage"),
    "complex dtype": (tensor((2,), (1,), 6, kind="ComplexFloat"), "torch.ComplexFloatStorage"),
    "unhashable key": ("(d((lIs", "damaged"),
}


@pytest.mark.parametrize(("pickled", "message"), REJECTED.values(), ids=REJECTED)
@pytest.mark.parametrize("write", [zip_file, legacy_file])
def test_pickle_of_other_objects_or_invalid_tensor_raises_file_error(
    write: Any, pickled: str, message: str
) -> None:
    with pytest.raises(nn.FileError, match=message):
        nn.load(io.BytesIO(write(pickled, STORAGES)))


def test_recursive_and_repeated_containers_keep_their_identity() -> None:
    recursive = "(lp0\ng0\na"
    loaded = nn.load(io.BytesIO(zip_file(recursive, {})))
    assert loaded[0] is loaded
    repeated = f"({tensor((2,), (1,), 6)}p0\ng0\nt"
    first, second = nn.load(io.BytesIO(zip_file(repeated, STORAGES)))
    assert first is second


def test_compressed_entry_raises_file_error() -> None:
    with pytest.raises(nn.FileError, match="is compressed"):
        nn.load(io.BytesIO(zip_file(MATRIX, STORAGES, zipfile.ZIP_DEFLATED)))


def test_file_of_another_program_or_truncated_file_raises_file_error() -> None:
    for content in (b"\x80\x02\x8a\nanother program", zip_file("", {})[:50], b"PK\x03\x04"):
        with pytest.raises(nn.FileError, match="not a file that torch.save"):
            nn.load(io.BytesIO(content))


# --- Files of torch -------------------------------------------------------------------------------


def values_of(torch: Any) -> dict[str, Any]:
    network = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    optimizer = torch.optim.Adam(network.parameters())
    network(torch.ones(4, 2)).sum().backward()
    optimizer.step()
    base = torch.arange(12.0).view(3, 4)
    dtypes = [
        "float64",
        "float16",
        "bfloat16",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
    ]
    return {
        "model": network.state_dict(),
        "optimizer": optimizer.state_dict(),
        "parameter": network[0].weight,
        "leaf": torch.ones(2, requires_grad=True),
        **{name: torch.tensor([1, 2], dtype=getattr(torch, name)) for name in dtypes},
        "flags": torch.tensor([True, False]),
        "base": base,
        "view": base.t()[1:],
        "repeated": torch.ones(1).expand(5),
        "scalar": torch.tensor(3),
        "empty": torch.empty(0, 3),
        "plain": [1, (2.5, None, "x"), {1, 2}, b"ab", 1j, 2**70, True],
        "ordered": OrderedDict(b=1, a=[]),
        "size": torch.Size([1, 2]),
    }


def assert_same_value(ours: Any, theirs: Any, torch: Any) -> None:
    if isinstance(theirs, torch.Tensor):
        assert (ours.dtype.name, ours.shape) == (str(theirs.dtype)[6:], tuple(theirs.shape))
        assert (ours.stride(), ours.requires_grad) == (theirs.stride(), theirs.requires_grad)
        assert isinstance(ours, nn.Parameter) == isinstance(theirs, torch.nn.Parameter)
        np.testing.assert_array_equal(ours.tolist(), theirs.tolist())
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key, value in theirs.items():
            assert_same_value(ours[key], value, torch)
    elif isinstance(theirs, list | tuple):
        assert len(ours) == len(theirs)
        for our, their in zip(ours, theirs, strict=True):
            assert_same_value(our, their, torch)
    else:
        assert type(ours) is type(theirs)
        assert ours == theirs


@pytest.mark.parametrize("current", [True, False], ids=["zip file", "legacy file"])
def test_load_of_torch_file_returns_the_saved_values(current: bool) -> None:
    torch = pytest.importorskip("torch")
    values, file = values_of(torch), io.BytesIO()
    torch.save(values, file, _use_new_zipfile_serialization=current)
    file.seek(0)
    assert_same_value(nn.load(file, weights_only=False), values, torch)


@pytest.mark.parametrize("current", [True, False], ids=["zip file", "legacy file"])
def test_training_continues_from_a_torch_checkpoint(current: bool) -> None:
    torch = pytest.importorskip("torch")

    def training(library: Any, layers: Any, optim: Any) -> tuple[Any, Any]:
        network = layers.Sequential(layers.Linear(3, 4), layers.Tanh(), layers.Linear(4, 1))
        network = network.double()
        return network, optim.AdamW(network.parameters(), lr=0.01)

    def step(library: Any, network: Any, optimizer: Any) -> float:
        optimizer.zero_grad()
        loss = network(library.ones(2, 3, dtype=library.float64)).square().sum()
        loss.backward()
        optimizer.step()
        return loss.item()  # type: ignore[no-any-return]

    theirs = training(torch, torch.nn, torch.optim)
    step(torch, *theirs)
    file = io.BytesIO()
    torch.save([part.state_dict() for part in theirs], file, _use_new_zipfile_serialization=current)
    file.seek(0)
    ours = training(mt, nn, nn.optim)
    for part, state in zip(ours, nn.load(file), strict=True):
        part.load_state_dict(state)
    for _ in range(3):
        assert step(mt, *ours) == pytest.approx(step(torch, *theirs), rel=1e-9)


# --- Models in several files ----------------------------------------------------------------------


def write_parts(folder: Path, weight_map: str) -> Path:
    nn.save({"a": mt.ones(2), "b": mt.zeros(3)}, folder / "model-00001-of-00002.safetensors")
    (folder / "pytorch_model-2.bin").write_bytes(zip_file(MATRIX, STORAGES))
    index = folder / "model.safetensors.index.json"
    index.write_text('{"metadata": {}, "weight_map": {' + weight_map + "}}")
    return index


def test_load_of_index_reads_tensors_from_several_files(tmp_path: Path) -> None:
    parts = '"w": "pytorch_model-2.bin", "b": "model-00001-of-00002.safetensors"'
    loaded = nn.load(write_parts(tmp_path, parts))
    assert {name: value.shape for name, value in loaded.items()} == {"w": (2, 3), "b": (3,)}


@pytest.mark.parametrize(
    ("weight_map", "message"),
    [
        ('"c": "pytorch_model-2.bin"', r"expects \['c'\] in pytorch_model-2.bin"),
        ('"a": "missing.safetensors"', "could not read"),
        ('"a": "../model.safetensors"', "not in the same folder"),
        ('"a": ', "not the index of a model"),
    ],
    ids=["missing name", "missing file", "another folder", "not JSON"],
)
def test_invalid_index_raises_file_error(tmp_path: Path, weight_map: str, message: str) -> None:
    with pytest.raises(nn.FileError, match=message):
        nn.load(write_parts(tmp_path, weight_map))


# --- map_location ---------------------------------------------------------------------------------


def file_saved_on(*locations: str) -> bytes:
    """Return a file with a list of tensors that were saved on these devices."""
    parts = []
    for number, location in enumerate(locations):
        pickled = tensor((1,), (1,), 1, key=str(number)).replace("Vcpu", f"V{location}")
        parts.append(f"{pickled}a")
    storages = {str(number): np.float32(number).tobytes() for number in range(len(locations))}
    return zip_file(f"(l{''.join(parts)}.", storages)


MAPS: dict[str, Any] = {
    "return the storage": lambda storage, location: storage,
    "move to the CPU": lambda storage, location: storage.cpu(),
    "depend on location": lambda storage, location: storage.cpu() if location == "cuda:0" else None,
    "dictionary": {"cuda:0": "cpu", "cuda:1": "cpu"},
}


@pytest.mark.parametrize("name", MAPS)
def test_map_location_function_or_dictionary_matches_torch(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    tags = iter(["cpu", "cuda:0", "cpu"])
    monkeypatch.setattr(torch.serialization, "location_tag", lambda _: next(tags))
    file = io.BytesIO()
    torch.save([torch.tensor([float(number)]) for number in range(3)], file)
    content = file.getvalue()
    choose, calls = MAPS[name], []

    def recorded(storage: Any, location: str) -> Any:
        calls.append((str(storage.device), location))
        return choose(storage, location)

    map_location = recorded if callable(choose) else choose
    ours = nn.load(io.BytesIO(content), map_location=map_location)
    our_calls, calls[:] = [*calls], []
    theirs = torch.load(io.BytesIO(content), map_location=map_location)
    assert our_calls == calls
    assert [x.tolist() for x in ours] == [x.tolist() for x in theirs] == [[0.0], [1.0], [2.0]]
    assert [x.device.type for x in ours] == ["cpu"] * 3


def test_map_location_chooses_backend_per_storage() -> None:
    loaded = nn.load(
        io.BytesIO(file_saved_on("cpu", "cuda:0")), {"cpu": "numpy", "cuda:0": "simple"}
    )
    assert [x.backend.name for x in loaded] == ["numpy", "simple"]


@pytest.mark.parametrize(
    ("choose", "message"),
    [
        (lambda storage, location: location, "must return its first argument.*'cpu' was returned"),
        ({"cpu": "nowhere"}, "nowhere"),
        (lambda storage, location: storage.cuda(3), "only the first device of a type"),
        (lambda storage, location: 1 / 0, "division by zero"),
    ],
    ids=["string", "unknown device", "second GPU", "own error"],
)
def test_error_of_map_location_is_not_a_file_error(choose: Any, message: str) -> None:
    with pytest.raises(Exception, match=message) as caught:
        nn.load(io.BytesIO(file_saved_on("cpu")), choose)
    assert not isinstance(caught.value, nn.FileError)
