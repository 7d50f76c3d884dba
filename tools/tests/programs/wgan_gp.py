"""A Wasserstein GAN with gradient penalty learns eight spots on a circle."""

import argparse
import itertools

import numpy as np
import torch
from torch import autograd, nn


def mlp(sizes, activation):
    layers = []
    for a, b in itertools.pairwise(sizes):
        layers += [nn.Linear(a, b), activation()]
    return nn.Sequential(*layers[:-1])


def spots(batch, rng):
    angles = 2 * np.pi * rng.integers(0, 8, batch) / 8
    centers = np.stack((np.cos(angles), np.sin(angles)), 1)
    return torch.as_tensor(centers + 0.05 * rng.standard_normal((batch, 2))).float()


def gradient_penalty(critic, real, fake, rng, weight=10.0):
    alpha = torch.Tensor(rng.random((real.size(0), 1)))
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    scores = critic(mixed)
    (grads,) = autograd.grad(
        outputs=scores,
        inputs=mixed,
        grad_outputs=torch.ones_like(scores),
        create_graph=True,
        retain_graph=True,
    )
    return weight * ((grads.norm(2, dim=1) - 1) ** 2).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--critic-steps", type=int, default=3)
    parser.add_argument("--out", default="")
    args = parser.parse_args()
    rng = np.random.default_rng(2)

    generator = mlp([4, 32, 32, 2], nn.ReLU)
    critic = mlp([2, 32, 32, 1], lambda: nn.LeakyReLU(0.2))
    for network in (generator, critic):
        for layer in network:
            if isinstance(layer, nn.Linear):
                bound = 1 / np.sqrt(layer.in_features)
                for p in layer.parameters():
                    p.data = torch.from_numpy(rng.uniform(-bound, bound, list(p.shape))).float()
    g_opt = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.0, 0.9))
    d_opt = torch.optim.RMSprop(critic.parameters(), lr=1e-3)

    distance, penalties = [], []
    for iteration in range(args.iterations):
        for p in critic.parameters():
            p.requires_grad = True
        for _ in range(args.critic_steps):
            real = spots(64, rng)
            with torch.no_grad():
                fake = generator(torch.Tensor(rng.standard_normal((64, 4))))
            penalty = gradient_penalty(critic, real, fake, rng)
            d_loss = critic(fake).mean() - critic(real).mean() + penalty
            d_opt.zero_grad()
            d_loss.backward()
            d_opt.step()

        for p in critic.parameters():
            p.requires_grad = False  # only the generator is updated
        g_loss = -critic(generator(torch.Tensor(rng.standard_normal((64, 4))))).mean()
        g_opt.zero_grad()
        g_loss.backward()
        g_opt.step()

        distance.append((penalty - d_loss).item())
        penalties.append(penalty.item())
        if iteration % 10 == 9:
            print(f"{iteration + 1:4d}  distance {distance[-1]:.4f}  penalty {penalties[-1]:.4f}")

    with torch.no_grad():
        samples = generator(torch.Tensor(rng.standard_normal((256, 4))))
    radius = samples.pow(2).sum(1).sqrt()
    print(f"radius of samples: {radius.mean():.3f} +- {radius.std():.3f}")
    if args.out:
        np.savez(args.out, loss=distance, penalty=penalties, samples=samples)


if __name__ == "__main__":
    main()
