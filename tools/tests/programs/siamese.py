"""A siamese network distinguishes pairs of drawings, with a custom gradient and a hook."""

import argparse

import numpy as np
import torch
from torch import nn
from torch.autograd import Function
from torch.utils.data import Dataset, DataLoader
from torch.utils.data.sampler import BatchSampler, Sampler


class ReverseGradient(Function):
    """Identity in forward; reverse the gradient in backward, for adversarial training."""

    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return -ctx.strength * grad_output, None


class Binarize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input.sign()

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input.abs() > 1] = 0
        return grad_input


class Shapes(Dataset):
    """Noisy drawings of three kinds, with a brightness that should not matter."""

    def __init__(self, count, rng):
        self.kind = rng.integers(0, 3, count)
        self.bright = rng.integers(0, 2, count)
        y, x = np.mgrid[-1:1:12j, -1:1:12j]
        masks = np.stack([x**2 + y**2 < 0.5, abs(x) + abs(y) < 0.7, abs(x - y) < 0.4])
        images = masks[self.kind] + 0.5 * self.bright[:, None, None]
        self.images = (images + rng.normal(0, 0.25, images.shape)).astype(np.float32)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i][None], int(self.kind[i]), int(self.bright[i])


class Shuffled(Sampler):
    def __init__(self, source, rng):
        self.source, self.rng = source, rng

    def __iter__(self):
        yield from self.rng.permutation(len(self.source)).tolist()

    def __len__(self):
        return len(self.source)


class Siamese(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, bias=False),
            nn.InstanceNorm2d(8, affine=True),
            nn.Hardtanh(),
            nn.AvgPool2d(2, ceil_mode=True),
            nn.Flatten(start_dim=1),
            nn.LazyLinear(dim),
        )
        self.adversary = nn.Linear(dim, 2)

    def forward(self, x):
        h = self.features(x)
        return nn.functional.normalize(h, p=2, dim=1), Binarize.apply(h)


def contrastive(z, kind, margin=1.0):
    distance = torch.cdist(z, z)
    same = kind[:, None] == kind[None, :]
    upper = torch.triu(torch.ones_like(same), diagonal=1)
    pull = distance[same & upper].pow(2)
    push = torch.clamp(margin - distance[~same & upper], min=0) ** 2
    return torch.cat([pull, push]).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(13)
    train, test = Shapes(160, rng), Shapes(48, rng)
    loader = DataLoader(train, batch_sampler=BatchSampler(Shuffled(train, rng), 32, True))
    model = Siamese()
    model(torch.zeros(2, 1, 12, 12))  # initializes the lazy layer
    for name, p in sorted(model.named_parameters()):
        if p.dim() > 1:
            p.data = torch.from_numpy(0.3 * rng.standard_normal(p.shape)).type(torch.float32)
        elif "features.1" not in name:
            p.data.zero_()
    seen = []
    handle = model.features[0].register_forward_hook(
        lambda module, inputs, output: seen.append(output.detach().abs().mean().item())
    )
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 0.8]))
    losses = []
    for epoch in range(args.epochs):
        for images, kind, bright in loader:
            z, code = model(images)
            hidden = model.adversary(ReverseGradient.apply(z, 0.3))
            quantized = 0.1 * (code - code.mean(0)).abs().mean()
            loss = contrastive(z, kind) + criterion(hidden, bright) - quantized
            optimizer.zero_grad(set_to_none=False)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: {np.mean(losses[-5:]):.4f}, activity {seen[-1]:.3f}")
    handle.remove()
    images, kind, _ = next(iter(DataLoader(test, batch_size=len(test))))
    with torch.no_grad():
        z, code = model.eval()(images)
    nearest = (torch.cdist(z, z) + 9 * torch.eye(len(z))).argmin(dim=1)
    print(f"nearest of the same kind: {(kind[nearest] == kind).float().mean():.3f}")
    if args.out:
        np.savez(args.out, loss=losses, activity=seen, z=z.numpy(), code=code.numpy())


if __name__ == "__main__":
    main()
