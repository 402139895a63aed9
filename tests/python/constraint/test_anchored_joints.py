"""Dry friction of joints and tendons under anchored stiction: a load below it is held at rest, one above it is not."""

import numpy as np
import pytest

import stiction

DT, LOSS = 0.002, 0.5
ANCHORED = stiction.Options(stiction="anchored", solver_tolerance=1e-12)
# an arm whose centre of mass is on the axis: gravity does nothing, a torque is its load; a pulley that a tendon holds
XML = f"""<mujoco><option timestep="{DT}" gravity="0 0 0"/><worldbody>
  <body><joint name="h" axis="0 1 0" frictionloss="{LOSS}"/><geom type="capsule" size=".05" fromto="-.2 0 0 .2 0 0" mass="1"/></body>
  <body pos="0 1 0"><joint name="a" type="slide" axis="0 0 1"/><geom size=".1" mass="2"/></body>
  <body pos="0 2 0"><joint name="b" type="slide" axis="0 0 1"/><geom size=".1" mass="1"/></body></worldbody>
  <tendon><fixed frictionloss="3"><joint joint="a" coef="1"/><joint joint="b" coef="-2"/></fixed></tendon></mujoco>"""
TAU = 5 * DT


@pytest.fixture(scope="module")
def model():
    return stiction.Model.from_xml(XML)


def loads(share):
    """On the hinge; on both slides along the tendon, as a share of its friction."""
    return share * np.array([LOSS, 3, -6])


@pytest.mark.parametrize("share", (0.1, 0.5, 0.9, 0.99, -0.7))
def test_a_load_below_is_held(model, share):
    """dz/dt = v: at rest -z/(tau R) = load, so z = tau R f share, and v falls with (1 - dt/tau)^n."""
    reference = stiction.Reference(model, ANCHORED)
    r = reference.rollout(model.qpos0, np.zeros(3), nstep=600, qfrc_applied=loads(share))
    assert np.abs(r.qvel[-1]).max() < 1e-12
    inertia = reference.forward(model.qpos0, np.zeros(3)).M
    w = [1 / inertia[0, 0], 1 / inertia[1, 1] + 4 / inertia[2, 2]]
    expected = TAU * ANCHORED.regularization * np.array(w) * DT * np.array([LOSS, 3]) * share
    np.testing.assert_allclose(r.friction_anchor[[0, 3]], expected, rtol=1e-6)
    np.testing.assert_array_equal(r.friction_anchor[[1, 2]], 0)


def test_regularized_friction_creeps(model):
    reference = stiction.Reference(model, stiction.Options(solver_tolerance=1e-12))
    r = reference.rollout(model.qpos0, np.zeros(3), nstep=600, qfrc_applied=loads(0.5))
    inertia = reference.forward(model.qpos0, np.zeros(3)).M[0, 0]
    assert r.qvel[-1, 0] == pytest.approx(reference.options.regularization / inertia * DT * LOSS * 0.5, rel=1e-6)
    assert not r.friction_anchor.any()


@pytest.mark.parametrize("share", (1.01, 1.5))
def test_a_load_above_moves_it(model, share):
    reference = stiction.Reference(model, ANCHORED)
    r = reference.rollout(model.qpos0, np.zeros(3), nstep=500, qfrc_applied=loads(share))
    inertia = reference.forward(model.qpos0, np.zeros(3)).M[0, 0]
    assert r.qvel[-1, 0] == pytest.approx((share - 1) * LOSS / inertia * 500 * DT, rel=0.02)
    # all of the friction at once when the load is gone
    after = reference.step(r.qpos[-1], r.qvel[-1], friction_anchor=r.friction_anchor)
    assert after.qvel[0] == pytest.approx(r.qvel[-1, 0] - DT * LOSS / inertia, rel=1e-9)


def test_what_was_dragged_stays_where_it_stops(model):
    """The anchor ends with all of the friction, however far the joint was dragged: nothing pulls it back."""
    reference = stiction.Reference(model, ANCHORED)
    dragged = reference.rollout(model.qpos0, np.zeros(3), nstep=500, qfrc_applied=loads(1.5))
    r = reference.rollout(dragged.qpos[-1], dragged.qvel[-1], nstep=1500, friction_anchor=dragged.friction_anchor)
    inertia = reference.forward(model.qpos0, np.zeros(3)).M[0, 0]
    # it stops within I v^2 / (2 f), and gives back at most the z with which all of the friction was used
    stop = inertia * dragged.qvel[-1, 0] ** 2 / (2 * LOSS)
    assert r.qpos[:, 0].max() - dragged.qpos[-1, 0] == pytest.approx(stop, rel=0.01)
    reach = TAU * ANCHORED.regularization / inertia * DT * LOSS
    assert r.qpos[:, 0].max() - r.qpos[-1, 0] <= reach
    assert np.abs(r.qvel[-1, 0]) < 1e-9


def test_a_load_to_and_fro_leaves_it_where_it_is(model):
    """300 periods of ±0.8 of the friction: the mean position stays to 1e-12 rad a period."""
    reference = stiction.Reference(model, ANCHORED)
    q, v, z, period = model.qpos0, np.zeros(3), np.zeros(4), 50
    means = []
    for cycle in range(300):
        total = 0.0
        for k in range(period):
            share = 0.8 * np.sin(2 * np.pi * (k + 0.5) / period)
            s = reference.step(q, v, friction_anchor=z, qfrc_applied=loads(share))
            q, v, z = s.qpos, s.qvel, s.friction_anchor
            total += q[0]
        if cycle > 20:
            means.append(total / period)
    assert abs(means[-1] - means[0]) / len(means) < 1e-12


@pytest.mark.parametrize(("precision", "still"), (("float64", 1e-12), ("float32", 1e-6)))
def test_of_a_batch(model, precision, still):
    """Held, and one step from any anchor is the reference's."""
    options = stiction.Options(stiction="anchored", solver_tolerance=1e-12 if precision == "float64" else None)
    batch = stiction.Batch(model, 8, precision=precision, options=options)
    reference = stiction.Reference(model, batch.options)
    batch.reset()
    batch.qfrc_applied[:] = loads(0.6)
    batch.step(600)
    assert np.abs(batch.qvel).max() < still and not batch.status.any()
    rng = np.random.default_rng(1)
    tolerance = 1e-12 if precision == "float64" else 2e-5
    for _ in range(20):
        z = rng.uniform(-2, 2, (8, 4)) * np.abs(batch.friction_anchor[0]).max()
        v = rng.normal(size=(8, 3)) * 10.0 ** rng.uniform(-5, 0, (8, 1))
        batch.reset(qvel=v, friction_anchor=z)
        v0, z0 = batch.qvel.copy(), batch.friction_anchor.copy()
        batch.step()
        for env in range(8):
            expected = reference.step(model.qpos0, v0[env], friction_anchor=z0[env])
            np.testing.assert_allclose(batch.qvel[env], expected.qvel, rtol=tolerance, atol=1e-3 * tolerance)
            np.testing.assert_allclose(batch.friction_anchor[env], expected.friction_anchor, rtol=tolerance, atol=tolerance * np.abs(z).max())


def test_anchors_are_state(model, tmp_path):
    """Saved, copied, set, reset, hashed."""
    batch = stiction.Batch(model, 4, options=ANCHORED)
    batch.reset()
    batch.qfrc_applied[:] = np.arange(4)[:, None] / 5 * loads(1)
    batch.step(50)
    assert batch.friction_anchor[1:, [0, 3]].all()
    state, anchors = batch.get_state(), batch.friction_anchor.copy()
    batch.save(tmp_path / "state")
    batch.step(3)
    after = batch.qpos.copy()
    batch.load(tmp_path / "state")
    np.testing.assert_array_equal(batch.friction_anchor, anchors)
    batch.step(3)
    np.testing.assert_array_equal(batch.qpos, after)
    batch.set_state(**state)
    batch.step(3)
    np.testing.assert_array_equal(batch.qpos, after)
    batch.copy([3], [0])
    np.testing.assert_array_equal(batch.friction_anchor[0], batch.friction_anchor[3])
    batch.reset([3])
    assert not batch.friction_anchor[3].any()
    batch.set_state([2], qpos=batch.qpos[2])
    assert not batch.friction_anchor[2].any()


def test_without_anchored_stiction_there_are_none(model):
    batch = stiction.Batch(model, 2)
    assert batch.friction_anchor.shape == (2, 0)
    with pytest.raises(stiction.ArgumentError, match="friction_anchor"):
        batch.set_state(friction_anchor=np.zeros((2, 4)))


@pytest.mark.parametrize("bad", (np.zeros(3), np.full(4, np.nan)))
def test_bad_anchors(model, bad):
    with pytest.raises(stiction.ArgumentError, match="friction_anchor"):
        stiction.Reference(model, ANCHORED).step(model.qpos0, np.zeros(3), friction_anchor=bad)


def test_derivative(model):
    """Also where z decides: all of the friction is used where |v + z/tau| > (1 + sigma) w dt f."""
    reference, rng, decided = stiction.Reference(model, ANCHORED), np.random.default_rng(3), 0
    sigma, stops = ANCHORED.regularization, DT * LOSS / reference.forward(model.qpos0, np.zeros(3)).M[0, 0]  # w dt f
    for _ in range(20):
        z = np.array([TAU * sigma * stops, 0, 0, 1e-7]) * rng.uniform(-1, 1, 4)
        v = np.array([stops * (1 + sigma * rng.uniform(0, 2)), *rng.uniform(-1e-6, 1e-6, 2)])
        to_qvel, without = (np.asarray(reference.step_jacobian(model.qpos0, v, friction_anchor=a).state)[3:, 3:] for a in (z, None))
        decided += np.abs(to_qvel - without).max() > 0.5
        for i in range(3):
            e = 1e-9 * np.eye(3)[i]
            up, down = (reference.step(model.qpos0, v + s * e, friction_anchor=z).qvel for s in (1, -1))
            np.testing.assert_allclose(to_qvel[:, i], (up - down) / 2e-9, atol=1e-6)
    assert decided > 2
