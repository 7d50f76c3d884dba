"""Capsules: classify drawings of bars, crosses and frames with dynamic routing by agreement."""

import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim import Adam
from torch.optim.lr_scheduler import ExponentialLR

CLASSES = 3


def squash(inputs, dim=-1):
    """Shorten vectors to lengths below one, and keep their directions."""
    norm = torch.norm(inputs, p=2, dim=dim, keepdim=True)
    scale = norm**2 / (1 + norm**2) / (norm + 1e-8)
    return scale * inputs


class PrimaryCapsule(nn.Module):
    def __init__(self, in_channels, out_channels, dim_caps, kernel_size, stride=1, padding=0):
        super(PrimaryCapsule, self).__init__()
        self.dim_caps = dim_caps
        self.conv2d = nn.Conv2d(in_channels, out_channels, kernel_size, stride, padding)

    def forward(self, x):
        outputs = self.conv2d(x)
        return squash(outputs.view(x.size(0), -1, self.dim_caps))


class DenseCapsule(nn.Module):
    def __init__(self, in_num_caps, in_dim_caps, out_num_caps, out_dim_caps, routings=3):
        super(DenseCapsule, self).__init__()
        self.in_num_caps = in_num_caps
        self.out_num_caps = out_num_caps
        self.routings = routings
        self.weight = nn.Parameter(
            torch.empty(out_num_caps, in_num_caps, out_dim_caps, in_dim_caps)
        )

    def forward(self, x):
        # votes: [batch, out_num_caps, in_num_caps, out_dim_caps]
        x_hat = torch.squeeze(torch.matmul(self.weight, x[:, None, :, :, None]), dim=-1)
        x_hat_detached = x_hat.detach()
        b = torch.zeros(x.size(0), self.out_num_caps, self.in_num_caps, device=x.device)
        for i in range(self.routings):
            c = F.softmax(b, dim=1)
            if i == self.routings - 1:
                outputs = squash(torch.sum(c[:, :, :, None] * x_hat, dim=-2, keepdim=True))
            else:
                outputs = squash(torch.sum(c[:, :, :, None] * x_hat_detached, dim=-2, keepdim=True))
                b = b + torch.sum(outputs * x_hat_detached, dim=-1)
        return torch.squeeze(outputs, dim=-2)


class CapsuleNet(nn.Module):
    def __init__(self, size=12, dim=6):
        super(CapsuleNet, self).__init__()
        self.size = size
        self.conv1 = nn.Conv2d(1, 12, kernel_size=5)
        self.primarycaps = PrimaryCapsule(12, 16, 4, kernel_size=4, stride=2)
        self.digitcaps = DenseCapsule(16 // 4 * 9, 4, CLASSES, dim)
        self.decoder = nn.Sequential(
            nn.Linear(dim * CLASSES, 32),
            nn.ReLU(inplace=True),
            nn.Linear(32, size * size),
            nn.Sigmoid(),
        )

    def forward(self, x, y=None):
        x = F.relu(self.conv1(x), inplace=True)
        x = self.digitcaps(self.primarycaps(x))
        length = x.norm(dim=-1)
        if y is None:
            index = length.max(dim=1)[1]
            y = torch.zeros(length.size()).scatter_(1, index.view(-1, 1), 1.0)
        reconstruction = self.decoder((x * y[:, :, None]).view(x.size(0), -1))
        return length, reconstruction.view(-1, 1, self.size, self.size)


def caps_loss(y_true, y_pred, x, x_recon, lam_recon):
    L = (
        y_true * torch.clamp(0.9 - y_pred, min=0.0) ** 2
        + 0.5 * (1 - y_true) * torch.clamp(y_pred - 0.1, min=0.0) ** 2
    )
    return L.sum(dim=1).mean() + lam_recon * nn.MSELoss()(x_recon, x)


def drawings(count, size, rng):
    """Return images with a bar, a cross or a frame at a random position, and the labels."""
    labels = rng.integers(0, CLASSES, count)
    images = np.zeros((count, 1, size, size))
    for image, label in zip(images, labels):
        i, j = rng.integers(0, size - 6, 2)
        part = image[0, i : i + 7, j : j + 7]
        if label == 0:
            part[3] = 1
        elif label == 1:
            part[3] = part[:, 3] = 1
        else:
            part[[0, 6]] = part[:, [0, 6]] = 1
    images += 0.1 * rng.random(images.shape)
    return torch.from_numpy(images.clip(0, 1)).float(), torch.from_numpy(labels)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--lam-recon", type=float, default=0.4)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(29)
    model = CapsuleNet()
    for name, p in model.named_parameters():
        fan = p.shape[-1] if "digitcaps" in name else p[0].numel()
        p.data.copy_(torch.from_numpy(rng.standard_normal(p.shape) / np.sqrt(max(fan, 9))))
    optimizer = Adam(model.parameters(), lr=4e-3)
    lr_decay = ExponentialLR(optimizer, gamma=0.9)
    losses = []
    for epoch in range(args.epochs):
        correct = 0
        for _ in range(args.batches):
            x, y = drawings(12, 12, rng)
            y = torch.zeros(y.size(0), CLASSES).scatter_(1, y.view(-1, 1), 1.0)
            optimizer.zero_grad()
            y_pred, x_recon = model(x, y)
            loss = caps_loss(y, y_pred, x, x_recon, args.lam_recon)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            correct += y_pred.data.max(1)[1].eq(y.data.max(1)[1]).cpu().sum().item()
        lr_decay.step()
        print(f"==> Epoch {epoch}: loss={losses[-1]:.5f}, correct={correct}/{12 * args.batches}")
    length, x_recon = model(drawings(4, 12, rng)[0])
    if args.out:
        np.savez(args.out, loss=losses, length=length.detach(), pictures=x_recon.detach().numpy())
