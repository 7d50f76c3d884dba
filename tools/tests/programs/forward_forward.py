"""Forward-forward: each layer trains alone, on pictures with right and with wrong labels."""

import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.optim import Adam

CLASSES, PIXELS = 4, 36


def overlay_y_on_x(x, y):
    """Replace the first pixels by the label."""
    x_ = x.clone()
    x_[:, :CLASSES] *= 0.0
    x_[range(x.shape[0]), y] = x.max()
    return x_


class Layer(nn.Linear):
    def __init__(self, in_features, out_features, rng, num_epochs):
        super().__init__(in_features, out_features)
        bound = 1 / np.sqrt(in_features)
        self.weight.data = torch.as_tensor(
            rng.uniform(-bound, bound, (out_features, in_features)), dtype=torch.float32
        )
        self.bias.data.fill_(0.0)
        self.relu = torch.nn.ReLU()
        self.opt = Adam(self.parameters(), lr=0.02)
        self.threshold = 1.0
        self.num_epochs = num_epochs
        self.losses = []

    def forward(self, x):
        x_direction = x / (x.norm(2, 1, keepdim=True) + 1e-4)
        return self.relu(torch.mm(x_direction, self.weight.T) + self.bias.unsqueeze(0))

    def train(self, x_pos=True, x_neg=None):
        if x_neg is None:  # the method of modules with this name
            return super().train(x_pos)
        for _ in range(self.num_epochs):
            g_pos = self.forward(x_pos).pow(2).mean(1)
            g_neg = self.forward(x_neg).pow(2).mean(1)
            # pushes the goodness of positive samples above the threshold, of negative ones below
            loss = torch.log(
                1 + torch.exp(torch.cat([-g_pos + self.threshold, g_neg - self.threshold]))
            ).mean()
            self.opt.zero_grad()
            # only a gradient of this layer
            loss.backward()
            self.opt.step()
            self.losses.append(loss.item())
        return self.forward(x_pos).detach(), self.forward(x_neg).detach()


class Net(torch.nn.Module):
    def __init__(self, dims, rng, num_epochs):
        super().__init__()
        self.layers = []
        for d in range(len(dims) - 1):
            self.layers += [Layer(dims[d], dims[d + 1], rng, num_epochs)]

    def goodness(self, x):
        """Return the goodness of each label for each sample."""
        goodness_per_label = []
        for label in range(CLASSES):
            h = overlay_y_on_x(x, label)
            goodness = []
            for layer in self.layers:
                h = layer(h)
                goodness = goodness + [h.pow(2).mean(1)]
            goodness_per_label += [sum(goodness).unsqueeze(1)]
        return torch.cat(goodness_per_label, 1)

    def predict(self, x):
        return self.goodness(x).argmax(1)

    def train(self, x_pos, x_neg):
        h_pos, h_neg = x_pos, x_neg
        for i, layer in enumerate(self.layers):
            h_pos, h_neg = layer.train(h_pos, h_neg)
            print(f"layer {i}: loss {layer.losses[0]:.4f} at first, {layer.losses[-1]:.4f} then")


def pictures(count, rng):
    """Return noisy pictures of 6 by 6 pixels with a bright patch, whose position is the label."""
    labels = rng.integers(0, CLASSES, count)
    images = 0.3 * rng.random((count, 6, 6))
    for image, label in zip(images, labels):
        row, column = 2 + 2 * (label // 2), 3 * (label % 2)
        image[row : row + 2, column : column + 3] += 0.7
    return torch.tensor(images, dtype=torch.float32).reshape(count, PIXELS), labels


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(1234)
    net = Net([PIXELS, 48, 32], rng, args.epochs)
    x, labels = pictures(128, rng)
    y = torch.from_numpy(labels)
    x_pos = overlay_y_on_x(x, y)
    x_neg = overlay_y_on_x(x, (y + torch.from_numpy(rng.integers(1, CLASSES, len(y)))) % CLASSES)
    net.train(x_pos, x_neg)
    print("train error:", 1.0 - net.predict(x).eq(y).float().mean().item())
    x_te, labels = pictures(64, rng)
    goodness = net.goodness(x_te)
    print("test error:", 1.0 - (goodness.argmax(1) == torch.tensor(labels)).float().mean().item())
    if args.out:
        losses = [loss for layer in net.layers for loss in layer.losses]
        weight = net.layers[0].weight
        np.savez(args.out, loss=losses, goodness=goodness.detach(), weight=weight.detach().numpy())
