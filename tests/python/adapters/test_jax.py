"""stiction.jax: gradients against differences of the batch and products with its Jacobian, compiled, too."""

import subprocess
import sys

import numpy as np
import pytest

import stiction
from jacobian_scenes import SCENES
from stiction.gradients import number_gradient, tangent_gradient

jax = pytest.importorskip("jax", reason="jax is missing: ./dev setup --train")

import jax.numpy as jnp  # noqa: E402

import stiction.jax  # noqa: E402

EXACT = stiction.Options(solver_tolerance=1e-14, max_iterations=100, friction_iterations="fixed_point")


@pytest.fixture(autouse=True)
def x64():
    with jax.enable_x64(True):
        yield


def made(name, num_envs=2, precision="float64", options=EXACT):
    """A batch, and a state and controls of each environment a little apart from the others'."""
    scene = SCENES[name]
    batch = stiction.Batch(scene.model(), num_envs, options=options, precision=precision, threads=1)
    rng = np.random.default_rng(5)

    def array(numbers, noise=0.0):
        numbers = np.tile(np.array(numbers, float), (num_envs, 1))
        return jnp.asarray(numbers + noise * rng.standard_normal(numbers.shape))

    ctrl = array(scene.ctrl) if batch.model.nu else None
    return batch, (array(scene.qpos), array(scene.qvel, 1e-2)), ctrl


def weights_of(*arrays):
    rng = np.random.default_rng(2)
    return tuple(rng.standard_normal(x.shape) for x in arrays)


def weighted(weights, state):
    return sum((w * x).sum() for w, x in zip(weights, state, strict=True))


def check(loss, found, at, h=1e-6):
    """Along a random direction of each argument; `loss` is a function of all of them, qpos and qvel first. Others stay
    where they are 0: the world has no mass."""
    rng = np.random.default_rng(11)
    for k, (gradient, x) in enumerate(zip(found, at, strict=True)):
        direction = rng.standard_normal(x.shape) * (1 if k < 2 else np.asarray(x) != 0)

        def value(s, k=k, x=x, direction=direction):
            return float(loss(*at[:k], x + s * direction, *at[k + 1 :]))

        expected = (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h)
        assert float((gradient * direction).sum()) == pytest.approx(expected, rel=1e-6, abs=1e-8), k


@pytest.mark.parametrize("compiled", [False, True], ids=["", "jit"])
@pytest.mark.parametrize("name", ["flight", "arm", "sliding", "box on its edge"])
def test_gradient_of_a_step(name, compiled):
    """To the numbers of quaternions, too, which a step normalizes."""
    batch, state, ctrl = made(name)
    f = stiction.jax.Step(batch, params=("body_mass",))
    inputs = () if ctrl is None else (ctrl,)
    weights = weights_of(*state)

    def loss(qpos, qvel, mass, *ctrl):
        return weighted(weights, f.step((qpos, qvel), *ctrl, body_mass=mass))

    at = (*state, jnp.asarray(batch.param("body_mass")), *inputs)
    gradient = jax.grad(loss, argnums=tuple(range(len(at))))
    check(loss, (jax.jit(gradient) if compiled else gradient)(*at), at)
    assert not f.status.any()


def test_gradient_is_the_jacobian_from_the_left():
    batch, state, ctrl = made("arm")
    f = stiction.jax.Step(batch)
    weights = weights_of(*state)
    after, pull = jax.vjp(lambda *x: f.step(x[:2], x[2]), *state, ctrl)
    found = pull(tuple(jnp.asarray(w) for w in weights))

    batch.set_state(qpos=np.asarray(state[0]), qvel=np.asarray(state[1]))
    batch.ctrl[:] = ctrl
    d = stiction.StepDerivative(batch, wrt=("qpos", "qvel", "ctrl"))
    tangents = tangent_gradient(batch.model, np.asarray(after[0]), weights[0])
    product = np.einsum("er,erc->ec", np.concatenate([tangents, weights[1]], axis=1), d.jacobian())
    expected = {name: product[:, columns] for name, columns in d.wrt.items()}
    expected["qpos"] = number_gradient(batch.model, np.asarray(state[0]), expected["qpos"])
    for x, name in zip(found, ("qpos", "qvel", "ctrl"), strict=True):
        np.testing.assert_allclose(x, expected[name], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["arm", "impact"])
def test_gradient_of_a_rollout(name):
    batch, state, ctrl = made(name)
    f = stiction.jax.Step(batch, params=("body_mass",))
    shape = (12, batch.num_envs, batch.model.nu)
    controls = jnp.zeros(shape) if ctrl is None else jnp.broadcast_to(ctrl, shape)
    weights = weights_of(*jax.eval_shape(f.rollout, state, controls))

    def loss(qpos, qvel, mass, *controls):
        u = controls[0] if controls else jnp.zeros(shape)
        return weighted(weights, f.rollout((qpos, qvel), u, body_mass=mass))

    at = (*state, jnp.asarray(batch.param("body_mass")), *((controls,) if batch.model.nu else ()))
    check(loss, jax.jit(jax.grad(loss, argnums=tuple(range(len(at)))))(*at), at)


def test_a_rollout_is_steps_in_a_row():
    """In a loop that JAX compiles, too, and to the bit."""
    batch, state, ctrl = made("arm")
    f = stiction.jax.Step(batch)
    controls = ctrl + 0.1 * np.random.default_rng(1).standard_normal((8, *ctrl.shape))

    def by_rollout(state, controls):
        states = f.rollout(state, controls)
        return sum((x**2).sum() for x in states), states

    def by_steps(state, controls):
        def one(now, u):
            after = f.step(now, u)
            return after, after

        _, states = jax.lax.scan(one, state, controls)
        states = tuple(jnp.concatenate([x[None], y]) for x, y in zip(state, states, strict=True))
        return sum((x**2).sum() for x in states), states

    (found, states), (expected, steps) = (
        jax.jit(jax.grad(g, argnums=(0, 1), has_aux=True))(state, controls) for g in (by_rollout, by_steps)
    )
    assert all(np.array_equal(a, b) for a, b in zip(states, steps, strict=True))
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def test_the_same_bits_again_and_calls_that_overlap():
    """JAX orders calls that do not depend on each other as it likes, and may make them side by side."""
    batch, state, ctrl = made("arm", num_envs=32)
    f = stiction.jax.Step(batch, params=("body_mass",))
    mass = jnp.asarray(batch.param("body_mass"))

    def loss(qvel, force):
        a = f.step((state[0], qvel), ctrl, body_mass=2 * mass)
        b = f.step((state[0], qvel), qfrc_applied=force)
        c = f.step((state[0], qvel))
        return a[1].sum() + (b[1] ** 2).sum() + (c[0] ** 2).sum()

    force = jnp.ones_like(state[1])
    alone = jax.grad(loss, argnums=(0, 1))(state[1], force)
    together = jax.jit(jax.grad(loss, argnums=(0, 1)))
    first = together(state[1], force)
    for x, y in zip(first, alone, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-14)
    for again in [together(state[1], force) for _ in range(10)]:
        assert all(np.array_equal(x, y) for x, y in zip(again, first, strict=True))


def test_only_what_is_differentiated_costs():
    batch, state, ctrl = made("arm")
    f = stiction.jax.Step(batch, params=("body_mass",))
    mass = jnp.asarray(batch.param("body_mass"))
    asked = []
    pull, f._pure.pull = f._pure.pull, lambda *a: asked.append((set(a[1]), a[2])) or pull(*a)
    jax.jit(jax.grad(lambda u: f.step(state, u, body_mass=mass)[1].sum()))(ctrl).block_until_ready()
    assert asked == [({"qvel"}, ("ctrl",))]


def test_vmap_goes_one_after_another():
    batch, state, _ = made("sliding", num_envs=1)
    f = stiction.jax.Step(batch)
    speeds = state[1] + 0.1 * jnp.arange(3.0)[:, None, None]
    step = lambda v: f.step((state[0], v))[1]
    assert np.array_equal(jax.vmap(step)(speeds), jnp.stack([step(v) for v in speeds]))
    d = stiction.StepDerivative(batch, of=("qvel",), wrt=("qvel",))
    batch.set_state(qpos=np.asarray(state[0]), qvel=np.asarray(state[1]))
    expected = d.jacobian()[0]
    np.testing.assert_allclose(jax.jacrev(step)(state[1])[0, :, 0], expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_float32_arrays(precision):
    """As JAX has them by default. A batch has more digits, of qpos always: no state in between is rounded to theirs."""
    batch, state, _ = made("sliding", precision=precision)
    f = stiction.jax.Step(batch)
    controls = jnp.zeros((5, 2, 0), jnp.float32)
    state = tuple(x.astype(jnp.float32) for x in state)

    def loss(state, controls):
        return sum(x[-1].sum() for x in f.rollout(state, controls))

    wide = tuple(x.astype(jnp.float64) for x in state), controls.astype(jnp.float64)
    expected = jax.grad(loss)(*wide)
    with jax.enable_x64(False):
        after = stiction.jax.step(batch, state)
        assert all(x.dtype == jnp.float32 for x in after)
        found = jax.jit(jax.grad(loss))(state, controls)
    for x, y in zip(found, expected, strict=True):
        assert x.dtype == jnp.float32
        np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-7)  # rounded once


def test_activations_and_integers():
    xml = """<mujoco><worldbody><body><joint name="a" type="hinge" axis="0 1 0"/><geom size="0.1"/></body></worldbody>
      <actuator><general joint="a" dyntype="integrator" gainprm="3"/></actuator></mujoco>"""
    batch = stiction.Batch(stiction.Model.from_xml(xml), 2, options=EXACT, precision="float64", threads=1)
    f = stiction.jax.Step(batch)
    state = tuple(jnp.full((2, 1), x) for x in (0.1, 0.2, 0.3))
    after = f.step(state, np.ones((2, 1), int))
    assert len(after) == 3 and np.all(after[2] > 0.3)
    loss = lambda *state: weighted((1.0, 2.0, 3.0), f.step(state))
    check(loss, jax.grad(loss, argnums=(0, 1, 2))(*state), state)


def test_mistakes_are_refused_before_anything_runs():
    batch, state, ctrl = made("arm")
    f = stiction.jax.Step(batch)
    with pytest.raises(stiction.ArgumentError, match="given 1 arrays; expected qpos, qvel"):
        jax.jit(f.step)(state[:1])
    with pytest.raises(stiction.ArgumentError, match=r"ctrl: given shape \(3,\); expected \(2, 3\)"):
        jax.jit(f.step)(state, ctrl[0])
    with pytest.raises(stiction.ArgumentError, match=r"ctrl: given shape \(2, 3\); expected \(2, 2, 3\)"):
        f.rollout(state, ctrl)
    with pytest.raises(stiction.ArgumentError, match="body_mass"):
        f.step(state, ctrl, body_mass=1.0)
    with pytest.raises(ValueError, match="do not support JVP"):
        jax.grad(lambda v: jax.grad(lambda v: f.step((state[0], v))[1].sum())(v).sum())(state[1])
    f = stiction.jax.Step(batch, params=("body_mass",))
    with pytest.raises(Exception, match="body_mass"):  # JAX's, from within what it runs
        jax.block_until_ready(f.step(state, body_mass=-jnp.asarray(batch.param("body_mass"))))
    assert np.isfinite(f.step(state)[1]).all()


def test_without_jax_a_sentence_says_what_is_missing():
    code = "import sys; sys.modules['jax'] = None; import stiction.jax"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode and "stiction.jax needs JAX: " in done.stderr.splitlines()[-1]
