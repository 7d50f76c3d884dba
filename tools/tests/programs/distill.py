"""Knowledge distillation: a small network learns from a large one, with mixup."""

import argparse
from functools import partial

import numpy as np
import torch
import torch as th
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import SGD, Adam
from torch.optim.lr_scheduler import LinearLR, MultiStepLR, SequentialLR
from torch.utils.data import ConcatDataset, DataLoader, IterableDataset, TensorDataset


class Stream(IterableDataset):
    """A stream of `count` points of a spiral with three arms; the loader forms batches."""

    def __init__(self, seed, count):
        self.seed, self.count = seed, count

    def __iter__(self):
        rng = np.random.default_rng(self.seed)
        for _ in range(self.count):
            arm, r = rng.integers(3), rng.random()
            angle = 2.5 * r + 2 * np.pi * arm / 3 + 0.15 * rng.standard_normal()
            yield {"x": th.tensor([r * np.cos(angle), r * np.sin(angle)]).float(), "arm": arm}


def collate(batch, smoothing=0.0):
    x = torch.stack([b["x"] for b in batch])
    arm = torch.LongTensor([int(b["arm"]) for b in batch])
    return x, F.one_hot(arm, 3) * (1 - smoothing) + smoothing / 3, arm


class Block(nn.Module):
    def __init__(self, width, p=0.0):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(width, width, bias=False), nn.BatchNorm1d(width), nn.Mish()
        )
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        return x + self.dropout(self.layers(x))


def network(width, depth):
    blocks = [Block(width) for _ in range(depth)]
    return nn.Sequential(nn.Linear(2, width), nn.PReLU(), *blocks, nn.Linear(width, 3))


@torch.no_grad()
def init(module, rng):
    if isinstance(module, nn.Linear):
        bound = (6 / sum(module.weight.shape)) ** 0.5
        module.weight.copy_(th.as_tensor(rng.uniform(-bound, bound, module.weight.shape)))
        if module.bias is not None:
            module.bias.zero_()


def distillation_loss(student, teacher, target, T=2.0, alpha=0.7):
    soft = F.kl_div(
        F.log_softmax(student / T, dim=1), F.softmax(teacher / T, dim=1), reduction="batchmean"
    )
    hard = -(target * student.log_softmax(-1)).sum(-1).mean()
    return alpha * T * T * soft + (1.0 - alpha) * hard


def run():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batches", type=int, default=24)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(21)
    teacher, student = network(32, 2), network(8, 1)
    teacher.apply(partial(init, rng=rng))
    student.apply(partial(init, rng=rng))
    print(f"{sum(p.numel() for p in teacher.parameters())} parameters teach", end=" ")
    print(sum(p.numel() for p in student.parameters()))
    loader = DataLoader(
        Stream(1, 48 * args.batches), batch_size=48, collate_fn=partial(collate, smoothing=0.1)
    )

    losses = {"teacher": [], "student": []}
    opt = Adam(teacher.parameters(), lr=1e-2)
    warm = LinearLR(opt, start_factor=0.2, total_iters=5)
    sched = SequentialLR(opt, [warm, MultiStepLR(opt, [8, 14], gamma=0.5)], milestones=[5])
    for x, target, _ in loader:
        loss = F.cross_entropy(teacher(x), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        losses["teacher"].append(loss.item())

    teacher.eval().requires_grad_(False)
    slow = [p for n, p in student.named_parameters() if n.startswith("0.")]
    known = {id(p) for p in slow}
    rest = [p for p in student.parameters() if id(p) not in known]
    opt = SGD([{"params": slow, "lr": 0.02}, {"params": rest}], lr=0.1, momentum=0.9, dampening=0.1)
    for x, target, _ in loader:
        lam = rng.beta(0.4, 0.4)
        x = lam * x + (1 - lam) * x.flip(0)
        target = lam * target + (1 - lam) * target.flip(0)
        loss = distillation_loss(student(x), teacher(x), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses["student"].append(loss.item())

    student.eval()
    parts = [collate(list(Stream(seed, 60))) for seed in (2, 3)]
    held_out = ConcatDataset([TensorDataset(x, arm) for x, _, arm in parts])
    x, arm = next(iter(DataLoader(held_out, batch_size=len(held_out))))
    with torch.inference_mode():
        for name, net in {"teacher": teacher, "student": student}.items():
            print(f"{name}: {(net(x).argmax(1) == arm).sum()} of {len(arm)} right")
    if args.out:
        scores = student(x).detach().cpu().numpy()
        np.savez(args.out, loss=losses["student"], teacher=losses["teacher"], scores=scores)


if __name__ == "__main__":
    run()
