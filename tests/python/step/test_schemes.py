"""Schemes of a step: explicit, symplectic and implicit Euler and the midpoint rule (acceptance A5).

A cylinder of radius R and mass m on the ground, at a spring k_s; without friction it slides with
omega = sqrt(k_s/m), with friction it rolls as a mass of m + I/(R - h)^2, h the depth of its contact. All closed forms are those of the schemes'
linear recurrences for x'' = -omega^2 x.
"""

import numpy as np
import pytest

import stiction

MASS, RADIUS, SPRING, STIFFNESS, GRAVITY = 0.5, 0.05, 100.0, 1e4, 9.81
DT, START = 0.02, 0.1
DEPTH = MASS * GRAVITY / STIFFNESS
INERTIA = 0.5 * MASS * RADIUS**2


def cylinder(friction):
    """A disc that moves in the plane; its contact is that of a sphere of the same radius."""
    return stiction.Model.from_xml(f"""<mujoco><option gravity="0 0 -{GRAVITY}"/><worldbody>
      <geom name="floor" type="plane" size="1 1 1"/>
      <body pos="0 0 {RADIUS!r}"><joint type="slide" axis="1 0 0" stiffness="{SPRING}"/>
        <joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 1 0"/>
        <inertial pos="0 0 0" mass="{MASS}" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/>
        <geom name="wheel" type="sphere" size="{RADIUS}"/></body></worldbody></mujoco>"""
    ).with_contact_material("floor", stiffness=1e40, friction=friction
    ).with_contact_material("wheel", stiffness=STIFFNESS, friction=friction)  # fmt: skip


def run(scheme, friction, steps, dt=DT, **options):
    """x and energy after every step, from rest at x = START."""
    reference = stiction.Reference(
        cylinder(friction), stiction.Options(scheme=scheme, timestep=dt, solver_tolerance=1e-12, **options)
    )
    q, v = np.array([START, -DEPTH, 0.0]), np.zeros(3)
    x, energy = [q[0]], [0.5 * SPRING * START**2]
    for _ in range(steps):
        s = reference.step(q, v)
        assert not s.status & ~stiction.Status.stalled.value
        q, v = s.qpos, s.qvel
        x.append(q[0])
        energy.append(0.5 * (MASS * (v[0] ** 2 + v[1] ** 2) + INERTIA * v[2] ** 2 + SPRING * q[0] ** 2))
    return np.array(x), np.array(energy)


def omega(friction):
    return np.sqrt(SPRING / (MASS + (INERTIA / (RADIUS - DEPTH) ** 2 if friction > 0 else 0)))


def period(x, dt=DT):
    """Mean time between zeros of the same sense, by linear interpolation."""
    down = np.flatnonzero((x[:-1] > 0) & (x[1:] <= 0))
    times = dt * (down + x[down] / (x[down] - x[down + 1]))
    return (times[-1] - times[0]) / (len(times) - 1)


@pytest.mark.parametrize("friction", [0.0, 1.0])
def test_periods(friction):
    w = omega(friction)
    symplectic, _ = run("symplectic_euler", friction, 600)
    midpoint, _ = run("midpoint", friction, 600)
    # the zeros of a polygon through a sine: 1e-4 of a period over 20 periods
    assert period(symplectic) == pytest.approx(np.pi * DT / np.arcsin(0.5 * w * DT), rel=1e-3)
    assert period(midpoint) == pytest.approx(np.pi * DT / np.arctan(0.5 * w * DT), rel=1e-3)


def test_symplectic_euler_keeps_its_energy_in_a_band():
    """Published: 28 % from peak to peak; it is about omega dt = 28.3 %."""
    _, energy = run("symplectic_euler", 0.0, 2000)
    assert 0.25 < np.ptp(energy) / energy[0] < 0.31
    late = np.ptp(energy[-100:]) / np.ptp(energy[:100])
    assert late == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(("scheme", "power"), [("implicit_euler", -1), ("explicit_euler", 1)])
def test_first_order_schemes_lose_or_gain(scheme, power):
    """E <- E (1 + omega^2 dt^2)^(-1 or 1) in every step: 8 % here."""
    _, energy = run(scheme, 0.0, 40)
    np.testing.assert_allclose(energy[1:] / energy[:-1], (1 + (omega(0.0) * DT) ** 2) ** power, rtol=1e-9)


def test_midpoint_keeps_the_energy():
    _, energy = run("midpoint", 0.0, 2300)  # 100 periods
    assert np.abs(energy / energy[0] - 1).max() < 1e-10


def test_midpoint_keeps_the_energy_of_a_rolling_cylinder():
    """Published: 0.16 % from peak to peak over some periods."""
    _, energy = run("midpoint", 1.0, 60)
    assert np.ptp(energy) / energy[0] < 3e-3
    _, implicit = run("implicit_euler", 1.0, 60)
    assert implicit[-1] < 0.1 * implicit[0]


@pytest.mark.parametrize("friction", [0.0, 1.0])
@pytest.mark.parametrize(
    ("scheme", "order"),
    [("midpoint", 2), ("implicit_euler", 1), ("symplectic_euler", 1), ("explicit_euler", 1)],
)
def test_order(scheme, order, friction):
    """Mean error of x over one period; a small v_s, since slip would add 1e-4 m/s to the velocity."""
    w, errors, steps = omega(friction), [], (200, 400, 800)
    for n in steps:
        dt = 2 * np.pi / w / n
        x, _ = run(scheme, friction, n, dt, stiction_tolerance=1e-7)
        errors.append(np.mean(np.abs(x - START * np.cos(w * dt * np.arange(n + 1)))))
    slopes = np.diff(np.log(errors)) / -np.log(2)
    np.testing.assert_allclose(slopes, order, atol=0.2)


MECHANISM = """<mujoco><worldbody><body pos="0 0 0"><freejoint/>
  <inertial pos="0.05 0 0.02" mass="1" diaginertia="0.01 0.015 0.02"/>
  <body pos="0.1 0 0"><joint type="hinge" axis="0 1 0"/>
    <inertial pos="0.1 0 0.01" mass="0.4" diaginertia="0.002 0.003 0.002"/>
    <body pos="0.2 0 0"><joint type="ball" stiffness="0.3"/>
      <inertial pos="0 0.1 0.05" mass="0.2" diaginertia="0.001 0.001 0.0005"/></body></body></body>
  </worldbody><option><flag gravity="disable"/></option></mujoco>"""


def mechanism(scheme, dt, seconds=0.5):
    reference = stiction.Reference(
        stiction.Model.from_xml(MECHANISM), stiction.Options(scheme=scheme, timestep=dt)
    )
    q = np.array(reference.model.qpos0)
    v = np.array([0.1, -0.2, 0.3, 2, -3, 1, 2.5, 1, 2, -1])
    energies = []
    for _ in range(round(seconds / dt)):
        s = reference.step(q, v)
        assert s.status == 0
        q, v = s.qpos, s.qvel
        f = reference.forward(q, v)
        energies.append(f.energy_kinetic + f.energy_potential)
    return np.concatenate([q, v]), np.array(energies)


def test_midpoint_is_of_second_order_in_a_mechanism():
    """All of M(q), the velocity products and springs half-way; error by halving: 4, and 2 of the Euler."""
    for scheme, ratio in (("midpoint", 4), ("symplectic_euler", 2)):
        ends = [mechanism(scheme, dt)[0] for dt in (0.002, 0.001, 0.0005)]
        first, second = (np.linalg.norm(b - a) for a, b in zip(ends, ends[1:], strict=False))
        assert first / second == pytest.approx(ratio, rel=0.1)


def test_midpoint_drifts_least():
    drift = {s: np.abs(np.ptp(mechanism(s, 0.002, 2.0)[1])) for s in ("midpoint", "implicit_euler")}
    assert drift["midpoint"] < 0.02 * drift["implicit_euler"]


def test_a_batch_refuses_by_name():
    model = cylinder(1.0)
    for name, value in (("scheme", "midpoint"), ("normal_law", "log_barrier")):
        with pytest.raises(stiction.ArgumentError, match=rf"Options\.{name}: only Reference"):
            stiction.Batch(model, 1, options=stiction.Options(**{name: value}))


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("scheme", "rk4", "'implicit_euler', 'symplectic_euler', 'explicit_euler', 'midpoint'"),
        ("normal_law", "rigid", "'hunt_crossley', 'log_barrier', 'ipc_barrier'"),
        ("barrier", 0.0, "> 0"),
        ("barrier_distance", -1e-3, "> 0"),
    ],
)
def test_options_out_of_range(name, value, said):
    with pytest.raises(stiction.ArgumentError, match=said) as caught:
        stiction.Options(**{name: value})
    assert name in str(caught.value)


def test_combinations_that_are_refused():
    model = cylinder(1.0)
    for options, said in (
        ({"scheme": "midpoint", "gyroscopic": "midpoint"}, "leave it"),
        ({"normal_law": "ipc_barrier", "contact_model": "sap"}, "law of its own"),
    ):
        with pytest.raises(stiction.ArgumentError, match=said):
            stiction.Reference(model, stiction.Options(**options))
