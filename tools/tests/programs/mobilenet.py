"""MobileNet: inverted residuals, squeeze and excitation, and a moving average of the weights."""

import argparse
import copy
import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def _make_divisible(v, divisor=4):
    new_v = max(divisor, int(v + divisor / 2) // divisor * divisor)
    return new_v + divisor if new_v < 0.9 * v else new_v


class ConvBNAct(nn.Sequential):
    def __init__(self, inp, oup, kernel_size=3, stride=1, groups=1, act=nn.SiLU):
        padding = (kernel_size - 1) // 2
        super().__init__(
            nn.Conv2d(inp, oup, kernel_size, stride, padding, groups=groups, bias=False),
            nn.BatchNorm2d(oup, momentum=0.1, eps=1e-3),
            act(inplace=True) if act is not nn.Identity else act(),
        )


class SqueezeExcitation(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)
        self.gate = nn.Hardsigmoid()

    def forward(self, x):
        scale = F.relu(self.fc1(self.avgpool(x)), inplace=True)
        return self.gate(self.fc2(scale)) * x


class InvertedResidual(nn.Module):
    def __init__(self, inp, oup, stride, expand_ratio, kernel_size=3, se=True):
        super().__init__()
        assert stride in [1, 2]
        hidden_dim = _make_divisible(inp * expand_ratio)
        self.use_res_connect = stride == 1 and inp == oup
        act = nn.ReLU6 if stride == 2 else nn.Hardswish
        layers = []
        if expand_ratio != 1:
            layers.append(ConvBNAct(inp, hidden_dim, kernel_size=1, act=act))
        layers.append(ConvBNAct(hidden_dim, hidden_dim, kernel_size, stride, hidden_dim, act))
        if se:
            layers.append(SqueezeExcitation(hidden_dim, _make_divisible(hidden_dim // 4)))
        layers.append(ConvBNAct(hidden_dim, oup, kernel_size=1, act=nn.Identity))
        self.block = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.block(x) if self.use_res_connect else self.block(x)


class MobileNet(nn.Module):
    # expansion, channels, number, stride, kernel
    cfgs = [(1, 8, 1, 1, 3), (3, 12, 2, 2, 3), (3, 16, 1, 2, 5)]

    def __init__(self, num_classes):
        super().__init__()
        features = [ConvBNAct(1, 8, stride=2)]
        inp = 8
        for t, c, n, s, k in self.cfgs:
            for i in range(n):
                features.append(InvertedResidual(inp, c, s if i == 0 else 1, t, k, se=t > 1))
                inp = c
        features.append(ConvBNAct(inp, 32, kernel_size=1))
        self.features = nn.Sequential(*features)
        self.classifier = nn.Linear(32, num_classes)

    def forward(self, x):
        x = self.features(x).mean([2, 3])
        return self.classifier(x)


class ExponentialMovingAverage:
    def __init__(self, model, decay):
        self.module, self.decay = copy.deepcopy(model).eval(), decay

    @torch.no_grad()
    def update(self, model):
        for ours, theirs in zip(self.module.state_dict().values(), model.state_dict().values()):
            if ours.dtype.is_floating_point:
                ours.mul_(self.decay).add_(theirs.detach(), alpha=1 - self.decay)
            else:
                ours.copy_(theirs)


def gratings(count, rng):
    """Return noisy 16 x 16 images of stripes in four directions, and the directions."""
    y, x = np.mgrid[0:16, 0:16]
    labels = rng.integers(0, 4, count)
    angle = (np.pi * labels / 4)[:, None, None]
    phase = rng.uniform(0, 2 * np.pi, (count, 1, 1))
    images = np.sin(1.2 * (np.cos(angle) * x + np.sin(angle) * y) + phase)
    images += rng.normal(0, 0.3, images.shape)
    return torch.from_numpy(images[:, None].astype(np.float32)), torch.from_numpy(labels)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(404)
    net = MobileNet(num_classes=4)
    for m in net.modules():
        if isinstance(m, nn.Conv2d):
            n = m.kernel_size[0] * m.kernel_size[1] * m.out_channels // m.groups
            m.weight.data.copy_(torch.from_numpy(rng.normal(0, math.sqrt(2.0 / n), m.weight.shape)))
            if m.bias is not None:
                m.bias.data.zero_()
        elif isinstance(m, nn.Linear):
            m.weight.data.copy_(torch.from_numpy(rng.normal(0, 0.1, m.weight.shape)))
            m.bias.data.zero_()
    ema = ExponentialMovingAverage(net, decay=0.8)
    optimizer = torch.optim.RMSprop(
        net.parameters(), lr=2e-3, alpha=0.9, eps=1e-3, momentum=0.9, weight_decay=1e-5
    )
    lr_scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.steps)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    losses = []
    for step in range(args.steps):
        image, target = gratings(16, rng)
        output = net(image)
        loss = criterion(output, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        lr_scheduler.step()
        ema.update(net)
        losses.append(loss.item())
        if step % 4 == 3:
            acc1 = 100 * (output.argmax(1) == target).float().mean().item()
            print(f"[{step + 1}/{args.steps}] loss {losses[-1]:.4f} acc@1 {acc1:.2f}")
    with torch.inference_mode():
        scores = ema.module(gratings(16, rng)[0])
    if args.out:
        mean = ema.module.features[0][1].running_mean
        np.savez(args.out, loss=losses, scores=scores.numpy(), mean=mean)
