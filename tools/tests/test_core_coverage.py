"""How much of the cores of stages 1, 2 and 5 runs in short trainings.

`pytest -s tools/tests/test_core_coverage.py` prints the functions that do not run: they could be
moved out of the core.
"""

import ast
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from mt.workspace import Workspace

WORKSPACE = Workspace.read()

TRAININGS = str(Path(__file__).parents[1] / "trainings")

LEAST = {"autodiff": 0.85, "tensor": 0.85, "nn": 0.85}
"""The minimum fraction of the functions of a core that runs; the aim is 0.85 for each."""

PROGRAM = textwrap.dedent("""
    import ast, builtins, json, os, sys
    from importlib import machinery

    ran = set()
    builtins.__ran__ = ran.add

    class Marking(machinery.SourceFileLoader):
        def get_code(self, name):
            parts = name.split(".")
            if parts[0] not in ("mt_autodiff", "mt_tensor", "mt_nn") or parts[1:2] != ["core"]:
                return super().get_code(name)
            path = self.get_filename(name)
            tree = ast.parse(self.get_data(path))
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef):
                    mark = ast.parse(f"__ran__(({path!r}, {node.lineno}))").body
                    start = int(ast.get_docstring(node) is not None)
                    node.body[start:start] = mark
            return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)

    loaders = [
        (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
        (Marking, machinery.SOURCE_SUFFIXES),
        (machinery.SourcelessFileLoader, machinery.BYTECODE_SUFFIXES),
    ]
    sys.path_hooks.insert(0, machinery.FileFinder.path_hook(*loaders))
    sys.path_importer_cache.clear()

    import mt_nn.jobs.digits as job
    from mt_nn.core.adam import Adam
    from mt_nn.core.sgd import SGD
    from mt_nn.core.lenet import LeNet, evaluate, train
    from mt_nn.data import DataLoader, TensorDataset, digits
    from mt_nn.jobs.command import cli
    from mt_tensor import manual_seed, use_backend

    def few(count):
        return [TensorDataset(*(x[:count] for x in part.tensors)) for part in digits()]

    class Small(LeNet):
        def __init__(self, *args, **settings):
            super().__init__(*args, channels=(2, 2), hidden=4, **settings)

    job.LeNet = Small
    for backend, count in (("numpy", 60), ("fast", 60), ("simple", 10)):
        job.digits = lambda: few(count)
        folder = os.path.join(sys.argv[1], backend)
        settings = ["--epochs", "1", "--batch-size", str(count // 5), "--backend", backend]
        assert cli.main(["digits", *settings, "--out", folder]) == 0
        with use_backend(backend):  # also train with the core only, with dropout
            manual_seed(0)
            images, test = few(count)
            model = Small()
            loader = DataLoader(images, batch_size=count // 2, shuffle=True)
            train(model, loader, Adam(model.parameters()), epochs=1)
            train(model, loader, SGD(model.parameters(), momentum=0.9), epochs=1)
            evaluate(model, *test.tensors)
            model.load_state_dict(model.state_dict())
            print(model)
    sys.path.insert(0, sys.argv[3])
    import moons

    moons.EPOCHS = 3
    try:
        moons.main()
    except SystemExit:  # the accuracy is too low after so few epochs
        pass
    with open(sys.argv[2], "w") as file:
        json.dump(sorted(ran), file)
""")


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, int]]:
    """The functions that ran: the file and the line of each."""
    folder = tmp_path_factory.mktemp("runs")
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder), str(folder / "ran.json"), TRAININGS],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "MT_BACKEND": "numpy"},
    )
    assert result.returncode == 0, result.stderr
    return {(file, line) for file, line in json.loads((folder / "ran.json").read_text())}


def functions_of(core: Path) -> Iterator[tuple[str, str, int]]:
    """Yield each function of a core that can run: its name, file and line.

    Functions that only type checkers read, and those that a subclass must define, cannot run.
    """
    for file in sorted(core.glob("*.py")):
        yield from _functions_in(ast.parse(file.read_text(encoding="utf-8")), file, file.stem)


def _functions_in(node: ast.AST, file: Path, owner: str) -> Iterator[tuple[str, str, int]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        name = owner
        if isinstance(child, ast.ClassDef):
            if any(ast.unparse(base) == "Protocol" for base in child.bases):
                continue
            name = f"{owner}.{child.name}"
        elif isinstance(child, ast.FunctionDef):
            name = f"{owner}.{child.name}"
            if not _is_abstract(child):
                yield name, str(file), child.lineno
        yield from _functions_in(child, file, name)


def _is_abstract(function: ast.FunctionDef) -> bool:
    """Return whether a function only has documentation, or raises NotImplementedError."""
    body = [each for each in function.body if not isinstance(each, ast.Expr)]
    return not body or ast.unparse(body[0]).startswith("raise NotImplementedError")


@pytest.mark.parametrize("stage", LEAST)
def test_short_training_runs_most_functions_of_the_core(
    stage: str, ran: set[tuple[str, int]]
) -> None:
    functions = list(functions_of(WORKSPACE[stage].source / "core"))
    others = [name for name, *place in functions if tuple(place) not in ran]
    fraction = 1.0 - len(others) / len(functions)
    print(f"\n{stage}: {fraction:.1%} of {len(functions)} functions run; the others:", *others)
    assert fraction >= LEAST[stage], others
