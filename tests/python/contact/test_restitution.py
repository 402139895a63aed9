"""Restitution: what meets at v_a parts at e v_a. Heights against closed forms, rest, energy, state, and both engines."""

import itertools

import numpy as np
import pytest

import engines
import stiction

G = 9.81
RIGID, SOFT = 1e7, 2e4  # N/m; the second bounces as a spring at steps of up to 0.5 ms
SHAPES = {
    "sphere": 'type="sphere" size=".1"',
    "capsule": 'type="capsule" size=".1 .2" euler="0 90 0"',
    "box": 'type="box" size=".1 .2 .1"',
    "cylinder": 'type="cylinder" size=".2 .1"',
    "ellipsoid": 'type="ellipsoid" size=".2 .15 .1"',
    "mesh": 'type="mesh" mesh="cube"',
}
CUBE = ('<asset><mesh name="cube" vertex="-.1 -.1 -.1 .1 -.1 -.1 -.1 .1 -.1 .1 .1 -.1 '
        '-.1 -.1 .1 .1 -.1 .1 -.1 .1 .1 .1 .1 .1"/></asset>')
FLOORS = {"plane": 'type="plane" size="9 9 1"', "box": 'type="box" size="2 2 .5" pos="0 0 -.5"'}


def dropped(shape="sphere", floor="plane", k=RIGID, e=0.5, height=1.0, dt=0.001, d=20, more="", gravity=G):
    """What is `shape` falls by `height`, its lowest point 0.1 below its origin."""
    return stiction.Model.from_xml(f"""
    <mujoco><option timestep="{dt}" gravity="0 0 {-gravity}"/>
    <custom><numeric name="stiction_contact" data="{k} {d} {e}"/></custom>{CUBE}
    <worldbody><geom {FLOORS[floor]}/><body pos="0 0 {0.1 + height}"><freejoint/>
     <geom {SHAPES[shape]} mass="1"/></body>{more}</worldbody></mujoco>""")


def heights(batch, fall, bounces=1):
    """The highest points after each of the first bounces, of all environments, above that at rest."""
    z = [batch.qpos[:, 2].copy()]
    for _ in range(round(fall / batch.options.timestep)):
        batch.step()
        z.append(batch.qpos[:, 2].copy())
    assert not np.any(batch.status)
    z = np.array(z)
    tops = []
    for track in z.T:
        at = 1 + np.flatnonzero((track[1:-1] > track[:-2]) & (track[1:-1] >= track[2:]))
        tops.append([*(track[at] - 0.1), *np.zeros(bounces)][:bounces])
    return np.array(tops).T


def swept(model, restitutions, offsets=(0, 0.0013, 0.0029), precision="float64", **options):
    """A batch with each of the coefficients in some environments, which begin a little higher than each other."""
    cases = np.array(list(itertools.product(restitutions, offsets)))
    batch = stiction.Batch(model, len(cases), options=stiction.Options(**options), precision=precision)
    batch.param("pair_restitution")[:] = cases[:, :1]
    start = np.repeat(model.qpos0[None], len(cases), 0)
    start[:, 2] += cases[:, 1]
    batch.reset(qpos=start)
    return batch, cases[:, 0], start[:, 2] - 0.1


def off(dt, e, h, k=RIGID):
    """How far from e² h the top may be, m. Gravity between the start of the touching step and the surface takes 2 δt g/v_a
    of it, the stiffness of the two steps 0.2 % (1 + e)/e; on the way of a spring of k, about v_a/ω deep, gravity works, and
    its e is right to 0.006."""
    v_a = np.sqrt(2 * G * h)
    if dt * dt * k < 1 / 64:
        return (1.6 * G / (np.sqrt(k) * v_a) + 0.012 * e) * h
    return (1.3 * (2 * dt * G / v_a * e**2 + 0.002 * e * (1 + e)) + 5e-4) * h


COEFFICIENTS = (0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)


@pytest.mark.parametrize("k", (RIGID, SOFT))
@pytest.mark.parametrize("dt", (1e-4, 5e-4, 1e-3, 2e-3, 5e-3))
def test_comes_back_to_the_square_of_e(dt, k):
    batch, e, h = swept(dropped(dt=dt, k=k), COEFFICIENTS)
    top, = heights(batch, 1.1)
    assert np.all(np.abs(top - e**2 * h) <= off(dt, e, h, k)), np.stack([e, top / h])


@pytest.mark.parametrize("model", ("lagged", "similar", "sap"))
@pytest.mark.parametrize("precision", ("float32", "float64"))
def test_in_all_laws_and_precisions(model, precision):
    batch, e, h = swept(dropped(dt=1e-3), COEFFICIENTS, precision=precision, contact_model=model)
    top, = heights(batch, 1.1)
    assert np.all(np.abs(top - e**2 * h) <= off(1e-3, e, h)), np.stack([e, top / h])


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("shape", SHAPES)
def test_all_shapes(shape, floor):
    batch, e, h = swept(dropped(shape, floor, height=0.5), (0.3, 0.6, 0.9))
    top, = heights(batch, 0.9)
    assert np.all(np.abs(top - e**2 * h) <= off(1e-3, e, h)), np.stack([e, top / h])


def test_bounces_are_a_geometric_series():
    batch, e, h = swept(dropped(dt=5e-4), (0.5, 0.7))
    tops = heights(batch, 2.2, bounces=3)
    before = h
    for top in tops:
        assert np.all(np.abs(top - e**2 * before) <= off(5e-4, e, before)), np.stack([e, top / before])
        before = top


@pytest.mark.parametrize("k", (RIGID, SOFT))
def test_never_higher_than_it_was(k):
    batch, _, h = swept(dropped(dt=5e-4, k=k), (1.0,), offsets=np.linspace(0, 0.01, 40))
    tops = heights(batch, 8, bounces=8)
    # symplectic Euler: the top of a flight is up to |g| δt² / 8 off
    assert np.all(np.diff(np.vstack([h, tops]), axis=0) <= 1e-6)
    assert np.all(tops[-1] > 0.85 * h)


def test_no_restitution_no_state_and_the_same_bits():
    plain = dropped(e=0)
    assert plain.nrebound == 0 and not plain.pair_restitution.any()
    bouncing = dropped(e=0.5)
    assert bouncing.nrebound == bouncing.nslot > 0
    a, b = stiction.Batch(plain, 2), stiction.Batch(bouncing, 2)
    assert a.rebound.shape == (2, 0) and a.param("pair_restitution").shape == (2, 0)
    b.param("pair_restitution")[:] = 0
    for _ in range(800):
        a.step(), b.step()
        assert a.qpos.tobytes() == b.qpos.tobytes() and a.qvel.tobytes() == b.qvel.tobytes()
        assert not b.rebound.any()


def test_the_slot_remembers_the_impact():
    """v_a in the step after the one that stopped the ball, -1 after the one that threw it back, then nothing."""
    batch = stiction.Batch(dropped(e=0.5), 1, precision="float64")
    seen, speeds = [], []
    for _ in range(600):
        batch.step()
        seen.append(float(batch.rebound[0, 0])), speeds.append(float(batch.qvel[0, 2]))
    first = int(np.flatnonzero(seen)[0])
    assert seen[first] == pytest.approx(-speeds[first - 1], rel=1e-6)
    assert seen[first + 1:first + 3] == [-1, 0]
    assert speeds[first + 1] == pytest.approx(0.5 * seen[first], rel=4e-3)  # (1 + e)/e of 1/1024


def test_slow_ones_do_not_bounce():
    """4 |g| δt is the least speed; a ball that is put down rests at once."""
    dt = 0.002
    for factor, bounces in ((3.8, False), (4.2, True)):
        batch = stiction.Batch(dropped(e=1, height=0, dt=dt), 1, precision="float64")
        batch.reset(qvel=[[0, 0, -factor * G * dt, 0, 0, 0]])
        batch.step(2)
        assert (batch.qvel[0, 2] > 0.5 * factor * G * dt) == bounces


STACK = "".join(f'<body pos="{0.003 * i} 0 {0.31 + 0.24 * i}"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>'
                for i in range(1, 5))


@pytest.mark.parametrize("k", (RIGID, 2e5))
def test_stacks_come_to_rest(k):
    model = dropped("box", k=k, e=0.5, height=0.05, dt=0.002, more=STACK)
    batch = stiction.Batch(model, 2, precision="float64")
    batch.step(2000)
    # what is thrown back may touch what its speed before did not lead to
    assert not np.any(batch.status & ~np.uint32(stiction.Status.late_contact.value))
    still = batch.qpos.copy()
    batch.step(500)
    assert np.abs(batch.qvel).max() < 1e-3 and np.abs(batch.qpos - still).max() < 1e-3


def billiards(e, k, seed, gravity=0):
    """Balls and cubes in a box, without friction."""
    rng = np.random.default_rng(seed)
    bodies = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><geom type="{shape}" size="{size}" mass="{rng.uniform(0.5, 3):.3f}" condim="1"/></body>'
        for (x, y, z), shape, size in zip(
            itertools.product((-0.4, 0.4), (-0.4, 0.4), (-0.4, 0.4)),
            itertools.cycle(("sphere", "box")), itertools.cycle((".15", ".12 .12 .12"))))
    walls = "".join(f'<geom type="plane" size="9 9 1" pos="{p}" zaxis="{n}" condim="1"/>' for p, n in (
        ("0 0 -1", "0 0 1"), ("0 0 1", "0 0 -1"), ("-1 0 0", "1 0 0"), ("1 0 0", "-1 0 0"), ("0 -1 0", "0 1 0"),
        ("0 1 0", "0 -1 0")))
    return stiction.Model.from_xml(f"""<mujoco><option timestep="0.0005" gravity="0 0 {-gravity}"/>
      <custom><numeric name="stiction_contact" data="{k} 20 {e}"/></custom>
      <worldbody>{walls}{bodies}</worldbody></mujoco>"""), rng


@pytest.mark.parametrize("e, k", ((1.0, RIGID), (0.8, RIGID), (0.8, SOFT), (0.3, RIGID)))
def test_energy_never_rises_without_friction(e, k):
    model, rng = billiards(e, k, seed=1)
    batch = stiction.Batch(model, 8, precision="float64")
    batch.reset(qvel=rng.normal(size=(8, model.nv)) * ([1, 1, 1, 2, 2, 2] * 8))
    inertia = np.stack([np.concatenate([[m] * 3, i]) for m, i in zip(model.body_mass[1:], model.body_inertia[1:])])

    def energy():
        return 0.5 * np.sum(inertia * batch.qvel.reshape(8, -1, 6) ** 2, axis=(1, 2))

    # an impact takes two steps: the second gives back e² of what the first took
    past = [energy()]
    for _ in range(3000):
        batch.step()
        now = energy()
        if k == RIGID:  # between the two a cube turns on, by δt ω, and speeds are those of the law to 0.2 % at e = 1
            assert np.all(now <= (1 + (4e-3 if e == 1 else 1e-6)) * np.max(past[-5:], axis=0))
        else:  # and a spring of what it holds
            assert np.all(now <= 1.02 * past[0])
        past.append(now)
    assert not np.any(batch.status)
    end = np.max(past[-5:], axis=0)
    assert np.all(end < 0.999 * past[0]) or e == 1
    if e == 1:
        assert np.all(end > 0.5 * past[0])


def random_states(model, rng, n):
    """Bodies around each other at up to 2 m/s, with slots that were just touched, press, or are open."""
    qpos = np.repeat(model.qpos0[None], n, 0)
    qpos[:, 2] = rng.uniform(0.0995, 0.1005, n)
    turn = rng.normal(size=(n, 4)) * [1, 0.002, 0.002, 1]
    qpos[:, 3:7] = turn / np.linalg.norm(turn, axis=1)[:, None]
    qvel = rng.normal(size=(n, model.nv))
    rebound = rng.choice([0, 0, -1, 0.7, 2.0], (n, model.nrebound))
    return qpos, qvel, rebound


@pytest.mark.parametrize("k", (RIGID, 300.0))
@pytest.mark.parametrize("law", ("lagged", "similar", "sap"))
def test_engines_agree(law, k):
    model = dropped("box", k=k, e=0.6, d=5)
    options = stiction.Options(contact_model=law, friction_iterations=1)
    reference = stiction.Reference(model, options)
    qpos, qvel, rebound = random_states(model, np.random.default_rng(3), 40)
    for precision, tolerance in (("float64", 1e-5), ("float32", 5e-3)):
        batch = stiction.Batch(model, len(qpos), options=options, precision=precision)
        batch.reset(qpos=qpos, qvel=qvel, rebound=rebound)
        batch.step()
        bounced = 0
        for env in range(len(qpos)):
            s = reference.step(qpos[env], qvel[env], rebound=rebound[env])
            np.testing.assert_allclose(batch.qvel[env], s.qvel, rtol=tolerance, atol=tolerance)
            np.testing.assert_allclose(batch.rebound[env], s.rebound, rtol=tolerance, atol=tolerance)
            bounced += s.qvel[2] > 0.3
        assert bounced > 3


def test_rollouts_of_the_reference_carry_the_state():
    model = dropped(e=0.7)
    reference = stiction.Reference(model)
    run = reference.rollout(model.qpos0, np.zeros(6), nstep=700)
    batch = stiction.Batch(model, 1, precision="float64")
    batch.step(700)
    np.testing.assert_allclose(run.qpos[-1], batch.qpos[0], atol=1e-7)
    first = reference.rollout(model.qpos0, np.zeros(6), nstep=452)
    assert first.rebound.any()
    again = reference.rollout(first.qpos[-1], first.qvel[-1], nstep=248, rebound=first.rebound)
    assert again.qpos[-1].tobytes() == run.qpos[-1].tobytes()


def test_jacobian_of_a_bounce():
    """Against differences, in the touching step of a soft bounce, whose d follows from the speed, and in the step that parts."""
    for k, rebound, v in ((300.0, 0.0, -1.5), (RIGID, 1.5, -0.01)):
        model = dropped(k=k, e=0.6, height=-0.0005)
        reference = stiction.Reference(model, stiction.Options(solver_tolerance=1e-12))
        q, qvel = model.qpos0, np.array([0.1, 0, v, 0, 0, 0])
        at = {"rebound": np.full(model.nrebound, rebound)}
        J = reference.step_jacobian(q, qvel, **at).state
        h = 1e-6
        for i in (0, 2):
            up, down = (reference.step(q, qvel + s * h * np.eye(6)[i], **at).qvel for s in (1, -1))
            np.testing.assert_allclose(J[6:, 6 + i], (up - down) / (2 * h), rtol=1e-4, atol=1e-6)


def test_the_same_bits_in_any_batch():
    model, rng = billiards(0.7, RIGID, seed=4, gravity=G)
    v = rng.normal(size=(9, model.nv))
    batch = stiction.Batch(model, 9, threads=2)
    batch.reset(qvel=v)
    batch.step(600)
    assert batch.rebound.any()
    for env in (0, 4, 8):
        alone = stiction.Batch(model, 1, threads=1)
        alone.reset(qvel=v[env:env + 1])
        for _ in range(20):
            alone.step(30)
        assert alone.qpos[0].tobytes() == batch.qpos[env].tobytes()
        assert alone.rebound[0].tobytes() == batch.rebound[env].tobytes()


def test_state_is_saved_copied_and_reset(tmp_path):
    model = dropped(e=0.7)
    batch = stiction.Batch(model, 3)
    batch.step(452)  # stopped, not yet thrown back
    assert np.all(batch.rebound[:, 0] > 4)
    state = batch.get_state()
    batch.save(tmp_path / "bouncing")
    batch.step(20)
    after = batch.qpos.copy()
    assert np.all(batch.qvel[:, 2] > 2)
    loaded = stiction.Batch(model, 3)
    loaded.load(tmp_path / "bouncing")
    loaded.step(20)
    assert loaded.qpos.tobytes() == after.tobytes()
    batch.set_state(**state)
    batch.step(20)
    np.testing.assert_array_equal(batch.qpos, after)
    batch.set_state(**state)
    batch.reset([1])
    batch.copy([0], [2])
    assert batch.rebound[2, 0] > 4 and not batch.rebound[1].any()
    batch.set_state(qpos=state["qpos"], qvel=state["qvel"])  # what is not given becomes zero
    assert not batch.rebound.any()
    with pytest.raises(stiction.ArgumentError, match="rebound"):
        batch.set_state(rebound=np.full(batch.rebound.shape, np.nan))
    with pytest.raises(stiction.ArgumentError, match="rebound"):
        stiction.Reference(model).step(model.qpos0, np.zeros(6), rebound=[1, 2])


def coulomb(A, v, target, mu):
    """Impulse along (normal, tangent) that makes the normal velocity `target`, with Coulomb's friction at the end."""
    p = np.linalg.solve(A, [target - v[0], -v[1]])
    if p[0] <= 0 and target <= v[0]:
        return np.zeros(2)
    if p[0] > 0 and abs(p[1]) <= mu * p[0]:
        return p
    for s in (1, -1):
        p = (target - v[0]) / (A[0, 0] - s * mu * A[0, 1]) * np.array([1, -s * mu])
        if p[0] >= 0 and s * (v + A @ p)[1] >= -1e-12:
            return p
    raise AssertionError("no solution")


@pytest.mark.parametrize("e, mu", ((0.5, 0.0), (0.5, 0.5), (0.7, 0.5), (0.5, 0.7)))
def test_kanes_pendulum(e, mu):
    """Newton's law and Coulomb's, one step each: also where they add energy."""
    first, second, rates = np.deg2rad(20), np.deg2rad(30), np.array([-0.1, -0.2])
    gap, dt = 1e-6, 1e-5
    height = np.cos(first) + np.cos(second) + gap
    rod = f'<inertial pos="0 0 -.5" mass="1" diaginertia="{1 / 12} {1 / 12} 1e-9"/>'
    model = stiction.Model.from_xml(f"""<mujoco><option timestep="{dt}" gravity="0 0 0"/>
      <custom><numeric name="stiction_contact" data="1e9 0 {e}"/></custom><worldbody>
      <geom type="plane" size="9 9 1" friction="{mu}"/><body pos="0 0 {height}"><joint axis="0 -1 0"/>{rod}
      <body pos="0 0 -1"><joint axis="0 -1 0"/>{rod}<geom size="1e-6" pos="0 0 -1" mass="0" friction="{mu}"/></body>
      </body></worldbody></mujoco>""")
    c = np.cos(first - second)
    M = np.array([[4 / 3, c / 2], [c / 2, 1 / 3]])  # in the rates of both rods against the world
    J = np.array([[np.sin(first), np.sin(second)], [np.cos(first), np.cos(second)]])
    A, v = J @ np.linalg.inv(M) @ J.T, J @ rates
    stop = coulomb(A, v, 0.0, mu)
    part = coulomb(A, v + A @ stop, -e * v[0], mu)
    expected = rates + np.linalg.solve(M, J.T @ (stop + part))
    batch = stiction.Batch(model, 1, precision="float64", options=stiction.Options(friction_iterations="fixed_point"))
    batch.reset(qpos=[[first, second - first]], qvel=[[rates[0], rates[1] - rates[0]]])
    batch.step(4)
    np.testing.assert_allclose(np.cumsum(batch.qvel[0]), expected, atol=0.02 * np.abs(expected).max())


def test_what_has_met_parts_though_its_gap_is_open():
    """Without gravity a gap that is closed but for round-off, with no speed left, would be out of reach."""
    weightless = dropped(e=0.5, height=1e-16, dt=0.001, gravity=0)
    for engine in ("reference", "float64", "float32"):
        still, at = np.zeros(6), np.full(weightless.nrebound, 2.0)
        if engine == "reference":
            v = stiction.Reference(weightless).step(weightless.qpos0, still, rebound=at).qvel
        else:
            batch = stiction.Batch(weightless, 1, precision=engine)
            batch.set_state(rebound=at[None])
            batch.step()
            v = batch.qvel[0]
        assert v[2] == pytest.approx(0.5 * 2.0, rel=3e-3)


def test_a_frozen_environment_keeps_its_state():
    batch = stiction.Batch(dropped(e=0.7), 4)
    batch.step(452)
    before = batch.rebound.copy()
    assert np.all(before[:, 0] > 4)
    batch.qfrc_applied[1, 0] = 1e30  # beyond the limit of velocities
    batch.step()
    assert batch.frozen.tolist() == [False, True, False, False]
    assert batch.rebound[1].tobytes() == before[1].tobytes() and not np.any(batch.rebound[0] == before[0])


def test_the_papers_laws_have_none():
    options = stiction.Options(contact_pairs="penetrating_deepest")
    model = dropped(e=1)
    batch = stiction.Batch(model, 1, options=options)
    assert batch.rebound.shape == (1, 0)
    batch.step(700)
    assert batch.qpos[0, 2] < 0.2
    run = stiction.Reference(model, options).rollout(model.qpos0, np.zeros(6), nstep=500)
    assert not run.rebound.any() and run.qpos[-1, 2] < 0.2


def test_materials_of_two_geoms():
    """e of the softer counts for more, as d; a rigid geom has no say."""
    model = stiction.Model.from_xml("""<mujoco><custom><numeric name="stiction_contact/a" data="1e5 0 0.8"/>
      <numeric name="stiction_contact/b" data="3e5 0 0.2"/><numeric name="stiction_contact/floor" data="1e40 0 1"/></custom>
      <worldbody><geom name="floor" type="plane" size="1 1 1"/><body pos="0 0 1"><freejoint/><geom name="a" size=".1"/></body>
      <body pos="0 0 2"><freejoint/><geom name="b" size=".1"/></body></worldbody></mujoco>""")
    pairs = {tuple(p): e for p, e in zip(zip(model.pair_geom1, model.pair_geom2), model.pair_restitution)}
    assert pairs == {(0, 1): pytest.approx(0.8), (0, 2): pytest.approx(0.2), (1, 2): pytest.approx(0.75 * 0.8 + 0.25 * 0.2)}
    changed = model.with_contact_material("a", stiffness=1e5)
    assert changed.geom_restitution[1] == 0 and changed.pair_restitution[0] == 0
    none = changed.with_contact_material("b", stiffness=1e5)
    assert none.nrebound == 0
    text = model.with_contact_material("a", stiffness=1e5, restitution=0.9).to_xml()
    assert stiction.Model.from_xml(text).geom_restitution[1] == 0.9


@pytest.mark.parametrize("e", (-0.1, 1.1, float("nan")))
def test_unphysical_numbers_are_refused(e):
    with pytest.raises(stiction.ModelError, match="restitution" if np.isfinite(e) else "data"):
        dropped(e=e)
    with pytest.raises(stiction.ArgumentError, match="restitution"):
        dropped().with_contact_material(None, stiffness=1e5, restitution=e)
    batch = stiction.Batch(dropped(), 1)
    batch.param("pair_restitution")[:] = e
    with pytest.raises(stiction.ArgumentError, match="pair_restitution"):
        batch.step()


def from_solref(ball, floor="", dt=0.001, pair=""):
    return stiction.Model.from_xml(f"""<mujoco><option timestep="{dt}"/><worldbody>
      <geom name="floor" type="plane" size="9 9 1" {floor}/><body pos="0 0 1.1"><freejoint/>
      <geom name="ball" size=".1" mass="1" {ball}/></body></worldbody><contact>{pair}</contact></mujoco>""")


def mujoco_bounce(z):
    root = np.sqrt(1 - z * z)
    return np.exp(-z / root * (np.pi - np.arctan2(2 * z * root, 1 - 2 * z * z)))


@pytest.mark.parametrize("zeta, e", ((0.0, 1), (0.1, 0.744), (0.3, 0.451), (0.5, 0.298), (0.7, 0.210), (1.0, 0), (1.5, 0)))
def test_solref_of_a_file(zeta, e):
    """The restitution of MuJoCo's damped spring, in both formats of solref."""
    both = f'solref="-10000 {-200 * zeta}"'
    assert from_solref(both, both).pair_restitution == pytest.approx([e], abs=5e-4)
    if zeta > 0:
        both = f'solref=".02 {zeta}"'
        assert from_solref(both, both).pair_restitution == pytest.approx([e], abs=5e-4)


def test_solref_is_combined_as_in_mujoco():
    ball = 'solref=".02 .1"'
    assert from_solref(ball).pair_restitution == pytest.approx([mujoco_bounce(0.55)])  # halves
    assert from_solref(ball + ' solmix="3"').pair_restitution == pytest.approx([mujoco_bounce(0.325)])
    assert from_solref(ball + ' priority="1"').pair_restitution == pytest.approx([mujoco_bounce(0.1)])
    pair = '<pair geom1="ball" geom2="floor" solref=".02 .3"/>'
    assert from_solref(ball, pair=pair).pair_restitution == pytest.approx([mujoco_bounce(0.3)])
    assert from_solref("").nrebound == 0 and from_solref('solmix="3"').nrebound == 0
    notes = [entry.note for entry in from_solref(ball + ' priority="1"').report.entries]
    assert any("restitution of 1" in note and "0.744" in note for note in notes)


@pytest.mark.parametrize("dt", (1e-4, 5e-4, 1e-3, 2e-3, 5e-3))
@pytest.mark.parametrize("solref", ("-10000 0", "-10000 -60", ".02 .1", ".005 .5"))
def test_height_of_a_solref(solref, dt):
    both = f'solref="{solref}"'
    model = from_solref(both, both, dt)
    batch = stiction.Batch(model, 1, precision="float64")
    (top,), = heights(batch, 1.1)
    e = model.pair_restitution[0]
    assert abs(top - e**2) <= off(dt, e, 1.0, model.pair_stiffness[0])
