"""StepDerivative: against the reference, which is another text, against differences of the batch itself, and what it promises."""

import numpy as np
import pytest

import stiction
import tangents
from jacobian_scenes import MATERIAL, SCENES, Scene, free, quat, world
from mujoco_oracle import load

ONE_SOLVE = {"friction_iterations": 1}
EXACT = {"solver_tolerance": 1e-14, "max_iterations": 100, **ONE_SOLVE}
ROUND_OFF = 1e-9  # of the largest entry of each block of units
CLOSED = sorted(set(SCENES) - {"box on box"})  # whose points are searched for
VARIANTS = {
    "lagged": {},
    "similar": {"contact_model": "similar"},
    "sap": {"contact_model": "sap"},
    "three solves": {"friction_iterations": 3},
    "bounds that follow": {"friction_iterations": "fixed_point"},
    "deepest": {"contact_pairs": "penetrating_deepest"},
    "explicit gyroscopic torque": {"gyroscopic": "explicit_euler"},
}


def batch_of(scene, precision="float64", num_envs=1, model=None, threads=1, **options):
    batch = stiction.Batch(
        model or scene.model(), num_envs, options=stiction.Options(**{**ONE_SOLVE, **options}), precision=precision, threads=threads
    )
    batch.set_state(qpos=np.array(scene.qpos, float), qvel=np.array(scene.qvel, float))
    if len(scene.ctrl):
        batch.ctrl[:] = scene.ctrl
    return batch


def error_of(found, expected, nv, least=1e-6):
    """The largest difference, in units of the largest entry of its block: of rows and columns of positions and velocities."""
    worst = 0.0
    for rows in (slice(0, nv), slice(nv, 2 * nv)):
        for first in range(0, expected.shape[1], nv):
            block = slice(first, first + nv)
            size = max(np.abs(expected[rows, block]).max(initial=0), least)
            worst = max(worst, np.abs(found[rows, block] - expected[rows, block]).max(initial=0) / size)
    return worst


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", CLOSED)
def test_against_the_reference(name, variant):
    scene = SCENES[name]
    batch = batch_of(scene, **VARIANTS[variant])
    d = stiction.StepDerivative(batch)
    found, nv = d.jacobian()[0], batch.model.nv
    reference = stiction.Reference(scene.model(), stiction.Options(**{**EXACT, **VARIANTS[variant]}))
    expected = reference.step_jacobian(scene.qpos, scene.qvel, scene.ctrl)
    assert d.status[0] == 0
    assert error_of(found[:, : 2 * nv], expected.state, nv) <= ROUND_OFF
    if batch.model.nu:
        assert error_of(found[:, 2 * nv :], expected.ctrl, nv) <= ROUND_OFF


@pytest.mark.parametrize("name", CLOSED)
def test_single_precision(name):
    """Of the same state, rounded to float: what it depends on is rounded by 6e-8, and stiff contact amplifies that."""
    scene = SCENES[name]
    rounded = Scene(scene.xml, scene.qpos, list(np.float32(scene.qvel)), tuple(np.float32(scene.ctrl)), scene.material)
    batch = batch_of(rounded, "float32")
    found, nv = stiction.StepDerivative(batch).jacobian()[0], batch.model.nv
    expected = stiction.Reference(scene.model(), stiction.Options(**EXACT)).step_jacobian(
        rounded.qpos, rounded.qvel, rounded.ctrl
    )
    assert error_of(found[:, : 2 * nv], expected.state, nv) <= 1e-3


# ---- parameters and inputs, against differences of the batch

PARAMS = {
    "arm": ("gravity", "body_mass", "body_ipos", "body_inertia", "jnt_stiffness", "dof_armature", "dof_damping",
            "dof_frictionloss", "actuator_gear", "actuator_gain", "actuator_bias", "qpos_spring", "body_pos", "jnt_pos"),
    "at its limit": ("jnt_range", "jnt_margin", "body_mass"),
    "sticking": ("geom_friction", "body_mass", "body_inertia", "pair_stiffness", "pair_dissipation", "geom_size",
                 "geom_pos", "gravity"),
    "sliding": ("geom_friction", "body_mass", "pair_stiffness", "pair_dissipation", "geom_size", "pair_margin"),
    "box on its edge": ("geom_friction", "body_mass", "body_ipos", "geom_size", "pair_stiffness"),
    "capsule on box": ("geom_friction", "body_mass", "geom_size", "geom_pos", "pair_stiffness"),
}  # fmt: skip
# What ends at 0, and laws of actuators, which are implicit below 0 and explicit above.
ONE_SIDED = {"jnt_stiffness", "jnt_margin", "dof_frictionloss", "geom_size", "body_mass", "body_inertia", "pair_stiffness",
             "geom_friction", "dof_armature", "dof_damping", "actuator_gain", "actuator_bias"}  # fmt: skip


def end_of_step(batch, scene):
    batch.set_state(qpos=np.array(scene.qpos, float), qvel=np.array(scene.qvel, float))
    batch.step()
    return np.array(batch.qpos[0]), np.array(batch.qvel[0])


def difference(batch, scene, view, index, h):
    """d(q', v') to a number of a view, by five points."""
    middle = end_of_step(batch, scene)[0]
    kept = view[index]

    def end(x):
        view[index] = kept + x
        q, v = end_of_step(batch, scene)
        return np.concatenate([tangents.subtract(batch.model, q, middle), v])

    column = (8 * (end(h) - end(-h)) - (end(2 * h) - end(-2 * h))) / (12 * h)
    view[index] = kept
    return column


def moved(name, value):
    """The step of a difference: a share of what has a size, a length below 1e-4 v_s per step of what has not."""
    return 1e-5 * value if name in ONE_SIDED and value > 0 else 1e-7


@pytest.mark.parametrize("name", PARAMS)
def test_parameters(name):
    scene = SCENES[name]
    batch = batch_of(scene, **EXACT)
    d = stiction.StepDerivative(batch, wrt=PARAMS[name])
    if "geom_size" in PARAMS[name]:
        batch.param("geom_size")[:] *= 1 - 5e-5  # may not grow beyond the model's
    jacobian, nv = d.jacobian()[0], batch.model.nv
    felt = 0
    for param, columns in d.wrt.items():
        view, found = batch.param(param), jacobian[:, columns]
        expected = np.zeros_like(found)
        for k, index in enumerate(np.ndindex(view[0].shape)):
            value = view[(0, *index)]
            if param in ONE_SIDED and value == 0 or not np.isfinite(value) or value > 1e15:
                found[:, k] = 0  # a kink; rigid
                continue
            expected[:, k] = difference(batch, scene, view, (0, *index), moved(param, value))
        for rows in (slice(0, nv), slice(nv, 2 * nv)):
            size = np.abs(expected[rows]).max()
            # round-off of a step over the way of the difference
            floor = 1e-14 / moved(param, max(view.max(), 1e-3))
            assert np.abs(found[rows] - expected[rows]).max() <= 1e-6 * size + 10 * floor, param
        felt += np.abs(expected).max() > 0
    assert felt >= len(PARAMS[name]) - 1


def test_forces_and_sensors():
    """qfrc_applied as a column; sensordata as rows, of the interval and of the state after it."""
    xml = world(
        free('name="ball" type="sphere" size="0.05"').replace("</body>", '<site name="s" pos=".01 0 .02"/></body>'),
        """<sensor><accelerometer site="s"/><gyro site="s"/><velocimeter site="s"/><framepos objtype="site" objname="s"/>
        <touch site="t"/></sensor>""",
    ).replace('<site name="s"', '<site name="t" size="0.2"/><site name="s"')
    scene = Scene(xml, SCENES["sliding"].qpos, SCENES["sliding"].qvel, material=MATERIAL)
    batch = batch_of(scene, **EXACT)
    d = stiction.StepDerivative(batch, of=("qvel", "sensordata"), wrt=("qvel", "qfrc_applied"))
    found = d.jacobian()[0]
    sensors, h = d.of["sensordata"], 1e-6
    for columns, view in ((d.wrt["qvel"], None), (d.wrt["qfrc_applied"], batch.qfrc_applied)):
        for k in range(6):
            def end(x, k=k, view=view):
                qvel = np.array(scene.qvel, float)
                if view is None:
                    qvel[k] += x
                else:
                    view[0, k] = 100 * x
                batch.set_state(qpos=np.array(scene.qpos), qvel=qvel)
                batch.step()
                return np.concatenate([batch.qvel[0], batch.sensordata[0]])

            unit = h if view is None else 100 * h
            expected = (8 * (end(h) - end(-h)) - (end(2 * h) - end(-2 * h))) / (12 * unit)
            end(0.0)
            column = found[:, columns][:, k]
            assert np.abs(column[d.of["qvel"]] - expected[:6]).max() <= 1e-6 * max(np.abs(expected[:6]).max(), 1e-3)
            assert np.abs(column[sensors] - expected[6:]).max() <= 1e-6 * max(np.abs(expected[6:]).max(), 1e-3)
    assert np.abs(found[sensors]).max() > 1


def test_anchors():
    """Anchored stiction: the anchor is a row and a column, and the Jacobian of the rest is that at the given anchors."""
    scene = SCENES["sticking"]
    batch = batch_of(scene, stiction="anchored", **EXACT)
    anchor = np.zeros((batch.model.nanchor, 3))
    anchor[0] = 2e-6, -1e-6, 0
    state = {"qpos": np.array(scene.qpos, float), "qvel": np.array(scene.qvel, float), "anchor": anchor}
    batch.set_state(**state)
    found = stiction.StepDerivative(batch).jacobian()[0]
    reference = stiction.Reference(scene.model(), stiction.Options(stiction="anchored", **EXACT))
    expected = reference.step_jacobian(scene.qpos, scene.qvel, anchor=anchor).state
    assert error_of(found, expected, 6) <= ROUND_OFF
    to_anchor = stiction.StepDerivative(batch, of=("qvel", "anchor"), wrt=("anchor",)).jacobian()[0]

    def end(x, k):
        changed = anchor.copy()
        changed[0, k] += x
        batch.set_state(**(state | {"anchor": changed}))
        batch.step()
        return np.concatenate([batch.qvel[0], batch.get_state()["anchor"][0].ravel()])

    for k in range(2):  # in the tangent plane
        h = 1e-8
        column = (8 * (end(h, k) - end(-h, k)) - (end(2 * h, k) - end(-2 * h, k))) / (12 * h)
        assert np.abs(to_anchor[:, k] - column).max() <= 1e-6 * np.abs(column).max()


# ---- robots in random states rich in contact

ROBOTS = ("models/go1_feetonly.xml", "models/g1_feetonly.xml", "gymnasium/half_cheetah.xml", "gymnasium/hopper.xml",
          "gymnasium/ant.xml", "gymnasium/humanoid.xml")  # fmt: skip


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_at_random_states(name):
    """Against the reference at states that noise led to. A state counts as a kink where the reference's own derivative
    jumps by more than 1e-6 within 1e-11 of it: a step apart, far beyond what a smooth one changes by."""
    model = load(name)[1]
    rng = np.random.default_rng(7)
    batch = stiction.Batch(model, 8, options=stiction.Options(**EXACT), precision="float64")
    reference = stiction.Reference(model, stiction.Options(**EXACT))
    low, high = np.clip(model.actuator_ctrlrange.T, -10, 10)
    kinks = states = contacts = 0
    for _ in range(4):
        for _ in range(25):
            batch.ctrl[:] = rng.uniform(low, high, batch.ctrl.shape)
            batch.step(4)
        d = stiction.StepDerivative(batch)
        found = d.jacobian()
        assert np.all(np.isfinite(found))
        for env in range(batch.num_envs):
            if d.status[env] or batch.status[env] & np.uint32(stiction.Status.bad_state.value):
                continue
            q, v, u = (np.array(x[env], float) for x in (batch.qpos, batch.qvel, batch.ctrl))
            expected = reference.step_jacobian(q, v, u)
            states += 1
            contacts += len(expected.step.contacts) > 0
            if error_of(found[env, :, : 2 * model.nv], expected.state, model.nv) <= ROUND_OFF:
                continue
            beside = reference.step_jacobian(q, v + 1e-11 * rng.standard_normal(model.nv), u)
            assert error_of(beside.state, expected.state, model.nv) > 1e-6, (env, q, v)
            kinks += 1
    print(f"{name}: {kinks} of {states} states are kinks, {contacts} touch")
    assert states >= 30
    assert kinks <= 0.05 * states and contacts > 0.3 * states


# ---- what it promises

def many(num_envs, threads, precision="float64"):
    scene = SCENES["sliding"]
    batch = batch_of(scene, precision, num_envs, threads=threads)
    rng = np.random.default_rng(3)
    noise = rng.standard_normal((64, 6))[:num_envs]
    batch.set_state(qvel=np.array(scene.qvel) + 0.1 * noise)
    return batch


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_bits_depend_on_the_environment_alone(precision):
    all_of_them = stiction.StepDerivative(many(64, 2, precision)).jacobian()
    for count, threads in ((1, 1), (7, 2), (64, 1)):
        few = stiction.StepDerivative(many(count, threads, precision)).jacobian()
        assert few.tobytes() == all_of_them[:count].tobytes()


def test_products_are_those_of_the_jacobian():
    batch = many(16, 2)
    d = stiction.StepDerivative(batch, wrt=("qpos", "qvel", "qfrc_applied", "body_mass"))
    jacobian = d.jacobian()
    weights = np.random.default_rng(1).standard_normal((16, d.rows))
    expected = np.einsum("er,erc->ec", weights, jacobian)
    assert np.abs(d.product(weights) - expected).max() <= 1e-13 * np.abs(jacobian).max() * d.rows


def test_the_batch_does_not_move():
    batch = many(4, 1)
    before = batch.get_state()
    stiction.StepDerivative(batch).jacobian()
    after = batch.get_state()
    assert all(before[k].tobytes() == after[k].tobytes() for k in before)


def test_a_step_that_freezes_keeps_the_state():
    batch = batch_of(SCENES["flight"], num_envs=2)
    batch.qvel[0, 0] = np.nan  # into the view, unasked
    d = stiction.StepDerivative(batch, wrt=("qpos", "qvel", "qfrc_applied"))
    jacobian = d.jacobian()
    assert np.array_equal(jacobian[0], np.eye(12, 18))
    assert d.status[0] & stiction.Status.bad_state.value and d.status[1] == 0
    assert np.all(np.isfinite(jacobian)) and not np.array_equal(jacobian[1], np.eye(12, 18))


def test_what_is_not_exact_is_refused_by_name():
    def refused(words, batch, **names):
        with pytest.raises(stiction.ArgumentError, match=words):
            stiction.StepDerivative(batch, **names)

    ball = batch_of(SCENES["sliding"])
    refused("'auto'", batch_of(SCENES["sliding"], friction_iterations="auto"))
    refused("'body_masss'.*body_mass", ball, wrt=("body_masss",))
    refused("twice", ball, wrt=("qpos", "qpos"))
    refused("not a number that a step moves", ball, of=("ctrl",))
    refused("has no derivative", ball, wrt=("qacc_warmstart",))
    sees = world(free('type="sphere" size="0.05"').replace("</body>", '<site name="s"/></body>'),
                 '<sensor><rangefinder name="eye" site="s"/></sensor>')
    refused("'eye' casts a ray", batch_of(Scene(sees, [0, 0, 1, *quat(0, 0, 0)], [0] * 6)), of=("sensordata",))


def test_points_that_are_searched_for():
    """Columns of qpos are the reference's; another column that moves such a point says that it is not exact."""
    scene = SCENES["box on box"]
    batch = batch_of(scene)
    d = stiction.StepDerivative(batch)
    found, nv = d.jacobian()[0], batch.model.nv
    expected = stiction.Reference(scene.model(), stiction.Options(**EXACT)).step_jacobian(scene.qpos, scene.qvel)
    assert d.exact[0]
    assert error_of(found[:, : 2 * nv], expected.state, nv) <= ROUND_OFF
    sized = stiction.StepDerivative(batch, wrt=("qpos", "geom_size"))
    sized.jacobian()
    assert not sized.exact[0]
    closed = stiction.StepDerivative(batch_of(SCENES["sliding"]))
    closed.jacobian()
    assert closed.exact[0]


def test_searched_points_on_a_mocap_body():
    """The reference gets the body where it is, as fast as the step has it."""
    model = stiction.Model.from_xml("""<mujoco><option timestep="0.004"/><worldbody>
      <body mocap="true"><geom type="box" size=".3 .3 .05"/></body>
      <body pos="0 0 .1499"><freejoint/><geom type="box" size=".1 .08 .1" mass="1"/></body></worldbody></mujoco>""")
    batch = stiction.Batch(model, 1, options=stiction.Options(**EXACT), precision="float64")
    for k in range(3):
        batch.mocap_pos[0, 0] = [0.002 * k, 0, 0.001 * k]
        batch.step()
    batch.mocap_pos[0, 0] += [0.002, 0, 0.001]
    reference = stiction.Reference(model, stiction.Options(**EXACT))
    expected = reference.step_jacobian(
        batch.qpos[0], batch.qvel[0], mocap_pos=batch.mocap_xpos[0], mocap_quat=batch.mocap_xquat[0],
        mocap_vel=[[0, 0, 0, 0.5, 0, 0.25]],
    )  # fmt: skip
    d = stiction.StepDerivative(batch)
    assert error_of(d.jacobian()[0][:, : 2 * model.nv], expected.state, model.nv) <= ROUND_OFF
    assert d.exact[0]
