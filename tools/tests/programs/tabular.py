"""Regression on a table: NumPy in and out, loaders, checkpoints and resuming."""

import argparse
import math
import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset, random_split


def make_table(rows, rng):
    numbers = rng.normal(size=(rows, 5))
    kinds = rng.integers(0, 4, size=(rows, 2))
    price = numbers @ np.array([1.0, -2.0, 0.5, 0.0, 1.5]) + np.sin(3 * numbers[:, 0])
    price += np.array([0.0, 1.0, -1.0, 2.0])[kinds[:, 0]] * (kinds[:, 1] + 1)
    return numbers.astype("float32"), kinds, price.astype("float32")


class TableModel(nn.Module):
    def __init__(self, kinds=(4, 4), numbers=5, width=32):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(k, 3) for k in kinds])
        self.register_buffer("mean", torch.zeros(numbers))
        self.register_buffer("std", torch.ones(numbers))
        self.head = nn.Sequential(
            nn.Linear(numbers + 3 * len(kinds), width), nn.ReLU(), nn.Linear(width, 1)
        )

    def forward(self, numbers, kinds):
        columns = [table(kinds[:, i]) for i, table in enumerate(self.tables)]
        columns.insert(0, (numbers - self.mean) / self.std)
        return self.head(torch.cat(columns, dim=-1)).squeeze(-1)


def train_epoch(model, loader, optimizer, scheduler):
    model.train()
    losses = []
    for numbers, kinds, price in loader:
        loss = nn.functional.huber_loss(model(numbers, kinds), price, delta=2.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    scheduler.step()
    return losses


def evaluate(model, subset):
    model.eval()
    numbers, kinds, price = subset.dataset[subset.indices]
    with torch.no_grad():
        predicted = model(numbers, kinds)
    return predicted.numpy(), math.sqrt(((predicted - price) ** 2).mean())


def build(weights):
    model = TableModel()
    missing, unexpected = model.load_state_dict(weights, strict=False)
    assert sorted(missing) == ["mean", "std"] and not unexpected
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    return model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(3)
    numbers, kinds, price = make_table(320, rng)
    table = TensorDataset(*map(torch.from_numpy, (numbers, kinds, price)))
    order = rng.permutation(len(table))
    train, test = Subset(table, order[:256].tolist()), Subset(table, order[256:].tolist())
    assert [len(part) for part in random_split(table, [0.8, 0.2])] == [256, 64]
    loader = DataLoader(train, batch_size=32, num_workers=0, pin_memory=False)

    weights = {
        name: torch.tensor(rng.normal(0, 0.3, tuple(value.shape)), dtype=value.dtype)
        for name, value in TableModel().state_dict().items()
        if name not in ("mean", "std")
    }
    model, optimizer, scheduler = build(weights)
    model.mean.copy_(torch.from_numpy(numbers[order[:256]].mean(axis=0)))
    model.std[:] = torch.from_numpy(np.std(numbers[order[:256]], axis=0))

    losses = []
    half = args.epochs // 2
    for _ in range(half):
        losses += train_epoch(model, loader, optimizer, scheduler)
    path = os.path.join(tempfile.mkdtemp(), "checkpoint.pt")
    torch.save(
        {
            "epoch": half,
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
            "best": {"loss": min(losses, default=None), "history": losses},
        },
        path,
    )

    model, optimizer, scheduler = build(weights)  # as a new process would
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler.load_state_dict(checkpoint["scheduler"])
    losses = list(checkpoint["best"]["history"])
    for epoch in range(checkpoint["epoch"], args.epochs):
        losses += train_epoch(model, loader, optimizer, scheduler)
        predicted, error = evaluate(model, test)
        print(f"epoch {epoch + 1}: loss {losses[-1]:.4f}, error {error:.4f}")

    weight = model.tables[0].weight.detach()
    similarity = np.corrcoef(weight)
    norms = np.linalg.norm(weight.numpy(), axis=1)
    shared = weight.numpy()
    shared *= 2.0  # the same memory
    assert np.allclose(np.asarray(weight), shared) and np.isclose(weight.sum(), shared.sum())
    if args.out:
        np.savez(args.out, loss=losses, predicted=predicted, similarity=similarity, norms=norms)


if __name__ == "__main__":
    main()
