"""Torch's DistributedDataParallel over gloo: `python torch_ranks.py FILE`, once for each rank.

FILE contains a state dictionary and batches, saved by torch. Rank 0 prints the losses of its
batches and the final parameters.
"""

import json
import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, str(Path(__file__).parent))
from networks import NETWORKS


def main() -> None:
    """Train the network in the file; rank 0 prints losses and parameters."""
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    meeting = f"file://{sys.argv[1]}.meeting"
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=size)
    given = torch.load(sys.argv[1], weights_only=True)
    network = NETWORKS[given["name"]](nn).double()
    network.load_state_dict(given["state"])
    model = DistributedDataParallel(network, bucket_cap_mb=0.01)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    losses = []
    for inputs, targets in given["batches"]:
        optimizer.zero_grad()
        parts = range(given["parts"])
        for part in parts:
            share = slice(rank * len(parts) + part, None, size * len(parts))
            wait = model.no_sync() if part < parts[-1] else torch.enable_grad()
            with wait:
                loss = nn.functional.cross_entropy(model(inputs[share]), targets[share])
                (loss / len(parts)).backward()
            losses.append(loss.item())
        optimizer.step()
    if rank == 0:
        state = {name: value.tolist() for name, value in network.state_dict().items()}
        print(json.dumps({"losses": losses, "state": state}), flush=True)
    dist.barrier()
    os._exit(0)  # at a normal exit, gloo's threads may abort the process


if __name__ == "__main__":
    main()
