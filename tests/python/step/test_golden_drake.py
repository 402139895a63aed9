"""Every stored step of Drake against the engine, in all three contact models.

`pytest -s` prints the worst share of each tolerance by model.
"""

import collections

import numpy as np
import pytest

import contact_laws
import drake_data
import stiction
from drake_data import exact, matched_contacts, norm, scenes

# Steps that the engine solves differently on purpose, and why. Their results *must* differ.
# limits: Drake adds a limit row only within 2 dt max(|v0|, |v*|) of the start, here rows are
# always on; in this step the limits of joints 0 and 1 throw joint 2 towards its own, from 3.7 times
# as far.
DIFFERENT = {("limits_dt1e-2_lagged", 0)}

# Numbers stored at full precision and computed by a few hundred operations.
ROUND_OFF = 1e-12
GAP = 1e-14  # m; scenes span about 1 m, so this is 50 roundings of a coordinate

worst = collections.defaultdict(float)  # (quantity, model) -> share of the tolerance


@pytest.fixture(scope="module", autouse=True)
def table():
    yield
    quantities = sorted({quantity for quantity, _ in worst})
    print("\n\nworst share of the tolerance")
    print(f"{'':20}" + "".join(f"{quantity:>12}" for quantity in quantities))
    for model in sorted({model for _, model in worst}):
        row = [worst.get((quantity, model)) for quantity in quantities]
        print(f"{model:20}" + "".join("           -" if x is None else f"{x:12.1e}" for x in row))
    print(f"steps with another result on purpose: {len(DIFFERENT)} {sorted(DIFFERENT)}")


class Shares:
    """Errors as shares of their tolerances; `check` fails where one exceeds 1."""

    def __init__(self, scene, quantity):
        self.scene, self.quantity = scene, quantity
        self.failed = {}
        self.count = 0

    def add(self, step, error, tolerance):
        error = float(np.max(np.abs(error), initial=0.0))
        share = error / tolerance if error > 0 else 0.0
        self.count += 1
        if (self.scene.name, step) not in DIFFERENT:
            key = (self.quantity, self.scene.model)
            worst[key] = max(worst[key], share)
        if not share <= 1:
            self.failed[step] = max(share, self.failed.get(step, 0.0))

    def check(self, different=()):
        assert self.failed.keys() == set(different), f"step: share of tolerance {self.failed}"


def different_steps(scene):
    return {step for name, step in DIFFERENT if name == scene.name}


@pytest.fixture(params=sorted(scenes()))
def scene(request):
    return scenes()[request.param]


def test_everything_is_there():
    count = collections.Counter(scene.contact_model for scene in scenes().values())
    assert count == {"lagged": 42, "similar": 18, "sap": 19}
    assert sum(len(scene.steps) for scene in scenes().values()) == 2846
    assert all(step < len(scenes()[name].steps) for name, step in DIFFERENT)


def test_converged(scene):
    _, results = exact(scene.name)
    for result in results:
        assert result.status & ~stiction.Status.stalled == 0
        # The floor is round-off of gap and velocity, seen through a contact of 1e7 N/m or a body of
        # 1e-3 kg; the worst is 1.2e-12.
        assert result.residual < 1e-11


def test_minimiser(scene):
    """Against the independent minimiser, whose tolerance is what the input's last digit changes."""
    _, results = exact(scene.name)
    shares = Shares(scene, "v_min")
    for i, (step, result) in enumerate(zip(scene.steps, results)):
        if "v_min" in step:
            shares.add(i, result.qvel - step["v_min"], step["tol_v_min"])
    assert shares.count == (len(scene.steps) if scene.data["kind"] == "single_steps" else 0)
    shares.check(different_steps(scene))


def test_velocity(scene):
    """Against Drake's result; the tolerance is the bound that its residual of 1e-6 implies."""
    _, results = exact(scene.name)
    shares = Shares(scene, "v_next")
    for i, (step, result) in enumerate(zip(scene.steps, results)):
        shares.add(i, norm(result.A, result.qvel - step["v_next"]), step["tol_A"])
    shares.check(different_steps(scene))


def test_velocity_at_the_default_tolerance(scene):
    """The engine's own residual of 1e-6 adds the same bound once more."""
    engine = drake_data.reference(scene)
    shares = Shares(scene, "default")
    for i, (step, result) in enumerate(zip(scene.steps, drake_data.take_steps(engine, scene))):
        assert result.status == stiction.Status.ok and result.residual <= 1e-6
        shares.add(i, norm(result.A, result.qvel - step["v_next"]), 2 * step["tol_A"])
    shares.check(different_steps(scene))


def test_free_motion(scene):
    engine, results = exact(scene.name)
    shares = Shares(scene, "free")
    for i, (step, result) in enumerate(zip(scene.steps, results)):
        state = engine.forward(step["q"], step["v"], step.get("ctrl"))
        for key, value in (("v_star", result.v_star), ("M", state.M), ("bias", state.qfrc_bias)):
            if key in step:
                stored = np.array(step[key])
                shares.add(i, value - stored, ROUND_OFF * np.abs(stored).max())
    shares.check()


def test_contact_points(scene):
    """Same pairs, points, normals and gaps."""
    engine, results = exact(scene.name)
    shares = Shares(scene, "geometry")
    for i, (step, result) in enumerate(zip(scene.steps, results)):
        for stored, ours, sign in matched_contacts(engine, step, result):
            shares.add(i, ours.gap - stored["gap"], GAP)
            if "point" in stored:
                shares.add(i, ours.pos - stored["point"], GAP)
                shares.add(i, sign * ours.normal - stored["normal"], GAP)
    shares.check()


def test_contact_constants(scene):
    """Lagged impulse, Delassus scale, soft-norm speed and the combined materials."""
    engine, results = exact(scene.name)
    shares = Shares(scene, "constants")
    pairs = scene.data["pair_parameters"]
    for i, (step, result) in enumerate(zip(scene.steps, results)):
        for stored, ours, _ in matched_contacts(engine, step, result):
            material = pairs[f"{stored['geom_a']} {stored['geom_b']}"]
            for key in ("stiffness", "dissipation", "friction"):
                shares.add(i, getattr(ours, key) - material[key], ROUND_OFF * (material[key] or 1))
            if "w" not in stored:
                continue
            shares.add(i, ours.w - stored["w"], ROUND_OFF * stored["w"])
            # n0 = dt k (-gap) (1 - d v): the tolerance of the gap, and the same for v
            elastic = scene.dt * ours.stiffness * -stored["gap"]
            n0_tolerance = ROUND_OFF * stored["n0"] + GAP * (
                stored["n0"] / -stored["gap"] + elastic * ours.dissipation)
            shares.add(i, ours.n0 - stored["n0"], n0_tolerance)
            shares.add(i, ours.eps_s - stored["eps_s"], ROUND_OFF * stored["eps_s"]
                       + scene.data["sigma"] * ours.w * ours.friction * n0_tolerance)
    shares.check()


def test_law_at_drakes_velocity(scene):
    """The law alone, without a solver. Drake's reported forces agree with it to 1e-7 or better."""
    engine, results = exact(scene.name)
    shares = Shares(scene, "law")
    for i, (step, result) in enumerate(zip(scene.steps, results)):
        for stored, ours, sign in matched_contacts(engine, step, result):
            v_c = drake_data.contact_velocity(engine, step, step["v_next"], ours)
            ours_impulse = contact_laws.impulse(engine.options, engine.model, ours, v_c)
            impulse = sign * scene.dt * np.array(stored["force_on_b_world"])
            shares.add(i, ours_impulse - impulse, 1e-7 * np.linalg.norm(impulse))
            slip = v_c - v_c @ ours.normal * ours.normal
            shares.add(i, np.linalg.norm(slip) - stored["slip_speed"], ROUND_OFF)
            if "separation_speed" in stored:
                shares.add(i, v_c @ ours.normal - stored["separation_speed"], ROUND_OFF)
    shares.check()


def test_reported_impulses_follow_the_law(scene):
    """The engine's impulses are the law at its own velocities; these follow from its qvel."""
    engine, results = exact(scene.name)
    shares = Shares(scene, "impulses")
    for i, (step, result) in enumerate(zip(scene.steps, results)):
        for c in result.contacts:
            v_c = c.slip + c.separation_velocity * c.normal
            from_qvel = drake_data.contact_velocity(engine, step, result.qvel, c)
            shares.add(i, v_c - from_qvel, ROUND_OFF)
            # the terms that cancel in the law, dt k (gap + dt v)(1 - d v)
            speed = np.linalg.norm(v_c)
            terms = (scene.dt * c.stiffness * (abs(c.gap) + scene.dt * speed)
                     * (1 + c.dissipation * speed))
            impulse = contact_laws.impulse(engine.options, engine.model, c, v_c)
            shares.add(i, impulse - c.impulse, ROUND_OFF * terms)
    shares.check()


def test_generalized_impulse(scene):
    """p = A (v - v*): in the norm of A^-1 its error is that of the velocity, bounded by tol_A."""
    _, results = exact(scene.name)
    shares = Shares(scene, "gen_impulse")
    for i, (step, result) in enumerate(zip(scene.steps, results)):
        if "gen_impulse" in step:
            error = result.gen_impulse - step["gen_impulse"]
            shares.add(i, norm(np.linalg.inv(result.A), error), step["tol_A"])
    shares.check(different_steps(scene) if shares.count else ())


def quaternion_product(a, b):
    w = a[0] * b[0] - a[1:] @ b[1:]
    return np.concatenate(([w], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])))


def angle_between(a, b):
    """Angle between two rotations, for small angles."""
    return 2 * min(np.linalg.norm(a - b), np.linalg.norm(a + b))


def as_drake_turns(quaternion, omega, dt):
    """A quaternion advanced by dt |omega|, turned back to Drake's 2 atan(dt |omega| / 2)."""
    speed = np.linalg.norm(omega)
    if speed == 0:
        return quaternion
    back = dt * speed - 2 * np.arctan(0.5 * dt * speed)
    turn = np.concatenate(([np.cos(0.5 * back)], -np.sin(0.5 * back) * omega / speed))
    return quaternion_product(quaternion, turn)


def test_position(scene):
    """q_next, quaternions by Drake's rule and (stored for one body) by the exponential map.

    What may differ is dt times the difference of the velocities, and 20 roundings of q.
    """
    engine, results = exact(scene.name)
    m = engine.model
    shares = Shares(scene, "q_next")
    for i, (step, result) in enumerate(zip(scene.steps, results)):
        q, stored, v = result.qpos, np.array(step["q_next"]), result.qvel
        moved = scene.dt * np.abs(v - step["v_next"]).max() * np.sqrt(3)
        tolerance = moved + 20 * np.finfo(float).eps * max(1.0, np.abs(stored).max())
        rotation = np.zeros(m.nq, bool)
        for j in np.flatnonzero(m.jnt_type == stiction.JointType.free):
            at, dof = m.jnt_qposadr[j] + 3, m.jnt_dofadr[j] + 3
            rotation[at : at + 4] = True
            turned = as_drake_turns(q[at : at + 4], v[dof : dof + 3], scene.dt)
            shares.add(i, angle_between(turned, stored[at : at + 4]), tolerance)
            if "q_next_expmap" in step:
                exponential = np.array(step["q_next_expmap"])[at : at + 4]
                shares.add(i, angle_between(q[at : at + 4], exponential), tolerance)
        shares.add(i, (q - stored)[~rotation], tolerance)
    shares.check()
