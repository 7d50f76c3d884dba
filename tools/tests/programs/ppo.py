"""Proximal policy optimization with continuous actions: masses are steered to the origin."""

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions.normal import Normal


class Masses:
    """Points in the plane, accelerated by actions; each is reset to a random state at age 20."""

    def __init__(self, num_envs, rng):
        self.num_envs, self.rng = num_envs, rng
        self.state = rng.uniform(-1, 1, (num_envs, 4))
        self.age = rng.integers(0, 20, num_envs)

    def step(self, action):
        self.state[:, 2:] = 0.9 * self.state[:, 2:] + 0.1 * np.clip(action, -1, 1)
        self.state[:, :2] += self.state[:, 2:]
        self.age += 1
        reward = -np.square(self.state[:, :2]).sum(1) - 0.01 * np.square(action).sum(1)
        done = self.age >= 20
        fresh = self.rng.uniform(-1, 1, self.state.shape)
        self.state = np.where(done[:, None], fresh, self.state)
        self.age[done] = 0
        return self.state.copy(), reward, done


def layer_init(layer, rng, std=np.sqrt(2), bias_const=0.0):
    q, _ = np.linalg.qr(rng.standard_normal((max(layer.weight.shape), min(layer.weight.shape))))
    q = q if q.shape == tuple(layer.weight.shape) else q.T
    layer.weight.data.copy_(torch.from_numpy(std * q))
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self, rng):
        super().__init__()
        self.critic = nn.Sequential(
            layer_init(nn.Linear(4, 24), rng),
            nn.Tanh(),
            layer_init(nn.Linear(24, 1), rng, std=1.0),
        )
        self.actor_mean = nn.Sequential(
            layer_init(nn.Linear(4, 24), rng),
            nn.Tanh(),
            layer_init(nn.Linear(24, 2), rng, std=0.01),
        )
        self.actor_logstd = nn.Parameter(torch.zeros(1, 2))

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None, noise=None):
        action_mean = self.actor_mean(x)
        action_std = torch.exp(self.actor_logstd.expand_as(action_mean))
        probs = Normal(action_mean, action_std)
        if action is None:
            action = probs.mean + noise * probs.stddev  # NumPy's noise, instead of probs.sample()
        return action, probs.log_prob(action).sum(1), probs.entropy().sum(1), self.critic(x)


def advantages_of(rewards, dones, values, next_value, next_done, args):
    """Return advantages by generalized advantage estimation."""
    advantages = torch.zeros_like(rewards)
    lastgaelam = 0
    for t in reversed(range(args.num_steps)):
        last = t == args.num_steps - 1
        nextnonterminal = 1.0 - (next_done if last else dones[t + 1])
        nextvalues = next_value if last else values[t + 1]
        delta = rewards[t] + args.gamma * nextvalues * nextnonterminal - values[t]
        lastgaelam = delta + args.gamma * args.gae_lambda * nextnonterminal * lastgaelam
        advantages[t] = lastgaelam
    return advantages


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--num-envs", type=int, default=8)
    parser.add_argument("--num-steps", type=int, default=16)
    parser.add_argument("--gamma", type=float, default=0.95)
    parser.add_argument("--gae-lambda", type=float, default=0.9)
    parser.add_argument("--clip-coef", type=float, default=0.2)
    parser.add_argument("--out", default=None)
    args = parser.parse_args()
    rng = np.random.default_rng(1)
    envs, agent = Masses(args.num_envs, rng), Agent(rng)
    optimizer = optim.Adam(agent.parameters(), lr=3e-3, eps=1e-5)
    obs = torch.zeros((args.num_steps, args.num_envs, 4))
    actions = torch.zeros((args.num_steps, args.num_envs, 2))
    logprobs, rewards, dones, values = torch.zeros((4, args.num_steps, args.num_envs))
    next_obs = torch.Tensor(envs.state)
    next_done = torch.zeros(args.num_envs)
    losses, returned = [], []
    for iteration in range(1, args.iterations + 1):
        optimizer.param_groups[0]["lr"] = (1.0 - (iteration - 1.0) / args.iterations) * 3e-3
        for step in range(args.num_steps):
            obs[step], dones[step] = next_obs, next_done
            with torch.no_grad():
                noise = torch.Tensor(rng.standard_normal((args.num_envs, 2)))
                action, logprob, _, value = agent.get_action_and_value(next_obs, noise=noise)
                values[step] = value.flatten()
            actions[step], logprobs[step] = action, logprob
            observed, reward, done = envs.step(action.cpu().numpy())
            rewards[step] = torch.tensor(reward).view(-1)
            next_obs, next_done = torch.Tensor(observed), torch.Tensor(done)
        with torch.no_grad():
            next_value = agent.get_value(next_obs).reshape(1, -1)
            advantages = advantages_of(rewards, dones, values, next_value, next_done, args)
            returns = advantages + values
        returned.append(rewards.mean().item())

        b_obs, b_actions = obs.reshape(-1, 4), actions.reshape(-1, 2)
        flat = (t.reshape(-1) for t in (logprobs, advantages, returns, values))
        b_logprobs, b_advantages, b_returns, b_values = flat
        for b_inds in np.array_split(rng.permutation(len(b_obs)), 4):
            _, newlogprob, entropy, newvalue = agent.get_action_and_value(
                b_obs[b_inds], b_actions[b_inds]
            )
            ratio = (newlogprob - b_logprobs[b_inds]).exp()
            adv = b_advantages[b_inds]
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            clipped = torch.clamp(ratio, 1 - args.clip_coef, 1 + args.clip_coef)
            pg_loss = torch.max(-adv * ratio, -adv * clipped).mean()
            v_clipped = (newvalue.view(-1) - b_values[b_inds]).clamp(-0.2, 0.2) + b_values[b_inds]
            v_loss_unclipped = (newvalue.view(-1) - b_returns[b_inds]) ** 2
            v_loss_clipped = (v_clipped - b_returns[b_inds]) ** 2
            v_loss = 0.5 * torch.max(v_loss_unclipped, v_loss_clipped).mean()
            loss = pg_loss - 0.01 * entropy.mean() + v_loss * 0.5
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
            losses.append(loss.item())
        print(f"iteration {iteration}: reward {returned[-1]:.4f}, value loss {v_loss:.4f}")
    if args.out:
        np.savez(args.out, loss=losses, rewards=returned, advantages=advantages.numpy())
