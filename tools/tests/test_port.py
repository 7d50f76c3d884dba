"""`mt port` changes only the imports of a program, whose results then match torch."""

import ast
import contextlib
import functools
import io
import tempfile
import textwrap
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rich")

import mt_tensor as mt
from mt.errors import ToolError
from mt.port.command import main
from mt.port.comparison import (
    FOLDER,
    LIMITS,
    RESULTS,
    Arrays,
    Outcome,
    Program,
    compared,
    differences,
    load,
    programs,
)
from mt.port.imports import MIRROR, difference, ported, read
from mt.port.names import left_out
from mt.port.running import in_float64, run

PROGRAMS = programs()
NAMES = [program.name for program in PROGRAMS]


def changed(text: str) -> str:
    return ported(text, ast.parse(text))


def advice(text: str) -> list[tuple[int, str]]:
    return [(use.line, use.advice) for use in left_out(ast.parse(textwrap.dedent(text)))]


# Import lines.


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import torch", "import M as torch"),
        ("import torch as th", "import M as th"),
        ("import torch.nn as nn", "import M.nn as nn"),
        ("import torch.nn", "import M as torch"),
        ("import torch.nn.functional as F  # torch", "import M.nn.functional as F  # torch"),
        ("import os, torch, torch.optim as optim", "import os, M as torch, M.optim as optim"),
        ("from torch import nn, Tensor as T", "from M import nn, Tensor as T"),
        ("from torch.nn import (\n    Linear,\n)", "from M.nn import (\n    Linear,\n)"),
        ("from  torch.utils.data import *", "from  M.utils.data import *"),
        ("from torch \\\n    import nn", "from M \\\n    import nn"),
        (
            "ü = 'é'; import torch; from torch import nn",
            "ü = 'é'; import M as torch; from M import nn",
        ),
        ("if x:\n\tfrom torch import nn\n", "if x:\n\tfrom M import nn\n"),
        ("import torch\r\nx = 1\r\n", "import M as torch\r\nx = 1\r\n"),
        ("from einops.layers.torch import Reduce", "from mt_nn.layers.einops import Reduce"),
        ("import einops.layers.torch as L, torch", "import mt_nn.layers.einops as L, M as torch"),
    ],
)
def test_replaced_import_keeps_its_form(before: str, after: str) -> None:
    assert changed(before) == after.replace("M", MIRROR)


@pytest.mark.parametrize(
    "text",
    [
        "import torchvision, torch_scatter",
        "import einops\nfrom einops.layers import torch\nfrom einops.layers.keras import Reduce",
        "from torchvision import transforms",
        "from .torch import nn",
        "from . import torch",
        "# import torch",
        "'''\nimport torch\n'''",
        "torch = None",
        "import numpy as torch",
    ],
)
def test_imports_of_other_modules_and_text_are_unchanged(text: str) -> None:
    assert changed(text) == text


def test_import_split_before_torch_raises_tool_error() -> None:
    with pytest.raises(ToolError, match="line 1: `from` and `torch` must be on the same line"):
        changed("from \\\n    torch import nn")


@pytest.mark.parametrize("name", NAMES)
def test_only_import_lines_of_programs_change(name: str) -> None:
    text, tree = read(FOLDER / f"{name}.py")
    pairs = list(zip(text.splitlines(), ported(text, tree).splitlines(), strict=True))
    for before, after in pairs:
        assert before == after or before.lstrip().startswith(("import ", "from "))
    assert sum(before != after for before, after in pairs) >= 2
    assert "mt_" not in text


# Unsupported names.


def test_unsupported_names_are_reported_with_line_and_advice() -> None:
    found = advice(
        """
        import torch, re
        import torch.nn.functional as F
        from torch.cuda.amp import autocast
        from torch import nn as networks
        import torch.utils.cpp_extension

        model = torch.export(networks.Linear(2, 2))
        y = F.grid_sample(model(x), x).untyped_storage()
        with torch.jit.fork(re.compile("x")), torch.no_grad():
            networks.functional.relux(torch.Tensor.to_sparse(x))
        """
    )
    assert [line for line, _ in found] == [4, 6, 8, 9, 9, 10, 11, 11]
    texts = [text for _, text in found]
    assert texts[0].startswith("torch.cuda.amp is not supported. For mixed precision")
    assert texts[1].startswith("torch.utils.cpp_extension is not supported. Backends")
    assert texts[2].startswith("torch.export is not supported. Networks run")
    assert texts[3].startswith(
        ".untyped_storage, if it is of torch.Tensor, is not supported. Use operations"
    )
    assert texts[4].startswith("torch.nn.functional.grid_sample is not supported. Images")
    assert texts[5].startswith("torch.jit.fork is not supported. Networks run")
    assert texts[6].startswith("torch.Tensor.to_sparse is not supported. Tensors are dense")
    assert texts[7] == "torch.nn.functional.relux was not found. Did you mean relu?"


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntorch.zeros(2).sum().values.real.indices.index",
        "import re, torch\nre.compile('x').match('y')",
        "import torch\n{}.values(), x.compiled",
        "from torch import *\nzeros(2)",
        "from .torch import compile\ncompile.jit",
        "import torch.nn as nn\nnn.Module.zero_grad, nn.Linear(2, 2).weight.data.type(x)",
        "import torch\ntorch.backends.cudnn.benchmark = True\ntorch.utils.data.DataLoader",
    ],
)
def test_supported_and_ambiguous_names_are_not_reported(text: str) -> None:
    assert advice(text) == []


# The command.


def test_ported_program_is_printed_or_written_and_overwrites_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, new = tmp_path / "train.py", tmp_path / "new.py"
    file.write_bytes(b"import torch\r\nprint(torch.ones(2))\r\n")
    assert main([str(file)]) == 0
    assert capsys.readouterr().out == f"import {MIRROR} as torch\r\nprint(torch.ones(2))\r\n"
    assert main([str(file), "--out", str(new)]) == 0
    assert new.read_bytes() == f"import {MIRROR} as torch\r\nprint(torch.ones(2))\r\n".encode()
    new.write_text("mine")
    for taken in (new, file):
        with pytest.raises(SystemExit, match="1"):
            main([str(file), "--out", str(taken)])
    assert "exists and is not overwritten" in capsys.readouterr().err
    assert new.read_text() == "mine"


def test_exit_status_is_1_for_unsupported_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "train.py"
    file.write_text("import torch\ntorch.export(torch.nn.Linear(2, 2))\n")
    assert main([str(file), "--diff"]) == 1
    printed = capsys.readouterr()
    assert (
        printed.out
        == f"--- train.py\n+++ train.py\n@@ -1 +1 @@\n-import torch\n+import {MIRROR} as torch\n"
    )
    assert " ".join(printed.err.split()) == (
        "line 2 torch.export is not supported. Networks run as they are written: remove calls that "
        "compile or trace them, and write files with torch.onnx.export."
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.py"], "No such file"),
        ([__file__.replace(".py", ".md")], "No such file"),
        (["compare", "gtp"], "there is no program 'gtp'; the programs are actor_critic, bert"),
    ],
)
def test_missing_file_or_unknown_program_exits_with_status_1(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="1"):
        main(arguments)
    assert message in capsys.readouterr().err


def test_invalid_python_exits_with_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "train.py"
    for text in (b"import torch as", b"x = '\xff'", b"\x00"):
        file.write_bytes(text)
        with pytest.raises(SystemExit, match="1"):
            main([str(file)])
        assert "is not readable as Python" in capsys.readouterr().err


def test_compare_with_diff_prints_changed_imports(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "dqn", "gat", "--diff"]) == 0
    shown = capsys.readouterr().out
    assert shown == difference(FOLDER / "dqn.py") + difference(FOLDER / "gat.py")
    assert "+import mt_nn.torch_names.optim as optim" in shown


# Comparisons.


def test_differences_are_relative_to_the_largest_number() -> None:
    theirs = {"a": np.array([1.0, -4.0]), "b": np.array([[2]]), "c": np.zeros(2), "d": np.zeros(0)}
    ours = {"a": np.array([1.1, -4.0]), "b": np.array([[2]]), "c": np.zeros(2), "d": np.zeros(0)}
    assert differences(ours, theirs) == {"a": pytest.approx(0.025), "b": 0.0, "c": 0.0, "d": 0.0}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [([1.0], [1.0, 1.0]), ([np.nan], [1.0]), ([1.0], [np.nan]), ([np.inf], [1.0]), (None, [1.0])],
)
def test_difference_of_incomparable_results_is_infinite(
    ours: list[float] | None, theirs: list[float]
) -> None:
    mine = {} if ours is None else {"a": np.array(ours)}
    assert differences(mine, {"a": np.array(theirs)}) == {"a": np.inf}
    assert differences({"a": np.array(theirs)}, mine) == {"a": np.inf}


def test_nan_and_infinity_on_both_sides_are_equal() -> None:
    edges = np.array([np.nan, np.inf, -np.inf, 2.0])
    assert differences({"a": edges}, {"a": edges.copy()}) == {"a": 0.0}
    assert differences({"a": edges}, {"a": edges + 1e-3}) == {"a": pytest.approx(5e-4, rel=1e-2)}


def test_compare_distinguishes_matching_differing_and_failing_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both sides run without torch; the programs recognize their side by the name of its file."""
    monkeypatch.setattr("mt.port.comparison.FOLDER", tmp_path)
    monkeypatch.setattr("mt.port.comparison.SIDES", ("mt_tensor", "here"))
    monkeypatch.setattr("mt.port.command.missing", lambda modules: [])
    write = (
        "import sys, numpy as np\nprint('dropped')\n"
        "far = {} if 'here' in sys.argv[-1] else 0.5\nnp.savez(sys.argv[-1], loss=[1.0, far])\n"
    )
    table = ""
    for name, text in {
        "follows": write.format(0.500001),
        "strays": write.format(0.6),
        "fails": "import os\nraise SystemExit('it is [bold]')",
        "ends": "import os\nos._exit(0)",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
        table += f"[{name}]\nshows = 'x'\nshort = []\n"
    (tmp_path / "programs.toml").write_text(table)
    assert main(["compare"]) == 1
    shown = capsys.readouterr().out
    assert "follows              2   1.0e-06   0.0e+00     1e-05\n" in shown
    assert "strays               2   1.0e-01   0.0e+00     1e-05  too far\n" in shown
    assert "fails           fails: it is [bold]\n" in shown
    assert "ends            fails: its process has ended\n" in shown
    assert "1 of 4 follow torch." in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert main(["compare", "follows", "--short", "--backend", "simple"]) == 0
    assert main(["compare", "follows", "--dtype", "float64"]) == 1


def test_results_of_a_program_may_differ_ten_times_as_much_as_losses() -> None:
    (program,) = programs(["gat"])
    assert Outcome(program, 1e-5, 5, 1e-5, 1e-4).follows
    assert not Outcome(program, 1e-5, 5, 2e-5, 0.0).follows
    assert not Outcome(program, 1e-5, 5, 0.0, 2e-4).follows


def test_program_is_converted_to_float64() -> None:
    text = textwrap.dedent(
        '''
        """A program."""
        import numpy as np
        import torch
        x = torch.tensor(y.astype(np.float32), dtype=torch.float).float()
        z = torch.FloatTensor(float(x)) + torch.zeros(2, dtype=torch.float16)
        '''
    )
    changed = in_float64(text, ast.parse(text))
    assert changed.splitlines()[2:] == [
        "import torch",
        "torch.set_default_dtype(torch.float64)",
        "import numpy as np",
        "import torch",
        "x = torch.tensor(y.astype(np.float64), dtype=torch.double).double()",
        "z = torch.DoubleTensor(float(x)) + torch.zeros(2, dtype=torch.float16)",
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("print(1)\n", 0),
        ("@decorated\ndef main():\n    import torch\n", 0),
        ('"""A program."""\nfrom __future__ import annotations\nimport torch\n', 2),
        ("try:\n    import torch\nexcept ImportError:\n    raise\nimport numpy\n", 0),
    ],
)
def test_float64_becomes_the_default_before_the_first_statement(text: str, line: int) -> None:
    changed = in_float64(text, ast.parse(text))
    assert changed.splitlines()[line + 1] == "torch.set_default_dtype(torch.float64)"
    compile(changed, "changed", "exec")


# The programs.


@functools.cache
def results(program: Program, library: str, dtype: str, backend: str) -> tuple[Arrays, str]:
    """Run a program in this process, because importing torch takes long.

    Returns:
        The arrays that it writes, and what it prints.
    """
    with tempfile.TemporaryDirectory() as folder, mt.use_backend(backend):
        out, printed = Path(folder, "results.npz"), io.StringIO()
        with contextlib.redirect_stdout(printed):
            run(program.file, [*program.short, "--out", str(out)], library, dtype)
        return load(out), printed.getvalue()


@pytest.mark.parametrize("program", PROGRAMS, ids=NAMES)
def test_ported_program_runs_with_finite_losses(program: Program) -> None:
    written, printed = results(program, "mt_tensor", "float32", "numpy")
    assert len(written) >= 3
    losses = written["loss"]
    assert np.isfinite(losses).all()
    assert len(np.unique(losses)) == len(losses) >= 3
    assert printed


@pytest.mark.parametrize("backend", ["numpy", "fast"])
@pytest.mark.parametrize("dtype", LIMITS)
@pytest.mark.parametrize("program", PROGRAMS, ids=NAMES)
def test_ported_program_matches_torch(program: Program, dtype: str, backend: str) -> None:
    pytest.importorskip("torch")
    theirs, _ = results(program, "torch", dtype, "numpy")
    ours, _ = results(program, "mt_tensor", dtype, backend)
    far = differences(ours, theirs)
    allowed = program.allowed(dtype)
    assert far.pop("loss") <= allowed
    assert max(far.values()) <= RESULTS * allowed, far


def test_every_program_has_an_entry_a_docstring_and_at_most_150_lines() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.py")) == NAMES
    for program in PROGRAMS:
        text, tree = read(program.file)
        assert 60 <= len(text.splitlines()) <= 150
        assert ast.get_docstring(tree)
        assert "--out" in text


def test_comparison_in_separate_processes_succeeds() -> None:
    pytest.importorskip("torch")
    (program,) = programs(["gat"])
    (outcome,) = compared([program], "numpy", short=True)
    assert outcome.failure == ""
    assert outcome.steps == 5
    assert outcome.follows
