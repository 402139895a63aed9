"""A step of a batch, and a rollout, as functions that JAX differentiates: docs/gradients.md.

    import stiction.jax as sj
    f = sj.Step(batch, params=("body_mass",))
    qpos, qvel = f.step((qpos, qvel), ctrl, body_mass=mass)
    (qpos, qvel)(T + 1, num_envs, ...) = f.rollout((qpos, qvel), ctrl(T, num_envs, nu), body_mass=mass)

For `jax.grad`, `jax.vjp`, `jax.jit`, `jax.lax.scan`: forward is a callback to the CPU, backward one call of
`StepDerivative.product` for all environments. Arrays are of any floating type; gradients to qpos are to its numbers.
Derivatives are of first order and go backward, so `jax.jvp` is refused. Import by name: JAX is no part of stiction.
"""

import numpy as np

from ._core import ArgumentError
from ._util.extras import remedy
from .gradients import INPUTS, PureStep

try:
    import jax
    import jax.numpy as jnp
    from jax.custom_derivatives import SymbolicZero
except ImportError as missing:
    raise ImportError(f"stiction.jax needs JAX: {remedy('jax')}") from missing


def _numbers(arrays):
    return {name: np.asarray(x).astype(np.float64) for name, x in arrays.items()}


def _as(results, arrays):
    return {name: x.astype(arrays[name].dtype) for name, x in results.items()}


class _Function:
    """A function of arrays by name, which calls a PureStep: that of the step; `_Rollout` has that of many.

    What JAX calls back are methods, the same for every call, so that it compiles a call once. Values that are wanted
    are named by the keys of a dict without leaves: a part of the structure, which JAX keeps with what it compiled.
    """

    def __init__(self, pure):
        self.pure = pure
        self.shapes = {name: np.shape(getattr(pure.batch, name)) for name in pure.state}
        self._differentiable = jax.custom_vjp(self._apply)
        self._differentiable.defvjp(self._apply_and_keep, self._pull, symbolic_zeros=True)

    def __call__(self, values):
        return self._differentiable(values)

    def declared(self, values):
        return {name: jax.ShapeDtypeStruct(shape, values[name].dtype) for name, shape in self.shapes.items()}

    def forward(self, values):
        return self.pure(values)

    def backward(self, values, results, gradients, wanted):
        return self.pure.pull(values, gradients, wanted)

    def kept(self, values, results):
        """What of the results backward gets."""
        return {}

    # under vmap calls go one after another: what runs side by side are the environments of the batch
    def _apply(self, values):
        return jax.pure_callback(self._forward, self.declared(values), values, vmap_method="sequential")

    def _apply_and_keep(self, primals):
        values = {name: x.value for name, x in primals.items()}
        results = self._apply(values)
        wanted = {name: () for name, x in primals.items() if x.perturbed}
        return results, (values, self.kept(values, results), wanted)

    def _pull(self, residuals, outer):
        values, results, wanted = residuals
        gradients = {name: g for name, g in outer.items() if not isinstance(g, SymbolicZero)}
        declared = {name: jax.ShapeDtypeStruct(values[name].shape, values[name].dtype) for name in wanted}
        given = (values, results, gradients, wanted)
        found = jax.pure_callback(self._backward, declared, *given, vmap_method="sequential")
        return ({name: found.get(name) for name in values},)

    def _forward(self, values):
        return _as(self.forward(_numbers(values)), values)

    def _backward(self, values, results, gradients, wanted):
        found = self.backward(_numbers(values), _numbers(results), _numbers(gradients), tuple(wanted))
        return _as(found, values)


class _Rollout(_Function):
    def declared(self, values):
        return {name: jax.ShapeDtypeStruct((len(values["ctrl"]) + 1, *x.shape), x.dtype)
                for name, x in super().declared(values).items()}  # fmt: skip

    def forward(self, values):
        return self.pure.rollout(values, values["ctrl"], **self._others(values))

    def backward(self, values, results, gradients, wanted):
        states = results or self.forward(values)
        return self.pure.pull_rollout(states, values["ctrl"], gradients, wanted, **self._others(values))

    def kept(self, values, results):
        """States, unless they were rounded to fewer digits than the batch has: a rollout does not go on from those, so
        backward makes them again."""
        digits = lambda x: jnp.finfo(x.dtype).eps
        exact = all(digits(x) <= digits(getattr(self.pure.batch, name)) for name, x in results.items())
        return results if exact else {}

    def _others(self, values):
        return {name: x for name, x in values.items() if name not in (*self.pure.state, "ctrl")}


class Step:
    """The step of a batch, whose state it overwrites, as a function of arrays: `PureStep` with `jax.grad`.

    params: names of parameters, which become own to each environment, that may be given and differentiated.

    JAX returns before it has called back, from a thread of its own. Its calls take turns; wait for the results
    (`jax.block_until_ready`) before you use the batch yourself. An error of the batch, as of a mass below zero, is
    then in the message of JAX's own.
    """

    def __init__(self, batch, params=()):
        self._pure = PureStep(batch, params)
        self._step, self._rollout = _Function(self._pure), _Rollout(self._pure)

    @property
    def status(self):
        """(num_envs) bits of Status of the step that was differentiated last."""
        return self._pure.status

    def _arguments(self, state, ctrl, given, lead):
        """Arrays by name. JAX knows their shapes before it runs anything, so mistakes are refused here."""
        if len(state) != len(self._pure.state):
            raise ArgumentError(f"state: given {len(state)} arrays; expected {', '.join(self._pure.state)}")
        values = dict(zip(self._pure.state, state, strict=True)) | {"ctrl": ctrl} | given
        shapes = self._pure.shapes(x for x in values if values[x] is not None)
        if lead:
            shapes["ctrl"] = (*lead, *shapes["ctrl"])
        arrays = {name: jnp.asarray(values[name]) for name in shapes}
        for name, x in arrays.items():
            if x.shape != shapes[name]:
                raise ArgumentError(f"{name}: given shape {x.shape}; expected {shapes[name]}")
        floating = {name: jnp.issubdtype(x.dtype, jnp.floating) for name, x in arrays.items()}
        return {name: x if floating[name] else x.astype(float) for name, x in arrays.items()}

    def step(self, state, ctrl=None, **given):
        """(qpos, qvel), with act behind them where the model has activations, after one step from `state`.

        Of the types of `state`. Raises ArgumentError on an unknown name or another shape than the batch's."""
        after = self._step(self._arguments(state, ctrl, given, ()))
        return tuple(after[name] for name in self._pure.state)

    def rollout(self, state, ctrl, **given):
        """States (T + 1, num_envs, ...), `state` the first of them, under controls (T, num_envs, nu). Backward goes
        from each of these; with fewer digits than the batch's (qpos has those of a double) it makes them again."""
        states = self._rollout(self._arguments(state, ctrl, given, np.shape(ctrl)[:1]))
        return tuple(states[name] for name in self._pure.state)


def step(batch, state, ctrl=None, **params):
    """One step of a batch: `Step(batch, params).step(state, ctrl, **params)`. Who makes many keeps the Step."""
    return Step(batch, tuple(name for name in params if name not in INPUTS)).step(state, ctrl, **params)


def rollout(batch, state, ctrl, **params):
    """As `step`, over T steps: states (T + 1, num_envs, ...)."""
    return Step(batch, tuple(name for name in params if name not in INPUTS)).rollout(state, ctrl, **params)
