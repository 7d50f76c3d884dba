"""A residual network with batch normalization, trained on augmented pictures of stripes."""

import argparse
import os
import tempfile

import numpy as np
import torch
import torch.backends.cudnn as cudnn
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

cudnn.benchmark = True


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, in_planes, planes, stride=1):
        super(BasicBlock, self).__init__()
        self.conv1 = nn.Conv2d(in_planes, planes, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride=1, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = nn.Identity()
        if stride != 1 or in_planes != planes:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_planes, planes, 1, stride=stride, bias=False), nn.BatchNorm2d(planes)
            )

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self, block, num_blocks, num_classes=4):
        super(ResNet, self).__init__()
        self.in_planes = 8
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True)
        )
        self.layer1 = self._make_layer(block, 8, num_blocks[0], stride=1)
        self.layer2 = self._make_layer(block, 16, num_blocks[1], stride=2)
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(16 * block.expansion, num_classes)

    def _make_layer(self, block, planes, count, stride):
        layers = []
        for s in [stride] + [1] * (count - 1):
            layers.append(block(self.in_planes, planes, s))
            self.in_planes = planes * block.expansion
        return nn.Sequential(*layers)

    def forward(self, x):
        x = self.layer2(self.layer1(self.stem(x)))
        return self.fc(torch.flatten(self.pool(x), 1))


def stripes(count, rng):
    """Return a dataset of noisy stripes of any color, labeled by their direction."""
    labels = rng.integers(0, 4, count)
    y, x = np.mgrid[0:16, 0:16]
    planes = np.stack([x, y, x + y, x - y])[labels]
    phase = rng.uniform(0, 2 * np.pi, (count, 1, 1))
    waves = np.sin(planes * rng.uniform(0.7, 1.2, (count, 1, 1)) + phase)
    images = waves[:, None] * rng.uniform(0.2, 1, (count, 3, 1, 1))
    images += 0.3 * rng.standard_normal(images.shape)
    return TensorDataset(torch.FloatTensor(images), torch.LongTensor(labels))


def augment(images, rng):
    """Shift each picture by up to two pixels; permute the colors of about half of them."""
    padded = nn.functional.pad(images, (2, 2, 2, 2), mode="reflect")
    out = torch.empty_like(images)
    for i, (dy, dx) in enumerate(rng.integers(0, 5, (len(images), 2))):
        out[i] = padded[i, :, dy : dy + 16, dx : dx + 16]
    swapped = torch.from_numpy(rng.random(len(images)) < 0.5)
    out[swapped] = out[swapped][:, [2, 0, 1]]
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", default=3, type=int)
    parser.add_argument("--lr", default=0.1, type=float)
    parser.add_argument("--out", default=None)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rng = np.random.default_rng(1)
    trainloader = DataLoader(stripes(192, rng), batch_size=32, drop_last=True)
    testloader = DataLoader(stripes(64, rng), batch_size=64, shuffle=False)

    net = ResNet(BasicBlock, [1, 2]).to(device)
    for m in net.modules():
        if isinstance(m, (nn.Conv2d, nn.Linear)):
            fan_in = m.weight[0].numel()
            weight = rng.standard_normal(m.weight.size()) * np.sqrt(2.0 / fan_in)
            m.weight.data.copy_(torch.from_numpy(weight))
            if m.bias is not None:
                nn.init.zeros_(m.bias)
        elif isinstance(m, nn.BatchNorm2d):
            nn.init.constant_(m.weight, 1)
            nn.init.constant_(m.bias, 0)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = optim.SGD(
        net.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4, nesterov=True
    )
    scheduler = optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=args.lr, total_steps=args.epochs * len(trainloader)
    )
    best, losses = 0.0, []
    path = os.path.join(tempfile.mkdtemp(), "best.pt")
    for epoch in range(args.epochs):
        net.train()
        for inputs, targets in trainloader:
            inputs, targets = augment(inputs, rng).to(device), targets.to(device)
            loss = criterion(net(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
        net.eval()
        correct = total = 0
        with torch.no_grad():
            for inputs, targets in testloader:
                outputs = net(inputs.to(device))
                _, predicted = outputs.max(1)
                total += targets.size(0)
                correct += predicted.eq(targets.to(device)).sum().item()
        print("epoch %d  loss %.3f  acc %.1f%%" % (epoch, losses[-1], 100.0 * correct / total))
        if correct / total >= best:
            best = correct / total
            torch.save({"net": net.state_dict(), "acc": best, "epoch": epoch}, path)

    checkpoint = torch.load(path, map_location=device)
    net.load_state_dict(checkpoint["net"])
    print(f"best: {checkpoint['acc']:.3f} in epoch {checkpoint['epoch']}")
    if args.out:
        running = net.stem[1].running_var.cpu().numpy()
        np.savez(args.out, loss=losses, outputs=outputs.cpu().numpy(), running=running, best=best)


if __name__ == "__main__":
    main()
