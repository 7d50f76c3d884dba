"""Deep Q-learning: balance a pole on a cart, with a replay memory and a target network."""

import argparse
import copy
import math
import random
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))


class CartPole:
    """A pole on a cart: the usual equations of motion, integrated with Euler's method."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.state = self.rng.uniform(-0.05, 0.05, 4)
        return self.state.astype(np.float32)

    def step(self, action):
        x, v, angle, spin = self.state
        force = 10.0 if action == 1 else -10.0
        push = (force + 0.05 * spin**2 * math.sin(angle)) / 1.1
        top = 9.8 * math.sin(angle) - math.cos(angle) * push
        turn = top / (0.5 * (4.0 / 3.0 - 0.1 * math.cos(angle) ** 2 / 1.1))
        pull = push - 0.05 * turn * math.cos(angle) / 1.1
        self.state = self.state + 0.02 * np.array([v, pull, spin, turn])
        done = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21
        return self.state.astype(np.float32), 1.0, bool(done)


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


class DuelingDQN(nn.Module):
    def __init__(self, observations, actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observations, 32), nn.ReLU())
        self.value, self.advantage = nn.Linear(32, 1), nn.Linear(32, actions)

    def forward(self, x):
        h = self.body(x)
        advantage = self.advantage(h)
        return self.value(h) + advantage - advantage.mean(dim=-1, keepdim=True)


def optimize(policy, target, memory, optimizer, args):
    batch = Transition(*zip(*memory.sample(args.batch_size)))
    alive = torch.tensor([s is not None for s in batch.next_state], dtype=torch.bool)
    following = torch.cat([s for s in batch.next_state if s is not None])
    values = policy(torch.cat(batch.state)).gather(1, torch.cat(batch.action))
    with torch.no_grad():  # double DQN: one network chooses, the other estimates the value
        chosen = policy(following).max(1).indices.unsqueeze(1)
        following_values = torch.zeros(args.batch_size)
        following_values[alive] = target(following).gather(1, chosen).squeeze(1)
    expected = torch.cat(batch.reward) + args.gamma * following_values
    loss = F.smooth_l1_loss(values, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    for p in policy.parameters():
        p.grad.data.clamp_(-1, 1)
    optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--gamma", type=float, default=0.95)
    parser.add_argument("--tau", type=float, default=0.05)
    parser.add_argument("--out")
    args = parser.parse_args()
    random.seed(5)
    np.random.seed(5)

    policy = DuelingDQN(4, 2)
    for p in policy.parameters():
        p.data = torch.from_numpy(np.random.uniform(-0.3, 0.3, p.shape).astype(np.float32))
    target = copy.deepcopy(policy).requires_grad_(False).eval()
    optimizer = optim.AdamW(policy.parameters(), lr=3e-3, amsgrad=True)
    memory, env = ReplayMemory(1000), CartPole(np.random)

    state = torch.from_numpy(env.reset()).unsqueeze(0)
    losses, episodes, length = [], [], 0
    for step in range(args.steps):
        epsilon = 0.05 + 0.85 * math.exp(-step / 60)
        if random.random() > epsilon:
            with torch.no_grad():
                action = policy(state).max(1)[1].view(1, 1)
        else:
            action = torch.tensor([[random.randrange(2)]], dtype=torch.long)
        observation, reward, done = env.step(action.item())
        following = None if done else torch.from_numpy(observation)[None]
        memory.push(state, action, following, torch.tensor([-1.0 if done else reward]))
        length += 1
        state = following
        if done:
            episodes.append(length)
            state, length = torch.from_numpy(env.reset()).unsqueeze(0), 0
        if len(memory) >= args.batch_size:
            losses.append(optimize(policy, target, memory, optimizer, args))
            weights = target.state_dict()
            for key, value in policy.state_dict().items():
                weights[key] = value * args.tau + weights[key] * (1 - args.tau)
            target.load_state_dict(weights)
    print(f"{len(episodes)} episodes, the longest of {max(episodes, default=0)} steps")
    print(f"loss {losses[0]:.5f} at first, {losses[-1]:.5f} in the end")

    states = torch.linspace(-0.2, 0.2, 9).view(-1, 1) * torch.tensor([0.0, 0.0, 1.0, 1.0])
    q = target(states)
    print("\n".join(f"{a:+.2f}: {row.tolist()}" for a, row in zip(states[:, 2].tolist(), q)))
    if args.out:
        np.savez(args.out, loss=losses, episodes=episodes, q=q.numpy())


if __name__ == "__main__":
    main()
