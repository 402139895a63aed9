"""What a change of the scene must do to the motion: symmetries, units, order, doubling.

A box on four corner spheres tumbles, hits the ground, slides and comes to rest. Powers of four in
mass, length and time are exact in every operation of a step, so they must give the same bits: an
absolute constant anywhere (a tolerance, a guard, a default) shows as a first differing step.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import stiction
from scenes import MODELS, text

STEPS = 1500
models = pytest.mark.parametrize("model", MODELS)


@dataclass(frozen=True)
class Toss:
    """A tossed box and its units; every field may be scaled."""

    half: float = 0.05
    mass: float = 1.0
    inertia: tuple = (1 / 600, 1 / 500, 1 / 700)  # no symmetry helps
    stiffness: float = 1e6
    dissipation: float = 5.0
    relaxation: float = 1e-3
    friction: float = 0.6
    gravity: tuple = (0.0, 0.0, -9.81)
    dt: float = 1e-3
    v_s: float = 1e-4
    sigma: float = 1e-3
    position: tuple = (0.0, 0.0, 0.3)
    origin: tuple = (0.0, 0.0, 0.0)  # of the ground
    velocity: tuple = (1.5, 0.4, -0.5)
    spin: tuple = (0.7, 4.0, 0.3)
    mirrored: bool = False
    quarter: int = 0  # turns of 90 degrees of everything about z
    order: int = 1  # -1: corners listed backwards
    copies: int = 1  # of every corner, each with its share of the stiffness

    def corners(self):
        signs = [(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]
        for sign in signs[:: self.order]:
            corner = self.half * np.array(sign) * (1.0, 0.75, 0.5)
            if self.mirrored:
                corner[0] = -corner[0]
            yield turned(corner, self.quarter)

    def model(self):
        geoms = "".join(
            f'<geom type="sphere" size="{self.half / 16!r}" pos="{text(c)}"/>' * self.copies
            for c in self.corners())
        inertia = self.inertia if self.quarter % 2 == 0 else np.array(self.inertia)[[1, 0, 2]]
        position = np.array(self.origin) + self.position
        xml = f"""
<mujoco>
  <option gravity="{text(self.gravity)}"/>
  <worldbody>
    <geom type="plane" size="1 1 1" pos="{text(self.origin)}" friction="0"/>
    <body pos="{text(position)}">
      <freejoint/>
      <inertial pos="0 0 0" mass="{self.mass!r}" diaginertia="{text(inertia)}"/>
      {geoms}
    </body>
  </worldbody>
</mujoco>"""
        model = stiction.Model.from_xml(xml)
        for g in range(1, model.ngeom):
            model = model.with_contact_material(
                g, stiffness=self.stiffness / self.copies, dissipation=self.dissipation,
                friction=self.friction, relaxation_time=self.relaxation)
        return model

    def run(self, contact_model, steps=STEPS, **options):
        model = self.model()
        reference = stiction.Reference(model, stiction.Options(
            timestep=self.dt, contact_model=contact_model, stiction_tolerance=self.v_s,
            regularization=self.sigma, **options))
        velocity, spin = np.array(self.velocity), np.array(self.spin)
        if self.mirrored:
            velocity, spin = velocity * (-1, 1, 1), spin * (1, -1, -1)
        v = np.concatenate([turned(velocity, self.quarter), turned(spin, self.quarter)])
        out = reference.rollout(model.qpos0, v, nstep=steps)
        assert not np.any(out.status & ~np.uint32(stiction.Status.stalled))
        return out.qpos, out.qvel, out


def turned(vector, quarters):
    x, y, z = vector
    for _ in range(quarters % 4):
        x, y = -y, x
    return np.array([x, y, z])


def first_difference(a, b):
    """First row in which two trajectories differ in any bit (but the sign of zero), or None."""
    rows = np.flatnonzero(np.any(a != b, axis=1))
    return int(rows[0]) if rows.size else None


@pytest.fixture(scope="module", params=MODELS)
def original(request):
    return request.param, Toss(), Toss().run(request.param)


def test_the_toss_has_everything(original):
    """Flight, impact, sliding and rest are all in the scene, or the bitwise tests say little."""
    _, toss, (q, v, out) = original
    assert out.ncontact[0] == 0 and out.ncontact[-1] >= 4
    speed = np.linalg.norm(v[:, :3], axis=1)
    assert np.abs(np.diff(v[:, 2])).max() > 0.3  # impact
    touching = q[:-1, 2] < 0.06
    assert np.count_nonzero(touching & (speed[:-1] > 0.05)) > 20  # slides
    assert np.abs(v[-1]).max() < 1e-4  # rests
    assert np.count_nonzero(out.iterations > 0) > 30


def check_bitwise(original, changed, position=1.0, velocity=1.0, spin=1.0, signs=None):
    model, _, (q, v, _) = original
    q2, v2, _ = changed.run(model)
    q_scale = np.array([position] * 3 + [1.0] * 4)
    v_scale = np.array([velocity] * 3 + [spin] * 3)
    if signs is not None:
        q_scale, v_scale = q_scale * signs[0], v_scale * signs[1]
    assert first_difference(q2, q * q_scale) is None
    assert first_difference(v2, v * v_scale) is None


def test_mirror_is_bitwise(original):
    """x -> -x: quaternion (w, x, -y, -z), angular velocity (x, -y, -z)."""
    signs = (np.array([-1, 1, 1, 1, 1, -1, -1]), np.array([-1, 1, 1, 1, -1, -1]))
    check_bitwise(original, replace(original[1], mirrored=True), signs=signs)


def test_four_times_the_mass_is_bitwise(original):
    toss = original[1]
    check_bitwise(original, replace(toss, mass=4 * toss.mass, stiffness=4 * toss.stiffness,
                                    inertia=tuple(4 * i for i in toss.inertia)))


def scaled(toss, length, time=1.0):
    """The same motion in other units of length and time."""
    speed = length / time

    def times(factor, numbers):
        return tuple(factor * x for x in numbers)

    return replace(
        toss, half=length * toss.half, position=times(length, toss.position), dt=time * toss.dt,
        inertia=times(length**2, toss.inertia), gravity=times(length / time**2, toss.gravity),
        velocity=times(speed, toss.velocity), spin=times(1 / time, toss.spin),
        stiffness=toss.stiffness / time**2, dissipation=toss.dissipation / speed,
        relaxation=time * toss.relaxation, v_s=speed * toss.v_s)


def test_twice_the_length_is_bitwise(original):
    check_bitwise(original, scaled(original[1], 2.0), position=2, velocity=2)


def test_four_times_the_length_in_twice_the_time_is_bitwise(original):
    check_bitwise(original, scaled(original[1], 4.0, 2.0), position=4, velocity=2, spin=0.5)


def deviation(original, changed, **options):
    """Largest difference of positions over the whole toss."""
    model, toss, _ = original
    q, _, _ = toss.run(model, **options)
    q2, _, _ = changed.run(model, **options)
    return np.abs(q2 - q).max()


# Changes that are exact in the equations but not in the rounding, with the problem solved to
# round-off. A unit in the last place grows to 1e-12 m at most in 1500 steps with impacts; the
# bounds leave a factor of 100 for other compilers.
ROUND_OFF = dict(solver_tolerance=1e-14)


def test_three_times_the_mass(original):
    toss = original[1]
    heavy = replace(toss, mass=3 * toss.mass, stiffness=3 * toss.stiffness,
                    inertia=tuple(3 * i for i in toss.inertia))
    assert deviation(original, heavy, **ROUND_OFF) <= 1e-10


def test_order_of_contacts(original):
    assert deviation(original, replace(original[1], order=-1), **ROUND_OFF) <= 1e-10


@pytest.mark.parametrize("quarters", (1, 2, 3))
def test_quarter_turns(original, quarters):
    """Not bitwise: x and y change places in the elimination of the Hessian, and in sums."""
    model, toss, _ = original
    q, _, _ = toss.run(model, **ROUND_OFF)
    q2, _, _ = replace(toss, quarter=quarters).run(model, **ROUND_OFF)
    c, s = [(1, 0), (0, 1), (-1, 0), (0, -1)][quarters]
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    # The body's own axes turn with it: the vector part of the quaternion turns, w stays.
    expected = np.concatenate([q[:, :3] @ turn.T, q[:, 3:4], q[:, 4:] @ turn.T], axis=1)
    assert np.abs(q2 - expected).max() <= 1e-10


@pytest.mark.parametrize("origin", [(64.0, -128.0, 0.0), (0.0, 0.0, 64.0)])
def test_translation(original, origin):
    """Positions are rounded to an ulp of 64 or 128 m, 1.4e-14 or 2.8e-14 m, in every step.

    Times k that is 1.4e-8 N in a gap, 1e-9 of the weight, for a second: 1e-9 m.
    """
    model, toss, _ = original
    q, _, _ = toss.run(model, **ROUND_OFF)
    q2, _, _ = replace(toss, origin=origin).run(model, **ROUND_OFF)
    shift = np.concatenate([origin, np.zeros(4)])
    assert np.abs(q2 - shift - q).max() <= 1e-9


def test_doubled_contacts(original):
    """Each corner twice with half of the stiffness: the same motion.

    With eps_s = v_s, whatever the share of a contact (sigma small), and without SAP's floor on
    compliance. SAP's tangential compliance belongs to the contact, so its sigma has to double.
    """
    model, toss, _ = original
    single = replace(toss, sigma=1e-6)
    double = replace(single, copies=2, sigma=2e-6 if model == "sap" else 1e-6)
    assert deviation((model, single, None), double, near_rigid=0.0, **ROUND_OFF) <= 1e-10


CART = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <body name="cart">
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
      <inertial pos="0 0 0" mass="3" diaginertia="1 1 1"/>
      <geom type="box" size="2 2 0.0625" pos="0 0 -0.0625" friction="0"/>
    </body>
    <body name="load" pos="0.1 0.05 0.0625">
      <freejoint/>
      <inertial pos="0 0 0" mass="1" diaginertia="0.002 0.003 0.0025"/>
      <geom size="0.015625" pos="0.05 0.05 -0.046875"/>
      <geom size="0.015625" pos="-0.05 0.05 -0.046875"/>
      <geom size="0.015625" pos="0.05 -0.05 -0.046875"/>
      <geom size="0.015625" pos="-0.05 -0.05 -0.046875"/>
    </body>
  </worldbody>
</mujoco>"""


@models
def test_horizontal_boost(model):
    """A load that slides and stops on a cart which nothing holds: the same on a moving cart."""
    cart = stiction.Model.from_xml(CART)
    for g in range(1, cart.ngeom):
        cart = cart.with_contact_material(g, stiffness=1e6, dissipation=5, friction=0.4,
                                          relaxation_time=1e-3)
    reference = stiction.Reference(cart, stiction.Options(contact_model=model,
                                                          solver_tolerance=1e-14))
    v = np.array([0, 0, 1.0, 0.3, -0.2, 0, 0, 2.0])
    boost = np.array([4.0, -2.0, 4.0, -2.0, 0, 0, 0, 0])
    a = reference.rollout(cart.qpos0, v, nstep=600)
    b = reference.rollout(cart.qpos0, v + boost, nstep=600)
    assert np.abs(np.diff(a.qvel[:, 0])).max() > 1e-4  # it slides
    assert abs(a.qvel[-1, 0] - a.qvel[-1, 2]) < 1e-3  # and stops
    assert b.qvel - boost == pytest.approx(a.qvel, abs=1e-9)
    drift = np.outer(np.arange(601) * 1e-3, [4.0, -2.0])
    assert b.qpos[:, :2] - drift == pytest.approx(a.qpos[:, :2], abs=1e-9)
    assert b.qpos[:, 2:4] - drift == pytest.approx(a.qpos[:, 2:4], abs=1e-9)
