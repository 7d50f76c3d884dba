"""Model-agnostic meta-learning: initial weights from which a few steps fit any sine."""

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import autograd, optim


class Learner(nn.Module):
    """A network that accepts updated parameters, so that gradients flow through the updates."""

    def __init__(self, config, rng):
        super(Learner, self).__init__()
        self.config = config
        self.vars = nn.ParameterList()
        for name, param in self.config:
            if name == "linear":
                bound = np.sqrt(3 / param[1])
                w = torch.from_numpy(rng.uniform(-bound, bound, param)).float()
                self.vars.append(nn.Parameter(w))
                self.vars.append(nn.Parameter(torch.zeros(param[0])))

    def forward(self, x, vars=None):
        if vars is None:
            vars = self.vars
        idx = 0
        for name, _ in self.config:
            if name == "linear":
                w, b = vars[idx], vars[idx + 1]
                x = F.linear(x, w, b)
                idx += 2
            elif name == "tanh":
                x = torch.tanh(x)
            else:
                raise NotImplementedError(name)
        assert idx == len(vars)
        return x

    def parameters(self):
        return self.vars


class Meta(nn.Module):
    def __init__(self, args, config, rng):
        super(Meta, self).__init__()
        self.update_lr = args.update_lr
        self.update_step = args.update_step
        self.net = Learner(config, rng)
        self.meta_optim = optim.Adam(self.net.parameters(), lr=args.meta_lr)

    def adapt(self, x, y, create_graph):
        """Return the parameters after each step on one task."""
        weights = list(self.net.parameters())
        path = []
        for _ in range(self.update_step):
            loss = F.mse_loss(self.net(x, weights), y)
            grad = autograd.grad(loss, weights, create_graph=create_graph)
            weights = list(map(lambda p: p[1] - self.update_lr * p[0], zip(grad, weights)))
            path.append(weights)
        return path

    def forward(self, x_spt, y_spt, x_qry, y_qry):
        task_num = x_spt.size(0)
        losses_q = [0 for _ in range(self.update_step)]
        for i in range(task_num):
            for k, weights in enumerate(self.adapt(x_spt[i], y_spt[i], create_graph=True)):
                losses_q[k] += F.mse_loss(self.net(x_qry[i], weights), y_qry[i])
        loss_q = losses_q[-1] / task_num
        self.meta_optim.zero_grad()
        loss_q.backward()
        self.meta_optim.step()
        return [loss.item() / task_num for loss in losses_q]

    def finetunning(self, x_spt, y_spt, x_qry):
        fast_weights = self.adapt(x_spt, y_spt, create_graph=False)[-1]
        with torch.no_grad():
            return self.net(x_qry, fast_weights)


def sines(tasks, shots, rng):
    """Return points of sines of random amplitude and phase: [tasks, shots, 1] twice."""
    amplitude = rng.uniform(0.5, 2.0, (tasks, 1, 1))
    phase = rng.uniform(0, np.pi, (tasks, 1, 1))
    x = rng.uniform(-3, 3, (tasks, 2 * shots, 1))
    y = amplitude * np.sin(x - phase)
    x, y = torch.from_numpy(x).float(), torch.from_numpy(y).float()
    return x[:, :shots], y[:, :shots], x[:, shots:], y[:, shots:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epoch", type=int, default=12)
    parser.add_argument("--task_num", type=int, default=4)
    parser.add_argument("--meta_lr", type=float, default=5e-3)
    parser.add_argument("--update_lr", type=float, default=0.05)
    parser.add_argument("--update_step", type=int, default=3)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(222)
    config = [
        ("linear", [24, 1]),
        ("tanh", [True]),
        ("linear", [24, 24]),
        ("tanh", [True]),
        ("linear", [1, 24]),
    ]
    maml = Meta(args, config, rng)
    num = sum(map(lambda p: np.prod(p.shape), filter(lambda p: p.requires_grad, maml.parameters())))
    print("Total trainable tensors:", num)
    losses = []
    for step in range(args.epoch):
        after_steps = maml(*sines(args.task_num, 8, rng))
        losses.append(after_steps)
        if step % 4 == 3:
            print("step:", step + 1, "\tloss:", " ".join(f"{loss:.4f}" for loss in after_steps))
    x_spt, y_spt, x_qry, y_qry = sines(1, 8, rng)
    predicted = maml.finetunning(x_spt[0], y_spt[0], x_qry[0])
    print("error of a new task:", F.mse_loss(predicted, y_qry[0]).item())
    if args.out:
        loss = [after_steps[-1] for after_steps in losses]
        np.savez(args.out, loss=loss, steps=losses, predicted=predicted.numpy())


if __name__ == "__main__":
    main()
