"""Programs that MPI runs on each rank: `python ranks.py train` etc., or one of `FAULTS`."""

import json
import os
import resource
import signal
import sys
import time

import numpy as np

import mt_nn as nn
import mt_tensor as mt
from mt_nn import functional as F
from mt_nn import optim
from mt_nn.parallel import DataParallel, SyncBatchNorm, ZeroRedundancyOptimizer, world
from mt_nn.train import Callback, SaveCheckpoints, Trainer


def train(backend: str) -> None:
    """Train for five steps; rank 0 prints the losses and the sum of the final absolute weights."""
    group = world()
    mt.manual_seed(0)
    with mt.use_backend(backend):
        layers = [nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten()]
        network = nn.Sequential(*layers, nn.Linear(256, 10)).double()
        SyncBatchNorm.convert_sync_batchnorm(network)
        model = DataParallel(network, bucket_cap_mb=0.01)
        optimizer = ZeroRedundancyOptimizer(model.parameters(), optim.Adam, lr=0.01)
        numbers, losses = np.random.default_rng(1), []
        for _ in range(5):
            images, labels = numbers.standard_normal((16, 1, 8, 8)), numbers.integers(0, 10, 16)
            share = slice(group.rank, None, group.size)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(mt.tensor(images[share])), mt.tensor(labels[share]))
            loss.backward()
            optimizer.step()
            losses.append(float(np.mean(group.gather(loss.item(), "losses"))))
    if group.rank == 0:
        weights = float(sum(p.abs().sum().item() for p in network.parameters()))
        print(json.dumps({"size": group.size, "losses": losses, "weights": weights}))


class _ReportStart(Callback):
    """Print a line after the first step."""

    def on_step_end(self, trainer: Trainer) -> None:
        """Print a line after the first step."""
        if trainer.step == 1:
            print("under way", flush=True)


def interrupt(folder: str) -> None:
    """Train until KeyboardInterrupt; rank 0 prints the number of steps of each rank."""
    group = world()
    mt.manual_seed(0)
    model = DataParallel(nn.Linear(4, 3))
    callbacks = [_ReportStart(), SaveCheckpoints(folder)]
    adam = optim.Adam(model.parameters())
    trainer = Trainer(model, adam, F.cross_entropy, callbacks=callbacks)
    batch = mt.randn(8, 4), mt.arange(8) % 3
    try:
        trainer.fit([batch] * 10**6, epochs=1)
    except KeyboardInterrupt:
        steps = group.gather(trainer.step, "steps")
        if group.rank == 0:
            print(json.dumps(steps), flush=True)


class _FullDisk(Callback):
    """Limit the size of files to 2 KiB from step 3 on, to simulate a full disk."""

    def on_step_end(self, trainer: Trainer) -> None:
        """Set the limit after step 3."""
        if trainer.step == 3:
            resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))


def fill(folder: str) -> None:
    """Save a checkpoint after each step, until the disk is full."""
    world()
    mt.manual_seed(0)
    model = DataParallel(nn.Linear(100, 10))
    trainer = Trainer(
        model,
        optim.Adam(model.parameters()),
        F.cross_entropy,
        callbacks=[_FullDisk(), SaveCheckpoints(folder, every_steps=1, keep_last=2)],
    )
    batch = mt.randn(8, 100), mt.arange(8)
    trainer.fit([batch] * 6, epochs=1)


def fail(fault: str) -> None:
    """Sum arrays over the ranks; rank 1 fails between two sums."""
    group = world()
    array = np.ones(5, np.float32)
    for step in range(3):
        group.sum(array, f"gradients of step {step}")
    time.sleep(0.2)
    group.sum(array, "gradients of step 3")
    if group.rank == 1:
        FAULTS[fault]()
    if group.rank == 1 and fault == "other":
        group.gather(3, "losses")
    group.sum(array, "gradients of step 4")
    time.sleep(60)  # reached only if rank 1 did not abort the others


def _raise() -> None:
    raise ValueError("no such thing")


FAULTS = {
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "stopped": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "asleep": lambda: time.sleep(60),
    "raises": _raise,
    "ends": lambda: sys.exit(0),
    "other": lambda: None,
}

if __name__ == "__main__":
    if sys.argv[1] == "train":
        train(sys.argv[2])
    elif sys.argv[1] == "full":
        fill(sys.argv[2])
    elif sys.argv[1] == "interrupted":
        interrupt(sys.argv[2])
    else:
        fail(sys.argv[1])
