"""Models and checkpoints on disk: contents, exchange with torch, errors."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.saving import layout, read_metadata
from mt_nn.saving.checkpoint import Generators
from mt_tensor.extending import DTYPES


def state_of_every_dtype_and_layout() -> dict[str, mt.Tensor]:
    numbers = mt.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    return {
        **{name: numbers.to(dtype) for name, dtype in DTYPES.items()},
        "transposed": numbers.T,
        "strided": numbers[:, ::2],
        "expanded": numbers[0, 0].expand(2, 2),
        "scalar": mt.tensor(1.5),
        "empty": mt.zeros(0, 3),
    }


def assert_equal_states(ours: Any, theirs: Any) -> None:
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        pair = ours[name], value
        assert str(pair[0].dtype).split(".")[-1] == str(value.dtype).split(".")[-1]
        mine, other = (np.asarray(x.float() if name == "bfloat16" else x) for x in pair)
        assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
        np.testing.assert_array_equal(mine, other)


# --- Models -------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", [None, "simple"])
def test_tensors_of_every_dtype_and_layout_are_saved_and_loaded(
    tmp_path: Path, backend: Any
) -> None:
    state, path = state_of_every_dtype_and_layout(), tmp_path / "m.safetensors"
    nn.save(state, path, metadata={"by": "me"})
    loaded = nn.load(path, backend=backend)
    assert_equal_states(loaded, state)
    assert {value.backend.name for value in loaded.values()} == {backend or "numpy"}
    assert all(value.is_contiguous() for value in loaded.values())
    assert read_metadata(path) == {"by": "me"}
    with pytest.raises(mt.errors.UnknownBackendError):
        nn.load(path, backend="nowhere")


def test_torch_reads_our_files_and_we_read_those_of_torch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    files = pytest.importorskip("safetensors.torch")
    state = state_of_every_dtype_and_layout()
    nn.save(state, tmp_path / "ours")
    theirs = files.load_file(tmp_path / "ours")
    assert_equal_states(theirs, state)
    files.save_file({n: v.contiguous() for n, v in theirs.items()}, tmp_path / "theirs", {"a": "b"})
    assert_equal_states(nn.load(tmp_path / "theirs"), state)
    assert read_metadata(tmp_path / "theirs") == {"a": "b"}
    numbers = torch.tensor([[1.0, -2.5], [3e38, 0.1]]).bfloat16()
    files.save_file({"a": numbers}, tmp_path / "half")
    loaded = nn.load(tmp_path / "half")["a"]
    assert loaded.dtype is mt.bfloat16
    np.testing.assert_array_equal(loaded.float(), numbers.float())


def test_shared_parameters_are_exchanged_with_torch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    files = pytest.importorskip("safetensors.torch")

    def tied(kind: Any) -> Any:
        model = kind.Sequential(kind.Linear(3, 3, bias=False), kind.Linear(3, 3, bias=False))
        model[1].weight = model[0].weight
        return model

    ours, theirs = tied(nn), tied(torch.nn)
    nn.save(ours.state_dict(), tmp_path / "ours")
    theirs.load_state_dict(files.load_file(tmp_path / "ours"))
    np.testing.assert_array_equal(theirs[1].weight.detach(), ours[0].weight.detach())
    with torch.no_grad():
        theirs[0].weight.mul_(2)
    files.save_model(theirs, tmp_path / "theirs")  # saves only one of the two names
    ours.load_state_dict(nn.load(tmp_path / "theirs"))
    assert ours[0].weight is ours[1].weight
    np.testing.assert_array_equal(theirs[1].weight.detach(), ours[1].weight.detach())


def test_file_with_unsupported_dtype_raises(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(layout.packed({"a": np.ones(2, np.complex64)}, {}))
    with pytest.raises(nn.FileError, match="a in .* has dtype complex64, which tensors do not"):
        nn.load(path)
    head = b'{"a":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}}'
    path.write_bytes(len(head).to_bytes(8, "little") + head + b"ab")
    with pytest.raises(nn.FileError, match="dtype F8_E4M3, which is not supported"):
        nn.load(path)


def test_metadata_that_is_not_a_string_raises(tmp_path: Path) -> None:
    with pytest.raises(nn.SettingError, match="'epoch' has the value 3"):
        nn.save({}, tmp_path / "m", metadata={"epoch": 3})  # type: ignore[dict-item]
    with pytest.raises(nn.FileError, match="not a safetensors file"):
        read_metadata(Path(__file__))
    (tmp_path / "list").write_bytes((2).to_bytes(8, "little") + b"[]")
    with pytest.raises(nn.FileError, match="not a safetensors file"):
        read_metadata(tmp_path / "list")


# --- Checkpoints --------------------------------------------------------------------------------


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


def trained(steps: int = 2) -> tuple[nn.Module, nn.optim.Optimizer]:
    model = network()
    optimizer = nn.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(steps):
        model(mt.ones(5, 3)).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    return model, optimizer


VALUES: dict[str, Any] = {
    "epoch": 3,
    "none": None,
    "loss": float("inf"),
    "nested": [{"a": (1, 2.5), 7: [True, "text"]}, {}, []],
    "tensor": mt.tensor([1, 2]),
    "array": np.arange(4, dtype=np.uint32).reshape(2, 2).T,
    "swapped": np.arange(3, dtype=">i4"),
    "number": np.float32(0.5),
}


def draw(generator: mt.Generator) -> Any:
    """Return a number drawn from every generator."""
    legacy = np.random.random()  # noqa: NPY002 - its state is saved
    return mt.rand(3).tolist(), random.random(), legacy, generator.numpy.random()


def test_checkpoint_restores_model_optimizer_generators_and_values(tmp_path: Path) -> None:
    path = tmp_path / "c.safetensors"
    model, optimizer = trained()
    own = mt.Generator().manual_seed(3)
    own.numpy.random()
    nn.save_checkpoint(path, model=model, optimizer=optimizer, own=[own, {"x": own}], **VALUES)
    drawn = draw(own)
    other = network()
    others_optimizer = nn.optim.Adam(other.parameters())
    generator = mt.Generator()
    values = nn.load_checkpoint(
        path, model=other, optimizer=others_optimizer, own=[generator, {"x": generator}]
    )
    assert drawn == draw(generator)
    assert_equal_states(other.state_dict(), model.state_dict())
    assert values.keys() == VALUES.keys()
    for name in ("epoch", "none", "loss", "nested", "number"):
        assert values[name] == VALUES[name]
    assert values["tensor"].tolist() == [1, 2]
    for name in ("array", "swapped"):
        np.testing.assert_array_equal(values[name], VALUES[name])
    for each in (model, other):
        each(mt.ones(5, 3)).square().sum().backward()
    optimizer.step()
    others_optimizer.step()
    assert_equal_states(other.state_dict(), model.state_dict())
    assert nn.load_checkpoint(path)["model"].keys() == model.state_dict().keys()
    assert b'"model.0.weight":{"dtype":"F32","shape":[4,3]' in path.read_bytes()


def test_generators_false_leaves_generator_states_alone(tmp_path: Path) -> None:
    for saved, loaded in ((True, False), (False, True)):
        nn.save_checkpoint(tmp_path / "c", generators=saved, epoch=1)
        before = mt.get_rng_state()
        mt.rand(1)
        moved = mt.get_rng_state()
        assert nn.load_checkpoint(tmp_path / "c", generators=loaded) == {"epoch": 1}
        assert mt.get_rng_state() == moved != before


def test_python_generator_state_can_be_a_tuple() -> None:
    state = Generators().state_dict()
    before = random.getstate()
    random.random()
    Generators().load_state_dict({**state, "python": before})
    assert random.getstate() == before


class FailingPart:
    """A part that can fail halfway through loading its state."""

    def __init__(self) -> None:
        self.state = [1, 2]
        self.fails = False

    def state_dict(self) -> Any:
        return list(self.state)

    def load_state_dict(self, state: Any) -> None:
        self.state[0] = state[0] + 10
        if self.fails:
            self.fails = False
            raise KeyError("second")
        self.state = list(state)


def test_load_checkpoint_changes_nothing_if_one_part_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "c.safetensors"
    model, optimizer = trained()
    part = FailingPart()
    nn.save_checkpoint(path, model=model, optimizer=optimizer, part=part)
    other, others_optimizer = trained(steps=3)
    part.fails, part.state = True, [5, 6]
    before = {name: value.clone() for name, value in other.state_dict().items()}
    steps, drawn = others_optimizer.state_dict()["state"][0]["step"], mt.get_rng_state()
    with pytest.raises(nn.StateDictError, match="does not fit part: 'second'"):
        nn.load_checkpoint(path, model=other, optimizer=others_optimizer, part=part)
    assert_equal_states(other.state_dict(), before)
    assert others_optimizer.state_dict()["state"][0]["step"] == steps
    assert part.state == [5, 6]
    assert mt.get_rng_state() == drawn


@pytest.mark.parametrize(
    ("parts", "error", "message"),
    [
        (
            {"scheduler": FailingPart()},
            nn.StateDictError,
            "does not contain 'scheduler'; it contains model, epoch",
        ),
        ({"model": nn.Linear(2, 2)}, nn.StateDictError, "does not fit model"),
        ({"model": [network()]}, nn.StateDictError, "parts .*, but has"),
        ({"epoch": 3}, nn.SettingError, "Do not pass values"),
        ({"epoch": network()}, nn.StateDictError, "does not fit epoch: .* dictionary of values"),
        ({"both": [FailingPart()]}, nn.StateDictError, r"parts \[0, 1\], but has \[0\]"),
    ],
)
def test_part_that_does_not_fit_raises(
    tmp_path: Path, parts: Any, error: Any, message: str
) -> None:
    path = tmp_path / "c.safetensors"
    nn.save_checkpoint(path, model=network(), epoch=1, both=[FailingPart(), FailingPart()])
    with pytest.raises(error, match=message):
        nn.load_checkpoint(path, **parts)


def list_that_contains_itself() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({1, 2}, r'value\["part"\] is \{1, 2\} of type set, .*: save list\(\.\.\.\) instead'),
        ([{"a": nn.Linear}], r'value\["part"\]\[0\]\["a"\] is .* of type type'),
        ({(1, 2): 3}, r"the key \(1, 2\) of type tuple"),
        pytest.param(
            list_that_contains_itself(),
            r'value\["part"\]\[0\]\[0\] is nested more than 100 levels deep',
            id="cyclic",
        ),
    ],
)
def test_unsupported_value_raises_and_keeps_the_file(
    tmp_path: Path, value: Any, message: str
) -> None:
    nn.save_checkpoint(tmp_path / "c", epoch=1)
    with pytest.raises(nn.StateDictError, match=message):
        nn.save_checkpoint(tmp_path / "c", part=value)
    assert nn.load_checkpoint(tmp_path / "c") == {"epoch": 1}


def test_damaged_or_invalid_checkpoint_raises(tmp_path: Path) -> None:
    path = tmp_path / "c.safetensors"
    model = network()
    nn.save_checkpoint(path, model=model, epoch=1)
    content = path.read_bytes()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    for length in [*range(20), *range(20, len(content), 997), len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(nn.FileError, match="truncated"):
            nn.load_checkpoint(path, model=model)
    for at in (len(content) - 1, content.index(b"epoch"), len(content) - 40):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(nn.FileError, match="damaged"):
            nn.load_checkpoint(path, model=model)
    nn.save(model.state_dict(), path)
    with pytest.raises(nn.StateDictError, match="not contain 'model'; .* state of a single model"):
        nn.load_checkpoint(path, model=model)
    nn.save([1], path)
    with pytest.raises(nn.FileError, match="is not a checkpoint: it contains a list"):
        nn.load_checkpoint(path, model=model)
    with pytest.raises(nn.FileError, match="could not read"):
        nn.load_checkpoint(tmp_path / "nowhere", model=model)
    assert_equal_states(model.state_dict(), before)


# --- Folders of checkpoints -----------------------------------------------------------------------


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_last_and_best_checkpoints_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    checkpoints = nn.Checkpoints(folder, keep_last=2, keep_best=1)
    assert checkpoints.last() is None
    with pytest.raises(nn.FileError, match="does not contain a checkpoint"):
        checkpoints.load()
    (folder / ".mt-nn-unfinished-0123456789abcdef").write_bytes(b"half writ")
    (folder / "notes.txt").write_text("mine")
    scores = {1: 0.5, 2: 0.1, 3: float("nan"), 4: 0.3, 5: None}
    for step, score in scores.items():
        path = checkpoints.save(step, score, number=step)
        assert path == checkpoints.last()
    assert names(folder) == ["notes.txt", *(f"step-0000000{n}.safetensors" for n in (2, 4, 5))]
    reopened = nn.Checkpoints(folder)
    assert reopened.load() == {"number": 5}
    assert reopened.load("best") == {"number": 2}
    assert nn.Checkpoints(folder, mode="max").load("best") == {"number": 4}
    checkpoints.save(5, number=6)
    assert reopened.load() == {"number": 6}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keep_last": 0}, "keep_last must be a positive integer"),
        ({"keep_best": -1}, "keep_best must be a non-negative integer"),
        ({"mode": "least"}, "mode must be one of min, max; got 'least'"),
    ],
)
def test_invalid_setting_of_checkpoints_raises(tmp_path: Path, settings: Any, message: str) -> None:
    with pytest.raises(nn.SettingError, match=message):
        nn.Checkpoints(tmp_path, **settings)


def test_invalid_folder_or_choice_of_checkpoints_raises(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(nn.FileError, match="could not create the folder"):
        nn.Checkpoints(tmp_path / "file")
    with pytest.raises(nn.SettingError, match="which must be one of last, best"):
        nn.Checkpoints(tmp_path / "c").load("first")  # type: ignore[arg-type]


def test_invalid_score_causes_a_warning(tmp_path: Path) -> None:
    checkpoints = nn.Checkpoints(tmp_path, keep_best=1)
    nn.save_checkpoint(tmp_path / "step-1.safetensors", metadata={"score": "good"})
    with pytest.warns(RuntimeWarning, match="the score 'good', which is not a number"):
        assert checkpoints.best() is None


def truncated(content: bytes) -> bytes:
    return content[:100]


@pytest.mark.parametrize("damage", [truncated, lambda content: b"", lambda content: None])
def test_damaged_checkpoints_are_skipped_with_a_warning(tmp_path: Path, damage: Any) -> None:
    """Damaged checkpoints do not count among those that are kept, and are not removed."""
    checkpoints = nn.Checkpoints(tmp_path, keep_last=2, keep_best=1)
    paths = [checkpoints.save(step, score) for step, score in ((1, 0.2), (2, 0.3), (3, 0.5))]
    content = damage(paths[2].read_bytes())
    if content is None:
        paths[2].unlink()
        paths[2].mkdir()
    else:
        paths[2].write_bytes(content)
    with pytest.warns(RuntimeWarning, match="skipping a checkpoint: .*step-00000003"):
        paths.append(checkpoints.save(4, 0.4))
    assert names(tmp_path) == [path.name for path in paths]  # the best, the last two, the damaged
    with pytest.warns(RuntimeWarning, match="skipping a checkpoint: .*step-00000003"):
        paths.append(checkpoints.save(5, 0.6))
    assert names(tmp_path) == [paths[at].name for at in (0, 2, 3, 4)]
    with pytest.warns(RuntimeWarning, match="skipping a checkpoint"):
        assert checkpoints.best() == paths[0]


def test_checkpoint_keeps_metadata_except_reserved_names(tmp_path: Path) -> None:
    nn.save_checkpoint(tmp_path / "c", metadata={"note": "mine"}, epoch=1)
    assert read_metadata(tmp_path / "c")["note"] == "mine"
    with pytest.raises(nn.SettingError, match="the name 'mt_nn.structure' in metadata is reserved"):
        nn.save_checkpoint(tmp_path / "c", metadata={"mt_nn.structure": "x"})


@pytest.mark.parametrize("metadata", ['{"a":1}', '{"a":null}', '{"a":"b","c":[]}', '["a"]', '"a"'])
def test_invalid_metadata_in_file_raises(tmp_path: Path, metadata: str) -> None:
    head = f'{{"__metadata__":{metadata}}}'.encode()
    (tmp_path / "m").write_bytes(len(head).to_bytes(8, "little") + head)
    for read in (read_metadata, nn.load):
        with pytest.raises(nn.FileError, match="not a safetensors file"):
            read(tmp_path / "m")


@pytest.mark.parametrize(("dimensions", "fits"), [(1, True), (64, True), (65, False)])
def test_array_of_more_than_64_dimensions_raises(
    tmp_path: Path, dimensions: int, fits: bool
) -> None:
    shape = [1] * dimensions
    entry = {"dtype": "F32", "shape": shape, "data_offsets": [0, 4]}
    head = json.dumps({"a": entry}).encode()
    (tmp_path / "m").write_bytes(len(head).to_bytes(8, "little") + head + bytes(4))
    if fits:
        assert nn.load(tmp_path / "m")["a"].shape == tuple(shape)
    else:
        with pytest.raises(nn.FileError, match="not a safetensors file .*found 65"):
            nn.load(tmp_path / "m")
