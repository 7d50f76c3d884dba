"""A temporal convolutional network with weight norm adds two marked numbers of a sequence."""

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm


class Chomp1d(nn.Module):
    def __init__(self, chomp_size):
        super(Chomp1d, self).__init__()
        self.chomp_size = chomp_size

    def forward(self, x):
        return x[:, :, : -self.chomp_size].contiguous()


class TemporalBlock(nn.Module):
    def __init__(self, n_inputs, n_outputs, kernel_size, stride, dilation, padding):
        super(TemporalBlock, self).__init__()
        settings = {"stride": stride, "padding": padding, "dilation": dilation}
        self.conv1 = weight_norm(nn.Conv1d(n_inputs, n_outputs, kernel_size, **settings))
        self.chomp1 = Chomp1d(padding)
        self.relu1 = nn.ReLU()
        self.conv2 = weight_norm(nn.Conv1d(n_outputs, n_outputs, kernel_size, **settings))
        self.chomp2 = Chomp1d(padding)
        self.relu2 = nn.ReLU()
        self.net = nn.Sequential(
            self.conv1, self.chomp1, self.relu1, self.conv2, self.chomp2, self.relu2
        )
        self.downsample = nn.Conv1d(n_inputs, n_outputs, 1) if n_inputs != n_outputs else None
        self.relu = nn.ReLU()

    def init_weights(self, rng):
        for conv in filter(None, (self.conv1, self.conv2, self.downsample)):
            drawn = rng.normal(0, 1 / np.sqrt(conv.weight[0].numel()), conv.weight.shape)
            weight = torch.tensor(drawn, dtype=conv.weight.dtype)
            # an assignment to a weight with a norm sets its length and its direction
            conv.weight = nn.Parameter(weight) if conv is self.downsample else weight
            conv.bias.data.zero_()

    def forward(self, x):
        out = self.net(x)
        res = x if self.downsample is None else self.downsample(x)
        return self.relu(out + res)


class TemporalConvNet(nn.Module):
    def __init__(self, num_inputs, num_channels, kernel_size=3):
        super(TemporalConvNet, self).__init__()
        layers = []
        for i, out_channels in enumerate(num_channels):
            dilation_size = 2**i
            in_channels = num_inputs if i == 0 else num_channels[i - 1]
            layers += [
                TemporalBlock(
                    in_channels,
                    out_channels,
                    kernel_size,
                    stride=1,
                    dilation=dilation_size,
                    padding=(kernel_size - 1) * dilation_size,
                )
            ]
        self.network = nn.Sequential(*layers)

    def forward(self, x):
        return self.network(x)


class TCN(nn.Module):
    def __init__(self, input_size, output_size, num_channels):
        super(TCN, self).__init__()
        self.tcn = TemporalConvNet(input_size, num_channels)
        self.linear = nn.Linear(num_channels[-1], output_size)

    def forward(self, x):
        y1 = self.tcn(x)
        return self.linear(y1[:, :, -1])


def data_generator(N, seq_length, rng):
    """Return numbers from 0 to 1 with a mask of two of them, and the sums of these two."""
    X_num = rng.random((N, 1, seq_length))
    X_mask = np.zeros((N, 1, seq_length))
    Y = np.zeros((N, 1))
    for i in range(N):
        positions = rng.choice(seq_length, size=2, replace=False)
        X_mask[i, 0, positions] = 1
        Y[i, 0] = X_num[i, 0, positions].sum()
    X = torch.from_numpy(np.concatenate((X_num, X_mask), axis=1))
    return X.float(), torch.from_numpy(Y).float()


def main():
    parser = argparse.ArgumentParser(description="Sequence Modeling - The Adding Problem")
    parser.add_argument("--batch_size", type=int, default=16)
    parser.add_argument("--clip", type=float, default=0.8)
    parser.add_argument("--iters", type=int, default=24)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(1111)
    X_train, Y_train = data_generator(args.batch_size * 12, 24, rng)
    X_test, Y_test = data_generator(32, 24, rng)
    model = TCN(2, 1, [10, 10, 10])
    for module in model.modules():
        if isinstance(module, TemporalBlock):
            module.init_weights(rng)
    model.linear.weight.data.copy_(torch.from_numpy(rng.normal(0, 0.1, (1, 10))))
    model.linear.bias.data.zero_()
    optimizer = torch.optim.NAdam(model.parameters(), lr=4e-3)

    losses, norms = [], []
    model.train()
    for step in range(args.iters):
        batch_idx = step * args.batch_size % len(X_train)
        x = X_train[batch_idx : batch_idx + args.batch_size]
        y = Y_train[batch_idx : batch_idx + args.batch_size]
        optimizer.zero_grad()
        output = model(x)
        loss = F.mse_loss(output, y)
        loss.backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)))
        optimizer.step()
        losses.append(loss.item())
        if step % 6 == 5:
            print(f"Iteration {step + 1}\tLoss: {losses[-1]:.6f}")
    model.eval()
    with torch.no_grad():
        output = model(X_test)
        print(f"Test set: Average loss: {F.mse_loss(output, Y_test).item():.6f}")
    if args.out:
        np.savez(args.out, loss=losses, norms=norms, output=output.numpy())


if __name__ == "__main__":
    main()
