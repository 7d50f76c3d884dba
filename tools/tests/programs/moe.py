"""A sparsely gated mixture of experts: each sample is computed by two of six networks."""

import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.optim import Adam


class SparseDispatcher:
    """Send samples to their experts, and sum the outputs with the weights of the gates."""

    def __init__(self, num_experts, gates):
        self._gates = gates
        self._num_experts = num_experts
        sorted_experts, index_sorted_experts = torch.nonzero(gates).sort(0)
        _, self._expert_index = sorted_experts.split(1, dim=1)
        self._batch_index = torch.nonzero(gates)[index_sorted_experts[:, 1], 0]
        self._part_sizes = (gates > 0).sum(0).tolist()
        gates_exp = gates[self._batch_index.flatten()]
        self._nonzero_gates = torch.gather(gates_exp, 1, self._expert_index)

    def dispatch(self, inp):
        inp_exp = inp[self._batch_index].squeeze(1)
        return torch.split(inp_exp, self._part_sizes, dim=0)

    def combine(self, expert_out, multiply_by_gates=True):
        stitched = torch.cat(expert_out, 0)
        if multiply_by_gates:
            stitched = stitched.mul(self._nonzero_gates)
        zeros = torch.zeros(
            self._gates.size(0), expert_out[-1].size(1), requires_grad=True, device=stitched.device
        )
        return zeros.index_add(0, self._batch_index, stitched)


class MLP(nn.Module):
    def __init__(self, input_size, output_size, hidden_size):
        super(MLP, self).__init__()
        self.fc1 = nn.Linear(input_size, hidden_size)
        self.fc2 = nn.Linear(hidden_size, output_size)
        self.relu = nn.ReLU()
        self.soft = nn.Softmax(1)

    def forward(self, x):
        return self.soft(self.fc2(self.relu(self.fc1(x))))


class MoE(nn.Module):
    def __init__(self, input_size, output_size, num_experts, hidden_size, k=2):
        super(MoE, self).__init__()
        self.num_experts = num_experts
        self.k = k
        self.experts = nn.ModuleList(
            [MLP(input_size, output_size, hidden_size) for _ in range(num_experts)]
        )
        self.w_gate = nn.Parameter(torch.zeros(input_size, num_experts), requires_grad=True)
        self.w_noise = nn.Parameter(torch.zeros(input_size, num_experts), requires_grad=True)
        self.softplus = nn.Softplus()
        self.softmax = nn.Softmax(1)

    def cv_squared(self, x):
        """Return the squared coefficient of variation: 0 if the experts are used equally."""
        if x.shape[0] == 1:
            return torch.tensor([0], device=x.device, dtype=x.dtype)
        return x.float().var() / (x.float().mean() ** 2 + 1e-10)

    def top_k_gating(self, x, noise, noise_epsilon=1e-2):
        clean_logits = x @ self.w_gate
        if self.training:
            noise_stddev = self.softplus(x @ self.w_noise) + noise_epsilon
            logits = clean_logits + noise * noise_stddev
        else:
            logits = clean_logits
        top_logits, top_indices = logits.topk(min(self.k + 1, self.num_experts), dim=1)
        top_k_logits, top_k_indices = top_logits[:, : self.k], top_indices[:, : self.k]
        zeros = torch.zeros_like(logits, requires_grad=True)
        gates = zeros.scatter(1, top_k_indices, self.softmax(top_k_logits))
        return gates, (gates > 0).sum(0)

    def forward(self, x, noise=None, loss_coef=1e-2):
        gates, load = self.top_k_gating(x, noise)
        importance = gates.sum(0)
        loss = loss_coef * (self.cv_squared(importance) + self.cv_squared(load))
        dispatcher = SparseDispatcher(self.num_experts, gates)
        expert_inputs = dispatcher.dispatch(x)
        expert_outputs = [self.experts[i](expert_inputs[i]) for i in range(self.num_experts)]
        return dispatcher.combine(expert_outputs), loss, load


def clusters(count, rng):
    """Return points around ten centers, and their labels, from 0 to 2."""
    centers = np.random.default_rng(0).normal(0, 2, (10, 5))
    which = rng.integers(0, 10, count)
    points = centers[which] + rng.normal(0, 0.5, (count, 5))
    return torch.tensor(points, dtype=torch.float32), torch.from_numpy(which % 3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--experts", type=int, default=6)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(19)
    net = MoE(5, 3, args.experts, hidden_size=16)
    for name, p in net.named_parameters():
        if name.startswith("w_noise") or "bias" in name:
            nn.init.zeros_(p)
        else:
            p.data.copy_(torch.from_numpy(rng.normal(0, 0.4, p.shape)))
    optimizer = Adam(net.parameters(), lr=1e-2)
    criterion = nn.NLLLoss()
    losses, loads = [], []
    net.train()
    for step in range(args.steps):
        x, y = clusters(48, rng)
        noise = torch.tensor(rng.standard_normal((len(x), args.experts)), dtype=torch.float32)
        y_hat, aux_loss, load = net(x, noise)
        loss = criterion(torch.log(y_hat + 1e-9), y)
        total_loss = loss + aux_loss
        optimizer.zero_grad()
        total_loss.backward()
        optimizer.step()
        losses.append(total_loss.item())
        loads.append(load.tolist())
        if step % 5 == 4:
            print(f"{step + 1}: loss {loss.item():.3f}, aux {aux_loss.item():.4f}, {loads[-1]}")
    net.eval()
    x, y = clusters(64, rng)
    y_hat, _, _ = net(x)
    print(f"accuracy {(y_hat.argmax(1) == y).float().mean().item():.3f}")
    if args.out:
        np.savez(args.out, loss=losses, load=loads, gate=net.w_gate.detach(), y=y_hat.detach())


if __name__ == "__main__":
    main()
