"""What a batch computes on request, of all environments at once: against MuJoCo, and inverse dynamics
against the steps that it inverts. `pytest -s` prints the shares."""

import copy

import numpy as np
import pytest

import stiction
from mujoco_oracle import (NAMES, Worst, load, moving, mujoco, primitives, random_ctrl, random_qpos,
                           random_quaternion, share_of_tolerance)

STATES = 19  # more than a pack, and no multiple of one

# Of the array's largest entry. Sums in another order: 7e-15 at worst in float64. In float32 positions
# are float64 all the same, and the rest has the round-off of some tens of sums of 6e-8: 8e-7 at worst.
RELATIVE = {"float64": 1e-10, "float32": 3e-6}
WIDE = {"xipos", "geom_xpos", "geom_xmat", "site_xpos", "site_xmat"}

worst = Worst()


@pytest.fixture(scope="module", autouse=True)
def table():
    yield
    worst.print(f"{len(NAMES)} models, {STATES} environments each: worst share of {RELATIVE}")


def theirs_without_constraints(name):
    m = copy.copy(load(name)[0])
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    m.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    return m


def with_states(batch, m, rng):
    """MuJoCo's data of random states, one for each environment of the batch, which has them too."""
    states = []
    for i in range(len(batch)):
        d = mujoco.MjData(m)
        d.qpos[:] = random_qpos(m, rng)
        d.qvel[:] = (2 * rng.normal(size=m.nv)).astype(np.float32)
        for k in range(m.nmocap):
            d.mocap_quat[k] = random_quaternion(rng)
            d.mocap_pos[k] += rng.normal(size=3)
        batch.mocap_pos[i], batch.mocap_quat[i] = d.mocap_pos, d.mocap_quat
        states.append(d)
    batch.set_state(qpos=[d.qpos for d in states], qvel=[d.qvel for d in states])
    return states


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    return request.param


@pytest.fixture(scope="module", params=["float64", "float32"])
def case(name, request):
    """(precision, batch, MuJoCo's model and data of each environment)."""
    m = theirs_without_constraints(name)
    batch = stiction.Batch(load(name)[1], STATES, precision=request.param)
    states = with_states(batch, m, np.random.default_rng(NAMES.index(name)))
    for d in states:
        mujoco.mj_forward(m, d)
    return request.param, batch, m, states


def compare(what, name, precision, ours, theirs):
    tolerance = RELATIVE["float64" if what in WIDE else precision]
    share = share_of_tolerance(ours, theirs, tolerance)
    worst.add(f"{what} {precision}", share, name)
    assert share <= 1, f"{what}: ours\n{ours}\nMuJoCo\n{theirs}"


def full_mass_matrix(m, d):
    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, M)
    return M


def test_quantities(case, name):
    precision, batch, m, states = case
    for what in ("xipos", "geom_xpos", "geom_xmat", "site_xpos", "site_xmat", "subtree_com", "cvel",
                 "qfrc_bias"):
        ours = getattr(batch, what)
        assert ours.dtype == np.float64 and not ours.flags.writeable
        theirs = np.array([getattr(d, what) for d in states])
        compare(what, name, precision, primitives(m, what, ours), primitives(m, what, theirs))
    compare("M", name, precision, batch.M, np.array([full_mass_matrix(m, d) for d in states]))


def test_energies(case, name):
    """MuJoCo counts the weight of bodies that can't move; here they have no energy."""
    precision, batch, m, states = case
    fixed = ~moving(m)
    weight = np.array([-m.body_mass[fixed] @ d.xipos[fixed] @ m.opt.gravity for d in states])
    energy = np.array([d.energy for d in states])
    # the potential's own digits end where those of its largest term end
    terms = np.abs([m.body_mass * (d.xipos @ m.opt.gravity) for d in states]).max()
    compare("energy_kinetic", name, precision, batch.energy_kinetic, energy[:, 1])
    compare("energy_potential", name, precision, terms + batch.energy_potential,
            terms + energy[:, 0] - weight)


def test_jacobians(case, name):
    precision, batch, m, states = case
    rng = np.random.default_rng(1)

    def check(ours, theirs):
        """theirs(data, jacp, jacr) of every environment."""
        jac = np.zeros((2, STATES, 3, m.nv))
        for i, d in enumerate(states):
            theirs(d, jac[0, i], jac[1, i])
        for what, x, y in zip(("jacp", "jacr"), ours, jac, strict=True):
            assert x.shape == (STATES, 3, m.nv)
            if y.any():
                compare(what, name, precision, x, y)
            else:
                assert not x.any()

    for b in {1, m.nbody // 2, m.nbody - 1}:
        check(batch.jac_body(b), lambda d, p, r, b=b: mujoco.mj_jacBody(m, d, p, r, b))
        check(batch.jac_body_com(b), lambda d, p, r, b=b: mujoco.mj_jacBodyCom(m, d, p, r, b))
        points = rng.normal(size=(STATES, 3))
        where = dict(zip(map(id, states), points, strict=True))
        check(batch.jac(b, points),
              lambda d, p, r, b=b, where=where: mujoco.mj_jac(m, d, p, r, where[id(d)], b))
        check(batch.jac(b, points[0]),
              lambda d, p, r, b=b, x=points[0]: mujoco.mj_jac(m, d, p, r, x, b))
    for g in {0, m.ngeom - 1}:
        check(batch.jac_geom(g), lambda d, p, r, g=g: mujoco.mj_jacGeom(m, d, p, r, g))
    for s in range(min(1, m.nsite)):
        check(batch.jac_site(s), lambda d, p, r, s=s: mujoco.mj_jacSite(m, d, p, r, s))


def in_the_air(name):
    """MuJoCo's model without constraints, joint springs and dry friction, and ours in explicit Euler's
    law, as MuJoCo has it, where no limit is near."""
    m, ours = theirs_without_constraints(name), load(name)[1]
    m.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_INVDISCRETE
    m.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP)
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    m.jnt_stiffness[:] = 0
    batch = stiction.Batch(ours, STATES, stiction.Options(gyroscopic="explicit_euler"),
                           precision="float64")
    for param in ("jnt_stiffness", "dof_frictionloss", "pair_friction", "geom_friction"):
        batch.param(param)[:] = 0
    batch.param("pair_margin")[:] = -1e3  # nothing touches
    batch.param("jnt_range")[:] = (-1e3, 1e3)
    batch.eq_active[:] = 0
    return m, batch


def test_inverse_is_mujocos_where_nothing_constrains(name):
    """With inverse dynamics in discrete time: dampers are implicit there as here, springs and the drag of
    a medium only here. So there are no springs, and in a medium no accelerations."""
    m, batch = in_the_air(name)
    rng = np.random.default_rng(3)
    states = with_states(batch, m, rng)
    in_a_medium = m.opt.density > 0 or m.opt.viscosity > 0
    qacc = (0 if in_a_medium else 10) * rng.normal(size=(STATES, m.nv))
    batch.ctrl[:] = rng.normal(size=batch.ctrl.shape)  # not read
    batch.qfrc_applied[:] = 1e3
    batch.xfrc_applied[:] = 1e3
    before = batch.state_hash()
    ours = batch.inverse(qacc)
    assert batch.state_hash() == before
    for d, a in zip(states, qacc, strict=True):
        d.qacc[:] = a
        mujoco.mj_inverse(m, d)
    compare("qfrc_inverse", name, "float64", ours, np.array([d.qfrc_inverse for d in states]))


GROUND = ["models/go1_feetonly.xml", "models/g1_feetonly.xml", "models/h1_feetonly.xml",
          "gymnasium/half_cheetah.xml", "gymnasium/humanoid.xml", "gymnasium/ant.xml"]


def on_the_ground(name, rng, precision="float64", **options):
    """Environments in contact and at limits, after some steps with random controls."""
    options = stiction.Options(solver_tolerance=1e-12 if precision == "float64" else None, **options)
    batch = stiction.Batch(load(name)[1], STATES, options, precision=precision)
    m = load(name)[0]
    for _ in range(30):
        batch.ctrl[:] = [random_ctrl(m, rng) for _ in range(STATES)]
        batch.step(5)
    assert not batch.frozen.any() and (batch.ncon > 0).any()
    return batch


def scale_of(batch, force):
    """A force that matters, by dof: the weights and what is applied."""
    return np.abs(force).max() + np.abs(batch.qfrc_bias).max()


# How many of STATES have another force than the one that acted, and for how many none is found. With one solve: where a limit is
# pressed deeper than û(c, 0) δt, so that an acceleration has several forces or none (docs/method.md 5). At the fixed point:
# where the bounds of friction had not settled after the most renewals, and n(v_n) is not the bound that the step had.
OTHERS = {
    ("models/go1_feetonly.xml", 1): (0, 1),
    ("gymnasium/ant.xml", 1): (0, 1),
    ("models/go1_feetonly.xml", "fixed_point"): (1, 0),
    ("models/g1_feetonly.xml", "fixed_point"): (1, 1),
    ("gymnasium/ant.xml", "fixed_point"): (0, 1),
}
# of accelerations that are drawn
NONE_OF_DRAWN = {
    ("gymnasium/humanoid.xml", "regularized"): 1,
    ("gymnasium/humanoid.xml", "anchored"): 1,
}


def without_actuators(batch):
    batch.param("actuator_gain")[:] = 0
    batch.param("actuator_bias")[:] = 0


def acceleration_by(batch, force):
    """That of a step with these generalized forces."""
    batch.qfrc_applied[:] = force
    batch.step()
    assert not batch.frozen.any()
    return batch.qacc


@pytest.mark.parametrize("gyroscopic", ["midpoint", "explicit_euler"])
@pytest.mark.parametrize("stiction_law", ["regularized", "anchored"])
@pytest.mark.parametrize("name_", GROUND)
def test_a_step_with_the_inverse_has_its_acceleration(name_, stiction_law, gyroscopic):
    rng = np.random.default_rng(4)
    batch = on_the_ground(name_, rng, stiction=stiction_law, gyroscopic=gyroscopic, friction_iterations=1)
    nv = batch.model.nv
    without_actuators(batch)  # no servo acts on the motion that decides which limits do
    # of the last step, with its impacts: also into limits and the ground
    wanted = batch.qacc + 5 * rng.normal(size=(STATES, nv))
    force = batch.inverse(wanted)
    found = np.isfinite(force).all(axis=1)
    assert STATES - found.sum() == NONE_OF_DRAWN.get((name_, stiction_law), 0)
    qacc = acceleration_by(batch, np.nan_to_num(force))
    error = np.abs(qacc - wanted)[found].max() / np.abs(wanted).max()
    worst.add("qacc of the step", error, name_)
    # the solver's tolerance, over the smallest inertia
    assert error < 1e-7


@pytest.mark.parametrize("friction", [1, "fixed_point"])
@pytest.mark.parametrize("name_", GROUND)
def test_inverse_finds_what_the_actuators_did(name_, friction):
    """Servos at the end of the step, motors, applied forces; contacts and limits are known. Bounds of friction that follow are
    those of the given motion."""
    rng = np.random.default_rng(5)
    batch = on_the_ground(name_, rng, gyroscopic="explicit_euler", friction_iterations=friction)
    batch.ctrl[:] = [random_ctrl(load(name_)[0], rng) for _ in range(STATES)]
    batch.qfrc_applied[:] = rng.normal(size=batch.qfrc_applied.shape)
    before = batch.get_state()
    batch.step()
    acted = batch.qfrc_actuator + batch.qfrc_applied
    qacc = batch.qacc.copy()
    batch.set_state(**before)
    force = batch.inverse(qacc)
    found = np.isfinite(force).all(axis=1)
    error = np.abs(force - acted).max(axis=1) / scale_of(batch, acted)
    others = found & (error >= 1e-7)
    assert (others.sum(), STATES - found.sum()) == OTHERS.get((name_, friction), (0, 0))
    worst.add("actuators found", error[found & ~others].max(), name_)
    if friction == 1:  # the others have the acceleration, too
        without_actuators(batch)
        again = acceleration_by(batch, np.where(found[:, None], force, acted))
        assert np.abs(again - qacc)[found].max() < 1e-7 * np.abs(qacc).max()


def test_inverse_in_single_precision():
    rng = np.random.default_rng(6)
    batch = on_the_ground(GROUND[0], rng, "float32", friction_iterations=1)
    before = batch.get_state()
    batch.step()
    acted, qacc = batch.qfrc_actuator.copy(), batch.qacc.copy()
    batch.set_state(**before)
    force = batch.inverse(qacc)
    found = np.isfinite(force).all(axis=1)
    error = np.abs(force - acted).max(axis=1) / scale_of(batch, acted)
    # the solver's tolerance of 1e-4, of the momentum of a step
    others = found & (error >= 0.02)
    assert (others.sum(), STATES - found.sum()) == (1, 1)
    # the other has the acceleration, too
    without_actuators(batch)
    again = acceleration_by(batch, np.where(found[:, None], force, acted))
    assert np.abs(again - qacc)[found].max() < 1e-3 * np.abs(qacc).max()


def test_inverse_refuses_what_is_no_acceleration(quadruped):
    batch = stiction.Batch(quadruped, 3)
    qacc = np.zeros((3, quadruped.nv))
    with pytest.raises(stiction.ArgumentError, match=r"qacc: given shape .* expected shape \(3, 18\)"):
        batch.inverse(qacc[:2])
    qacc[1, 4] = np.nan
    with pytest.raises(stiction.ArgumentError, match=r"qacc\[1, 4\] = nan: must be finite"):
        batch.inverse(qacc)


def test_a_bad_state_has_no_numbers(quadruped):
    batch = stiction.Batch(quadruped, 3)
    batch.qpos[1, 2] = np.inf
    bad = np.array([False, True, False])
    for array in (batch.geom_xpos, batch.M, batch.energy_kinetic, batch.jac_body(1)[0],
                  batch.inverse(np.zeros((3, quadruped.nv)))):
        wrong = np.isnan(array.reshape(3, -1))
        assert (wrong.all(axis=1) == bad).all() and (wrong.any(axis=1) == bad).all()
    assert not (batch.contacts().env == 1).any()
    # a look does not freeze
    assert not batch.frozen.any()
    batch.step()
    assert (batch.frozen == bad).all()


def test_names_and_errors(quadruped):
    batch = stiction.Batch(quadruped, 2)
    foot = quadruped.body_names[-1]
    np.testing.assert_array_equal(batch.jac_body(foot)[0], batch.jac_body(quadruped.nbody - 1)[0])
    for call, message in ((lambda: batch.jac_body(99), r"body|object 99: must be in \[0, "),
                          (lambda: batch.jac_site("no"), "no"),
                          (lambda: batch.jac(0, [1, 2]), r"point: given shape \(2,\); expected"),
                          (lambda: batch.jac(-1, [1, 2, 3]), "must be in")):
        with pytest.raises(stiction.ArgumentError, match=message):
            call()
    assert not batch.jac(0, [1, 2, 3])[0].any(), "the world does not move"
    with pytest.raises(AttributeError):
        batch.geom_xpos = 0
    kinds = {f.name: f.kind for f in batch.fields()}
    assert kinds["geom_xpos"] == kinds["M"] == "computed" and kinds["xpos"] == "output"


# --------------------------------------------------------------------------------- contacts


def test_contacts_of_all_environments(quadruped, home):
    """As those of each alone, and their forces are the wrenches of the refresh."""
    batch = stiction.Batch(quadruped, STATES)
    rng = np.random.default_rng(8)
    qpos = np.tile(home[0], (STATES, 1))
    qpos[:, 7:] += rng.uniform(-0.3, 0.3, (STATES, quadruped.nq - 7))
    qpos[2, 2] += 5  # in the air
    batch.reset(qpos=qpos)
    batch.ctrl[:] = home[2]
    for _ in range(3):
        batch.step(40)
        batch.refresh()
        c = batch.contacts()
        np.testing.assert_array_equal(np.bincount(c.env, minlength=STATES), batch.ncon)
        assert len(set(batch.ncon)) > 1 and len(c) > STATES
        order = np.lexsort((c.slot, c.env))
        np.testing.assert_array_equal(order, np.arange(len(c)))

        force = np.zeros((STATES, quadruped.nbody, 3))
        np.add.at(force, (c.env, c.body2), c.force)
        np.add.at(force, (c.env, c.body1), -c.force)
        np.testing.assert_allclose(force, batch.xfrc_contact[:, :, :3], atol=1e-4 * np.abs(force).max())
        np.testing.assert_allclose(c.impulse, c.force * batch.options.timestep, rtol=1e-12)

        np.testing.assert_array_equal(quadruped.geom_bodyid[c.geom2], c.body2)
        np.testing.assert_array_equal(quadruped.geom_bodyid[c.geom1], c.body1)
        np.testing.assert_array_equal(quadruped.pair_geom1[c.pair], c.geom1)
        np.testing.assert_allclose(np.linalg.norm(c.normal, axis=1), 1, atol=1e-6)


def test_contacts_do_not_depend_on_who_else_asks(quadruped, home):
    batch = stiction.Batch(quadruped, STATES)
    qpos = np.tile(home[0], (STATES, 1))
    qpos[:, 2] += np.linspace(-0.02, 0.02, STATES)
    batch.reset(qpos=qpos)
    together = batch.contacts()
    for ids in ([3], [17, 2, 5], np.arange(STATES) % 4 == 1):
        some = batch.contacts(ids)
        picked = np.arange(STATES)[ids]
        for field in ("slot", "gap", "pos", "normal", "force", "slip"):
            mine, all_ = getattr(some, field), getattr(together, field)
            for i in picked:
                np.testing.assert_array_equal(mine[some.env == i], all_[together.env == i])
    assert some.env.dtype == np.int32 and some.pos.shape == (len(some), 3)
    for i, c in enumerate(some):
        assert isinstance(c, stiction.Contact)
        assert c.env == some.env[i] and c.gap == some.gap[i] and (c.force == some.force[i]).all()
    with pytest.raises(IndexError):
        some[len(some)]
    with pytest.raises(ValueError):
        some.force[:] = 0
    held = some.force
    expected = held.copy()
    del some, together, c
    np.testing.assert_array_equal(held, expected)


def test_no_contacts():
    model = stiction.Model.from_xml("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body>"
                                    "</worldbody></mujoco>")
    c = stiction.Batch(model, 2).contacts()
    assert len(c) == 0 and c.force.shape == (0, 3) and c.env.shape == (0,) and list(c) == []


def test_contacts_are_the_references(quadruped, home):
    batch = stiction.Batch(quadruped, 2, stiction.Options(solver_tolerance=1e-12), precision="float64")
    batch.reset(qpos=home[0])
    batch.ctrl[:] = home[2]
    batch.step(60)
    reference = stiction.Reference(quadruped, batch.options)
    theirs = reference.step(batch.qpos[1], batch.qvel[1], batch.ctrl[1]).contacts
    ours = batch.contacts([1])
    theirs.sort(key=lambda c: c.slot)
    np.testing.assert_array_equal(ours.slot, [c.slot for c in theirs])
    for field, scale in (("gap", 1e-9), ("pos", 1e-9), ("normal", 1e-9), ("force", 1e-5)):
        np.testing.assert_allclose(getattr(ours, field), [getattr(c, field) for c in theirs], atol=scale)
    for field in ("geom1", "geom2", "body1", "body2", "pair"):
        np.testing.assert_array_equal(getattr(ours, field), [getattr(c, field) for c in theirs])
