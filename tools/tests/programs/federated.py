"""Federated averaging of spectrally normalized networks, with weights averaged over rounds."""

import argparse
import copy
from collections import OrderedDict

import numpy as np
import torch
from torch import nn, optim
from torch.nn.utils import parameters_to_vector
from torch.nn.utils.parametrizations import spectral_norm, weight_norm
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


class Client:
    """A client with private data, in which the classes are imbalanced."""

    def __init__(self, number, rng):
        share = rng.dirichlet([0.5] * 3)
        self.y = torch.from_numpy(rng.choice(3, size=48, p=share))
        centers = np.array([[2.0, 0, 0, 1], [-1, 1.7, 0, -1], [-1, -1.7, 1, 0]])
        points = centers[self.y.numpy()] + rng.standard_normal((48, 4))
        self.x = torch.from_numpy(points).to(torch.float32)
        self.name = f"client {number}"

    def train(self, server, epochs, lr):
        model = copy.deepcopy(server).train()
        optimizer = optim.SGD(model.parameters(), lr=lr)
        total = 0.0
        for _ in range(epochs):
            for x, y in zip(self.x.split(16), self.y.split(16)):
                optimizer.zero_grad()
                loss = nn.functional.multi_margin_loss(model(x), y)
                proximal = sum(
                    (a - b.detach()).pow(2).sum()
                    for a, b in zip(model.parameters(), server.parameters())
                )
                (loss + 0.01 * proximal).backward()
                nn.utils.clip_grad_norm_(model.parameters(), max_norm=2.0)
                optimizer.step()
                total += loss.item()
        return model.state_dict(), total / (3 * epochs), len(self.y)


def federated_average(states, sizes):
    weights = torch.tensor(sizes, dtype=torch.float) / sum(sizes)
    mean = OrderedDict()
    for key in states[0].keys():
        stacked = torch.stack([state[key].float() for state in states], dim=0)
        mean[key] = torch.tensordot(weights, stacked, dims=1).to(states[0][key].dtype)
    return mean


def build(rng):
    model = nn.Sequential(
        OrderedDict(
            fc1=nn.Linear(4, 16),
            act=nn.Softplus(beta=2),
            fc2=nn.Linear(16, 16),
            act2=nn.CELU(),
            out=nn.Linear(16, 3),
        )
    )
    for name, p in model.named_parameters():
        p.data.copy_(torch.from_numpy(rng.normal(0, 0.4, size=p.shape)))
    weight_norm(model.fc1)
    spectral_norm(model.fc2, n_power_iterations=2)
    norm = model.fc2.parametrizations.weight[0]
    for vector in (norm._u, norm._v):
        start = torch.from_numpy(rng.standard_normal(vector.shape)).float()
        vector.copy_(nn.functional.normalize(start, dim=0))
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--out", default=None)
    args = parser.parse_args()
    rng = np.random.default_rng(17)
    server = build(rng)
    clients = [Client(number, rng) for number in range(args.clients)]
    average = AveragedModel(server, multi_avg_fn=get_ema_multi_avg_fn(0.8), use_buffers=True)
    gradients = []
    hook = server.out.weight.register_hook(lambda grad: gradients.append(grad.norm().item()))

    losses, lengths = [], []
    for number in range(args.rounds):
        chosen = rng.choice(args.clients, size=max(2, args.clients // 2), replace=False)
        results = [clients[i].train(server, epochs=2, lr=args.lr) for i in chosen]
        states, client_losses, sizes = zip(*results)
        server.load_state_dict(federated_average(states, sizes))
        average.update_parameters(server)
        losses.extend(client_losses)
        lengths.append(parameters_to_vector(server.parameters()).norm().item())
        print(f"round {number + 1}: {[round(loss, 4) for loss in client_losses]}")

    server.eval(), average.eval()
    x, y = torch.cat([c.x for c in clients]), torch.cat([c.y for c in clients])
    scores = server(x)
    nn.functional.cross_entropy(scores, y).backward()
    hook.remove()
    with torch.no_grad():
        right = {"server": scores.argmax(1).eq(y), "average": average(x).argmax(1).eq(y)}
        largest = torch.linalg.matrix_norm(server.fc2.weight, ord=2)
    print({name: f"{hits.float().mean().item():.3f}" for name, hits in right.items()})
    print(f"largest singular value {largest:.4f}, gradient {gradients[0]:.4f}")
    if args.out:
        np.savez(
            args.out,
            loss=losses,
            lengths=lengths,
            gradient=gradients[0],
            scores=average(x).detach().numpy(),
        )


if __name__ == "__main__":
    main()
