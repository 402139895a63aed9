"""Independent solvers are an oracle for each other and for the reference engine."""

import numpy as np
import pytest

import stiction_lab as lab
from lab_scenes import DT, GRAVITY, MU, cube, random_problem, stack
from stiction_lab.experiment import slope
from stiction_lab.scenes import box, cube_xml, world
from stiction_lab.simulate import simulate

CONVEX, COULOMB = ("ccp", "admm", "sap"), ("ncp", "staggered", "interior")
TIGHT = 1e-11  # relative residual that every solver reaches on these scenes


def solved(problem, name, tolerance=TIGHT, **settings):
    s = lab.solve(problem, name, tolerance=tolerance, **settings)
    assert s.outcome == "converged", (name, s.outcome, s.own)
    return s


def normals(solution):
    return solution.impulse.reshape(-1, 3)[:, 2]


def test_c20_rigid_convex_cone_glides():
    """p/m = (mu v0 + g dt)/(1 + mu^2): the cube rises at mu times its slip."""
    p = (MU + GRAVITY * DT) / (1 + MU**2)
    expected = np.array([1 - MU * p, 0, MU * (1 - MU * p)])
    for name in ("ccp", "admm"):
        s = solved(cube((1, 0, 0)), name)
        # 4 contacts, residual 1e-11 m/s, conditioning of the cube below 100
        assert np.abs(s.v[:3] - expected).max() < 1e-9
        assert normals(s).sum() == pytest.approx(p, rel=1e-9)
    problem = cube((1, 0, 0))
    problem.R = np.full(3 * problem.n, 1e-6)
    # R lambda = 1e-6 * 0.09 m/s, gliding; the residual's round-off is eps/(R w)
    assert np.abs(solved(problem, "sap", tolerance=1e-9).v[:3] - expected).max() < 1e-6


@pytest.mark.parametrize("name", COULOMB)
def test_c21_rigid_coulomb_does_not(name):
    s = solved(cube((1, 0, 0)), name)
    assert np.abs(s.v[:3] - (1 - MU * GRAVITY * DT, 0, 0)).max() < 1e-9
    # an interior point leaves products of 1e-11 in units of the 1 m/s of slip
    assert normals(s).sum() == pytest.approx(GRAVITY * DT, rel=1e-6)


def test_c22_pyramid_brakes_along_its_axes():
    v0 = np.array([np.cos(0.5), np.sin(0.5)])
    speed = MU * GRAVITY * DT
    s = solved(cube((*v0, 0)), "lcp")
    assert np.abs(s.v[:2] - (v0 - speed)).max() < 1e-9  # each axis loses mu g dt
    isotropic = solved(cube((*v0, 0)), "interior")
    assert np.abs(isotropic.v[:2] - v0 * (1 - speed)).max() < 1e-9


def test_raisim_keeps_signorini_and_not_maximum_dissipation():
    s = lab.solve(cube((1, 0, 0)), "raisim", tolerance=1e-10)
    assert s.outcome == "stalled"  # a fixed point that is no solution
    assert s.v[0] == pytest.approx(0.996120, abs=1e-6)  # paper's Coulomb: 0.996076
    assert s.signorini < 1e-9 and s.coulomb < 1e-9
    assert s.dissipation > 1e-3


@pytest.mark.parametrize("seed", range(8))
def test_convex_solvers_agree(seed):
    """K ∋ lambda ⟂ G lambda + R lambda + g ∈ K* has one solution where R > 0."""
    problem = random_problem(np.random.default_rng(seed), compliance=0.05)
    a, b, c = (solved(problem, name) for name in CONVEX)
    # |error| <= residual / R, 1e-11 * |g| / 0.05
    scale = np.abs(a.impulse).max()
    assert np.abs(a.impulse - b.impulse).max() < 1e-8 * scale
    assert np.abs(a.impulse - c.impulse).max() < 1e-8 * scale


def test_sap_tends_to_the_rigid_convex_cone():
    rng = np.random.default_rng(5)
    problem = random_problem(rng)
    rigid, errors = solved(problem, "admm").v, []
    for R in (1e-2, 1e-3, 1e-4):
        problem.R = np.full(3 * problem.n, R)
        errors.append(np.abs(solved(problem, "sap", tolerance=1e-10).v - rigid).max())
    slopes = np.log10(np.array(errors[:-1]) / errors[1:])
    assert np.all((slopes > 0.8) & (slopes < 1.2)), errors  # proportional to R


@pytest.mark.parametrize("seed", range(8))
def test_coulomb_solvers_agree(seed):
    """With moderate friction and coupling Coulomb's problem has one solution; all find it."""
    problem = random_problem(np.random.default_rng(seed), contacts=3, bodies=6)
    tolerance = 1e-10
    answers = [solved(problem, name, tolerance=tolerance) for name in COULOMB]
    for s in answers[1:]:
        assert np.abs(s.v - answers[0].v).max() < 1e-7 * np.abs(problem.v_star).max()
    for name, s in zip(COULOMB, answers, strict=True):  # Signorini, Coulomb, maximum dissipation
        force = np.abs(s.impulse).max() / DT
        # an interior point ends with products impulse · velocity of the tolerance: where both vanish, each is its root
        assert s.signorini < (np.sqrt(tolerance) if name == "interior" else 1e-7) * force
        assert max(s.coulomb, s.dissipation) < 1e-7 * force


def test_compliance_is_the_same_for_all():
    problem = random_problem(np.random.default_rng(3), contacts=3, bodies=6, compliance=0.02)
    answers = [solved(problem, name, tolerance=1e-10).impulse for name in COULOMB]
    for impulse in answers[1:]:
        assert np.abs(impulse - answers[0]).max() < 1e-6 * np.abs(answers[0]).max()


def test_internal_forces_at_stick():
    """Of all impulses that hold the cube against a tangential force, ADMM finds the smallest."""
    problem = cube(force=(2, 0, 0))
    needed = np.linalg.pinv(problem.J.T) @ (problem.A @ -problem.v_star)  # least norm
    assert needed[2::3].min() > 0  # inside the cones
    largest = {}
    for name in ("admm", "staggered", "interior", "ccp", "raisim", "ncp", "lcp"):
        s = solved(problem, name, tolerance=1e-10)
        assert np.abs(s.v).max() < 1e-10
        largest[name] = np.abs(s.impulse.reshape(-1, 3)[:, :2]).max()
    s = solved(problem, "admm")
    assert np.abs(s.impulse - needed).max() < 1e-3 * np.abs(needed).max()
    assert largest["admm"] == pytest.approx(2 * DT / 4, rel=1e-3)
    # Gauss-Seidel leaves what it met first: forces that cancel
    for name in ("ccp", "raisim", "ncp", "lcp"):
        assert largest[name] > 1.5 * largest["admm"], largest


def test_mass_ratio_of_a_million():
    """A tonne on a gram: sweeps get nowhere, whoever factors does not see the ratio."""
    problem = stack(1e-3, 1e3)
    weight = GRAVITY * DT * (1e-3 + 2e3)  # both floors' impulses
    for name in ("lcp", "ccp", "ncp", "raisim"):
        s = lab.solve(problem, name, tolerance=1e-6, max_iterations=10_000)
        assert s.outcome != "converged", name
        assert abs(s.v[8]) > 5e-3  # m/s; the heavy cube falls at g dt = 9.8e-3
    for name in ("admm", "staggered", "interior"):
        s = solved(problem, name, tolerance=1e-6, max_iterations=2000)
        assert normals(s).sum() == pytest.approx(weight, rel=1e-5), name
        assert np.abs(s.v).max() < 1e-7
    for name in ("sap", "lagged", "similar"):
        s = solved(problem, name, tolerance=1e-8)
        assert s.iterations <= 15


@pytest.mark.parametrize("name", ["ccp", "ncp", "admm", "lagged", "sap"])
def test_warm_start_saves_iterations(name):
    problem = cube((0.5, 0.2, 0), force=(1, 0, 0))
    cold = solved(problem, name, tolerance=1e-9)
    warm = solved(problem, name, tolerance=1e-9, warm=cold.impulse)
    # a second answer beside the same start
    assert np.abs(warm.v - cold.v).max() < 1e-7
    assert warm.iterations <= max(1, cold.iterations // 2)


def test_history_is_the_way_down():
    s = solved(cube((1, 0, 0)), "ncp", history=True)
    assert s.history.shape == (s.iterations, 4)
    assert s.history[-1, 0] == s.own <= TIGHT
    assert s.history[0, 0] > 1e3 * s.own
    assert lab.solve(cube((1, 0, 0)), "ncp").history.shape == (0, 4)


@pytest.mark.parametrize("name", [n for n, _, _ in lab.solvers()])
def test_nothing_in_reach_is_free_motion(name):
    s = lab.solve(lab.Problem(DT, np.eye(3), np.array([1.0, 2, 3]), np.zeros((0, 3)), np.zeros(0)), name)
    assert (s.outcome, s.iterations, s.impulse.size) == ("converged", 0, 0)
    assert np.array_equal(s.v, [1, 2, 3])


def test_iterations_that_are_not_enough_are_said():
    s = lab.solve(cube((1, 0, 0)), "ncp", tolerance=1e-12, max_iterations=3)
    assert (s.outcome, s.iterations) == ("not_converged", 3)


def test_the_interior_point_gives_up():
    """A mass that is to leave two walls at once has no solution: no cap of iterations is run out."""
    J = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [0, -1, 0], [0, 0, -1]])
    problem = lab.Problem(DT, np.eye(3), np.zeros(3), J, np.array([0.5, 0.5]), bias=np.array([0, 0, -1.0, 0, 0, -1.0]))
    s = lab.solve(problem, "interior", max_iterations=3000)
    assert s.outcome == "not_converged" and 30 <= s.iterations < 100


def test_the_interior_point_where_contacts_are_too_many():
    """A tower that slides: 60 rows of 20 contacts on 18 velocities. Neither the impulses are unique nor, since their normals
    share the load in many ways, what friction turns: the laws are what all answers have in common."""
    scene = lab.Scene(world(*(box(1.0, 0.1 + 0.2 * k) for k in range(3))), DT, material=(1e7, 0.0, MU, 0.0))
    qvel = np.array([0.6, 0.2, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0, 0.8, -0.3, 0, 0, 0, 0])
    problem = scene.problem(scene.qpos0, qvel, reach=1e-3)
    assert problem.n == 20 and np.linalg.matrix_rank(problem.delassus) <= 18
    for name in ("interior", "staggered", "ncp"):
        s = solved(problem, name, tolerance=1e-9)
        # products of 1e-9 in units of 1 m/s and 1 m/s kg, forces of 30 N
        assert s.iterations <= (16 if name == "interior" else 100) and max(s.signorini, s.coulomb, s.dissipation) < 1e-5
        assert s.impulse.reshape(20, 3)[:, 2].reshape(-1).min() > -1e-12
        braked = qvel.reshape(3, 6)[:, :2].sum(axis=0) - s.v.reshape(3, 6)[:, :2].sum(axis=0)
        assert np.linalg.norm(braked) == pytest.approx(MU * 3 * GRAVITY * DT, rel=2e-2)  # Σ p, along no one direction


def test_pseudocode_of_the_papers_diverges_where_ours_does_not():
    """Blocks with unequal diagonals: the safe steps converge."""
    for G in (np.diag([1.0, 3.0, 1.0]), np.diag([1.0, 1.0, 10.0])):
        A = np.linalg.inv(G)
        problem = lab.Problem(DT, A, np.array([1.0, -0.5, -0.3]), np.eye(3), np.array([0.5]))
        for name in ("ncp", "ccp"):
            assert solved(problem, name, tolerance=1e-10).iterations < 400


def test_lagged_tends_to_coulomb():
    """As dt falls and k grows with 1/dt^2, Lagged's trajectory becomes the rigid NCP's in proportion to dt: a
    cube that slides under a load that comes and goes, so that every step has another normal force."""
    sizes, errors = (4e-3, 2e-3, 1e-3), []
    for dt in sizes:
        scene = lab.Scene(cube_xml(), dt, material=(10 / dt**2, 0.0, MU, 0.0))

        def load(t, h=dt):
            w = np.zeros(12)
            w[8] = 6 * np.sin(40 * (t + h))  # N, below the weight
            return w

        ends = []
        for name in ("lagged", "ncp"):
            t = simulate(scene, name, round(0.2 / dt), qvel=[2, 0, 0, 0, 0, 0], wrench=load, tolerance=1e-10)
            assert t.failures == 0
            ends.append(t.qpos[-1, :3])
        errors.append(np.linalg.norm(ends[0] - ends[1]))
    assert 0.8 < slope(sizes, errors) < 1.2, errors
    assert errors[-1] < 5e-3 * ends[1][0]
