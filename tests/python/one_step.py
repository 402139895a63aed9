"""One step of a float32 batch against the reference from the same state, in the norm of A."""

import re
from dataclasses import dataclass

import numpy as np

import stiction
import tangents
from stiction.control import control_range

GRAVITY = 9.81
# The stopping rule bounds ‖D r‖ <= ε_r scale, the error is ‖r‖ in the norm of A⁻¹: up to
# 1/sqrt(λ_min(D A D)) more, 8 for a G1. A tolerance near round-off takes that part away.
TIGHT = 1e-6
STALLED = 1e-2  # kStalledResidual: what a stalled step may be off by without saying `inaccurate`


def on_floor(path, law="lagged"):
    """The model of a file, with a floor if it has none. Similar and SAP have sliding friction alone."""
    text = path.read_text()
    if law != "lagged":
        text = re.sub(r'condim="[46]"', 'condim="3"', text)
    if 'type="plane"' not in text:
        text = text.replace("<worldbody>", '<worldbody><geom type="plane" size="9 9 1" '
                            'friction="0.8" priority="9" condim="3" contype="7" conaffinity="7"/>', 1)
    return stiction.Model.from_xml(text)


def visited_states(model, count, rng, num_envs=10, hold=25, precision="float64",
                   noise=False):
    """(qpos, qvel, ctrl) of a batch that moves under random controls: robots that fall and fight.

    Controls span from none to all of their range over the environments, or all of it in each with
    `noise`; each is held for `hold`
    steps, then the states are taken. Velocities get 10 % of noise, so that no state is one that a
    solver has just left.
    """
    batch = stiction.Batch(model, num_envs=num_envs, precision=precision)
    scale = np.sqrt(np.mean(model.dof_invweight0)) if model.nv else 1.0
    start = model.key_qpos[0] if model.nkey else model.qpos0
    batch.set_state(qpos=np.tile(start, (num_envs, 1)),
                    qvel=0.05 * scale * rng.normal(size=(num_envs, model.nv)))
    low, high = control_range(model)
    amplitude = np.full((num_envs, 1), 1.0) if noise else np.linspace(0, 1, num_envs)[:, None]
    states = []
    while sum(len(s[0]) for s in states) < count:
        batch.ctrl[:] = low + (high - low) * (
            0.5 + amplitude * (rng.random((num_envs, model.nu)) - 0.5))
        batch.step(hold)
        v = np.array(batch.qvel)
        v += 0.1 * np.abs(v).mean(axis=1, keepdims=True) * rng.normal(size=v.shape)
        states.append((np.array(batch.qpos), v, np.array(batch.ctrl)))
        frozen = np.asarray(batch.status) & np.uint32(0b1101) != 0
        if frozen.any():
            batch.reset(frozen)
    return [np.concatenate(x)[:count].astype(np.float32).astype(float) if i else
            np.concatenate(x)[:count] for i, x in enumerate(zip(*states))]


@dataclass
class Errors:
    error: np.ndarray  # ||v - v_ref||_A / (||v_ref||_A + sqrt(mass) g dt)
    stalled: np.ndarray  # bool
    inaccurate: np.ndarray  # bool: the step says so
    edge: np.ndarray  # bool: rounding the state changes the reference's answer as much
    stopped: np.ndarray  # bool: solved to TIGHT instead, the error is below the tolerance
    contacts: np.ndarray
    iterations: np.ndarray

    def unexplained(self, tolerance):
        left = (self.error > tolerance) & ~self.edge & ~self.stopped
        return left & ~self.inaccurate & ~(self.stalled & (self.error <= STALLED))


def stepped(model, qpos, qvel, ctrl, precision, act=None, **options):
    """A batch one step after the given states."""
    batch = stiction.Batch(model, num_envs=len(qpos), options=stiction.Options(**options),
                           precision=precision)
    batch.set_state(qpos=qpos, qvel=qvel, **({} if act is None else {"act": act}))
    batch.ctrl[:] = ctrl
    batch.step()
    return batch


def steps_of_both(model, precision, qpos, qvel, ctrl, act=None):
    """A batch one step after the given states, and the reference's steps from them, each solved as far as it goes.
    Velocities and controls are rounded to the precision of the batch. One solve: "auto" of a batch is right within 2 %."""
    qvel, ctrl = (np.asarray(x, dtype=precision).astype(float) for x in (qvel, ctrl))
    batch = stepped(model, qpos, qvel, ctrl, precision, act,
                    solver_tolerance=1e-12 if precision == "float64" else 1e-5, friction_iterations=1)
    reference = stiction.Reference(model, stiction.Options(solver_tolerance=1e-12, friction_iterations=1))
    acts = [None] * len(qpos) if act is None else act
    return batch, [reference.step(q, v, u, **({} if a is None else {"act": a}))
                   for q, v, u, a in zip(qpos, qvel, ctrl, acts)]


def compare(model, qpos, qvel, ctrl, tolerance=1e-4, precision="float32", **options):
    """Errors of one step from every state; the reference is solved to 1e-10."""
    n = len(qpos)
    batch = stepped(model, qpos, qvel, ctrl, precision, **options)
    tighter = min(TIGHT, options.get("solver_tolerance", TIGHT))
    tight = stepped(model, qpos, qvel, ctrl, precision, **{**options, "solver_tolerance": tighter})
    reference = stiction.Reference(
        model, stiction.Options(**{**options, "solver_tolerance": 1e-10, "max_iterations": 100}))
    dt = reference.options.timestep
    weight = np.sqrt(model.body_mass.sum()) * GRAVITY * dt
    result = Errors(np.zeros(n), np.asarray(batch.status) & np.uint32(1 << 5) != 0,
                    np.asarray(batch.status) & np.uint32(1 << 8) != 0,
                    np.zeros(n, bool), np.zeros(n, bool), np.zeros(n, int),
                    np.array(batch.solver_niter, int).ravel())

    def difference(a, b, A):
        d = a - b
        return np.sqrt(d @ A @ d) / (np.sqrt(b @ A @ b) + weight)

    for i in range(n):
        s = reference.step(qpos[i], qvel[i], ctrl[i])
        result.error[i] = difference(np.array(batch.qvel[i], float), s.qvel, s.A)
        result.contacts[i] = len(s.contacts)
        if result.error[i] > tolerance:
            # a state one rounding away
            near = [reference.step(qpos[i], qvel[i] * (1 + sign * 6e-8), ctrl[i]).qvel
                    for sign in (-1, 1)]
            result.stopped[i] = difference(np.array(tight.qvel[i], float), s.qvel, s.A) <= tolerance
            result.edge[i] = max(difference(v, s.qvel, s.A) for v in near) > 0.1 * tolerance
    return result


def steps_as_the_reference(batch, *inputs):
    """Steps a float64 batch once and compares it with the reference, which solves with the same options.

    `inputs` are the names of fields that Reference.step takes besides qpos and qvel. Returns the
    reference's steps.
    """
    model = batch.model
    engine = stiction.Reference(model, batch.options)
    expected = [engine.step(batch.qpos[k], batch.qvel[k], **{name: getattr(batch, name)[k] for name in inputs})
                for k in range(batch.num_envs)]
    batch.step()
    for k, step in enumerate(expected):
        np.testing.assert_allclose(batch.qvel[k], step.qvel, atol=1e-9 * np.abs(step.qvel).max())
        np.testing.assert_allclose(batch.qfrc_constraint[k] * batch.options.timestep, step.gen_impulse,
                                   atol=1e-8 * np.abs(step.gen_impulse).max())
    return expected


def steps_as_alone(batch, steps, envs, *inputs):
    """Steps a batch and, by themselves, some of its environments: the same bits. `inputs` as above."""
    start = batch.get_state()
    given = {name: getattr(batch, name).copy() for name in inputs}
    batch.step(steps)
    for k in envs:
        alone = stiction.Batch(batch.model, 1, options=batch.options, precision=batch.precision)
        alone.set_state(**{name: value[[k]] for name, value in start.items()})
        for name, value in given.items():
            getattr(alone, name)[:] = value[k]
        alone.step(steps)
        np.testing.assert_array_equal(alone.qpos[0], batch.qpos[k])
        np.testing.assert_array_equal(alone.qvel[0], batch.qvel[k])


def jacobian_is_the_difference(model, qpos, qvel, tolerance, **inputs):
    """Compares Reference.step_jacobian with differences of steps, relative to its largest number."""
    engine = stiction.Reference(model, stiction.Options(solver_tolerance=1e-14, max_iterations=100))
    expected = tangents.differences(lambda q, v, _: engine.step(q, v, **inputs), model, qpos, qvel,
                                    np.zeros(0), 1e-4, 1e-4)[0]
    found = engine.step_jacobian(qpos, qvel, **inputs).state
    assert np.abs(found - expected).max() < tolerance * np.abs(expected).max()
