"""Super-resolution: a network enlarges images with a pixel shuffle."""

import argparse
from math import log10

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset


class Textures(Dataset):
    """Images of summed waves, with their average-pooled versions as inputs."""

    def __init__(self, count, size, upscale_factor, rng):
        y, x = np.mgrid[0:size, 0:size]
        self.images = np.zeros((count, 1, size, size), dtype=np.float32)
        for image in self.images:
            for _ in range(3):
                fy, fx = rng.uniform(-0.9, 0.9, 2)
                image += np.cos(fy * y + fx * x + rng.uniform(0, 2 * np.pi)) / 6
        self.images += 0.5
        self.factor = upscale_factor

    def __getitem__(self, index):
        target = torch.from_numpy(self.images[index])
        input = nn.functional.avg_pool2d(target.unsqueeze(0), self.factor).squeeze(0)
        return input, target

    def __len__(self):
        return len(self.images)


class Net(nn.Module):
    def __init__(self, upscale_factor, rng):
        super(Net, self).__init__()
        self.relu = nn.ReLU()
        self.conv1 = nn.Conv2d(1, 16, (5, 5), (1, 1), (2, 2))
        self.conv2 = nn.Conv2d(16, 16, (3, 3), (1, 1), (1, 1))
        self.conv3 = nn.Conv2d(16, 8, (3, 3), (1, 1), (1, 1))
        self.conv4 = nn.Conv2d(8, upscale_factor**2, (3, 3), (1, 1), (1, 1))
        self.pixel_shuffle = nn.PixelShuffle(upscale_factor)
        self._initialize_weights(rng)

    def forward(self, x):
        x = self.relu(self.conv1(x))
        x = self.relu(self.conv2(x))
        x = self.relu(self.conv3(x))
        return self.pixel_shuffle(self.conv4(x))

    @torch.no_grad()
    def _initialize_weights(self, rng):
        for conv, gain in ((self.conv1, 2), (self.conv2, 2), (self.conv3, 2), (self.conv4, 1)):
            flat = torch.tensor(rng.standard_normal((conv.out_channels, conv.weight[0].numel())))
            # orthogonal rows
            q, r = torch.linalg.qr(flat.t())
            q = q * torch.diagonal(r).sign()
            conv.weight.copy_(gain**0.5 * q.t().reshape(conv.weight.shape))
            conv.bias.zero_()


def train(model, loader, criterion, optimizer, epoch):
    losses = []
    for iteration, (input, target) in enumerate(loader, 1):
        optimizer.zero_grad()
        loss = criterion(model(input), target)
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
        if iteration % 4 == 0:
            print(f"===> Epoch[{epoch}]({iteration}/{len(loader)}): Loss: {loss.item():.4f}")
    return losses


def test(model, loader):
    avg_psnr = 0
    mse = nn.MSELoss()
    with torch.no_grad():
        for input, target in loader:
            prediction = model(input)
            avg_psnr += 10 * log10(1 / mse(prediction, target).item())
    print(f"===> Avg. PSNR: {avg_psnr / len(loader):.4f} dB")
    return prediction, avg_psnr / len(loader)


def main():
    parser = argparse.ArgumentParser(description="Super Res Example")
    parser.add_argument("--upscale_factor", type=int, default=3)
    parser.add_argument("--batchSize", type=int, default=8)
    parser.add_argument("--nEpochs", type=int, default=2)
    parser.add_argument("--out")
    opt = parser.parse_args()
    rng = np.random.default_rng(123)
    train_set = Textures(64, 24, opt.upscale_factor, rng)
    test_set = Textures(8, 24, opt.upscale_factor, rng)
    training_data_loader = DataLoader(train_set, batch_size=opt.batchSize, shuffle=False)
    testing_data_loader = DataLoader(dataset=test_set, batch_size=4, shuffle=False)
    model = Net(opt.upscale_factor, rng)
    criterion = nn.L1Loss()
    optimizer = optim.Adam(model.parameters(), lr=3e-3)

    losses, ratios = [], []
    for epoch in range(1, opt.nEpochs + 1):
        losses += train(model, training_data_loader, criterion, optimizer, epoch)
        prediction, ratio = test(model, testing_data_loader)
        ratios.append(ratio)
    whole = nn.functional.pixel_unshuffle(prediction, opt.upscale_factor)
    assert torch.equal(model.pixel_shuffle(whole), prediction)
    if opt.out:
        np.savez(opt.out, loss=losses, psnr=ratios, prediction=prediction.clamp(0, 1).numpy())


if __name__ == "__main__":
    main()
