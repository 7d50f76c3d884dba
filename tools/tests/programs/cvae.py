"""A conditional variational autoencoder of seven-segment digits."""

import argparse

import numpy as np
import torch
import torch.utils.data
from torch import nn, optim
from torch.nn import functional as F

SEGMENTS = ["abcdef", "bc", "abdeg", "abcdg", "bcfg", "acdfg", "acdefg", "abc", "abcdefg", "abcdfg"]
PLACES = {
    "a": (slice(0, 1), slice(1, 4)),
    "b": (slice(1, 4), slice(4, 5)),
    "c": (slice(5, 8), slice(4, 5)),
    "d": (slice(8, 9), slice(1, 4)),
    "e": (slice(5, 8), slice(0, 1)),
    "f": (slice(1, 4), slice(0, 1)),
    "g": (slice(4, 5), slice(1, 4)),
}
HEIGHT, WIDTH = 9, 5


def digits(count, rng):
    """Return images, flat and from 0 to 1, and labels; each image has its own brightness."""
    labels = rng.integers(0, 10, count)
    images = np.zeros((count, HEIGHT, WIDTH))
    for image, label in zip(images, labels):
        for segment in SEGMENTS[label]:
            image[PLACES[segment]] = 1
    images = images * rng.uniform(0.6, 1, (count, 1, 1)) + 0.05 * rng.random(images.shape)
    return images.clip(0, 1).reshape(count, -1), labels


def one_hot(labels, class_size):
    targets = torch.zeros(labels.size(0), class_size)
    for i, label in enumerate(labels):
        targets[i, label] = 1
    return targets


class CVAE(nn.Module):
    def __init__(self, feature_size, latent_size, class_size, hidden=40):
        super(CVAE, self).__init__()
        self.feature_size = feature_size
        self.class_size = class_size
        # encode
        self.fc1 = nn.Linear(feature_size + class_size, hidden)
        self.fc21 = nn.Linear(hidden, latent_size)
        self.fc22 = nn.Linear(hidden, latent_size)
        # decode
        self.fc3 = nn.Linear(latent_size + class_size, hidden)
        self.fc4 = nn.Linear(hidden, feature_size)
        self.elu = nn.ELU()
        self.sigmoid = nn.Sigmoid()

    def encode(self, x, c):
        h1 = self.elu(self.fc1(torch.cat([x, c], 1)))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar, eps):
        std = torch.exp(0.5 * logvar)
        return torch.addcmul(mu, eps, std)

    def decode(self, z, c):
        h3 = self.elu(self.fc3(torch.cat([z, c], 1)))
        return self.sigmoid(self.fc4(h3))

    def forward(self, x, c, eps):
        mu, logvar = self.encode(x.view(-1, self.feature_size), c)
        z = self.reparameterize(mu, logvar, eps)
        return self.decode(z, c), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, HEIGHT * WIDTH), reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--latent", type=int, default=4)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(21)
    images, labels = digits(256, rng)
    dataset = torch.utils.data.TensorDataset(
        torch.tensor(images, dtype=torch.float32), torch.tensor(labels)
    )
    loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=False)
    model = CVAE(HEIGHT * WIDTH, args.latent, 10)
    for p in model.parameters():
        bound = 1 / np.sqrt(p.shape[-1])
        p.data = torch.tensor(rng.uniform(-bound, bound, p.shape), dtype=torch.float32)
    optimizer = optim.Adam(model.parameters(), lr=4e-3)

    losses = []
    for epoch in range(1, args.epochs + 1):
        model.train()
        train_loss = 0
        for data, label in loader:
            label = one_hot(label, 10)
            eps = torch.tensor(rng.standard_normal((len(data), args.latent)), dtype=torch.float32)
            optimizer.zero_grad()
            recon, mu, logvar = model(data, label, eps)
            loss = loss_function(recon, data, mu, logvar)
            loss.backward()
            train_loss += loss.detach().cpu().numpy()
            optimizer.step()
            losses.append(loss.item() / len(data))
        print("Epoch: {} Average loss: {:.4f}".format(epoch, train_loss / len(dataset)))

    model.eval()
    with torch.no_grad():
        c = torch.eye(10, 10)
        z = torch.tensor(rng.standard_normal((10, args.latent)), dtype=torch.float32)
        sample = model.decode(z, c).cpu()
    for row in sample.view(10, HEIGHT, WIDTH).permute(1, 0, 2).numpy():
        print(" ".join("".join(" .:*#"[int(4.99 * p)] for p in part) for part in row))
    if args.out:
        np.savez(args.out, loss=losses, means=mu.detach().numpy(), sample=sample.numpy())


if __name__ == "__main__":
    main()
