"""`DataParallel` compared with torch's DistributedDataParallel (gloo): losses and parameters."""

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn import functional as F
from mt_nn import optim
from mt_nn.conformance.ranks import on_ranks
from mt_nn.parallel import DataParallel, Group

torch = pytest.importorskip("torch")

PROGRAMS = Path(__file__).with_name("programs")
SIZE = 2


def _networks() -> Any:
    spec = spec_from_file_location("networks", PROGRAMS / "networks.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.NETWORKS


NETWORKS = _networks()


def _train_with_torch(settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train on torch ranks; return losses and state of the first rank."""
    torch.save(settings, folder / "given.pt")
    command = [sys.executable, str(PROGRAMS / "torch_ranks.py"), str(folder / "given.pt")]
    environment = {**os.environ, "WORLD_SIZE": str(SIZE), "OMP_NUM_THREADS": "1"}
    running = [
        subprocess.Popen(
            command,
            env={**environment, "RANK": str(rank)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(SIZE)
    ]
    outputs = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0] * SIZE
    found: dict[str, Any] = json.loads(outputs[0])
    return found


def _train_with_mt_nn(group: Group, settings: dict[str, Any]) -> dict[str, Any]:
    network = NETWORKS[settings["name"]](nn).double()
    network.load_state_dict({k: mt.tensor(v.numpy()) for k, v in settings["state"].items()})
    model = DataParallel(network, bucket_cap_mb=0.01, process_group=group)
    optimizer = optim.SGD(model.parameters(), 0.1, momentum=0.9)
    losses = []
    for inputs, targets in settings["batches"]:
        optimizer.zero_grad()
        parts = range(settings["parts"])
        for part in parts:
            rows = slice(group.rank * len(parts) + part, None, group.size * len(parts))
            context = model.no_sync() if part < parts[-1] else nullcontext()
            with context:
                x, y = (mt.tensor(values[rows].numpy()) for values in (inputs, targets))
                loss = F.cross_entropy(model(x), y)
                (loss / len(parts)).backward()
            losses.append(loss.item())
        optimizer.step()
    return {"losses": losses, "state": {k: v.tolist() for k, v in network.state_dict().items()}}


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("name", NETWORKS)
def test_data_parallel_training_matches_torch(name: str, parts: int, tmp_path: Path) -> None:
    torch.manual_seed(1)
    settings = {
        "name": name,
        "parts": parts,
        "state": NETWORKS[name](torch.nn).double().state_dict(),
        "batches": [
            (torch.randn(16, 1, 8, 8, dtype=torch.float64), torch.randint(5, (16,)))
            for _ in range(4)
        ],
    }
    theirs = _train_with_torch(settings, tmp_path)
    ours = on_ranks(SIZE, lambda group: _train_with_mt_nn(group, settings))[0]
    np.testing.assert_allclose(ours["losses"], theirs["losses"], rtol=1e-9)
    assert ours["state"].keys() == theirs["state"].keys()
    for key, value in theirs["state"].items():
        np.testing.assert_allclose(ours["state"][key], value, rtol=1e-7, atol=1e-10, err_msg=key)
