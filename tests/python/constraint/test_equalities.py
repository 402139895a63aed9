"""Connects and welds: what they hold, against MuJoCo; their law, against closed forms, hinges and welds."""

import numpy as np
import pytest

import stiction
import tangents
from mujoco_oracle import as_mujocos_equality, equality_rows, mujoco
from one_step import jacobian_is_the_difference, steps_as_alone, steps_as_the_reference

# Two chains, free, ball, slide and hinge joints, a mocap body; connects and welds of bodies and sites.
TREE = """
<mujoco>
  <option gravity="0.3 -1 -9"/>
  <default>
    <equality solref="0.03 0.8"/>
    <default class="soft"><equality solref="0.1 1.2" solimp="0.8 0.9 0.01"/></default>
  </default>
  <worldbody>
    <site name="hook" pos="0.1 0.2 1.4" euler="10 20 30"/>
    <body name="hand" mocap="true" pos="0.4 0.1 0.9" quat="0.8 0.1 0.5 -0.2">
      <site name="palm" pos="0.02 0.03 0.04" euler="40 0 10"/>
    </body>
    <body name="a" pos="0.1 0.2 1" euler="20 30 40">
      <freejoint/>
      <inertial pos="0.02 0.01 -0.03" mass="1.3" fullinertia="0.01 0.02 0.015 0.001 -0.002 0.0015"/>
      <site name="s" pos="0.1 0 0.2" euler="10 0 50"/>
      <body name="a1" pos="0.3 0 0"><joint axis="0.2 1 0" damping="0.1"/><joint type="slide" axis="1 0 1"/>
        <geom type="box" size="0.1 0.03 0.04" pos="0.1 0 0" contype="0"/>
        <body name="a2" pos="0.3 0 0"><joint type="ball"/>
          <geom type="capsule" size="0.03 0.1" pos="0.1 0.02 0" contype="0"/>
          <site name="t" pos="0 0.1 0.2" euler="80 0 50"/></body></body>
      <body name="a3" pos="0 0.3 0.1"><joint axis="0 1 0.3" stiffness="2"/>
        <geom size="0.08" pos="0.1 0 0" contype="0"/></body>
    </body>
    <body name="b" pos="0.5 0.1 1.3" euler="-20 10 70"><joint type="hinge" axis="1 1 0"/>
      <geom type="box" size="0.1 0.05 0.1" pos="0.1 0.1 0" contype="0"/>
      <body name="b1" pos="0 0.2 0.1"><joint type="hinge" axis="0 1 1"/>
        <geom type="box" size="0.02 0.05 0.1" pos="0.1 0.1 0" contype="0"/></body></body>
  </worldbody>
  <equality>
    <weld name="rel" body1="a1" body2="b1" relpose="0.1 0.2 0.3 1 1 0.2 0" anchor="0.1 0 0.05"
          torquescale="0.4"/>
    <weld body1="a2" body2="b" class="soft"/>
    <weld body1="a3"/>
    <weld site1="s" site2="t" solref="-400 -30"/>
    <weld body1="hand" body2="a2" solref="0.02"/>
    <weld site1="palm" site2="s"/>
    <connect name="loop" body1="a3" body2="a2" anchor="0.1 0.2 0.3"/>
    <connect site1="s" site2="t" active="false"/>
    <connect body1="b1" anchor="0.05 0.2 0.1"/>
    <connect body1="world" body2="b1" anchor="1 2 1"/>
    <connect site1="hook" site2="s"/>
  </equality>
</mujoco>"""
WELDS = 6


def both():
    return mujoco.MjModel.from_xml_string(TREE), stiction.Model.from_xml(TREE, strict=True)


def random_state(model, rng):
    """A state of a MuJoCo model."""
    q = model.qpos0.copy()
    mujoco.mj_integratePos(model, q, rng.normal(size=model.nv), 1.0)
    return q, rng.normal(size=model.nv)


def test_arrays_are_mujocos():
    theirs, ours = both()
    for field in ("eq_type", "eq_objtype", "eq_obj1id", "eq_obj2id", "eq_active0"):
        np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field), field)
    for field in ("eq_solref", "eq_solimp"):
        np.testing.assert_allclose(getattr(ours, field), getattr(theirs, field), rtol=1e-15)
    bodies = np.flatnonzero(theirs.eq_objtype == mujoco.mjtObj.mjOBJ_BODY)
    np.testing.assert_allclose(ours.eq_data[bodies], theirs.eq_data[bodies, :11], atol=1e-14)
    assert ours.eq_names[ours.equality("loop")] == "loop" and ours.neq == theirs.neq
    with pytest.raises(stiction.ArgumentError, match="loop"):
        ours.equality("loup")


def test_residuals_and_jacobians():
    """efc_pos and efc_J of MuJoCo, whose rotation is torquescale sin(angle/2) in the axes of body 2."""
    theirs, ours = both()
    engine, data = stiction.Reference(ours), mujoco.MjData(theirs)
    data.eq_active[:] = 1
    rng = np.random.default_rng(5)
    for _ in range(20):
        q, v = random_state(theirs, rng)
        data.mocap_pos[:], data.mocap_quat[:] = rng.normal(size=(1, 3)), rng.normal(size=(1, 4))
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(theirs, data)
        state = engine.forward(q, v, mocap_pos=data.mocap_pos, mocap_quat=data.mocap_quat)
        for i in range(theirs.neq):
            gap, jac = state.eq_gap[i], state.eq_J[6 * i : 6 * i + 6]
            weld = i < WELDS
            assert weld or not gap[:3].any()
            pos, J = equality_rows(theirs, data, i)
            assert len(pos) == (6 if weld else 3)
            our_pos, our_J = as_mujocos_equality(theirs, data, i, gap, jac)
            np.testing.assert_allclose(our_pos, pos, atol=1e-10)
            np.testing.assert_allclose(our_pos[:3], pos[:3], atol=1e-12)
            np.testing.assert_allclose(our_J, J, atol=1e-10)


def test_stiffness_is_mujocos():
    """A weight on a weld and on a connect hangs as deep as in MuJoCo with a constant impedance."""
    xml = """<mujoco><option timestep="0.001" gravity="0 0 -10"/><worldbody>
      <body name="b" pos="0 0 1"><freejoint/>
        <inertial pos="0 0 0" mass="2" diaginertia="0.02 0.02 0.02"/></body></worldbody>
      <equality><{} body1="b" anchor="0 0 0" solref="{}" solimp="0.9 0.9 0.001"/></equality></mujoco>"""
    for kind in ("weld", "connect"):
        for solref in ("0.02 1", "0.05 0.7", "-900 -80"):
            text = xml.format(kind, solref)
            theirs = mujoco.MjModel.from_xml_string(text)
            data = mujoco.MjData(theirs)
            for _ in range(3000):
                mujoco.mj_step(theirs, data)
            batch = stiction.Batch(stiction.Model.from_xml(text), 2, precision="float64")
            batch.step(3000)
            depth = 1 - batch.qpos[0, 2]
            assert depth == pytest.approx(1 - data.qpos[2], rel=2e-3), (kind, solref)
            assert batch.qfrc_constraint[0, 2] == pytest.approx(20, rel=1e-9)


def test_report_says_how_stiff():
    _, ours = both()
    notes = {e.line: e.note for e in ours.report.entries if e.element in ("weld", "connect") and not e.attribute}
    notes.update({e.line: e.note for e in ours.report.entries
                  if e.element in ("weld", "connect") and e.attribute == "name"})
    assert len(notes) == ours.neq
    assert sum("N m/rad" in n for n in notes.values()) == WELDS
    assert all("relaxation time" in n and "from solref" in n for n in notes.values())


RIGID = '<custom><numeric name="stiction_equality" data="1e40 0"/></custom>'


def random_batch(model, n, seed=2, **options):
    """States of all joints near the reference pose."""
    batch = stiction.Batch(model, n, **options)
    rng = np.random.default_rng(seed)
    theirs = mujoco.MjModel.from_xml_string(TREE)
    for k in range(n):
        q = theirs.qpos0.copy()
        mujoco.mj_integratePos(theirs, q, 0.2 * rng.normal(size=model.nv), 1.0)
        batch.qpos[k] = q
    batch.qvel[:] = rng.normal(size=(n, model.nv))
    batch.eq_active[:] = rng.integers(0, 2, size=batch.eq_active.shape)
    return batch


@pytest.mark.parametrize("extra", ["", RIGID], ids=["mapped", "rigid"])
def test_packs_against_the_reference(extra):
    model = stiction.Model.from_xml(TREE.replace("</mujoco>", extra + "</mujoco>"))
    batch = random_batch(model, 9, precision="float64", options=stiction.Options(solver_tolerance=1e-13))
    steps_as_the_reference(batch, "mocap_pos", "mocap_quat", "eq_active")


def test_float_against_double():
    model = both()[1]
    a, b = random_batch(model, 9), random_batch(model, 9, precision="float64")
    a.step(), b.step()
    np.testing.assert_allclose(a.qvel, b.qvel, atol=2e-4 * np.abs(b.qvel).max())


def test_bits_do_not_depend_on_the_batch():
    steps_as_alone(random_batch(both()[1], 13), 20, (0, 5, 12), "eq_active")


def test_inactive_is_absent():
    """As the model without them; only the order of the factor differs."""
    model = both()[1]
    without = stiction.Model.from_xml(TREE[: TREE.index("<equality>\n    <weld")] + "</mujoco>")
    a, b = random_batch(model, 5, precision="float64"), stiction.Batch(without, 5, precision="float64")
    a.eq_active[:] = 0
    b.qpos[:], b.qvel[:] = a.qpos, a.qvel
    a.step(20), b.step(20)
    np.testing.assert_allclose(a.qpos, b.qpos, rtol=0, atol=1e-12)


def test_a_reset_makes_it_the_files():
    batch = stiction.Batch(both()[1], 3)
    batch.eq_active[:] = 1 - batch.model.eq_active0
    batch.reset([1])
    np.testing.assert_array_equal(batch.eq_active[1], batch.model.eq_active0)
    np.testing.assert_array_equal(batch.eq_active[[0, 2]], [1 - batch.model.eq_active0] * 2)


def test_own_parameters():
    """An environment may weld its bodies in another pose, and otherwise stiff."""
    model = stiction.Model.from_xml("""<mujoco><option gravity="0 0 0"/><worldbody>
      <body name="b"><freejoint/><geom size="0.1"/></body></worldbody>
      <equality><weld body1="b" relpose="0 0 0 1 0 0 0"/></equality></mujoco>""")
    batch = stiction.Batch(model, 3)
    batch.param("eq_data")[1, 0, 3] = 0.1
    batch.param("eq_stiffness")[2] *= 2
    batch.step(1000)
    np.testing.assert_allclose(batch.qpos[:, 0], [0, -0.1, 0], atol=1e-4)
    batch.param("eq_data")[1, 0, 6:10] = 0
    with pytest.raises(stiction.ArgumentError, match="eq_data"):
        batch.step()


def test_derivative():
    """Reference.step_jacobian goes through the gaps and their Jacobians."""
    model = both()[1]
    rng = np.random.default_rng(8)
    q = tangents.add(model, model.qpos0, 0.2 * rng.normal(size=model.nv))
    jacobian_is_the_difference(model, q, rng.normal(size=model.nv), 1e-7, eq_active=np.arange(model.neq) % 2)


BODY = '<mujoco><worldbody><body name="b"><freejoint/><geom size="1"/><site name="s"/></body>{}</worldbody>'


@pytest.mark.parametrize("equality, message", [
    ('<connect body1="b"/>', "anchor"),
    ('<connect body1="b" body2="b" anchor="0 0 0"/>', "twice"),
    ('<weld body1="b" body2="c"/>', '"c"'),
    ('<weld site1="s"/>', "site2"),
    ('<weld site1="s" site2="s"/>', "twice"),
    ('<weld site1="s" body2="b"/>', "does not go with"),
    ('<weld body1="b" relpose="0 0 0"/>', "relpose"),
    ('<weld body1="b" torquescale="inf"/>', "torquescale"),
    ('<connect body1="b" anchor="1e9 0 0"/>', "anchor"),
    ('<connect body1="b" anchor="0 0 0" solref="nan 1"/>', "solref"),
    ('<flex flex="f"/>', "flex"),
])
def test_bad_input(equality, message):
    with pytest.raises(stiction.ModelError, match=message):
        stiction.Model.from_xml(BODY.format("") + f"<equality>{equality}</equality></mujoco>")


@pytest.mark.parametrize("data, message", [
    ("1", "expected 2"), ("100 0", "third number"), ("-1 0", ">= 0"), ("1 -1", ">= 0"), ("1e30 0", "stiffness"),
])
def test_bad_compliance(data, message):
    for name in ("stiction_equality", "stiction_equality/e"):
        with pytest.raises(stiction.ModelError, match=message):
            stiction.Model.from_xml(BODY.format("") + '<equality><weld name="e" body1="b"/></equality>'
                                    f'<custom><numeric name="{name}" data="{data}"/></custom></mujoco>')
    with pytest.raises(stiction.ModelError, match="nobody"):
        stiction.Model.from_xml(BODY.format("") + '<custom><numeric name="stiction_equality/nobody" '
                                'data="1 0"/></custom></mujoco>')


def test_saved_and_copied(tmp_path):
    model = both()[1]
    batch = random_batch(model, 3)
    batch.save(tmp_path / "batch")
    other = stiction.Batch(model, 3)
    other.load(tmp_path / "batch")
    np.testing.assert_array_equal(other.eq_active, batch.eq_active)
    batch.step(5), other.step(5)
    assert batch.state_hash() == other.state_hash()
