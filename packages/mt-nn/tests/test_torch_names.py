"""`mt_nn.torch_names`: imports, identity of names, and advice for names that are left out."""

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
"""The torch release that the table describes; other releases may have other names."""

MIRRORED = [
    found.name.removeprefix(f"{ROOT}.")
    for found in pkgutil.walk_packages(names.__path__, f"{ROOT}.")
    if "._" not in found.name and not found.name.endswith("left_out")
]
"""The modules of `mt_nn.torch_names`, relative to it."""

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
"""Import statements and uses of what they import; `{}` is replaced by the package name."""


def run(code: str, *options: str) -> str:
    """Run a program in a new process and return its output."""
    result = subprocess.run(
        [sys.executable, *options, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout + result.stderr


@pytest.mark.parametrize("line", IMPORTS)
def test_import_statement_of_torch_programs_works(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith(ROOT)]:
        if name != f"{ROOT}._mirror":  # import it again, even if other tests have
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(nn, "torch_names", names)  # restored after the test
    exec(line.replace("{}", ROOT), {})


def test_names_are_the_objects_of_mt_tensor_and_mt_nn() -> None:
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


def test_all_names_of_mt_tensor_and_all_layers_exist() -> None:
    shadowing = {name for name in vars(builtins) if hasattr(mt, name) and name[0] != "_"}
    for name in {*mt.__all__, *shadowing} - {"backends", "id"}:
        mine, theirs = getattr(names, name), getattr(mt, name)
        assert mine is theirs or isinstance(theirs, types.ModuleType), name
    for name in nn.__all__:
        value = getattr(nn, name)
        if isinstance(value, type) and name not in ("Checkpoints", "profile"):
            assert getattr(names.nn, name) is value


@pytest.mark.parametrize("path", MIRRORED)
def test_module_is_an_attribute_of_its_parent_and_copies_nothing(path: str) -> None:
    module = importlib.import_module(f"{ROOT}.{path}")
    attribute = names
    for name in path.split("."):
        attribute = getattr(attribute, name)
    assert attribute is module
    for name, value in vars(module).items():
        defined_in = getattr(value, "__module__", None)
        if isinstance(value, type | types.FunctionType) and name not in ("__getattr__", "__path__"):
            assert defined_in is not None
            assert defined_in == module.__name__ or not defined_in.startswith(ROOT), name


def test_no_module_is_loaded_twice() -> None:
    with pytest.raises(AttributeError, match="torch.tensor_data was not found"):
        names.tensor_data  # noqa: B018
    loaded = [module for name, module in sys.modules.items() if name.startswith(f"{ROOT}.")]
    folder = Path(names.__file__).parent
    assert all(Path(module.__file__ or "").is_relative_to(folder) for module in loaded)


def test_import_loads_no_more_modules_than_mt_nn() -> None:
    code = "{}; import sys; print(*sorted(m for m in sys.modules if m.startswith('mt_')))"
    networks = set(run(code.format("from mt_nn import load, save")).split())
    mirror = set(run(code.format(f"import {ROOT}")).split())
    prefixes = ("mt_tensor.", "mt_operators.")  # torch_names exports all of their names
    of_tensors = {name for name in mirror if name.startswith(prefixes)}
    own = {f"{ROOT}.{name}" for name in ("_functions", "_mirror", "_settings")}
    assert mirror - networks - of_tensors == {ROOT, *own}


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("import {}.fx", "torch.fx is not supported. Networks run as they are written"),
        ("import {}.jit.mobile as m", "torch.jit.mobile is not supported. Networks run"),
        ("from {} import export", "torch.export is not supported. Networks run"),
        ("from {} import no_grad, stft", "torch.stft is not supported."),
        (
            "from {}.nn import DataParallel",
            "torch.nn.DataParallel is not supported.",
        ),
        ("from {}.nn.functional import relu, grid_sample", "torch.nn.functional.grid_sample is"),
        ("import {}.utils.benchmark", "torch.utils.benchmark is not supported. torch.profiler"),
        (
            "from {}.nn.modules.utils import _pair",
            "torch.nn.modules.utils is not supported.",
        ),
        ("from {}.nn import Linaer", "torch.nn.Linaer was not found. Did you mean Linear?"),
        ("import {}.nn.fuctional", "torch.nn.fuctional was not found. Did you mean functional?"),
    ],
)
def test_import_of_left_out_or_unknown_name_raises_with_advice(
    statement: str, message: str
) -> None:
    with pytest.raises(ImportError) as raised:
        exec(statement.replace("{}", ROOT), {})
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("export", "torch.export is not supported. Networks run"),
        ("nn.functional.grid_sample", "torch.nn.functional.grid_sample is not supported. Images"),
        ("cuda.Stream", "torch.cuda.Stream is not supported. mt-cuda manages"),
        ("sigmod", "torch.sigmod was not found. Did you mean sigmoid?"),
        (
            "cuda.is_avialable",
            "torch.cuda.is_avialable is not supported. mt-cuda manages",
        ),
        ("qqqqqq", "torch.qqqqqq was not found."),
    ],
)
def test_access_of_left_out_or_unknown_name_raises_with_advice(
    expression: str, message: str
) -> None:
    with pytest.raises(AttributeError) as raised:
        eval(f"names.{expression}", {"names": names})
    assert str(raised.value).startswith(message)
    parent, _, name = f"names.{expression}".rpartition(".")
    assert not hasattr(eval(parent, {"names": names}), name)


def test_names_documented_as_unavailable_have_advice() -> None:
    text = (Path(__file__).parents[1] / "docs" / "torch.md").read_text()
    table = text.partition("| unavailable | instead |\n")[2].partition("\n\n")[0]
    documented = [
        name for row in table.splitlines() for name in re.findall(r"`([\w.]+)`", row.split("|")[1])
    ]
    assert len(documented) > 20
    prefixes = ["", "distributions."]
    for name in documented:
        path = name.removeprefix("torch.")
        assert any(advice(prefix + path) for prefix in prefixes), name


# --- Comparison with an installed torch -----------------------------------------------------------


def public_names(module: types.ModuleType) -> set[str]:
    """Return the public names of a torch module: those in `__all__`, and those torch defines."""
    declared = getattr(module, "__all__", ())
    return {
        name
        for name, value in [*vars(module).items(), *((name, None) for name in declared)]
        if not name.startswith("_")
        and not isinstance(value, types.ModuleType)
        and (name in declared or is_defined_by_torch(value))
    }


def is_defined_by_torch(value: object) -> bool:
    """Return whether a class, function or object is defined by torch."""
    defined_in = getattr(value, "__module__", None) or type(value).__module__
    return defined_in.startswith("torch")


NOT_COMPARED = {"utils.tensorboard"}
"""Torch modules that need a package besides torch."""

FUNCTIONS = {"nn.utils.spectral_norm", "nn.utils.weight_norm"}
"""Names of torch modules that are functions here."""


def names_and_existence(path: str) -> Iterator[tuple[str, bool]]:
    """Yield the names of a torch module and its submodules, and whether they exist here.

    Modules that are left out are not searched.
    """
    theirs = importlib.import_module(f"torch.{path}".rstrip("."))
    ours = importlib.import_module(f"{ROOT}.{path}".rstrip("."))
    dot = f"{path}." if path else ""
    for name in public_names(theirs):
        yield f"{dot}{name}", hasattr(ours, name)
    for submodule in pkgutil.iter_modules(getattr(theirs, "__path__", [])):
        inner = f"{dot}{submodule.name}"
        if inner in NOT_COMPARED:
            continue
        if inner in MIRRORED:
            yield from names_and_existence(inner)
        elif not submodule.name.startswith("_") and inner not in FUNCTIONS:
            yield inner, False


@pytest.fixture(scope="module")
def torch_names() -> dict[str, bool]:
    """Return the names below `torch`, and whether they exist here."""
    torch = pytest.importorskip("torch")
    if tuple(map(int, torch.__version__.split(".")[:2])) != WRITTEN_FOR:
        pytest.skip(f"the table describes torch {WRITTEN_FOR}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dict(names_and_existence(""))
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


def test_every_torch_name_exists_or_has_advice(torch_names: dict[str, bool]) -> None:
    missing = (name for name, exists in torch_names.items() if not exists)
    assert sorted(name for name in missing if advice(name) is None) == []


def test_every_pattern_of_the_table_matches_a_torch_name(torch_names: dict[str, bool]) -> None:
    patterns = [pattern for listed in LEFT_OUT.values() for pattern in listed.split()]
    assert len(patterns) == len(set(patterns))
    assert [p for p in patterns if not any(fnmatchcase(name, p) for name in torch_names)] == []


def test_left_out_methods_are_listed_without_wildcards() -> None:
    """`mt port` looks up attributes of variables by exact name, so it cannot use patterns."""
    patterns = {pattern for listed in LEFT_OUT.values() for pattern in listed.split()}
    for path, ours in (("Tensor.", mt.Tensor), ("nn.Module.", nn.Module)):
        for pattern in patterns:
            if pattern.startswith(path):
                assert pattern.removeprefix(path).isidentifier()
                assert not hasattr(ours, pattern.removeprefix(path))


def test_every_module_exists_in_torch(torch_names: dict[str, bool]) -> None:
    for path in set(MIRRORED) - NOT_COMPARED:
        importlib.import_module(f"torch.{path}")


def test_advice_is_one_sentence() -> None:
    for message in LEFT_OUT:
        assert message.endswith(".")
        assert ". " not in message
