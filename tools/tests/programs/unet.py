"""A U-Net that finds discs in noisy pictures, with a Dice loss."""

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import AdamW
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts


class DoubleConv(nn.Sequential):
    def __init__(self, inp, out):
        super().__init__(
            nn.Conv2d(inp, out, kernel_size=3, padding=1),
            nn.GroupNorm(4, out),
            nn.SiLU(),
            nn.Conv2d(out, out, kernel_size=3, padding="same", padding_mode="replicate"),
            nn.GroupNorm(4, out),
            nn.SiLU(),
        )


class Up(nn.Module):
    """Enlarge, pad to the size of the skipped features, and join with them."""

    def __init__(self, inp, out, bilinear):
        super().__init__()
        if bilinear:
            self.up = nn.Sequential(
                nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True),
                nn.Conv2d(inp, inp // 2, 1),
            )
        else:
            self.up = nn.ConvTranspose2d(inp, inp // 2, kernel_size=2, stride=2)
        self.conv = DoubleConv(inp, out)

    def forward(self, x, skip):
        x = self.up(x)
        dy, dx = skip.size(2) - x.size(2), skip.size(3) - x.size(3)
        x = F.pad(x, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return self.conv(torch.cat([skip, x], dim=1))


class UNet(nn.Module):
    def __init__(self, widths=(8, 16, 32)):
        super().__init__()
        self.inc = DoubleConv(1, widths[0])
        self.downs = nn.ModuleList([DoubleConv(a, b) for a, b in zip(widths[:-1], widths[1:])])
        self.ups = nn.ModuleList(
            [
                Up(b, a, bilinear=i == 0)
                for i, (a, b) in enumerate(zip(widths[-2::-1], widths[:0:-1]))
            ]
        )
        self.outc = nn.Conv2d(widths[0], 1, 1)

    def forward(self, x):
        features = [self.inc(x)]
        for down in self.downs:
            features.append(down(F.max_pool2d(features[-1], 2)))
        x = features.pop()
        for up, skip in zip(self.ups, reversed(features)):
            x = up(x, skip)
        return self.outc(x).squeeze(1)


def dice_loss(probabilities, target, eps=1.0):
    inter = 2 * (probabilities * target).sum(dim=(-1, -2))
    sets = probabilities.sum(dim=(-1, -2)) + target.sum(dim=(-1, -2))
    return 1 - ((inter + eps) / (sets + eps)).mean()


def iou(logits, target):
    predicted, wanted = logits > 0, target.bool()
    union = (predicted | wanted).float().sum()
    return ((predicted & wanted).float().sum() / union.clamp(min=1)).item()


def discs(count, size, rng):
    y, x = np.ogrid[:size, :size]
    masks = np.zeros((count, size, size), dtype=bool)
    for mask in masks:
        for _ in range(rng.integers(1, 4)):
            cy, cx = rng.uniform(3, size - 3, 2)
            mask |= (y - cy) ** 2 + (x - cx) ** 2 < rng.uniform(2, 5) ** 2
    images = masks * 1.0 + rng.normal(0, 0.7, masks.shape)
    return torch.tensor(images, dtype=torch.float32).unsqueeze(1), torch.from_numpy(masks).float()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--out")
    opt = parser.parse_args()

    rng = np.random.default_rng(11)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    model = UNet().to(device)
    weights = torch.from_numpy(rng.standard_normal(sum(p.numel() for p in model.parameters())))
    for p in model.parameters():
        taken, weights = weights[: p.numel()], weights[p.numel() :]
        if p.ndim == 4:
            p.data = (taken.view_as(p) / np.sqrt(p[0].numel())).to(p.dtype)
    for name, p in model.named_parameters():
        if name.endswith("bias"):
            p.detach().zero_()
    optimizer = AdamW(model.parameters(), lr=5e-3, weight_decay=1e-4)
    scheduler = CosineAnnealingWarmRestarts(optimizer, T_0=8, T_mult=2)

    losses, rates = [], []
    for step in range(opt.steps):
        images, masks = (t.to(device) for t in discs(4, 22, rng))
        logits = model(images)
        bce = F.binary_cross_entropy_with_logits(logits, masks, pos_weight=torch.tensor(2.0))
        loss = bce + dice_loss(torch.sigmoid(logits), masks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rates.append(optimizer.param_groups[0]["lr"])
        scheduler.step(step / 2)
        losses.append(loss.detach().cpu().item())
        if step % 6 == 5:
            print(f"{step + 1:3d}: loss={losses[-1]:.4f}, iou={iou(logits, masks):.3f}")

    model.eval()
    with torch.inference_mode():
        images, masks = discs(3, 22, rng)
        logits = model(images.to(device)).cpu()
    print(f"held out: iou={iou(logits, masks):.3f}")
    if opt.out:
        np.savez(opt.out, loss=losses, rate=rates, logits=logits.numpy())
