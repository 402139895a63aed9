"""StepDerivative.product, which goes backward, against weights times StepDerivative.jacobian, which goes forward: two
number types of one text, whose derivatives agree to round-off."""

import numpy as np
import pytest

import stiction
from jacobian_scenes import SCENES, Scene, free, world
from mujoco_oracle import load
from test_step_derivative import CLOSED, ROBOTS, VARIANTS, batch_of, many

ROUND_OFF = 1e-10  # of the largest entry of the Jacobian between two fields, times the weights
ROWS = ("qpos", "qvel", "act", "anchor", "friction_anchor", "sensordata")
COLUMNS = (
    "qpos", "qvel", "act", "anchor", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat",
    "gravity", "body_pos", "body_quat", "body_mass", "body_ipos", "body_iquat", "body_inertia",
    "jnt_pos", "jnt_axis", "jnt_range", "jnt_margin", "jnt_stiffness", "qpos0", "qpos_spring",
    "dof_armature", "dof_damping", "dof_frictionloss", "geom_size", "geom_pos", "geom_quat", "geom_friction",
    "pair_margin", "pair_stiffness", "pair_dissipation", "site_pos", "actuator_gear", "actuator_gain", "actuator_bias",
    "tendon_stiffness", "tendon_damping", "tendon_lengthspring", "actuator_dynprm", "eq_data",
)  # fmt: skip


def named(batch, names):
    """Those of which the batch has numbers."""
    def size(name):
        try:
            return np.size(getattr(batch, name) if hasattr(batch, name) else batch.param(name))
        except stiction.ArgumentError:
            return np.size(batch.get_state().get(name, ()))

    return tuple(name for name in names if size(name))


def derivative_of(batch, rows=ROWS, columns=COLUMNS):
    return stiction.StepDerivative(batch, of=named(batch, rows), wrt=named(batch, columns))


def compare(d, seed=0, tolerance=ROUND_OFF):
    """Products with random weights of all rows, and of those of each field alone."""
    jacobian = d.jacobian()
    status, exact = np.array(d.status), np.array(d.exact)
    assert np.all(np.isfinite(jacobian))
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal((len(jacobian), d.rows))
    for rows in [slice(None), *d.of.values()]:
        given = np.zeros_like(weights)
        given[:, rows] = weights[:, rows]
        found, expected = d.product(given), np.einsum("er,erc->ec", given, jacobian)
        assert np.array_equal(d.status, status) and np.array_equal(d.exact, exact)
        for name, columns in d.wrt.items():
            sizes = [np.abs(jacobian[:, r, columns]).max((1, 2), initial=0) * np.abs(given[:, r]).max(1, initial=0)
                     for r in d.of.values()]  # fmt: skip
            error = np.abs(found[:, columns] - expected[:, columns]).max(1, initial=0)
            # what is 0 is that but for round-off
            assert np.all(error <= tolerance * np.max(sizes, axis=0) + 1e-13), (name, error, sizes)
    return jacobian


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", CLOSED)
def test_scenes(name, variant):
    compare(derivative_of(batch_of(SCENES[name], **VARIANTS[variant])))


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("name", ROBOTS)
def test_robots_at_random_states(name, precision):
    model = load(name)[1]
    rng = np.random.default_rng(3)
    low, high = np.clip(model.actuator_ctrlrange.T, -10, 10)
    for friction in (1, 3, "fixed_point"):
        options = stiction.Options(friction_iterations=friction)
        batch = stiction.Batch(model, 4, options=options, precision=precision)
        for _ in range(50):
            batch.ctrl[:] = rng.uniform(low, high, batch.ctrl.shape)
            batch.step(2)
        columns = ("qpos", "qvel", "ctrl", "body_mass", "geom_friction")
        touched = compare(derivative_of(batch, ("qpos", "qvel"), columns))
        assert np.abs(touched).max() > 1


def test_anchors():
    batch = batch_of(SCENES["sticking"], stiction="anchored")
    anchor = np.zeros((batch.model.nanchor, 3))
    anchor[0] = 2e-6, -1e-6, 0
    batch.set_state(anchor=anchor)
    d = derivative_of(batch)
    jacobian = compare(d)
    assert np.abs(jacobian[:, d.of["qvel"], d.wrt["anchor"]]).max() > 1


LIMB = """<mujoco><option timestep="0.004" density="1.2" viscosity="0.01" wind="1 0 .2"/><worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="hand" mocap="true" pos=".3 0 .9"><geom type="sphere" size=".05"/></body>
  <body pos="0 0 1"><joint name="a" type="hinge" axis="0 1 0"/><site name="s0" pos=".05 0 .05"/>
    <geom type="capsule" size=".03 .1" pos="0 0 -.1" mass="1"/>
    <geom name="wrap" type="cylinder" size=".04 .1" euler="90 0 0" pos="0 0 -.2" contype="0" conaffinity="0" mass=".1"/>
    <body pos="0 0 -.2"><joint name="b" type="hinge" axis="0 1 0.1" range="-2 1.5" limited="true"/>
      <geom type="capsule" size=".03 .1" pos="0 0 -.1" mass=".5"/><site name="s1" pos=".05 0 -.1"/></body></body>
  <body pos=".3 0 .8"><freejoint/><geom type="box" size=".05 .06 .07" mass=".4"/><site name="s2"/></body></worldbody>
  <tendon><spatial name="t" stiffness="20" damping="0.3" springlength=".1"><site site="s0"/><geom geom="wrap"/>
    <site site="s1"/></spatial><fixed name="f"><joint joint="a" coef="1"/><joint joint="b" coef="-.5"/></fixed></tendon>
  <actuator><muscle name="m" tendon="t" lengthrange=".1 .4"/><position joint="b" kp="30" kv="1"/>
    <general tendon="f" dyntype="filter" dynprm="0.05" gainprm="3"/></actuator>
  <equality><connect site1="s2" site2="s1"/></equality>
  <sensor><accelerometer site="s1"/><gyro site="s2"/><framepos objtype="site" objname="s1"/><touch site="s2"/>
    <tendonpos tendon="t"/><actuatorfrc actuator="m"/><jointpos joint="a"/><subtreecom body="hand"/></sensor>
  </mujoco>"""


@pytest.mark.parametrize("friction", [1, 3, "fixed_point"])
def test_tendons_muscles_fluids_equalities_and_sensors(friction):
    """All of it at once, on a body that a mocap body pushes."""
    model = stiction.Model.from_xml(LIMB)
    batch = stiction.Batch(model, 3, options=stiction.Options(friction_iterations=friction), precision="float64")
    rng = np.random.default_rng(4)
    for k in range(20):
        batch.ctrl[:] = rng.uniform(0, 1, batch.ctrl.shape)
        batch.mocap_pos[:, 0] = [0.3 - 1e-3 * k, 0, 0.9 - 2e-3 * k]
        batch.step()
    batch.mocap_pos[:, 0] += [-1e-3, 0, -2e-3]
    d = derivative_of(batch)
    assert {"act", "sensordata"} <= set(d.of) and {"act", "mocap_pos", "eq_data"} <= set(d.wrt)
    compare(d)


def test_points_that_are_searched_for():
    """qpos to qpos and qvel by the reference, the rest by the tape."""
    batch = batch_of(SCENES["box on box"])
    d = stiction.StepDerivative(batch)
    compare(d)
    assert d.exact[0]
    sized = stiction.StepDerivative(batch, wrt=("qpos", "geom_size", "body_mass"))
    compare(sized)
    assert not sized.exact[0]


def test_a_step_that_freezes_keeps_the_state():
    batch = batch_of(SCENES["flight"], num_envs=2)
    batch.qvel[0, 0] = np.nan  # into the view, unasked
    d = stiction.StepDerivative(batch, wrt=("qpos", "qfrc_applied", "qvel"))
    weights = np.random.default_rng(0).standard_normal((2, 12))
    found = d.product(weights)
    assert np.array_equal(found[0], [*weights[0, :6], *np.zeros(6), *weights[0, 6:]])
    assert d.status[0] & stiction.Status.bad_state.value and d.status[1] == 0
    compare(d)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_bits_depend_on_the_environment_alone(precision):
    """Not on those beside it, on threads, on what the tape has held before, and not on the other weights."""
    weights = np.random.default_rng(1).standard_normal((64, 12))
    all_of_them = stiction.StepDerivative(many(64, 2, precision)).product(weights)
    for count, threads in ((1, 1), (7, 2), (64, 1)):
        d = stiction.StepDerivative(many(count, threads, precision))
        d.product(-weights[:count])
        few = d.product(weights[:count])
        assert few.tobytes() == all_of_them[:count].tobytes()


def test_memory_is_that_of_the_first_product():
    d = stiction.StepDerivative(many(16, 1))
    before, weights = d.memory, np.ones((16, 12))
    d.product(weights)
    first = d.memory
    for _ in range(3):
        d.product(weights)
    assert before < first == d.memory


def test_weights_that_do_not_fit_are_refused():
    d = stiction.StepDerivative(many(2, 1))
    with pytest.raises(stiction.ArgumentError, match="weights"):
        d.product(np.ones((2, 11)))
    with pytest.raises(stiction.ArgumentError, match="not finite"):
        d.product(np.full((2, 12), np.inf))
    assert not d.product(np.zeros((2, 12))).any()
