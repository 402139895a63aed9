"""A step of a batch, and a rollout, as functions that torch differentiates: docs/gradients.md.

    import stiction.torch as st
    f = st.Step(batch, params=("body_mass",))
    qpos, qvel = f.step((qpos, qvel), ctrl, body_mass=mass)
    (qpos, qvel)(T + 1, num_envs, ...) = f.rollout((qpos, qvel), ctrl(T, num_envs, nu), body_mass=mass)

Tensors are on the CPU, of any floating type; the backward pass is one call of `StepDerivative.product` for all
environments. Gradients to qpos are to its numbers. Import by name: torch is no part of stiction.
"""

from ._core import ArgumentError
from ._util.extras import remedy
from .gradients import INPUTS, PureStep

try:
    import torch
except ImportError as missing:
    raise ImportError(f"stiction.torch needs torch: {remedy('train')}") from missing


def _numbers(x):
    return x.detach().cpu().double().numpy()


def _as(gradients, tensors):
    return tuple(
        None if g is None else torch.as_tensor(g).to(x).reshape(x.shape)
        for g, x in zip(gradients, tensors, strict=True)
    )


class _Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx, pure, names, *tensors):
        ctx.pure, ctx.names, ctx.tensors = pure, names, tensors
        ctx.values = {name: _numbers(x) for name, x in zip(names, tensors, strict=True)}
        after = pure(ctx.values)
        return tuple(torch.as_tensor(after[name]).to(tensors[names.index(name)]) for name in pure.state)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *outer):
        wanted = [name for name, need in zip(ctx.names, ctx.needs_input_grad[2:], strict=True) if need]
        gradients = {name: _numbers(g) for name, g in zip(ctx.pure.state, outer, strict=True) if g is not None}
        found = ctx.pure.pull(ctx.values, gradients, wanted)
        return None, None, *_as([found.get(name) for name in ctx.names], ctx.tensors)


class _Rollout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, pure, names, *tensors):
        ctx.pure, ctx.names, ctx.tensors = pure, names, tensors
        ctx.values = {name: _numbers(x) for name, x in zip(names, tensors, strict=True)}
        others = {name: x for name, x in ctx.values.items() if name not in (*pure.state, "ctrl")}
        ctx.others = others
        ctx.states = pure.rollout(ctx.values, ctx.values["ctrl"], **others)
        return tuple(torch.as_tensor(ctx.states[name]).to(tensors[names.index(name)]) for name in pure.state)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *outer):
        wanted = [name for name, need in zip(ctx.names, ctx.needs_input_grad[2:], strict=True) if need]
        gradients = {name: _numbers(g) for name, g in zip(ctx.pure.state, outer, strict=True) if g is not None}
        found = ctx.pure.pull_rollout(ctx.states, ctx.values["ctrl"], gradients, wanted, **ctx.others)
        return None, None, *_as([found.get(name) for name in ctx.names], ctx.tensors)


class Step:
    """The step of a batch, whose state it overwrites, as a function of tensors: `PureStep` with autograd.

    params: names of parameters, which become own to each environment, that may be given and differentiated.
    """

    def __init__(self, batch, params=()):
        self._pure = PureStep(batch, params)

    @property
    def status(self):
        """(num_envs) bits of Status of the step that was differentiated last."""
        return self._pure.status

    def _arguments(self, state, ctrl, given):
        if len(state) != len(self._pure.state):
            raise ArgumentError(f"state: given {len(state)} tensors; expected {', '.join(self._pure.state)}")
        values = dict(zip(self._pure.state, state, strict=True)) | {"ctrl": ctrl} | given
        values = {name: x for name, x in values.items() if x is not None}
        return tuple(values), tuple(values.values())

    def step(self, state, ctrl=None, **given):
        """(qpos, qvel), with act behind them where the model has activations, after one step from `state`."""
        names, tensors = self._arguments(state, ctrl, given)
        return _Step.apply(self._pure, names, *tensors)

    def rollout(self, state, ctrl, **given):
        """States (T + 1, num_envs, ...), `state` the first of them, under controls (T, num_envs, nu). Backward goes from
        each stored state; nothing else is kept."""
        names, tensors = self._arguments(state, ctrl, given)
        return _Rollout.apply(self._pure, names, *tensors)


def step(batch, state, ctrl=None, **params):
    """One step of a batch: `Step(batch, params).step(state, ctrl, **params)`. Who makes many keeps the Step."""
    return Step(batch, tuple(name for name in params if name not in INPUTS)).step(state, ctrl, **params)


def rollout(batch, state, ctrl, **params):
    """As `step`, over T steps: states (T + 1, num_envs, ...)."""
    return Step(batch, tuple(name for name in params if name not in INPUTS)).rollout(state, ctrl, **params)
