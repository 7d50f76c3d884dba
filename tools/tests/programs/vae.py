"""A convolutional variational autoencoder of pictures of crosses."""

import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim

parser = argparse.ArgumentParser(description="VAE")
parser.add_argument("--batch-size", type=int, default=32, metavar="N")
parser.add_argument("--epochs", type=int, default=5, metavar="N")
parser.add_argument("--seed", type=int, default=1, metavar="S")
parser.add_argument("--out", type=str, default="")
args = parser.parse_args()

torch.manual_seed(args.seed)
rng = np.random.RandomState(args.seed)
device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")


def pictures(count):
    """Return 16 x 16 pictures, each with a bright row and a bright column."""
    images = np.zeros((count, 1, 16, 16), dtype=np.float32)
    for image in images:
        image[0, rng.randint(16)] = 1
        image[0, :, rng.randint(16)] = 1
    return torch.from_numpy(images)


class VAE(nn.Module):
    def __init__(self, latent=6):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 8, 4, stride=2, padding=1),
            nn.LeakyReLU(0.1, inplace=True),
            nn.Conv2d(8, 16, 4, stride=2, padding=1),
            nn.LeakyReLU(0.1, inplace=True),
            nn.Flatten(),
        )
        self.mu, self.logvar = nn.Linear(256, latent), nn.Linear(256, latent)
        self.grow = nn.Linear(latent, 256)
        self.decoder = nn.Sequential(
            nn.ReLU(),
            nn.Unflatten(1, (16, 4, 4)),
            nn.ConvTranspose2d(16, 8, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(8, 1, 4, stride=2, padding=1),
        )

    def encode(self, x):
        h = self.encoder(x)
        return self.mu(h), self.logvar(h).clamp(-8, 8)

    def decode(self, z):
        return self.decoder(self.grow(z))

    def forward(self, x, eps):
        mu, logvar = self.encode(x)
        z = mu + eps * torch.exp(0.5 * logvar)
        return self.decode(z), mu, logvar


def loss_function(logits, x, mu, logvar, beta):
    bce = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return (bce + beta * kld) / x.size(0)


def noise(*shape):
    return torch.tensor(rng.randn(*shape), dtype=torch.float, device=device)


model = VAE().to(device)
state = {
    key: torch.tensor(rng.uniform(-1, 1, size=value.shape) / np.sqrt(value[0].numel()))
    for key, value in model.state_dict().items()
}
model.load_state_dict(state)
optimizer = optim.Adam(model.parameters(), lr=4e-3)
train = pictures(256).to(device)

history = []
for epoch in range(1, args.epochs + 1):
    model.train()
    total = 0.0
    for batch in train[torch.from_numpy(rng.permutation(len(train)))].split(args.batch_size):
        optimizer.zero_grad()
        logits, mu, logvar = model(batch, noise(len(batch), 6))
        loss = loss_function(logits, batch, mu, logvar, beta=min(1.0, epoch / 3))
        loss.backward()
        optimizer.step()
        history.append(loss.item())
        total += history[-1] * len(batch)
    print("====> epoch {}: average loss {:.4f}".format(epoch, total / len(train)))

model.eval()
with torch.no_grad():
    test = pictures(16).to(device)
    logits, mu, _ = model(test, torch.zeros(16, 6, device=device))
    sample = torch.sigmoid(model.decode(noise(4, 6))).cpu()
for row in sample[0, 0].numpy()[::2]:
    print("".join(" .:*#"[int(4.99 * p)] for p in row))
if args.out:
    np.savez(args.out, loss=history, means=mu.cpu(), sample=sample.numpy())
