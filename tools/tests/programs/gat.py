"""Graph attention on a planted partition: nodes are classified by their neighbors' features."""

import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn import Parameter
from torch.nn.init import zeros_


def planted_partition(nodes, classes, rng):
    """Return features, edges [2, number] in both directions, and labels."""
    labels = rng.integers(0, classes, nodes)
    chance = np.where(labels[:, None] == labels[None, :], 0.12, 0.02)
    upper = np.triu(rng.random((nodes, nodes)) < chance, k=1)
    edges = np.stack(np.nonzero(upper | upper.T))
    x = rng.standard_normal((nodes, 8)) + 0.7 * np.eye(8)[labels]
    return torch.tensor(x, dtype=torch.float32), torch.tensor(edges), torch.tensor(labels)


def scatter_softmax(scores: Tensor, index: Tensor, nodes: int) -> Tensor:
    """Return the softmax of scores [edges, heads] over the edges that end in the same node."""
    where = index.unsqueeze(-1).expand_as(scores)
    largest = scores.new_full((nodes, scores.size(1)), float("-inf"))
    largest = largest.scatter_reduce(0, where, scores.detach(), reduce="amax", include_self=True)
    weights = (scores - largest[index]).exp()
    total = scores.new_zeros(nodes, scores.size(1)).scatter_add_(0, where, weights)
    return weights / (total[index] + 1e-16)


class GATConv(nn.Module):
    def __init__(self, inputs: int, outputs: int, heads: int, concat: bool = True) -> None:
        super().__init__()
        self.heads, self.outputs, self.concat = heads, outputs, concat
        self.lin = nn.Linear(inputs, heads * outputs, bias=False)
        self.att_src = Parameter(torch.empty(1, heads, outputs))
        self.att_dst = Parameter(torch.empty(1, heads, outputs))
        self.bias = Parameter(torch.empty(heads * outputs if concat else outputs))

    def reset(self, rng: np.random.Generator) -> None:
        for p in (self.lin.weight, self.att_src, self.att_dst):
            bound = np.sqrt(6 / sum(p.shape[-2:]))
            p.data[...] = torch.as_tensor(rng.uniform(-bound, bound, p.shape))
        zeros_(self.bias)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        source, end = edges
        h = self.lin(x).view(-1, self.heads, self.outputs)
        a = (h * self.att_src).sum(-1)[source] + (h * self.att_dst).sum(-1)[end]
        a = scatter_softmax(F.leaky_relu(a, 0.2), end, x.size(0))
        messages = torch.einsum("eh,ehc->ehc", a, h.index_select(0, source))
        out = torch.zeros_like(h).index_add(0, end, messages)
        return (out.flatten(1) if self.concat else out.mean(dim=1)) + self.bias


class GAT(nn.Module):
    def __init__(self, features, hidden, classes, heads=4):
        super().__init__()
        self.convs = nn.ModuleDict(
            {
                "first": GATConv(features, hidden, heads),
                "second": GATConv(hidden * heads, classes, 1, concat=False),
            }
        )

    def forward(self, x, edges):
        h = F.elu(self.convs["first"](x, edges))
        return F.log_softmax(self.convs["second"](h, edges), dim=-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--nodes", type=int, default=120)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(4)
    x, edges, y = planted_partition(args.nodes, 4, rng)
    loops = torch.arange(args.nodes).repeat(2, 1)
    edges = torch.cat([edges, loops], dim=1)
    degree = torch.bincount(edges[1], minlength=args.nodes)
    print(f"{edges.shape[1]} edges, {degree.min().item()} to {degree.max().item()} for a node")
    train_mask = torch.zeros(args.nodes, dtype=torch.bool)
    train_mask[torch.from_numpy(rng.permutation(args.nodes)[: args.nodes // 3])] = True

    model = GAT(x.size(1), 8, 4)
    for conv in model.convs.values():
        conv.reset(rng)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.98)
    losses = []
    for epoch in range(args.epochs):
        model.train()
        optimizer.zero_grad()
        out = model(x, edges)
        loss = F.nll_loss(out[train_mask], y[train_mask])
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
        if (epoch + 1) % 10 == 0:
            model.eval()
            with torch.no_grad():
                right = model(x, edges).argmax(dim=1).eq(y)
            train, test = right[train_mask].float().mean(), right[~train_mask].float().mean()
            print(f"Epoch: {epoch + 1:03d}, Train: {train:.4f}, Test: {test:.4f}")
    if args.out:
        np.savez(args.out, loss=losses, scores=out.detach(), degree=degree)


if __name__ == "__main__":
    main()
