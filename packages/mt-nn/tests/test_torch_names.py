"""`mt_nn.torch_names`: the names of torch, and advice for those that are left out."""

import builtins
import importlib
import pickle
import pkgutil
import re
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import mt_nn as nn
import mt_nn.torch_names as names
import mt_tensor as mt
from mt_nn.torch_names.left_out import LEFT_OUT, advice

ROOT = "mt_nn.torch_names"
WRITTEN_FOR = (2, 13)
"""The release of torch that the table is made for; others may have other names."""

MIRRORED = [
    found.name.removeprefix(f"{ROOT}.")
    for found in pkgutil.walk_packages(names.__path__, f"{ROOT}.")
    if "._" not in found.name and not found.name.endswith("left_out")
]
"""The modules of the mirror, behind the name that stands for torch."""

IMPORTS = [
    "import {} as th; th.zeros, th.nn.Linear, th.optim.lr_scheduler.StepLR",
    "import {} as th; th.utils.data.DataLoader, th.distributions.Normal, th.linalg.norm",
    "import {}.nn as nn; nn.Linear, nn.functional.relu, nn.init.orthogonal_",
    "import {}.nn.functional as F; F.relu",
    "import {}.optim as optim; optim.Adam, optim.swa_utils.SWALR",
    "import {}.nn.utils; {}.nn.utils.rnn.pad_sequence",
    "from {} import nn, optim, Tensor; nn.Module, optim.SGD, Tensor.backward",
    "from {}.nn import functional as F, Module, Parameter; F.relu",
    "from {}.nn.functional import relu, cross_entropy",
    "from {}.nn.modules import Module, Conv2d",
    "from {}.nn.parameter import Parameter, Buffer",
    "from {}.nn.utils import clip_grad_norm_, parameters_to_vector",
    "from {}.nn.utils.clip_grad import clip_grad_norm_",
    "from {}.nn.utils.rnn import pack_padded_sequence, PackedSequence",
    "from {}.nn.utils.parametrizations import spectral_norm, weight_norm",
    "from {}.optim.optimizer import Optimizer",
    "from {}.optim.lr_scheduler import CosineAnnealingLR, LRScheduler",
    "from {}.optim.swa_utils import AveragedModel, update_bn",
    "from {}.utils.data import DataLoader, Dataset, TensorDataset, random_split",
    "from {}.utils.data.dataset import Subset",
    "from {}.utils.data.dataloader import default_collate",
    "from {}.utils.data.sampler import SubsetRandomSampler",
    "from {}.autograd import Function, grad",
    "from {}.autograd.functional import jacobian",
    "from {}.distributions import Normal, kl_divergence",
    "from {}.distributions.categorical import Categorical",
    "from {}.distributions.relaxed_categorical import RelaxedOneHotCategorical",
    "from {}.testing import assert_close",
    "from {}.random import fork_rng, seed",
    "from {}.backends import cudnn; cudnn.benchmark = True",
    "import {}; {}.backends.cudnn.deterministic = True; {}.backends.mps.is_available()",
    "from {} import *; zeros(2).dtype",
]
"""How programs import, and what they then ask for; `{}` stands for torch."""


def run(code: str, *options: str) -> str:
    """Return what a program prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, *options, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("line", IMPORTS)
def test_programs_import_in_every_way(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(ROOT)]:
        if name != f"{ROOT}._mirror":  # nor does a way lean on what another has imported
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(nn, "torch_names", names)  # and this is put back
    exec(line.replace("{}", ROOT), {})


def test_names_are_those_of_tensors_and_networks() -> None:
    assert names.zeros is mt.zeros
    assert names.abs is mt.abs
    assert names.float is mt.float32
    assert names.autograd.Function is mt.Function
    assert names.nn.utils.clip_grad_norm_ is nn.utils.clip_grad_norm_
    assert names.optim.lr_scheduler.StepLR is nn.optim.lr_scheduler.StepLR
    assert names.utils.data.DataLoader is nn.data.DataLoader
    assert (names.save, names.load) == (nn.save, nn.load)
    assert names.nn.Parameter is names.nn.parameter.Parameter is nn.Parameter
    assert isinstance(names.float, names.dtype)
    assert pickle.loads(pickle.dumps(names.nn.Linear)) is nn.Linear


def test_all_of_tensors_and_layers_are_there() -> None:
    shadowing = {name for name in vars(builtins) if hasattr(mt, name) and name[0] != "_"}
    for name in {*mt.__all__, *shadowing} - {"backends", "id"}:
        mine, theirs = getattr(names, name), getattr(mt, name)
        assert mine is theirs or isinstance(theirs, types.ModuleType), name
    for name in nn.__all__:
        value = getattr(nn, name)
        if isinstance(value, type) and name not in ("Checkpoints", "profile"):
            assert getattr(names.nn, name) is value


@pytest.mark.parametrize("path", MIRRORED)
def test_a_module_is_one_object_and_copies_nothing(path: str) -> None:
    module = importlib.import_module(f"{ROOT}.{path}")
    reached = names
    for name in path.split("."):
        reached = getattr(reached, name)
    assert reached is module
    for name, value in vars(module).items():
        home = getattr(value, "__module__", None)
        if isinstance(value, type | types.FunctionType) and name not in ("__getattr__", "__path__"):
            assert home is not None
            assert home == module.__name__ or not home.startswith(ROOT), name


def test_no_module_is_loaded_twice() -> None:
    with pytest.raises(AttributeError, match="torch.tensor_data is not here"):
        names.tensor_data  # noqa: B018
    loaded = [module for name, module in sys.modules.items() if name.startswith(f"{ROOT}.")]
    folder = Path(names.__file__).parent
    assert all(Path(module.__file__ or "").is_relative_to(folder) for module in loaded)


def test_importing_it_imports_only_what_networks_do() -> None:
    code = "{}; import sys; print(*sorted(m for m in sys.modules if m.startswith('mt_')))"
    networks = set(run(code.format("from mt_nn import load, save")).split())
    mirror = set(run(code.format(f"import {ROOT}")).split())
    below = ("mt_tensor.", "mt_operators.")  # of which all names are there
    of_tensors = {name for name in mirror if name.startswith(below)}
    own = {f"{ROOT}.{name}" for name in ("_functions", "_mirror", "_settings")}
    assert mirror - networks - of_tensors == {ROOT, *own}


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("import {}.fx", "torch.fx is left out. Networks run as they are written"),
        ("import {}.jit.mobile as m", "torch.jit.mobile is left out. Networks run"),
        ("from {} import export", "torch.export is left out. Networks run"),
        ("from {} import no_grad, stft", "torch.stft is left out."),
        ("from {}.nn import DataParallel", "torch.nn.DataParallel is left out. Processes that"),
        ("from {}.nn.functional import relu, grid_sample", "torch.nn.functional.grid_sample is"),
        ("import {}.utils.benchmark", "torch.utils.benchmark is left out. torch.profiler"),
        ("from {}.nn.modules.utils import _pair", "torch.nn.modules.utils is left out. The layers"),
        ("from {}.nn import Linaer", "torch.nn.Linaer is not here. Did you mean Linear?"),
        ("import {}.nn.fuctional", "torch.nn.fuctional is not here. Did you mean functional?"),
    ],
)
def test_what_is_left_out_says_so_when_it_is_imported(statement: str, said: str) -> None:
    with pytest.raises(ImportError) as raised:
        exec(statement.replace("{}", ROOT), {})
    assert str(raised.value).startswith(said)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("export", "torch.export is left out. Networks run"),
        ("nn.functional.grid_sample", "torch.nn.functional.grid_sample is left out. Images"),
        ("cuda.Stream", "torch.cuda.Stream is left out. mt-cuda keeps"),
        ("sigmod", "torch.sigmod is not here. Did you mean sigmoid?"),
        ("cuda.is_avialable", "torch.cuda.is_avialable is left out. mt-cuda keeps memory, streams"),
        ("qqqqqq", "torch.qqqqqq is not here."),
    ],
)
def test_what_is_left_out_says_so_when_it_is_asked_for(expression: str, said: str) -> None:
    with pytest.raises(AttributeError) as raised:
        eval(f"names.{expression}", {"names": names})
    assert str(raised.value).startswith(said)
    parent, _, name = f"names.{expression}".rpartition(".")
    assert not hasattr(eval(parent, {"names": names}), name)


def test_what_the_readme_says_is_left_out_is() -> None:
    text = (Path(__file__).parents[1] / "docs" / "torch.md").read_text()
    table = text.partition("| unavailable | instead |\n")[2].partition("\n\n")[0]
    shown = [
        name for row in table.splitlines() for name in re.findall(r"`([\w.]+)`", row.split("|")[1])
    ]
    assert len(shown) > 20
    places = ["", "distributions."]
    for name in shown:
        below = name.removeprefix("torch.")
        assert any(advice(place + below) for place in places), name


# torch's own tree, where it is installed.


def public(module: types.ModuleType) -> set[str]:
    """Return the names that a module of torch's offers: it says so, or they are torch's own."""
    declared = getattr(module, "__all__", ())
    return {
        name
        for name, value in [*vars(module).items(), *((name, None) for name in declared)]
        if not name.startswith("_")
        and not isinstance(value, types.ModuleType)
        and (name in declared or is_torchs(value))
    }


def is_torchs(value: object) -> bool:
    """Whether torch defines something: a class, a function or a value of a class."""
    home = getattr(value, "__module__", None) or type(value).__module__
    return home.startswith("torch")


NOT_COMPARED = {"utils.tensorboard"}
FUNCTIONS = {"nn.utils.spectral_norm", "nn.utils.weight_norm"}  # and modules of torch
"""Modules of torch's that need a package besides torch."""


def compared(path: str) -> Iterator[tuple[str, bool]]:
    """Yield the names of a module of torch's and of those within, and whether they are here.

    What lies in a module that is left out is not looked at.
    """
    theirs = importlib.import_module(f"torch.{path}".rstrip("."))
    ours = importlib.import_module(f"{ROOT}.{path}".rstrip("."))
    dot = f"{path}." if path else ""
    for name in public(theirs):
        yield f"{dot}{name}", hasattr(ours, name)
    for below in pkgutil.iter_modules(getattr(theirs, "__path__", [])):
        inner = f"{dot}{below.name}"
        if inner in NOT_COMPARED:
            continue
        if inner in MIRRORED:
            yield from compared(inner)
        elif not below.name.startswith("_") and inner not in FUNCTIONS:
            yield inner, False


@pytest.fixture(scope="module")
def torch_names() -> dict[str, bool]:
    """Return the names of torch's tree, behind `torch`, and whether they are here."""
    torch = pytest.importorskip("torch")
    if tuple(map(int, torch.__version__.split(".")[:2])) != WRITTEN_FOR:
        pytest.skip(f"the table is made for torch {WRITTEN_FOR}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dict(compared(""))
    for path, theirs, ours in [
        ("Tensor", torch.Tensor, mt.Tensor),
        ("nn.Module", torch.nn.Module, nn.Module),
    ]:
        found |= {
            f"{path}.{name}": hasattr(ours, name)
            for name in dir(theirs)
            if not name.startswith("_")
        }
    return found


def test_every_name_of_torch_is_here_or_left_out_with_advice(torch_names: dict[str, bool]) -> None:
    assert sorted(n for n, here in torch_names.items() if not here and advice(n) is None) == []


def test_the_table_names_what_torch_has(torch_names: dict[str, bool]) -> None:
    patterns = [pattern for listed in LEFT_OUT.values() for pattern in listed.split()]
    assert len(patterns) == len(set(patterns))
    assert [p for p in patterns if not any(fnmatchcase(name, p) for name in torch_names)] == []


def test_what_a_class_lacks_is_named_letter_by_letter() -> None:
    """A variable's attribute is only known by its name: see `mt port`."""
    patterns = {pattern for listed in LEFT_OUT.values() for pattern in listed.split()}
    for path, ours in (("Tensor.", mt.Tensor), ("nn.Module.", nn.Module)):
        for pattern in patterns:
            if pattern.startswith(path):
                assert pattern.removeprefix(path).isidentifier()
                assert not hasattr(ours, pattern.removeprefix(path))


def test_every_module_is_one_of_torchs(torch_names: dict[str, bool]) -> None:
    for path in set(MIRRORED) - NOT_COMPARED:
        importlib.import_module(f"torch.{path}")


def test_advice_is_one_sentence() -> None:
    for said in LEFT_OUT:
        assert said.endswith(".")
        assert ". " not in said
