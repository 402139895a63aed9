"""Anchored stiction: loads are held without creep, and nothing else changes.

Symbols as in docs/stiction.md: eps_s = 1e-4 m/s in all scenes but the quadruped's (the sigma branch
decides there), tau = 5 timesteps, c = 10.
"""

import numpy as np
import pytest

import creep_scenes as scenes
import stiction
from creep_scenes import GRAVITY, V_S

LAWS = ("lagged", "similar")
TIGHT = 1e-12  # solver tolerance where velocities are compared below eps_s


def healthy(run):
    """Nothing froze and no iteration cap was hit; round-off exits are fine at TIGHT."""
    bad = stiction.Status.stalled.value
    assert not np.any(np.asarray(run.status) & ~np.uint32(bad))
    return run


def roll(engine, scene, nstep, ctrl=None):
    return healthy(engine.rollout(scene.qpos, scene.qvel, scene.ctrl if ctrl is None else ctrl,
                                  nstep=nstep))


def final_slip(engine, scene, run):
    last = engine.step(run.qpos[-1], run.qvel[-1], scene.ctrl, anchor=run.anchor)
    return scenes.contact_slip(last)


# --- constant loads ---------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("load", [0.1, 0.5, 0.9, 0.99])
def test_constant_load_is_held(law, load):
    scene = scenes.load_ratio_scene(load)
    steps = 40 * scenes.ANCHOR_STEPS  # 40 tau: the transient has shrunk by 0.8^200 = 4e-20

    anchored = scene.engine(contact_model=law, stiction="anchored", solver_tolerance=TIGHT)
    run = roll(anchored, scene, steps)
    slip, touching = final_slip(anchored, scene, run)
    assert touching == 4
    assert slip < 1e-12

    # The anchors carry the load: |z| / tau = eps_s r / sqrt(1 - r^2). The box pitches by its uneven
    # depths, 7e-6 of the travel between front and rear.
    lengths = np.linalg.norm(run.anchor, axis=1)
    np.testing.assert_allclose(lengths[lengths > 0], scenes.elastic_travel(load, 0.004), rtol=2e-5)

    # Negative control: without anchors the same load creeps as the soft norm says (C4, 1e-6).
    regularized = scene.engine(contact_model=law, solver_tolerance=TIGHT)
    slip, touching = final_slip(regularized, scene, roll(regularized, scene, steps))
    assert touching == 4
    assert slip == pytest.approx(scenes.creep(load), rel=1e-6)


def test_travel_is_the_elastic_one():
    """A point that starts in equilibrium moves by its anchor, and no further."""
    load = 0.5
    scene = scenes.point_scene()
    scene.ctrl[:] = load * 0.5 * GRAVITY
    run = roll(scene.engine(stiction="anchored", solver_tolerance=TIGHT), scene, 500)
    travel = run.qpos[-1, 0] - run.qpos[0, 0]
    assert travel == pytest.approx(np.linalg.norm(run.anchor), rel=1e-12)  # a sum of 500 terms
    assert travel == pytest.approx(scenes.elastic_travel(load, 0.002), rel=1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_overload_slides(law):
    """r = 1.01 accelerates with (r - 1) mu g once the slip is far above eps_s."""
    load, mu, dt = 1.01, 0.5, 0.004
    scene = scenes.load_ratio_scene(load, mu, dt)
    run = roll(scene.engine(contact_model=law, stiction="anchored"), scene, 1250)
    v = run.qvel[:, 0]
    acceleration = (v[1250] - v[500]) / (750 * dt)
    # At t = 2 s the slip is 0.1 m/s: friction is 1 - (eps_s/v)^2/2 = 1 - 5e-7 of its bound
    assert acceleration == pytest.approx((load - 1) * mu * GRAVITY, rel=0.01)
    assert v[1250] > 0.24


def test_load_beyond_the_reach_creeps_less():
    """0.995 < r < 1: the anchor carries c eps_s, creep carries the rest of eps_s r/sqrt(1 - r^2)."""
    load = 0.999
    scene = scenes.load_ratio_scene(load)
    engine = scene.engine(stiction="anchored", solver_tolerance=TIGHT)
    slip, _ = final_slip(engine, scene, roll(engine, scene, 2000))
    # the approach to a creep this close to the bound has a time constant of 0.1 s: 8 s leave 1e-30
    assert slip == pytest.approx(scenes.creep(load) - scenes.ANCHOR_REACH * V_S, rel=1e-6)


@pytest.mark.parametrize("stiction_tolerance", [1e-4, 1e-3])
def test_box_on_an_incline(stiction_tolerance):
    """At the default solver tolerance, with an impact at the start."""
    scene = scenes.incline_scene(15, gap=1e-4)
    slope = np.array([np.cos(np.radians(15)), 0, -np.sin(np.radians(15))])

    def drift(stiction_):
        run = roll(scene.engine(stiction=stiction_, stiction_tolerance=stiction_tolerance),
                   scene, 1000)
        x = run.qpos[:, :3] @ slope
        return (x[1000] - x[500]) / 2

    # Accepted residual eps_r * m g dt over the slope of friction mu m g dt / eps_s: eps_r eps_s/mu
    assert abs(drift("anchored")) < 1e-6 * stiction_tolerance / 0.5
    load = np.tan(np.radians(15)) / 0.5
    assert drift("regularized") == pytest.approx(scenes.creep(load, stiction_tolerance), rel=1e-3)


# --- grasps -----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
def test_gripper_holds_for_a_minute(law):
    """0.5 kg between two three-point grippers, 8 N, mu 0.6: drop below 1e-9 m in 60 s."""
    scene = scenes.gripper_scene()
    settle, steps = 1000, 30000
    run = roll(scene.engine(contact_model=law, stiction="anchored"), scene, settle + steps)
    height = run.qpos[:, scene.model.nq - 5]
    assert np.all(run.ncontact[settle:] == 6)
    assert abs(height[settle] - height[-1]) < 1e-9

    # Negative control: 59 um/s without anchors. 1 % for the tilt of the contacts' loads.
    run = roll(scene.engine(contact_model=law), scene, settle + 1500)
    height = run.qpos[:, scene.model.nq - 5]
    load = 0.5 * GRAVITY / (2 * 8 * 0.6)
    assert (height[settle] - height[-1]) / 3 == pytest.approx(scenes.creep(load), rel=0.01)


def rotation(q):
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def pose_in_hand(scene, engine, qpos, qvel):
    f = engine.forward(qpos, qvel)
    hand, held = scene.model.body("wrist"), scene.model.body("object")
    to_hand = rotation(f.xquat[hand]).T
    return to_hand @ (f.xpos[held] - f.xpos[hand]), to_hand @ rotation(f.xquat[held])


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("axis, name", [("1 0 0", "normal"), ("0 1 0", "tangent"),
                                        ("0 0 1", "vertical tangent")])
def test_turning_a_grasp(law, axis, name):
    """A quarter turn of the hand in 1 s: the object stays where it is in the hand."""
    dt, load = 0.002, 0.5 * GRAVITY / (2 * 8 * 0.6)
    scene = scenes.wrist_scene(axis, dt)
    turn = np.pi / 4 * (1 - np.cos(np.linspace(0, np.pi, 500)))
    angle = np.concatenate([np.zeros(500), turn, np.full(500, np.pi / 2)])
    ctrl = np.column_stack([angle, np.full(1500, 8.0)])

    def slip(stiction_):
        engine = scene.engine(contact_model=law, stiction=stiction_)
        run = roll(engine, scene, 1500, ctrl)
        assert np.all(run.ncontact[500:] == 6)
        before, r_before = pose_in_hand(scene, engine, run.qpos[500], run.qvel[500])
        after, r_after = pose_in_hand(scene, engine, run.qpos[1500], run.qvel[1500])
        assert run.qpos[1500, 0] == pytest.approx(np.pi / 2, abs=1e-4)  # stiffness of the servo
        # at the pads, 0.04 m from the centre; x is the normal, where the contacts are springs
        turned = r_after @ r_before.T - np.eye(3)
        tangential = [after[1] - before[1], after[2] - before[2], 0.04 * turned[2, 1]]
        return np.abs(tangential).max()

    # Design: 2 c eps_s tau = 20 um. What the law promises is less: twice the elastic travel of the
    # greatest load on the way, r = 0.51, or 1.2 um.
    held = slip("anchored")
    assert held < 2 * scenes.reach(dt)
    assert held < 2 * scenes.elastic_travel(load, dt)
    assert slip("regularized") > 2 * scenes.reach(dt)  # negative control: it creeps 43 um and more


def test_load_that_turns_with_the_hand():
    """Anchors turn with the bodies: a quarter turn about the normal does not drag the load.

    Anchors that stay in world axes would be dragged along by pi/2 |z| = 0.9 um.
    """
    dt, push = 0.002, 0.5 * GRAVITY
    scene = scenes.wrist_scene("1 0 0", dt, push=push)
    turn = np.pi / 4 * (1 - np.cos(np.linspace(0, np.pi, 500)))
    angle = np.concatenate([np.zeros(500), turn, np.full(500, np.pi / 2)])
    ctrl = np.column_stack([angle, np.full(1500, 8.0), np.full(1500, push)])
    engine = scene.engine(stiction="anchored", solver_tolerance=TIGHT)
    run = engine.rollout(scene.qpos, scene.qvel, ctrl)
    # without gravity there is no margin: in the first step the pusher shoves the object into a pad
    assert run.status[0] == stiction.Status.late_contact.value
    assert not np.any(run.status[1:] & ~np.uint32(stiction.Status.stalled.value))
    assert np.all(run.ncontact[500:] == 7)
    before, _ = pose_in_hand(scene, engine, run.qpos[500], run.qvel[500])
    after, _ = pose_in_hand(scene, engine, run.qpos[1500], run.qvel[1500])
    # the sides hold unequal shares from the start and exchange them in the turn: 0.1 um
    drag = np.pi / 2 * scenes.elastic_travel(0.51, dt)
    assert np.abs(after - before)[1:].max() < 0.25 * drag


def test_anchor_turns_by_the_mean_spin():
    """One step of a frictionless ball that spins on the plane: half its angle."""
    scene = scenes.load_ratio_scene(0.0, mu=0.0, timestep=0.002, shape="sphere")
    scene.qvel[5] = 30.0
    anchor = np.array([[1e-6, 0.0, 0.0]])
    turned = scene.engine(stiction="anchored").step(scene.qpos, scene.qvel, anchor=anchor).anchor
    half = 0.5 * 0.002 * 30
    # the point lies on the axis of the spin, to round-off of the position: 1e-17 m times 30 rad/s
    np.testing.assert_allclose(turned, [[1e-6 * np.cos(half), 1e-6 * np.sin(half), 0]], atol=1e-18)


# --- alternating load -------------------------------------------------------------------------


def cycles(stiction_, frequency, count, square=False, tolerance=None):
    """Positions (count, steps per cycle) under a load of +-0.8 mu N."""
    scene = scenes.point_scene()
    per_cycle = round(1 / (frequency * 0.002))
    phase = 2 * np.pi * (np.arange(per_cycle) + 0.5) / per_cycle
    wave = np.sign(np.sin(phase)) if square else np.sin(phase)
    ctrl = np.tile(0.8 * 0.5 * GRAVITY * wave, count)[:, None]
    run = roll(scene.engine(stiction=stiction_, solver_tolerance=tolerance), scene,
               count * per_cycle, ctrl)
    return run.qpos[1:, 0].reshape(count, per_cycle)


@pytest.mark.parametrize("square", [False, True])
def test_alternating_load_does_not_ratchet(square):
    """1000 cycles: the mean position drifts less than 1e-9 m per cycle."""
    x = cycles("anchored", frequency=10, count=1000, square=square)
    mean = x.mean(axis=1)
    settled = 10  # cycles; the first starts at one side
    assert np.abs(np.diff(mean[settled:])).max() < 1e-9
    assert abs(mean[-1] - mean[settled]) < 1e-9


def test_alternating_load_amplitude():
    """The elastic travel of 0.8 there and back, instead of half a period of creep."""
    x = cycles("anchored", frequency=1, count=10)
    # 1 Hz is slow against tau = 10 ms; inertia and the lag of the anchor leave 1 %
    assert np.ptp(x[-1]) == pytest.approx(2 * scenes.elastic_travel(0.8, 0.002), rel=0.01)
    assert np.ptp(cycles("regularized", frequency=1, count=10)[-1]) > 10 * np.ptp(x[-1])


# --- sliding and rolling are as before --------------------------------------------------------

# Above 100 eps_s friction of both laws is within (1/100)^2/2 of its bound, and closer the faster:
# integrated over a stop from any speed, velocities differ by less than eps_s/100.
FAST, SAME = 100 * V_S, V_S / 100


@pytest.mark.parametrize("law", LAWS)
def test_sliding_point(law):  # C12, C13, C14
    mu, v0, dt = 0.4, 1.0, 0.002
    scene = scenes.point_scene(dt, mu)
    scene.qvel[0] = v0
    runs = [roll(scene.engine(contact_model=law, stiction=s), scene, 150)
            for s in ("regularized", "anchored")]
    v = [run.qvel[:, 0] for run in runs]
    assert np.all(np.abs(v[1][145:]) < V_S)

    # From the stop on the anchor takes up to its reach, while creep goes on without it.
    x = [run.qpos[-1, 0] for run in runs]
    assert abs(x[1] - x[0]) < 2 * scenes.reach(dt)

    if law == "lagged":  # Similar's friction also follows its gliding height, to 1e-4 m/s
        fast = v[0] > FAST
        np.testing.assert_allclose(v[1][fast], v[0][fast], atol=SAME, rtol=0)
        # loss per step, exact while (eps_s/v)^2/2 mu g dt < 6e-11
        np.testing.assert_allclose(-np.diff(v[1][:20]), mu * GRAVITY * dt, atol=1e-10, rtol=0)
        exact = v0**2 / (2 * mu * GRAVITY) - v0 * dt / 2
        assert x[1] == pytest.approx(exact, abs=1e-5 + scenes.reach(dt))  # C13 and the anchor


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("load", [0.9, 0.99, 1.01, 1.1])
def test_incline_sticks_or_slides(law, load):  # C15
    dt = 0.004
    scene = scenes.load_ratio_scene(load, 0.5, dt)
    v = roll(scene.engine(contact_model=law, stiction="anchored"), scene, 1000).qvel[:, 0]
    if load < 1:
        assert abs(v[-1]) < 1e-3 * V_S  # six orders below eps_s are left of the solver tolerance
    else:
        acceleration = (v[-1] - v[600]) / (400 * dt)
        # slip above 0.1 m/s: 5e-7 of mu g, 5e-5 of (r - 1) mu g at r = 1.01; settled to 1e-4
        assert acceleration == pytest.approx((load - 1) * 0.5 * GRAVITY, rel=2e-3)


@pytest.mark.parametrize("law", LAWS)
def test_rolling_sphere_on_an_incline(law):  # C16
    dt, mu = 0.001, 0.5
    for load, acceleration in ((2.0, 5 / 7 * 2.0 * mu * GRAVITY), (5.0, (5.0 - 1) * mu * GRAVITY)):
        scene = scenes.load_ratio_scene(load, mu, dt, "sphere")
        run = roll(scene.engine(contact_model=law, stiction="anchored"), scene, 500)
        # 1e-3 of the arm (depth 0.1 mm of 50 mm, point in the middle), 1e-3 of the first step
        assert run.qvel[-1, 0] == pytest.approx(acceleration * 500 * dt, rel=3e-3)
        if load == 2.0:  # anchors do not hinder rolling: it slips less, not more
            slip, touching = final_slip(scene.engine(stiction="anchored"), scene, run)
            assert touching == 1
            assert slip < 0.1 * scenes.creep(2.0 * 2 / 7)


@pytest.mark.parametrize("law", LAWS)
def test_launched_sphere(law):  # C17
    dt, mu, u0 = 0.001, 0.5, 2.0
    scene = scenes.load_ratio_scene(0.0, mu, dt, "sphere")
    scene.qvel[0] = u0
    v = [roll(scene.engine(contact_model=law, stiction=s), scene, 400).qvel[:, 0]
         for s in ("regularized", "anchored")]
    depth = GRAVITY / 1e5
    arm = 1 - depth / 2 / 0.05  # of the contact point, in radii
    final = u0 / (1 + 0.4 / arm**2)
    # angular momentum about the contact point is conserved whatever the friction: 1e-5 as in C17,
    # Similar rides mu dt u0 = 1 mm higher while it slides and loses 1 % of the arm for that long
    assert v[1][-1] == pytest.approx(final, rel=1e-5 if law == "lagged" else 5e-3)
    # Similar's arm follows its height, which the anchor changes in the last steps of the slide
    assert v[1][-1] == pytest.approx(v[0][-1], abs=SAME if law == "lagged" else 10 * SAME)
    rolling = np.argmax(v[1] < final + FAST) * dt
    assert rolling == pytest.approx(2 * u0 / (7 * mu * GRAVITY), abs=3 * dt + 0.001 + FAST)


# --- state ------------------------------------------------------------------------------------


def test_anchor_is_the_whole_memory():
    """Saved and restored in the middle of a grasp: the same bits. Forgotten: other bits."""
    scene = scenes.gripper_scene()
    engine = scene.engine(stiction="anchored")
    whole = roll(engine, scene, 60)
    first = roll(engine, scene, 30)
    # a batch also remembers where its solver starts
    start = {name: getattr(first, name) for name in ("qacc_warmstart",) if hasattr(first, name)}
    second = engine.rollout(first.qpos[-1], first.qvel[-1], scene.ctrl, nstep=30,
                            anchor=first.anchor, **start)
    assert np.array_equal(second.qpos, whole.qpos[30:])
    assert np.array_equal(second.qvel, whole.qvel[30:])
    assert np.array_equal(second.anchor, whole.anchor)
    forgotten = engine.rollout(first.qpos[-1], first.qvel[-1], scene.ctrl, nstep=30, **start)
    assert not np.array_equal(forgotten.qvel, second.qvel)


def test_anchor_is_zero_where_nothing_presses():
    scene = scenes.load_ratio_scene(0.5)
    engine = scene.engine(stiction="anchored")
    held = roll(engine, scene, 50)
    lengths = np.linalg.norm(held.anchor, axis=1)
    assert np.count_nonzero(lengths) == 4 and held.anchor.shape == (8, 3)

    lifted = held.qpos[-1].copy()
    lifted[2] += 0.01
    step = engine.step(lifted, held.qvel[-1], anchor=held.anchor)
    assert not step.anchor.any()
    regularized = scene.engine().step(held.qpos[-1], held.qvel[-1], anchor=held.anchor)
    assert not regularized.anchor.any()


def test_anchors_lie_in_the_tangent_plane():
    scene = scenes.incline_scene(15)
    run = roll(scene.engine(stiction="anchored"), scene, 200)
    normal = np.array([np.sin(np.radians(15)), 0, np.cos(np.radians(15))])
    lengths = np.linalg.norm(run.anchor, axis=1)
    assert lengths.max() > 0
    assert np.abs(run.anchor @ normal).max() < 1e-15 * 1e3 * lengths.max()  # 200 projections


def test_sap_refuses_anchors():
    scene = scenes.load_ratio_scene(0.5)
    with pytest.raises(stiction.ArgumentError, match="anchored"):
        scene.engine(contact_model="sap", stiction="anchored")


# --- a robot ----------------------------------------------------------------------------------


def test_quadruped_stands_on_an_incline():
    """15 degrees, position servos, 0.1 N m of dry friction in each joint, 5 ms: drift below 0.02 um/s once it stands
    (20 s)."""
    scene = scenes.quadruped_scene()
    assert (scene.model.dof_frictionloss[6:] == 0.1).all()
    drift, iterations = {}, {}
    for mode in ("regularized", "anchored"):
        run = roll(scene.engine(stiction=mode), scene, 4000)
        assert run.qpos[-1, 2] > 0.25 and run.ncontact[-1] == 4
        drift[mode] = np.linalg.norm(run.qpos[4000, :3] - run.qpos[3000, :3]) / 5
        iterations[mode] = run.iterations.mean()
    assert drift["anchored"] < 0.02e-6
    assert drift["regularized"] > 50e-6  # negative control; the design measured 87 um/s on a Go2
    # the joints hold what they carry, as the feet do
    held = scene.engine(stiction="anchored").step(run.qpos[-1], run.qvel[-1], scene.ctrl, anchor=run.anchor,
                                                  friction_anchor=run.friction_anchor)
    assert np.abs(held.qvel).max() < 0.2e-6 and run.friction_anchor[6:].all()
    assert iterations["anchored"] < 0.5  # at rest: in most steps no iteration at all


@pytest.mark.parametrize("law", LAWS)
def test_iterations_are_not_more_than_before(law):
    """Newton iterations within 10 % of the regularised law's, sliding and holding."""
    def iterations(scene, steps):
        return [roll(scene.engine(contact_model=law, stiction=s), scene, steps).iterations
                for s in ("regularized", "anchored")]

    sliding = scenes.point_scene()
    sliding.qvel[0] = 1.0
    before, now = iterations(sliding, 100)  # stops after 102 steps
    assert before.any() and now.mean() <= 1.1 * before.mean()

    # Holding: once a grasp has settled, a step takes one iteration or none. Until then the anchors'
    # own transient, 0.8 per step down to the solver tolerance, costs up to 70 steps.
    before, now = iterations(scenes.gripper_scene(), 3000)
    assert now[1000:].sum() <= 1.1 * before[1000:].sum()
    assert now[1000:].max() <= 1
    assert now[:1000].sum() <= 1.1 * before[:1000].sum() + 70
