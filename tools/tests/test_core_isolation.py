"""Nothing outside a core replaces an object in it, whatever else is imported."""

import subprocess
import sys
import textwrap

import pytest

from mt.workspace import Stage, Workspace

STAGES = Workspace.read().stages.values()

PROGRAM = textwrap.dedent("""
    import importlib, importlib.util, pkgutil, sys, types

    package, *others = sys.argv[1:]
    find_spec = importlib.util.find_spec

    def only_cores(name, *rest):
        is_outside = name.startswith("mt_") and ".core" not in name
        return None if is_outside else find_spec(name, *rest)

    def objects():
        core = importlib.import_module(f"{package}.core")
        for info in pkgutil.iter_modules(core.__path__, f"{core.__name__}."):
            module = importlib.import_module(info.name)
            for name, value in vars(module).items():
                if getattr(value, "__module__", None) != info.name:
                    continue
                if isinstance(value, types.FunctionType):
                    yield f"{info.name}.{name}", value
                    yield f"{info.name}.{name}.__code__", value.__code__
                if isinstance(value, type):
                    yield f"{info.name}.{name}", value
                    for attribute, inner in vars(value).items():
                        if callable(inner) or hasattr(inner, "__get__"):
                            yield f"{info.name}.{name}.{attribute}", inner

    def everything(other):
        if other in sys.modules:  # now with the modules outside its core
            importlib.reload(sys.modules[other])
        importlib.import_module(other)
        for info in pkgutil.walk_packages(sys.modules[other].__path__, f"{other}.", lambda _: None):
            if info.name.endswith("__main__") or ".conformance" in info.name:
                continue  # programs, and tests
            try:
                importlib.import_module(info.name)
            except ImportError as error:  # an optional package
                if (error.name or "mt_").startswith("mt_"):
                    raise

    importlib.util.find_spec = only_cores
    before = dict(objects())
    importlib.util.find_spec = find_spec
    for other in others:
        everything(other)
    after = dict(objects())
    print(len(before), "objects")
    for name, value in before.items():
        if after.get(name) is not value:
            print("replaced:", name)
""")


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.short)
def test_importing_other_packages_replaces_no_object_of_a_core(stage: Stage) -> None:
    others = [each.import_name for each in Workspace.read().stages.values()]
    command = [sys.executable, "-c", PROGRAM, stage.import_name, *others]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    count, *replaced = result.stdout.splitlines()
    assert int(count.split()[0]) > 50
    assert replaced == []
