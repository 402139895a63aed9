"""Springs and dampers with polynomials: MuJoCo's forces, the motion of a Duffing oscillator, packs against the reference."""

import numpy as np
import pytest

import stiction

mujoco = pytest.importorskip("mujoco")

XML = """<mujoco><option timestep="0.002" gravity="0 0 -9.81"><flag contact="disable" energy="enable"/></option><worldbody>
  <body><joint name="h" axis="0 1 0" stiffness="3 2 5" springref="20" damping=".5 .3 .2"/><geom size=".1" pos=".3 0 0"/>
    <body pos=".5 0 0"><joint name="s" type="slide" stiffness="1 -4 20" damping="0 0 2"/><geom size=".1"/>
      <body pos=".4 0 0"><joint type="ball" stiffness="1 .5 2" damping=".1 .2 .05"/><geom size=".1" pos=".1 .2 0"/></body></body></body>
  <body pos="0 3 0"><freejoint/><geom size=".1"/></body>
  <body pos="0 4 0"><joint type="free" stiffness="20 3 1" damping=".2 .1 .3"/><geom size=".1" pos=".1 0 0"/></body></worldbody>
  <tendon><fixed stiffness="2 1 4" damping=".1 .4 .2" springlength="-.1 .1"><joint joint="h" coef="1"/><joint joint="s" coef="-2"/></fixed>
    <fixed stiffness="0 0 3" springlength="0"><joint joint="h" coef=".5"/></fixed></tendon></mujoco>"""


def states(model, count, seed, reach=0.7):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        q = model.qpos0 + reach * rng.normal(size=model.nq)
        for j in range(model.njnt):
            if model.jnt_type[j] < 2:
                at = model.jnt_qposadr[j] + (3 if model.jnt_type[j] == 0 else 0)
                q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
        yield q, 2 * rng.normal(size=model.nv)


def test_forces_are_mujocos():
    theirs, ours = mujoco.MjModel.from_xml_string(XML), stiction.Model.from_xml(XML, strict=True)
    for name in ("jnt_stiffnesspoly", "dof_dampingpoly", "tendon_stiffnesspoly", "tendon_dampingpoly"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    d, reference = mujoco.MjData(theirs), stiction.Reference(ours)
    for q, v in states(ours, 50, 1):
        d.qpos[:], d.qvel[:] = q, v
        mujoco.mj_forward(theirs, d)
        mine = reference.forward(q, v)
        np.testing.assert_allclose(mine.qfrc_spring, d.qfrc_spring, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(mine.qfrc_damper, d.qfrc_damper, rtol=1e-12, atol=1e-12)
        assert mine.energy_potential == pytest.approx(d.energy[0], abs=1e-11)


def test_flags_switch_them_off():
    xml = XML.replace('energy="enable"', 'spring="disable" damper="disable"')
    mine = stiction.Reference(stiction.Model.from_xml(xml)).forward(*next(states(stiction.Model.from_xml(xml), 1, 1)))
    assert not mine.qfrc_spring.any() and not mine.qfrc_damper.any()


def test_duffing_oscillator():
    """m x'' = -x (k + c x²): from rest at A its period is 4 K(p)/w, w² = (k + c A²)/m, p = c A²/(2 (k + c A²)), K the complete elliptic integral of the first kind, here by the arithmetic-geometric mean."""
    k, c, amplitude, dt = 3.0, 40.0, 0.5, 1e-4
    model = stiction.Model.from_xml(f"""<mujoco><option timestep="{dt}" gravity="0 0 0"/><worldbody><body>
      <joint type="slide" stiffness="{k} 0 {c}"/><geom size=".1" mass="1"/></body></worldbody></mujoco>""")
    stiff = k + c * amplitude**2
    a, b = 1.0, np.sqrt(1 - c * amplitude**2 / (2 * stiff))
    for _ in range(6):
        a, b = (a + b) / 2, np.sqrt(a * b)
    period = 2 * np.pi / (a * np.sqrt(stiff))
    reference = stiction.Reference(model, stiction.Options(scheme="midpoint"))
    q, v, time, crossings = np.array([amplitude]), np.zeros(1), 0.0, []
    energies = []
    while len(crossings) < 3:
        result = reference.step(q, v)
        if (q[0] > 0) != (result.qpos[0] > 0):
            crossings.append(time + dt * q[0] / (q[0] - result.qpos[0]))
        q, v, time = result.qpos, result.qvel, time + dt
        energies.append(reference.forward(q, v).energy_potential + v[0] ** 2 / 2)
    assert crossings[2] - crossings[0] == pytest.approx(period, rel=1e-6)
    assert np.ptp(energies) < 1e-7


@pytest.mark.parametrize("precision", ("float64", "float32"))
def test_a_spring_that_becomes_stiffer_comes_to_rest(precision):
    """c δt² A² = 1e6 m: a force of the start of the step would throw it to a million times the deflection. 1e-3 m: what is left of 100 m/s."""
    model = stiction.Model.from_xml("""<mujoco><option timestep="0.01" gravity="0 0 0"/><worldbody><body>
      <joint type="slide" stiffness="0 0 1e10" damping="0 0 1e4"/><geom size=".1" mass="1"/></body></worldbody></mujoco>""")
    batch = stiction.Batch(model, 1, precision=precision)
    batch.reset()
    batch.qpos[:] = 1
    last = 1.0
    for _ in range(50):
        batch.step()
        assert abs(batch.qpos[0, 0]) <= max(last, 1e-3) and not batch.status.any()
        last = abs(batch.qpos[0, 0])
    assert last < 0.1


def test_derivative():
    """By central differences, away from the kinks."""
    model = stiction.Model.from_xml(XML)
    reference, h = stiction.Reference(model), 1e-6
    for q, v in states(model, 3, 7, reach=0.4):
        to_qvel = np.asarray(reference.step_jacobian(q, v).state)[model.nv :]
        for i in range(model.nv):
            e = np.eye(model.nv)[i]
            up, down = reference.step(q, v + h * e).qvel, reference.step(q, v - h * e).qvel
            np.testing.assert_allclose(to_qvel[:, model.nv + i], (up - down) / (2 * h), atol=2e-7)
        for j in np.flatnonzero(model.jnt_type > 1):
            e = np.eye(model.nq)[model.jnt_qposadr[j]]
            up, down = reference.step(q + h * e, v).qvel, reference.step(q - h * e, v).qvel
            np.testing.assert_allclose(to_qvel[:, model.jnt_dofadr[j]], (up - down) / (2 * h), atol=2e-7)


@pytest.mark.parametrize(("precision", "tolerance"), (("float64", 1e-12), ("float32", 3e-6)))
def test_of_a_batch(precision, tolerance):
    model = stiction.Model.from_xml(XML.replace("</mujoco>", "<sensor><e_potential/></sensor></mujoco>"))
    batch = stiction.Batch(model, 8, precision=precision)
    reference = stiction.Reference(model, batch.options)
    for seed in range(10):
        batch.reset()
        q, v = map(np.array, zip(*states(model, 8, seed)))
        batch.qpos[:], batch.qvel[:] = q, v
        start = batch.qpos.copy(), batch.qvel.copy()
        batch.step()
        for env in range(8):
            expected = reference.step(start[0][env], start[1][env])
            np.testing.assert_allclose(batch.qvel[env], expected.qvel, rtol=tolerance, atol=10 * tolerance)
            # a sum of some joules of either sign
            np.testing.assert_allclose(batch.sensordata[env], expected.sensordata, rtol=10 * tolerance, atol=tolerance)


def test_stiffness_of_an_environment_is_its_own():
    """The linear coefficient is a parameter; the others are the model's."""
    model = stiction.Model.from_xml(XML)
    batch = stiction.Batch(model, 2, precision="float64")
    batch.reset()
    batch.param("jnt_stiffness")[1] = 30
    batch.param("tendon_stiffness")[1] = 7
    q, v = next(states(model, 1, 3))
    batch.qpos[:], batch.qvel[:] = q, v
    batch.step()
    assert not np.allclose(batch.qvel[0], batch.qvel[1])
    xml = XML
    for old, new in (('stiffness="3 2 5"', 'stiffness="30 2 5"'), ('stiffness="1 -4 20"', 'stiffness="30 -4 20"'),
                     ('stiffness="1 .5 2"', 'stiffness="30 .5 2"'), ("<freejoint/>", '<joint type="free" stiffness="30"/>'),
                     ('stiffness="20 3 1"', 'stiffness="30 3 1"'), ('<fixed stiffness="2 1 4"', '<fixed stiffness="7 1 4"'),
                     ('<fixed stiffness="0 0 3"', '<fixed stiffness="7 0 3"')):  # fmt: skip
        assert old in xml
        xml = xml.replace(old, new)
    expected = stiction.Reference(stiction.Model.from_xml(xml), batch.options).step(q, v).qvel
    np.testing.assert_allclose(batch.qvel[1], expected, atol=1e-11)


def test_a_tendon_that_pushes_away_is_said():
    xml = XML.replace('<fixed stiffness="2 1 4"', '<fixed stiffness="2 -9 4"')
    with pytest.raises(stiction.ModelError, match="negative"):
        stiction.Model.from_xml(xml, strict=True)
