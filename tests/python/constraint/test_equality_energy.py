"""Equality constraints take energy in every step. A constraint is a spring of stiffness k with a damper k τ, both at the
end of the step: γ = −δt k (g + (δt + τ) v), of each row. With its energy k g²/2, g' = g + δt v and A (v − v*) = Jᵀγ the
step changes the energy by −δt k (τ + δt/2) v² − (v − v*)ᵀ A (v − v*)/2."""

import numpy as np
import pytest

import engines
import stiction
import test_couplings
import test_equalities



def stiffness(model):
    """Of all six rows of each equality: rotations, translations."""
    linear, angular = model.eq_stiffness.reshape(-1, 2).T
    return np.column_stack([angular] * 3 + [linear] * 3)


def spring_energy(model, gap, active=None):
    k = stiffness(model) if active is None else stiffness(model) * np.reshape(active, (-1, 1))
    return 0.5 * np.sum(k * gap**2)


@pytest.mark.parametrize("xml, state", [
    (test_equalities.TREE, test_equalities.random_state),
    (test_couplings.HAND, lambda model, rng: test_couplings.random_state(rng, model)),
], ids=["connects and welds", "couplings"])
def test_loss_of_a_step(xml, state):
    """At random states, with gravity, dampers and springs of the joints: they are in A and v*."""
    theirs = test_equalities.mujoco.MjModel.from_xml_string(xml)
    model = stiction.Model.from_xml(xml)
    # explicit gyroscopic torques are part of v*; those of the end of the step come after it
    engine = stiction.Reference(model, stiction.Options(solver_tolerance=1e-14, gyroscopic="explicit_euler"))
    dt, rng = model.timestep, np.random.default_rng(3)
    for _ in range(20):
        q, v0 = state(theirs, rng)
        active = rng.integers(0, 2, model.neq)
        s, f = engine.step(q, v0, eq_active=active), engine.forward(q, v0)
        v, gap = s.v, f.eq_gap
        rate = (f.eq_J @ v).reshape(-1, 6)
        k, tau = stiffness(model) * active[:, None], model.eq_relaxation_time[:, None]
        force = np.roll(s.eq_force, 3, axis=1)
        np.testing.assert_allclose(force, -k * (gap + (dt + tau) * rate), rtol=0, atol=1e-9 * np.abs(force).max())
        change = 0.5 * (v @ s.A @ v - s.v_star @ s.A @ s.v_star)
        change += spring_energy(model, gap + dt * rate, active) - spring_energy(model, gap, active)
        loss = np.sum(dt * k * (tau + dt / 2) * rate**2) + 0.5 * (v - s.v_star) @ s.A @ (v - s.v_star)
        assert loss > 0
        size = spring_energy(model, gap, active) + 0.5 * s.v_star @ s.A @ s.v_star
        assert change == pytest.approx(-loss, rel=1e-9, abs=1e-11 * size)


SLIDES = "".join(f'<body pos="{i} 0 0"><joint name="{n}" type="slide" axis="0 0 1"/><geom size=".1" mass="{m}"/></body>'
                 for i, (n, m) in enumerate(zip("abc", (1, 2, 0.5))))
# The inertia of the bodies is that of balls, so that nothing but the constraint changes their energy.
BALLS = """<body name="p"><freejoint/><geom size=".1" mass="1"/></body>
  <body name="q" pos="0.4 0.1 0"><freejoint/><geom size=".12" mass="2"/></body>"""
SCENES = {
    "joint coupling": (SLIDES, '<joint joint1="a" joint2="b" polycoef=".1 -.6"/><joint joint1="c" polycoef="-.05"/>'),
    "tendon coupling": (SLIDES, '<tendon tendon1="s" tendon2="t" polycoef=".1 .5"/><tendon tendon1="t"/>'),
    "connect": (BALLS, '<connect body1="p" body2="q" anchor="0.15 0.1 0.05"/>'),
    "weld": (BALLS, '<weld body1="p" body2="q" anchor="0.1 0 0.1" torquescale="0.7"/>'),
}


def scene(name, dt):
    bodies, equality = SCENES[name]
    tendon = """<tendon><fixed name="s"><joint joint="a" coef="1"/><joint joint="b" coef="-.4"/></fixed>
      <fixed name="t"><joint joint="b" coef=".7"/><joint joint="c" coef="2"/></fixed></tendon>"""
    return stiction.Model.from_xml(f"""<mujoco><option gravity="0 0 0" timestep="{dt}"/>
      <default><geom contype="0" conaffinity="0"/><equality solref=".05 .3"/></default><worldbody>{bodies}</worldbody>
      {tendon if bodies == SLIDES else ""}<equality>{equality}</equality></mujoco>""")


def energies(name, dt, seconds):
    model = scene(name, dt)
    engine = engines.make(model, stiction.Options(solver_tolerance=1e-14))
    rng = np.random.default_rng(1)
    q = model.qpos0.copy()
    q[:3] += 0.02
    v = rng.normal(size=model.nv)
    result = []
    for _ in range(round(seconds / dt) + 1):
        f = engine.forward(q, v)
        result.append(f.energy_kinetic + spring_energy(model, f.eq_gap))
        s = engine.step(q, v)
        q, v = s.qpos, s.qvel
    return np.array(result)


@pytest.mark.parametrize("name", SCENES)
def test_energy_never_rises(name):
    """In no step of a second, from a gap of 2 cm and velocities of 1 m/s."""
    e = energies(name, 0.002, 1)
    assert e[-1] < 0.05 * e[0]
    rises = np.diff(e)
    if name != "connect":
        assert rises.max() <= 1e-13 * e[0]  # round-off of its terms
        return
    # Bodies go on to turn about a connect, and its gap with them: g' = g + δt v + O(δt²), of third order in the energy
    finer = np.diff(energies(name, 0.001, 1))
    assert rises.max() < 1e-6 * e[-1] and 6 < rises.max() / finer.max() < 10
