"""Capsules that lie along each other: loads by the lever, a torque that friction holds, piles that stand."""

import numpy as np
import pytest

import engines
import stiction
from scenes import GRAVITY, creep, text

MU = 0.5
STIFFNESS = 1e7


def scene(moving, fixed, joints="<freejoint/>", inertia="", gravity=(0, 0, -GRAVITY), **options):
    """(engine, state) of one capsule over others that are fixed; of 1 kg, with radii of 0.1 m."""
    bodies = "".join(f'<geom type="capsule" size="0.1 {half}" {pose}/>' for half, pose in fixed)
    half, pose = moving
    xml = f"""
    <mujoco>
      <option gravity="{text(gravity)}"/>
      <worldbody>
        {bodies}
        <body name="log" {pose}>{joints}{inertia}
          <geom name="log" type="capsule" size="0.1 {half}" zaxis="1 0 0" mass="1"/>
        </body>
      </worldbody>
    </mujoco>"""
    model = stiction.Model.from_xml(xml)
    for g in range(model.ngeom):
        model = model.with_contact_material(g, stiffness=2 * STIFFNESS, dissipation=10, friction=MU)
    options = stiction.Options(**{"timestep": 0.002, "solver_tolerance": 1e-14, **options})
    return engines.make(model, options), (model.qpos0.copy(), np.zeros(model.nv), None)


def run(engine, state, steps, **inputs):
    """(the last result, the state after it)"""
    q, v, anchor = state
    for _ in range(steps):
        result = engine.step(q, v, anchor=anchor, **inputs)
        assert not result.status & ~int(stiction.Status.stalled)
        q, v, anchor = result.qpos, result.qvel, result.anchor
    return result, (q, v, anchor)


LEVER = """<joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 1 0"/>"""


@pytest.mark.parametrize("centre", (-0.5, 0.0, 0.7))
def test_loads_by_the_lever(centre):
    """The ends of the overlap, -0.8 and 0.5, carry what the lever gives them."""
    body = f'<inertial pos="{centre} 0 0" mass="1" diaginertia="0.01 0.1 0.1"/>'
    engine, state = scene((0.8, 'pos="0 0 0.2"'), [(1, 'pos="-0.5 0 0" zaxis="1 0 0"')], LEVER, body)
    if not -0.8 < centre < 0.5:  # beyond its end the log tips over
        _, (q, _, _) = run(engine, state, 100)
        assert q[1] > 0.05
        return
    result, (q, v, _) = run(engine, state, 500)
    loads = np.array([c.impulse[2] for c in result.contacts]) / engine.options.timestep
    share = (centre + 0.8) / 1.3
    # depths of 1e-6 m turn the normal by as much, and the share of it by its square root
    assert loads == pytest.approx(GRAVITY * np.array([1 - share, share]), rel=1e-5)
    assert [c.pos[0] for c in result.contacts] == pytest.approx([-0.8, 0.5], abs=1e-5)
    assert np.abs(v).max() < 1e-9


PIVOT = LEVER + '<joint type="hinge" axis="0 0 1"/>'


@pytest.mark.parametrize("model", ("lagged", "similar"))
@pytest.mark.parametrize("ratio", (0.1, 0.5, 0.9))
def test_two_points_hold_a_torque(model, ratio):
    """Under a share r of mu m g L/2 about the normal it turns at creep(r)/(L/2), as slowly as points creep."""
    engine, state = scene((0.8, 'pos="0 0 0.2"'), [(0.4, 'zaxis="1 0 0"')], PIVOT, contact_model=model)
    arm = 0.4
    _, state = run(engine, state, 100)
    torque = [0, 0, ratio * MU * GRAVITY * arm]
    result, (q, v, _) = run(engine, state, 100, qfrc_applied=torque)
    speed = creep(ratio, result.contacts[0].eps_s)
    # turned by up to 1e-4 rad by then, 25 of whose square are what the points have moved by
    assert v[2] * arm == pytest.approx(speed, rel=1e-5)
    assert abs(q[2]) < 2e-4


LOGS = [(0.5, 'pos="0 -0.12 0" zaxis="1 0 0"'), (0.5, 'pos="0.1 0.12 0" zaxis="-1 0 0"')]
HIGH = 0.16  # sqrt(0.2² - 0.12²)
PILES = {
    "along": f'pos="0.05 0 {HIGH}"',
    "half over the end": f'pos="0.4 0 {HIGH}"',
    "turned by 1 degree": f'pos="0.05 0 {HIGH}" axisangle="0 0 1 1"',
    "across": 'pos="0.05 0 0.2" axisangle="0 0 1 90"',
}


@pytest.mark.parametrize("pile, slope", [(p, s) for p in PILES for s in (0.0, 0.2) if s == 0 or p != "across"])
def test_a_log_on_two_logs_stands_still(pile, slope):
    """Settled it neither rocks nor turns, and anchors hold it on a slope along the logs."""
    gravity = (GRAVITY * np.sin(slope), 0, -GRAVITY * np.cos(slope))
    engine, state = scene((0.5, PILES[pile]), LOGS, gravity=gravity, stiction="anchored", solver_tolerance=1e-10)
    result, state = run(engine, state, 1500)
    assert len(result.contacts) == (2 if pile == "across" else 4)
    _, (q, v, _) = run(engine, state, 500)
    print(f"{pile}: speed {np.abs(v).max():.1e}, moved {np.abs(q - state[0]).max():.1e}")
    assert np.abs(v).max() < 1e-8
    assert np.abs(q - state[0]).max() < 1e-9


@pytest.mark.parametrize("turn", (0.0, 1e-6, 1e-4, 3e-3))
def test_a_log_that_falls_flat_comes_to_rest(turn):
    """Let go at 0.05 rad over another one, turned by a little, it comes to rest on both points."""
    engine, state = scene((0.5, 'pos="0 0 0.24"'), [(0.5, f'pos="0.1 0 0" zaxis="{text((np.cos(turn), np.sin(turn), 0))}"')],
                          LEVER)  # fmt: skip
    state[0][1] = 0.05
    _, state = run(engine, state, 1500)
    result, (q, v, _) = run(engine, state, 10)
    assert np.abs(v).max() < 1e-8
    assert len(result.contacts) == 2
    assert abs(q[1]) < 1e-4
