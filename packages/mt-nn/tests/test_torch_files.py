"""Files of `torch.save`: what is read of them, what torch makes of it, and what is refused."""

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

# --- Files made by hand, of pickles in the text format --------------------------------------------

TENSOR = (
    "ctorch._utils\n_rebuild_tensor_v2\n("  # storage, offset, shape, strides, requires_grad, hooks
    "(Vstorage\nctorch\n{kind}Storage\nV{key}\nVcpu\nI{count}\ntQ"
    "I{offset}\n{shape}{strides}I00\nccollections\nOrderedDict\n(tRtR"
)


def sizes(numbers: tuple[int, ...]) -> str:
    return "(" + "".join(f"I{number}\n" for number in numbers) + "t"


def tensor(
    shape: tuple[int, ...], strides: tuple[int, ...], count: int, offset: int = 0,
    kind: str = "Float", key: str = "0",
) -> str:  # fmt: skip
    """Return the pickle of a tensor, without its end."""
    return TENSOR.format(
        kind=kind, key=key, count=count, offset=offset, shape=sizes(shape), strides=sizes(strides)
    )


def archive(pickled: str, storages: dict[str, bytes], compression: int = 0) -> bytes:
    """Return a file in the current format."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as packed:
        packed.writestr("archive/data.pkl", pickled + ".")
        packed.writestr("archive/byteorder", "little")
        for key, content in storages.items():
            packed.writestr(f"archive/data/{key}", content)
    return file.getvalue()


def sequence(pickled: str, storages: dict[str, bytes], itemsize: int = 4) -> bytes:
    """Return a file in the format before PyTorch 1.6."""
    keys = "(" + "".join(f"V{key}\n" for key in storages) + "l."
    parts = [torch_files.MAGIC, b"I1001\n.", b"(Vlittle_endian\nI01\nd.", pickled.encode() + b"."]
    parts.append(keys.encode())
    for content in storages.values():
        parts += [(len(content) // itemsize).to_bytes(8, "little"), content]
    return b"".join(parts)


NUMBERS = np.arange(6, dtype=np.float32)
MATRIX = f"(Vw\n{tensor((2, 3), (3, 1), 6)}Vt\n{tensor((2, 2), (1, 3), 6, 1)}Vn\n(I1\nF2.5\nNtd"
"""The pickle of a dictionary of a matrix, a part of its transpose, and a tuple."""

STORED = {"0": NUMBERS.tobytes()}


@pytest.mark.parametrize("write", [archive, sequence])
@pytest.mark.parametrize("backend", ["numpy", "simple"])
def test_tensors_of_one_storage_share_memory(write: Any, backend: str, tmp_path: Path) -> None:
    (tmp_path / "model.pth").write_bytes(write(MATRIX, STORED))
    loaded = nn.load(tmp_path / "model.pth", backend=backend)
    matrix = NUMBERS.reshape(2, 3)
    np.testing.assert_array_equal(loaded["w"].tolist(), matrix)
    np.testing.assert_array_equal(loaded["t"].tolist(), matrix.T[1:, :])
    assert (loaded["t"].stride(), loaded["w"].backend.name) == ((1, 3), backend)
    assert loaded["n"] == (1, 2.5, None)
    loaded["w"].mul_(2)
    np.testing.assert_array_equal(loaded["t"].tolist(), 2 * matrix.T[1:, :])


def test_big_endian_elements_are_converted() -> None:
    content = sequence(MATRIX, {"0": NUMBERS.astype(">f4").tobytes()})
    content = content.replace(b"I01\nd.", b"I00\nd.")  # not little_endian
    start = (6).to_bytes(8, "little")
    loaded = nn.load(io.BytesIO(content.replace(start, start[::-1])))
    np.testing.assert_array_equal(loaded["w"].tolist(), NUMBERS.reshape(2, 3))


REFUSED = {
    "a function": ("cposix\nsystem\n(Vtrue\ntR", r"refers to posix\.system"),
    "a class": (
        "c__main__\nModel\n)R",
        r"refers to __main__\.Model, and load\(\) executes no code",
    ),
    "a compressing codec": ("c_codecs\nencode\n(Vx\nVbz2\ntR", "damaged"),
    "a changed function": ("ctorch\nSize\n(dV_function\nNsb", "a function has no state"),
    "a changed dtype": ("ctorch\nfloat32\n(N(dVname\nVx\nstb", "damaged"),
    "too few elements": (tensor((2, 4), (4, 1), 6), "larger than its storage"),
    "a negative offset": (tensor((2,), (1,), 6, -1), "invalid shape"),
    "a negative stride": (tensor((2,), (-1,), 6, 2), "invalid shape"),
    "a wrong count": (tensor((2,), (1,), 5), "6 elements instead of 5"),
    "a missing storage": (tensor((2,), (1,), 6, key="7"), "damaged"),
    "many dimensions": (tensor((1,) * 65, (1,) * 65, 6), "larger than its storage"),
    "complex elements": (tensor((2,), (1,), 6, kind="ComplexFloat"), "torch.ComplexFloatStorage"),
    "a tensor in a key": (f"(d({tensor((2,), (1,), 6)}tI1\ns", "damaged"),
    "a tensor in a set": (f"c__builtin__\nset\n(({tensor((2,), (1,), 6)}ltR", "damaged"),
    "an unhashable key": ("(d((lIs", "damaged"),
}


@pytest.mark.parametrize(("pickled", "message"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("write", [archive, sequence])
def test_what_is_not_a_tensor_or_plain_is_refused(write: Any, pickled: str, message: str) -> None:
    with pytest.raises(nn.FileError, match=message):
        nn.load(io.BytesIO(write(pickled, STORED)))


def test_containers_keep_their_identity() -> None:
    itself = "(lp0\ng0\na"
    loaded = nn.load(io.BytesIO(archive(itself, {})))
    assert loaded[0] is loaded
    twice = f"({tensor((2,), (1,), 6)}p0\ng0\nt"
    first, second = nn.load(io.BytesIO(archive(twice, STORED)))
    assert first is second


def test_compressed_entries_are_refused() -> None:
    with pytest.raises(nn.FileError, match="is compressed"):
        nn.load(io.BytesIO(archive(MATRIX, STORED, zipfile.ZIP_DEFLATED)))


def test_other_pickles_and_archives_are_refused() -> None:
    for content in (b"\x80\x02\x8a\nanother program", archive("", {})[:50], b"PK\x03\x04"):
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
        "nothing": torch.empty(0, 3),
        "plain": [1, (2.5, None, "x"), {1, 2}, b"ab", 1j, 2**70, True],
        "ordered": OrderedDict(b=1, a=[]),
        "size": torch.Size([1, 2]),
    }


def assert_same(ours: Any, theirs: Any, torch: Any) -> None:
    if isinstance(theirs, torch.Tensor):
        assert (ours.dtype.name, ours.shape) == (str(theirs.dtype)[6:], tuple(theirs.shape))
        assert (ours.stride(), ours.requires_grad) == (theirs.stride(), theirs.requires_grad)
        assert isinstance(ours, nn.Parameter) == isinstance(theirs, torch.nn.Parameter)
        np.testing.assert_array_equal(ours.tolist(), theirs.tolist())
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key, value in theirs.items():
            assert_same(ours[key], value, torch)
    elif isinstance(theirs, list | tuple):
        assert len(ours) == len(theirs)
        for our, their in zip(ours, theirs, strict=True):
            assert_same(our, their, torch)
    else:
        assert type(ours) is type(theirs)
        assert ours == theirs


@pytest.mark.parametrize("current", [True, False], ids=["archive", "sequence"])
def test_files_of_torch_are_read_as_torch_reads_them(current: bool) -> None:
    torch = pytest.importorskip("torch")
    values, file = values_of(torch), io.BytesIO()
    torch.save(values, file, _use_new_zipfile_serialization=current)
    file.seek(0)
    assert_same(nn.load(file, weights_only=False), values, torch)


@pytest.mark.parametrize("current", [True, False], ids=["archive", "sequence"])
def test_training_continues_from_a_checkpoint_of_torch(current: bool) -> None:
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
    (folder / "pytorch_model-2.bin").write_bytes(archive(MATRIX, STORED))
    index = folder / "model.safetensors.index.json"
    index.write_text('{"metadata": {}, "weight_map": {' + weight_map + "}}")
    return index


def test_an_index_loads_the_tensors_of_several_files(tmp_path: Path) -> None:
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
def test_an_index_that_does_not_fit_is_refused(
    tmp_path: Path, weight_map: str, message: str
) -> None:
    with pytest.raises(nn.FileError, match=message):
        nn.load(write_parts(tmp_path, weight_map))


# --- The locations of tensors ---------------------------------------------------------------------


def saved_on(*locations: str) -> bytes:
    """Return a file of torch with a list of tensors that were on these devices."""
    parts = []
    for number, location in enumerate(locations):
        described = tensor((1,), (1,), 1, key=str(number)).replace("Vcpu", f"V{location}")
        parts.append(f"{described}a")
    storages = {str(number): np.float32(number).tobytes() for number in range(len(locations))}
    return archive(f"(l{''.join(parts)}.", storages)


MAPS: dict[str, Any] = {
    "the storage": lambda storage, location: storage,
    "to the cpu": lambda storage, location: storage.cpu(),
    "by location": lambda storage, location: storage.cpu() if location == "cuda:0" else None,
    "a dictionary": {"cuda:0": "cpu", "cuda:1": "cpu"},
}


@pytest.mark.parametrize("name", MAPS)
def test_functions_and_dictionaries_choose_the_location(
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

    by = recorded if callable(choose) else choose
    ours = nn.load(io.BytesIO(content), map_location=by)
    of_ours, calls[:] = [*calls], []
    theirs = torch.load(io.BytesIO(content), map_location=by)
    assert of_ours == calls
    assert [x.tolist() for x in ours] == [x.tolist() for x in theirs] == [[0.0], [1.0], [2.0]]
    assert [x.device.type for x in ours] == ["cpu"] * 3


def test_backends_are_chosen_for_each_storage() -> None:
    loaded = nn.load(io.BytesIO(saved_on("cpu", "cuda:0")), {"cpu": "numpy", "cuda:0": "simple"})
    assert [x.backend.name for x in loaded] == ["numpy", "simple"]


@pytest.mark.parametrize(
    ("choose", "message"),
    [
        (lambda storage, location: location, "must return its first argument.*'cpu' was returned"),
        ({"cpu": "nowhere"}, "nowhere"),
        (lambda storage, location: storage.cuda(3), "only the first device of a type"),
        (lambda storage, location: 1 / 0, "division by zero"),
    ],
    ids=["a string", "an unknown device", "another GPU", "an error of its own"],
)
def test_errors_of_a_choice_say_nothing_about_the_file(choose: Any, message: str) -> None:
    with pytest.raises(Exception, match=message) as caught:
        nn.load(io.BytesIO(saved_on("cpu")), choose)
    assert not isinstance(caught.value, nn.FileError)
