"""Actor-critic with shared layers: swing a pendulum up, with one update after each episode."""

import argparse
from collections import namedtuple
from itertools import count

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

SavedAction = namedtuple("SavedAction", ["log_prob", "value"])
EPS = 1e-6


class Pendulum:
    """A rod that hangs at first; an action pushes it to either side."""

    def __init__(self, rng, length):
        self.rng, self.length = rng, length

    def observation(self):
        return np.array([np.cos(self.angle), np.sin(self.angle), self.spin / 4])

    def reset(self):
        self.angle, self.spin = np.pi + self.rng.uniform(-0.3, 0.3), self.rng.uniform(-1, 1)
        self.steps = 0
        return self.observation()

    def step(self, action):
        push = 4.0 if action == 1 else -4.0
        self.spin += 0.1 * (9.8 * np.sin(self.angle) + push - 0.1 * self.spin)
        self.spin = float(np.clip(self.spin, -8, 8))
        self.angle += 0.1 * self.spin
        self.steps += 1
        return self.observation(), np.cos(self.angle), self.steps == self.length


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(3, 32)
        self.action_head = nn.Linear(32, 2)
        self.value_head = nn.Linear(32, 1)
        self.saved_actions = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.affine1(x))
        action_prob = F.softmax(self.action_head(x), dim=-1)
        state_values = self.value_head(x)
        return action_prob, state_values


def select_action(model, state, rng):
    state = torch.from_numpy(state).float()
    probs, state_value = model(state)
    m = Categorical(probs)
    # instead of m.sample(): NumPy draws the same for every library
    action = torch.tensor(int(rng.random() < probs[1].item()))
    model.saved_actions.append(SavedAction(m.log_prob(action), state_value))
    return action.item()


def finish_episode(model, optimizer, gamma):
    R = 0
    saved_actions = model.saved_actions
    policy_losses = []
    value_losses = []
    returns = []
    for r in model.rewards[::-1]:
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns, dtype=torch.float)
    returns = (returns - returns.mean()) / (returns.std() + EPS)
    for (log_prob, value), R in zip(saved_actions, returns):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()
    optimizer.step()
    del model.rewards[:]
    del model.saved_actions[:]
    return loss.item()


def main():
    parser = argparse.ArgumentParser(description="actor-critic")
    parser.add_argument("--gamma", type=float, default=0.97)
    parser.add_argument("--episodes", type=int, default=16)
    parser.add_argument("--length", type=int, default=40)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(54)
    env, model = Pendulum(rng, args.length), Policy()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.from_numpy(rng.uniform(-0.4, 0.4, p.size())))
    optimizer = optim.Adam(model.parameters(), lr=5e-3)

    losses, rewards = [], []
    for i_episode in range(args.episodes):
        state = env.reset()
        for _ in count():
            state, reward, done = env.step(select_action(model, state, rng))
            model.rewards.append(reward)
            if done:
                break
        rewards.append(sum(model.rewards))
        losses.append(finish_episode(model, optimizer, args.gamma))
        if i_episode % 4 == 3:
            print(f"Episode {i_episode + 1}\tLoss: {losses[-1]:.3f}\tReward: {rewards[-1]:.2f}")

    angles = torch.linspace(0, 2 * np.pi, 9)[:-1]
    states = torch.stack([angles.cos(), angles.sin(), torch.zeros_like(angles)], dim=1)
    probs, values = model(states)
    print("values:", " ".join(f"{v:.3f}" for v in values.squeeze(-1).tolist()))
    if args.out:
        np.savez(args.out, loss=losses, rewards=rewards, probs=probs.detach().numpy())


if __name__ == "__main__":
    main()
