"""Friction with two coefficients ("Irrotational Contact Fields", appendix B), given in MuJoCo's grammar."""

import numpy as np
import pytest

import stiction

GRAVITY = 9.81
SPHERE, CAPSULE = 'type="sphere" size="0.05"', 'type="capsule" size="0.05 0.1"'


def quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def words(numbers):
    return " ".join(repr(float(x)) for x in numbers)


def slider(friction, height=0.05):
    """A ball that can't turn: a point that slides on the floor."""
    return f"""<mujoco><option timestep="0.001"/><worldbody>
      <geom name="floor" type="plane" size="1 1 1"/>
      <body pos="0 0 {height}"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
        <joint type="slide" axis="0 0 1"/><geom name="ball" {SPHERE} mass="0.7"/></body></worldbody>
      <contact><pair geom1="floor" geom2="ball" friction="{friction}"/></contact></mujoco>"""


def reference(xml, **options):
    model = stiction.Model.from_xml(xml)
    for g in range(model.ngeom):
        model = model.with_contact_material(g, stiffness=1e40 if g == 0 else 1e5, relaxation_time=0)
    return stiction.Reference(model, stiction.Options(solver_tolerance=1e-10, friction_iterations=1, **options))


@pytest.mark.parametrize("law", ["lagged", "similar", "sap"])
def test_slides_on_a_curve(law):
    """dv/dt = -g mu t(mu v) with mu = diag(mu_x, mu_y): MuJoCo's first tangent on the floor is y."""
    along_y, along_x = 0.8, 0.2
    ref = reference(slider(f"{along_y} {along_x}"), contact_model=law)
    q, v = np.array([0, 0, -0.7 * GRAVITY / 1e5]), np.array([1.0, 1.2, 0])
    steps = 100
    for k in range(steps):
        s = ref.step(q, v)
        assert s.status == 0
        q, v = s.qpos, s.qvel
        if k == 2:
            assert s.contacts[0].friction == along_y and s.contacts[0].friction2 == along_x
    expected, mu, h = np.array([1.0, 1.2]), np.array([along_x, along_y]), 1e-5
    for _ in range(round(steps * 1e-3 / h)):
        stretched = mu * expected
        expected = expected - h * GRAVITY * mu * stretched / np.linalg.norm(stretched)
    # first order in the timestep: one step of the force, 8e-3 m/s, where a gliding law lands first
    np.testing.assert_allclose(v[:2], expected, atol=1e-2)
    straight = np.array([1.0, 1.2]) * (1 - np.linalg.norm(1 - expected / [1.0, 1.2]))
    assert np.abs(expected - straight).max() > 0.1


@pytest.mark.parametrize("law", ["lagged", "similar", "sap"])
def test_holds_by_the_direction(law):
    """A push of 0.5 m g holds along the coefficient 0.8, and slides along 0.2."""
    ref = reference(slider("0.8 0.2"), contact_model=law)
    q, v, push = np.array([0, 0, -0.7 * GRAVITY / 1e5]), np.zeros(3), 0.5 * 0.7 * GRAVITY
    ends = {}
    for axis in (0, 1):
        x, w = q, v
        force = push * np.eye(3)[axis]
        for _ in range(200):
            s = ref.step(x, w, qfrc_applied=force)
            x, w = s.qpos, s.qvel
        ends[axis] = w[axis]
    assert abs(ends[1]) < 1e-2
    assert ends[0] == pytest.approx(0.2 * (0.5 - 0.2) * GRAVITY, rel=0.02)


@pytest.mark.parametrize("law", ["lagged", "similar", "sap"])
def test_equal_coefficients_are_the_isotropic_law_bit_for_bit(law):
    ends = []
    for friction in ("0.4 0.4", "0.4"):
        ref = reference(slider(friction), contact_model=law)
        q, v = np.zeros(3), np.array([0.3, 0.1, 0])
        for _ in range(50):
            s = ref.step(q, v)
            q, v = s.qpos, s.qvel
        ends.append(np.concatenate([q, v]))
    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [('type="plane" size="1 1 1"', SPHERE, 0.0499), ('type="plane" size="1 1 1"', CAPSULE, None),
     ('type="sphere" size="0.1"', SPHERE, 0.1499)],
)  # fmt: skip
def test_tangents_are_mujocos(first, second, distance):
    """Friction along the first tangent alone: its direction is that of MuJoCo's contact frame."""
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(3)
    for _ in range(20):
        tilt, turn = quaternion(rng), quaternion(rng)
        xml = f"""<mujoco><worldbody><body pos="0 0 0" quat="{words(tilt)}" mocap="true">
            <geom name="a" {first}/></body>
            <body name="moving"><freejoint/><geom name="b" {second} mass="1"/></body></worldbody>
          <contact><pair geom1="a" geom2="b" friction="0.9 0"/></contact></mujoco>"""
        theirs = mujoco.MjModel.from_xml_string(xml)
        data = mujoco.MjData(theirs)
        frame = np.zeros(9)
        mujoco.mju_quat2Mat(frame, tilt)
        normal = frame.reshape(3, 3)[:, 2]
        axis = np.zeros(9)
        mujoco.mju_quat2Mat(axis, turn)
        depth = distance
        if distance is None:  # the deeper end of the capsule
            depth = 0.0499 + 0.1 * abs(normal @ axis.reshape(3, 3)[:, 2])
        direction = normal if "plane" in first else rng.normal(size=3)
        direction = direction / np.linalg.norm(direction)
        qpos = np.concatenate([depth * direction, turn])
        data.qpos[:] = qpos
        mujoco.mj_forward(theirs, data)
        ref = reference(xml)
        qvel = np.concatenate([rng.normal(size=3), np.zeros(3)])
        deepest = min(ref.step(qpos, qvel).contacts, key=lambda c: c.gap)
        impulse = deepest.impulse - deepest.normal * (deepest.impulse @ deepest.normal)
        mine = impulse / np.linalg.norm(impulse)
        tangent = min(data.contact, key=lambda c: c.dist).frame[3:6]
        assert abs(mine @ tangent) == pytest.approx(1, abs=1e-9)


def test_a_batch_reports_it():
    model = stiction.Model.from_xml(slider("0.8 0.2"))
    assert "friction" in model.report.summary()
    assert model.pair_friction[0] == 0.8 and model.pair_friction2[0] == 0.2
    with pytest.raises(stiction.ModelError):
        stiction.Model.from_xml(slider("0.8 0.2"), strict=True)


def test_anchors_refuse_it_by_the_pair():
    with pytest.raises(stiction.ArgumentError, match="pair 0 has anisotropic friction"):
        reference(slider("0.8 0.2"), stiction="anchored")
