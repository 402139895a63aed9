"""Steps as functions of arrays: the same bits for the same numbers, and gradients against differences."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import stiction
from jacobian_scenes import SCENES
from stiction.gradients import PureStep

EXACT = stiction.Options(solver_tolerance=1e-14, max_iterations=100, friction_iterations="fixed_point")


def values_of(name, num_envs, steps=None):
    scene = SCENES[name]
    model = scene.model()
    rng = np.random.default_rng(5)
    shape = (num_envs, model.nu) if steps is None else (steps, num_envs, model.nu)
    values = {
        "qpos": np.tile(np.array(scene.qpos, float), (num_envs, 1)),
        "qvel": np.array(scene.qvel) + 1e-2 * rng.standard_normal((num_envs, model.nv)),
        "ctrl": np.resize(np.array(scene.ctrl, float), shape) if model.nu else np.zeros(shape),
    }
    return stiction.Batch(model, num_envs, options=EXACT, precision="float64", threads=1), values


def check_gradient(value_of, gradients, values, h=1e-6):
    """Along random directions; value_of(values) is the number that was differentiated."""
    rng = np.random.default_rng(11)
    for name, gradient in gradients.items():
        direction = rng.standard_normal(gradient.shape) * (values[name] != 0 if name not in ("qpos", "qvel", "ctrl") else 1)

        def at(x, name=name, direction=direction):
            return value_of(values | {name: values[name] + x * direction})

        expected = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
        assert np.sum(gradient * direction) == pytest.approx(expected, rel=1e-6, abs=1e-8), name


@pytest.mark.parametrize("name", ["flight", "arm", "sliding", "box on its edge"])
def test_gradient_of_a_step(name):
    """To the numbers of quaternions, too, which a step normalizes."""
    batch, values = values_of(name, 3)
    mass = np.array(batch.param("body_mass"))
    f = PureStep(batch, params=("body_mass",))
    values["body_mass"] = mass
    rng = np.random.default_rng(2)
    weights = {n: rng.standard_normal(values[n].shape) for n in ("qpos", "qvel")}

    def value_of(x):
        after = f(x)
        return sum(np.sum(weights[n] * after[n]) for n in weights)

    wanted = ("qpos", "qvel", "ctrl", "body_mass") if batch.model.nu else ("qpos", "qvel", "body_mass")
    found = f.pull(values, weights, wanted)
    assert not f.status.any()
    check_gradient(value_of, found, values)


@pytest.mark.parametrize("name", ["arm", "sliding", "impact"])
def test_gradient_of_a_rollout(name):
    batch, values = values_of(name, 2, steps=12)
    f = PureStep(batch, params=("body_mass",))
    mass = np.array(batch.param("body_mass"))
    ctrl = values.pop("ctrl")
    rng = np.random.default_rng(2)
    weights = {n: rng.standard_normal((13, *values[n].shape)) for n in ("qpos", "qvel")}

    def value_of(x):
        states = f.rollout({n: x[n] for n in ("qpos", "qvel")}, x["ctrl"], body_mass=x["body_mass"])
        return sum(np.sum(weights[n] * states[n]) for n in weights)

    states = f.rollout(values, ctrl, body_mass=mass)
    wanted = ("qpos", "qvel", "body_mass", *(("ctrl",) if batch.model.nu else ()))
    found = f.pull_rollout(states, ctrl, weights, wanted, body_mass=mass)
    check_gradient(value_of, found, values | {"ctrl": ctrl, "body_mass": mass})


def test_a_rollout_is_recomputed_to_the_bit():
    batch, values = values_of("arm", 4, steps=20)
    f = PureStep(batch)
    ctrl = values.pop("ctrl")
    states = f.rollout(values, ctrl)
    for t in reversed(range(20)):
        again = f({n: states[n][t] for n in f.state} | {"ctrl": ctrl[t]})
        assert all(again[n].tobytes() == states[n][t + 1].tobytes() for n in f.state)


def test_what_a_pure_step_cannot_be_is_refused():
    model = SCENES["sliding"].model()
    with pytest.raises(stiction.ArgumentError, match="anchors"):
        PureStep(stiction.Batch(model, 1, options=stiction.Options(stiction="anchored")))
    with pytest.raises(stiction.ArgumentError, match="restitution keep the speed of an impact"):
        bouncing = model.with_contact_material(None, stiffness=1e6, dissipation=20, restitution=0.5)
        PureStep(stiction.Batch(bouncing, 1, options=EXACT))
    with pytest.raises(stiction.ArgumentError, match="body_mass"):
        PureStep(stiction.Batch(model, 1, options=EXACT))({"body_mass": 1.0})
    with pytest.raises(stiction.ArgumentError, match="take 'fixed_point'"):
        PureStep(stiction.Batch(model, 1))


def test_no_call_depends_on_those_before_it():
    """What a call was given and the next one is not has the batch's numbers there, forward and backward."""
    batch, values = values_of("arm", 2)
    f = PureStep(batch, params=("body_mass",))
    state = {n: values[n] for n in f.state}
    weights = {"qvel": np.ones_like(values["qvel"])}
    after, pulled = f(state), f.pull(state, weights, ("qvel",))
    other = {"ctrl": values["ctrl"] + 1, "qfrc_applied": 3.0, "body_mass": 2 * np.array(batch.param("body_mass"))}
    assert not np.array_equal(f(state | other)["qvel"], after["qvel"])
    assert f(state)["qvel"].tobytes() == after["qvel"].tobytes()
    f.pull(state | other, weights, ("qvel",))
    assert f.pull(state, weights, ("qvel",))["qvel"].tobytes() == pulled["qvel"].tobytes()
    with pytest.raises(stiction.ArgumentError):
        f(state | other | {"body_mass": -1.0})
    assert f(state)["qvel"].tobytes() == after["qvel"].tobytes()


def test_threads_take_turns():
    """Over one batch, whichever function they call; a batch by itself raises where two threads are in it."""
    batch, values = values_of("sliding", 64)
    functions = [PureStep(batch), PureStep(batch)]
    weights = {"qvel": np.ones_like(values["qvel"])}
    starts = [values | {"qvel": values["qvel"] + 0.1 * k} for k in range(4)]

    def both(k):
        f = functions[k % 2]
        return f(starts[k])["qvel"].tobytes(), f.pull(starts[k], weights, ("qpos",))["qpos"].tobytes()

    alone = [both(k) for k in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(both, [*range(4)] * 5)) == alone * 5
