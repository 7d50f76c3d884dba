"""A neural ODE whose gradients come from the adjoint equation, solved backwards in time."""

import argparse
import math

import numpy as np
import torch
from torch import Tensor, nn


def ode_solve(z0, t0, t1, f, h_max=0.15):
    """Integrate from t0 to t1 by the Runge-Kutta method of fourth order."""
    n_steps = math.ceil(abs(t1.item() - t0.item()) / h_max)
    h = (t1 - t0) / n_steps
    t, z = t0, z0
    for _ in range(n_steps):
        k1 = f(z, t)
        k2 = f(z + h / 2 * k1, t + h / 2)
        k3 = f(z + h / 2 * k2, t + h / 2)
        k4 = f(z + h * k3, t + h)
        z = z + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t = t + h
    return z


class ODEF(nn.Module):
    def forward_with_grad(self, z, t, grad_outputs):
        """Return f, and the products of `grad_outputs` with df/dz, df/dt and df/dp."""
        batch_size = z.shape[0]
        out = self.forward(z, t)
        adfdz, adfdt, *adfdp = torch.autograd.grad(
            (out,),
            (z, t) + tuple(self.parameters()),
            grad_outputs=(grad_outputs),
            allow_unused=True,
            retain_graph=True,
        )
        adfdp = torch.cat([p_grad.flatten() for p_grad in adfdp]).unsqueeze(0)
        adfdp = adfdp.expand(batch_size, -1) / batch_size
        if adfdt is not None:
            adfdt = adfdt.expand(batch_size, 1) / batch_size
        return out, adfdz, adfdt, adfdp

    def flatten_parameters(self):
        return torch.cat([p.flatten() for p in self.parameters()])


class ODEAdjoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z0, t, flat_parameters, func):
        assert isinstance(func, ODEF)
        bs, *z_shape = z0.size()
        with torch.no_grad():
            z = torch.zeros(t.size(0), bs, *z_shape).to(z0)
            z[0] = z0
            for i_t in range(t.size(0) - 1):
                z0 = ode_solve(z0, t[i_t], t[i_t + 1], func)
                z[i_t + 1] = z0
        ctx.func = func
        ctx.save_for_backward(t, z.clone(), flat_parameters)
        return z

    @staticmethod
    def backward(ctx, dLdz):
        func = ctx.func
        t, z, flat_parameters = ctx.saved_tensors
        time_len, bs, n_dim = z.size()
        n_params = flat_parameters.size(0)

        def augmented_dynamics(aug_z_i, t_i):
            z_i, a = aug_z_i[:, :n_dim], aug_z_i[:, n_dim : 2 * n_dim]
            with torch.set_grad_enabled(True):
                t_i = t_i.detach().requires_grad_(True)
                z_i = z_i.detach().requires_grad_(True)
                func_eval, adfdz, adfdt, adfdp = func.forward_with_grad(z_i, t_i, grad_outputs=a)
                adfdz = adfdz.to(z_i) if adfdz is not None else torch.zeros(bs, n_dim).to(z_i)
                adfdt = adfdt.to(z_i) if adfdt is not None else torch.zeros(bs, 1).to(z_i)
            return torch.cat((func_eval, -adfdz, -adfdp, -adfdt), dim=1)

        with torch.no_grad():
            adj_z = torch.zeros(bs, n_dim).to(dLdz)
            adj_p = torch.zeros(bs, n_params).to(dLdz)
            adj_t = torch.zeros(time_len, bs, 1).to(dLdz)
            for i_t in range(time_len - 1, 0, -1):
                f_i = func(z[i_t], t[i_t])
                adj_z += dLdz[i_t]
                adj_t[i_t] -= torch.bmm(dLdz[i_t].unsqueeze(1), f_i.unsqueeze(-1))[:, 0]
                aug_z = torch.cat((z[i_t], adj_z, torch.zeros_like(adj_p), adj_t[i_t]), dim=-1)
                aug_ans = ode_solve(aug_z, t[i_t], t[i_t - 1], augmented_dynamics)
                adj_z[:] = aug_ans[:, n_dim : 2 * n_dim]
                adj_p[:] += aug_ans[:, 2 * n_dim : 2 * n_dim + n_params]
                adj_t[i_t - 1] = aug_ans[:, 2 * n_dim + n_params :]
            adj_z += dLdz[0]
        return adj_z, adj_t.sum(1).view(-1), adj_p.sum(0), None


class NeuralODE(nn.Module):
    def __init__(self, func):
        super().__init__()
        self.func = func

    def forward(self, z0, t):
        return ODEAdjoint.apply(z0, t, self.func.flatten_parameters(), self.func)


class SpiralFunction(ODEF):
    """A network of the state, whose output is scaled by a function of time."""

    def __init__(self, rng):
        super().__init__()
        self.lin1, self.lin2 = nn.Linear(2, 16), nn.Linear(16, 2)
        for lin in (self.lin1, self.lin2):
            scale = 1 / math.sqrt(lin.in_features)
            lin.weight.data.copy_(torch.from_numpy(scale * rng.standard_normal(lin.weight.shape)))
            nn.init.constant_(lin.bias, 0.0)

    def forward(self, z: Tensor, t: Tensor) -> Tensor:
        return self.lin2(torch.tanh(self.lin1(z))) * (1 + 0.1 * torch.cos(t))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(60)
    true = torch.tensor([[-0.1, -1.5], [1.5, -0.1]])
    times = torch.linspace(0, 2.0, 6).requires_grad_()
    z0 = torch.tensor([[1.5, 0.0], [0.0, -1.0], [1.0, 1.0]], requires_grad=True)
    with torch.no_grad():
        wanted = [z0]
        for before, after in zip(times[:-1], times[1:]):
            wanted.append(ode_solve(wanted[-1], before, after, lambda z, t: z @ true.T))
        wanted = torch.stack(wanted)
    ode = NeuralODE(SpiralFunction(rng))
    optimizer = torch.optim.Adam(ode.parameters(), lr=0.02)
    losses = []
    for step in range(args.steps):
        z = ode(z0, times)
        loss = nn.functional.mse_loss(z, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        print(f"step {step + 1}: loss {losses[-1]:.5f}")
    if args.out:
        np.savez(args.out, loss=losses, z=z.detach(), start=z0.grad, times=times.grad.numpy())
