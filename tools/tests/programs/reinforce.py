"""REINFORCE: a policy learns to keep a ball in the middle of a tilting beam."""

import argparse
from itertools import count

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical


class Beam:
    """A ball on a beam that an action tilts to the left, not at all, or to the right."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.place, self.speed = self.rng.uniform(-0.4, 0.4), self.rng.uniform(-0.1, 0.1)
        self.steps = 0
        return np.array([self.place, self.speed])

    def step(self, action):
        self.speed += 0.06 * (action - 1) + 0.01 * self.rng.standard_normal()
        self.place += self.speed
        self.steps += 1
        done = abs(self.place) > 1 or self.steps >= 40
        return np.array([self.place, self.speed]), 1.0 - self.place**2, done


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(2, 24)
        self.affine2 = nn.Linear(24, 3)
        self.saved_log_probs = []
        self.entropies = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.affine1(x))
        return F.softmax(self.affine2(x), dim=1)


def select_action(policy, state, rng):
    state = torch.from_numpy(state).float().unsqueeze(0)
    probs = policy(state)
    m = Categorical(probs)
    # drawn by NumPy, so that every library draws the same
    above = rng.random() < np.cumsum(probs.detach().numpy()[0])
    action = torch.tensor([int(above.argmax())])
    policy.saved_log_probs.append(m.log_prob(action))
    policy.entropies.append(m.entropy())
    return action.item()


def finish_episode(policy, optimizer, gamma):
    R, policy_loss, returns = 0, [], []
    for r in policy.rewards[::-1]:
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns, dtype=torch.float32)
    returns = (returns - returns.mean()) / (returns.std() + np.finfo(np.float32).eps.item())
    for log_prob, R in zip(policy.saved_log_probs, returns):
        policy_loss.append(-log_prob * R)
    optimizer.zero_grad()
    policy_loss = torch.cat(policy_loss).sum() - 0.01 * torch.cat(policy.entropies).sum()
    policy_loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]
    del policy.entropies[:]
    return policy_loss.item()


def main():
    parser = argparse.ArgumentParser(description="REINFORCE")
    parser.add_argument("--gamma", type=float, default=0.95)
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--log-interval", type=int, default=5, metavar="N")
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(543)
    env, policy = Beam(rng), Policy()
    for p in policy.parameters():
        p.data = torch.as_tensor(rng.uniform(-0.5, 0.5, tuple(p.shape)), dtype=torch.float32)
    optimizer = optim.Adam(policy.parameters(), lr=1e-2)

    running_reward, losses, lengths = 10, [], []
    for i_episode in range(args.episodes):
        state, ep_reward = env.reset(), 0
        for t in count(1):
            action = select_action(policy, state, rng)
            state, reward, done = env.step(action)
            policy.rewards.append(reward)
            ep_reward += reward
            if done:
                break
        running_reward = 0.05 * ep_reward + 0.95 * running_reward
        losses.append(finish_episode(policy, optimizer, args.gamma))
        lengths.append(t)
        if i_episode % args.log_interval == 0:
            print(f"Episode {i_episode}\tsteps: {t}\tAverage reward: {running_reward:.2f}")

    with torch.no_grad():
        places = torch.linspace(-1, 1, 5).unsqueeze(1)
        probs = policy(torch.cat([places, torch.zeros_like(places)], dim=1))
    print("\n".join(f"{x:+.1f}: {row}" for x, row in zip(places.flatten(), probs.tolist())))
    if args.out:
        np.savez(args.out, loss=losses, lengths=lengths, probs=probs.numpy())


if __name__ == "__main__":
    main()
