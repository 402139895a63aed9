"""The laboratory against the reference engine, live MuJoCo, and itself in maximal coordinates."""

import numpy as np
import pytest

import stiction
import stiction_lab as lab
from lab_scenes import cube
from stiction_lab import mujoco_solver
from stiction_lab.scenes import box, cube_xml, world

MATERIAL = (1e5, 5.0, 0.6, 2e-3)
STATES = {  # offset, velocity, spin of the cube: rest, sliding, landing and turning
    "rest": ((0, 0, -2e-5), (0, 0, 0, 0, 0, 0)),
    "slide": ((0, 0, -1e-4), (1, -0.3, 0, 0, 0, 0.4)),
    "land": ((0, 0, 1e-4), (0.5, 0, -0.7, 1, 2, 0)),
}


def model_of(xml):
    model = stiction.Model.from_xml(xml)
    for g in np.flatnonzero(model.geom_bodyid):
        k, d, mu, tau = MATERIAL
        model = model.with_contact_material(int(g), stiffness=k, dissipation=d, friction=mu,
                                            relaxation_time=tau)
    return model


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("law", ["lagged", "similar", "sap"])
def test_newton_equals_the_reference_engine(law, state):
    xml = cube_xml()
    offset, qvel = STATES[state]
    reference = stiction.Reference(model_of(xml), stiction.Options(
        timestep=2e-3, contact_model=law, gyroscopic="explicit_euler", solver_tolerance=1e-12, friction_iterations=1))
    scene = lab.Scene(xml, 2e-3, material=MATERIAL)
    qpos = scene.qpos0 + np.array([*offset, 0, 0, 0, 0])
    r = reference.step(qpos, qvel)
    problem = scene.problem(qpos, np.array(qvel, float), reach=1e-2)
    s = lab.solve(problem, law, tolerance=1e-12)
    scale = np.abs(r.v_star).max() + 9.81 * 2e-3
    assert np.abs(s.v - r.v).max() < 1e-9 * scale
    after = scene.advance(qpos, np.array(qvel, float), s.v)
    assert np.abs(after[0] - r.qpos).max() < 1e-11 and np.abs(after[1] - r.qvel).max() < 1e-9


CUBE = world('<body pos="0 0 .0999"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>')


@pytest.mark.parametrize("qvel", [(0,) * 6, (1, 0.3, 0, 0, 0, 0), (0.01, 0, -0.1, 0, 0.3, 0)])
def test_mujoco_is_a_cone_complementarity(qvel):
    """MuJoCo's answer to its own regularized problem is that of our convex solvers."""
    m = mujoco_solver.model(CUBE, 1e-3)
    m.geom_friction[:, 0] = 0.4
    theirs = mujoco_solver.solve(m, m.qpos0, np.array(qvel, float))
    assert theirs.problem.n == 4
    for name in ("ccp", "admm"):
        ours = lab.solve(theirs.problem, name, tolerance=1e-11)
        assert ours.outcome == "converged"
        assert np.abs(ours.v - theirs.v).max() < 1e-9
        assert np.abs(ours.impulse - theirs.impulse).max() < 1e-8 * theirs.impulse.max()


def test_mujoco_glides_like_the_convex_cone():
    m = mujoco_solver.model(CUBE, 1e-3)
    m.geom_friction[:, 0] = 0.4
    s = mujoco_solver.solve(m, m.qpos0, np.array([1.0, 0, 0, 0, 0, 0]))
    coulomb = lab.solve(s.problem, "interior", tolerance=1e-9)
    slip = np.linalg.norm(s.v[:2])
    assert s.v[2] > 0.05 * 0.4 * slip > 10 * abs(coulomb.v[2])


PENDULUM = world(
    '<body pos="0 0 1"><joint name="a" type="hinge" axis="0 1 0" limited="true" range="-30 30" damping=".1"'
    ' armature=".02" stiffness="3"/><geom type="capsule" fromto="0 0 0 0 0 -.4" size=".02" mass="1"/>'
    '<body pos="0 0 -.4"><joint type="hinge" axis="1 0 0"/><geom type="capsule" fromto="0 0 0 .1 0 -.3" '
    'size=".02" mass=".5"/></body></body>', ground=False)


def minimal_and_maximal(scene, qpos, qvel, ctrl=None, reach=1e-3):
    """v of the same step in both coordinates, and the maximal solution."""
    problem = scene.problem(qpos, qvel, ctrl, reach=reach)
    maximal = scene.maximal(qpos, qvel, ctrl, reach=reach)
    s = lab.interior_point(maximal, tolerance=1e-11)
    assert s.converged
    return problem, maximal, s, scene.minimal_velocity(qpos, qvel, s.v)


@pytest.mark.parametrize("velocity", [(0, 0, 0, 0, 0, 0), (1, -0.3, 0, 0, 0, 0.4)])
def test_cube_in_maximal_coordinates(velocity):
    scene = lab.Scene(cube_xml(), 1e-3, material=MATERIAL)
    problem, maximal, s, v = minimal_and_maximal(scene, scene.qpos0, np.array(velocity, float))
    assert maximal.E.shape[0] == 0
    minimal = lab.solve(problem, "interior", tolerance=1e-11)
    assert np.abs(v - minimal.v).max() < 1e-9


def test_pendulum_in_maximal_coordinates():
    """Two links: 12 velocities, 10 joint rows. Without its limit it moves as the reference does; with it,
    it stops there."""
    scene = lab.Scene(PENDULUM, 1e-3)
    model = stiction.Model.from_xml(PENDULUM)
    reference = stiction.Reference(model, stiction.Options(timestep=1e-3, gyroscopic="explicit_euler"))
    qpos, qvel = np.array([0.2, -0.4]), np.array([1.5, 2.0])
    _, maximal, s, v = minimal_and_maximal(scene, qpos, qvel)
    assert maximal.E.shape == (10, 12) and maximal.L.shape == (2, 12)
    assert np.abs(maximal.E @ s.v).max() < 1e-10  # the joints hold
    assert np.abs(v - reference.step(qpos, qvel).v).max() < 1e-9
    near = np.array([np.deg2rad(30) - 1e-4, 0.3])
    _, _, s, v = minimal_and_maximal(scene, near, qvel)
    assert v[0] == pytest.approx(0.1, abs=1e-8)  # 1e-4 rad in a step of 1 ms
    assert s.limits[1] > 0 and s.limits[0] < 1e-9


def test_quadruped_stands_in_maximal_coordinates():
    text = stiction.assets.path("quadruped").read_text()
    with pytest.raises(stiction.ArgumentError, match="dry friction of joints"):
        lab.Scene(text, 1e-3).maximal(lab.Scene(text, 1e-3).qpos0, np.zeros(18))
    text = text.replace('frictionloss="0.1"', "")
    model = stiction.Model.from_xml(text)
    k = model.key("home")
    qpos, qvel, ctrl = model.key_qpos[k], np.zeros(model.nv), model.key_ctrl[k]
    # until it stands
    reference = stiction.Reference(model, stiction.Options(timestep=2e-3))
    for _ in range(1000):
        r = reference.step(qpos, qvel, ctrl)
        qpos, qvel = r.qpos, r.qvel
    scene = lab.Scene(text, 1e-3, recover=0.0)
    problem, maximal, s, v = minimal_and_maximal(scene, qpos, qvel, ctrl, reach=0.01)
    moving = maximal.M.shape[0] // 6
    assert maximal.E.shape[0] == 6 * moving - model.nv  # six less its dofs, per body
    assert problem.n >= 4
    minimal = lab.solve(problem, "interior", tolerance=1e-11, max_iterations=100)
    assert minimal.outcome == "converged"
    assert np.abs(v - minimal.v).max() < 1e-7
    weight = 9.81 * model.body_mass.sum() * 1e-3
    assert s.impulse[2::3].sum() == pytest.approx(weight, rel=0.02)  # its servos still move a little


@pytest.mark.parametrize("more, words", [
    ('<equality><joint joint1="j"/></equality>', "no equality constraints"),
    ('<tendon><fixed stiffness="1"><joint joint="j" coef="1"/></fixed></tendon>', "tendons only transmit"),
    ('<worldbody><body><joint type="ball" range="0 40"/><geom size=".1"/></body></worldbody>', "limits of ball joints"),
])  # fmt: skip
def test_constraints_that_are_no_part_of_the_problem(more, words):
    scene = lab.Scene("<mujoco><worldbody><body><joint name='j'/><geom size='.1' contype='0'/></body></worldbody>"
                      + more + "</mujoco>", 1e-3)
    with pytest.raises(stiction.ArgumentError, match=words):
        scene.maximal(scene.qpos0, np.zeros(1 + 3 * ("ball" in more)))


def test_sliding_friction_alone():
    with pytest.raises(stiction.ArgumentError, match="sliding friction alone"):
        lab.Scene("""<mujoco><worldbody><geom type="plane" size="1 1 1"/><body><freejoint/>
          <geom size=".1" condim="6"/></body></worldbody></mujoco>""", 1e-3)


def test_what_is_refused():
    problem = cube()
    for settings, words in (({"tolerance": 0.0}, "tolerance"), ({"warm": np.zeros(5)}, "warm: needs 12"),
                            ({"over_relaxation": 2.0}, "over_relaxation")):
        with pytest.raises(stiction.ArgumentError, match=words):
            lab.solve(problem, "ncp", **settings)
    with pytest.raises(stiction.ArgumentError, match='unknown solver "newton"; there are: lcp ccp'):
        lab.solve(problem, "newton")
    problem.mu = np.array([0.5, -1, 0.5, 0.5])
    with pytest.raises(stiction.ArgumentError, match="mu has a negative number"):
        lab.solve(problem, "ncp")
    with pytest.raises(stiction.ArgumentError, match="J must be finite"):
        lab.Problem(1e-3, np.eye(3), np.zeros(3), np.full((3, 3), np.nan), np.ones(1))
    limited = lab.Scene(PENDULUM, 1e-3)
    at_limit = limited.problem(np.array([0.6, 0.0]), np.zeros(2))
    with pytest.raises(stiction.ArgumentError, match="a joint limit"):
        lab.solve(at_limit, "ncp")
    lab.solve(at_limit, "lagged")


def test_stack_needs_no_overlap():
    scene = lab.Scene(world(box(1.0, 0.1), box(1.0, 0.3)), 1e-3, material=MATERIAL)
    assert scene.problem(scene.qpos0, np.zeros(12), reach=1e-3).n == 12
