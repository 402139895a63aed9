"""Actuators with a state and muscles against MuJoCo and closed forms."""

import numpy as np
import pytest

import stiction
from one_step import steps_of_both

mujoco = pytest.importorskip("mujoco")

BODY = """<worldbody>
 <site name="high" pos=".1 .1 1.5"/>
 <body pos="0 0 1"><joint name="lift" type="slide" axis="0 .1 1" range="-.3 .2"/>
  <geom type="box" size=".1 .1 .05" mass="1.5"/>
  <body pos="0 0 -.05"><joint name="hip" axis="0 1 .1" range="-50 70"/>
   <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".04" mass=".8"/><site name="low" pos=".05 0 -.1"/>
   <body pos="0 0 -.3"><joint name="ball" type="ball"/>
    <geom type="capsule" fromto="0 0 0 .1 0 -.2" size=".03" mass=".4"/></body>
  </body></body></worldbody>
<tendon><spatial name="string"><site site="high"/><site site="low"/></spatial>
 <fixed name="couple"><joint joint="lift" coef="2"/><joint joint="hip" coef="-.5"/></fixed></tendon>"""
ACTUATORS = """<actuator>
 <muscle name="first" tendon="string" lengthrange=".3 .9" force="80"/>
 <muscle joint="hip" gear="-.05" scale="300" lengthrange="-.1 .06" timeconst=".02 .05" tausmooth=".4"/>
 <muscle joint="hip" gear=".04" range=".6 1.3" lengthrange="-.05 .05" lmin=".3" lmax="1.8" vmax="3"
   fpmax="1.1" fvmax="1.4" force="30" ctrlrange=".2 .7" forcerange="-20 5"/>
 <general joint="hip" gear=".3" lengthrange="-.5 .5" gaintype="muscle" dyntype="filter" dynprm=".3"
   gainprm=".8 1.1 40 200 .4 1.7 2 1.3 1.1" biastype="muscle" actrange="-.2 .8"
   biasprm=".7 1.2 -1 150 .5 1.5 1.5 1.6 1.3"/>
 <general joint="lift" lengthrange="-.3 .2" gaintype="muscle" biastype="affine" biasprm="1 -2 -.3"
   gainprm=".8 1.1 -1 100 .4 1.7 2 1.3 1"/>
 <intvelocity joint="lift" kp="100" kv="3" inheritrange=".8"/>
 <intvelocity joint="ball" gear="0 1 0" kp="2" dampratio="1"/>
 <cylinder joint="lift" timeconst=".2" diameter=".8" bias="1 -3 -.2" ctrlrange="-1 1"/>
 <position joint="hip" kp="20" kv="1" timeconst=".05"/>
 <general tendon="couple" dyntype="filterexact" dynprm=".01" actearly="true" gainprm="3"
   biastype="affine" biasprm=".1 -3 -.2" actrange="-.5 .4"/>
 <general tendon="couple" dyntype="integrator" gaintype="affine" gainprm="1 .2 .1" actearly="true"/>
 <general joint="hip" dyntype="muscle" dynprm=".03 .07 .2" actearly="true" gainprm="-2"/>
 <motor joint="lift" gear="3"/></actuator>"""
BALL = 5  # activation of the servo of the ball: whole turns change no force, and MuJoCo takes them off
XML = f"<mujoco><option timestep='.003'/>{BODY}{ACTUATORS}</mujoco>"


def random_states(m, n, rng):
    """In the ranges of the joints, activations and controls beyond theirs."""
    q = np.zeros((n, m.nq))
    q[:, 0], q[:, 1] = rng.uniform(-.3, .2, n), rng.uniform(-.9, 1.2, n)
    q[:, 2:] = rng.normal(size=(n, 4))
    q[:, 2:] /= np.linalg.norm(q[:, 2:], axis=1, keepdims=True)
    return q, rng.normal(size=(n, m.nv)), rng.uniform(-.3, 1.3, (n, m.na)), rng.uniform(
        -1, 2, (n, m.nu))


def theirs_at(m, q, v, act, ctrl):
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:], d.act[:], d.ctrl[:] = q, v, act, ctrl
    mujoco.mj_forward(m, d)
    return d


def near(ours, theirs, relative):
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= relative * np.abs(theirs).max(), (ours, theirs)


def test_the_model_is_mujocos():
    m, ours = mujoco.MjModel.from_xml_string(XML), stiction.Model.from_xml(XML, strict=True)
    assert ours.na == m.na == 11
    for field in ("dyntype", "actadr", "actlimited", "actearly"):
        np.testing.assert_array_equal(getattr(ours, f"actuator_{field}"),
                                      getattr(m, f"actuator_{field}"), field)
    stateful = m.actuator_actadr >= 0
    near(ours.actuator_dynprm[stateful], m.actuator_dynprm[stateful, :3], 1e-15)
    near(ours.actuator_actrange, m.actuator_actrange, 1e-14)
    near(ours.actuator_acc0, m.actuator_acc0, 1e-12)
    near(ours.actuator_lengthrange, m.actuator_lengthrange, 1e-14)


def test_rates_and_forces_are_mujocos():
    m = mujoco.MjModel.from_xml_string(XML)
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    reference = stiction.Reference(stiction.Model.from_xml(XML))
    rng = np.random.default_rng(1)
    curves = []
    for state in zip(*random_states(m, 200, rng)):
        d = theirs_at(m, *state)
        q, v, act, ctrl = state
        f = reference.forward(q, v, ctrl, act=act)
        near(f.act_dot, d.act_dot, 1e-10)
        near(f.actuator_length, d.actuator_length, 1e-10)
        near(f.actuator_velocity, d.actuator_velocity, 1e-10)
        np.testing.assert_allclose(f.actuator_force, d.actuator_force, rtol=1e-10, atol=1e-10)
        near(f.qfrc_actuator, d.qfrc_actuator, 1e-10)
        curves.append(d.actuator_force[:5])
    # on the curves and not beside them
    assert (np.ptp(curves, axis=0) > 1).all()


def test_a_step_leaves_mujocos_activations():
    m, model = mujoco.MjModel.from_xml_string(XML), stiction.Model.from_xml(XML)
    reference = stiction.Reference(model)
    n = 100
    q, v, act, ctrl = random_states(m, n, np.random.default_rng(2))
    batches = [stiction.Batch(model, num_envs=n, precision=p) for p in ("float64", "float32")]
    for batch in batches:
        batch.set_state(qpos=q, qvel=v, act=act)
        batch.ctrl[:] = ctrl
        batch.step()
    for i in range(n):
        d = theirs_at(m, q[i], v[i], act[i], ctrl[i])
        mujoco.mj_step(m, d)
        d.act[BALL] += 2 * np.pi * round((batches[0].act[i, BALL] - d.act[BALL]) / (2 * np.pi))
        near(reference.step(q[i], v[i], ctrl[i], act=act[i]).act, d.act, 1e-14)
        near(batches[0].act[i], d.act, 1e-13)
        near(batches[1].act[i], d.act, 1e-6)  # controls and time constants are float


@pytest.mark.parametrize("precision, tolerance", [("float64", 1e-9), ("float32", 2e-4)])
def test_a_step_of_a_batch_is_the_references(precision, tolerance):
    model = stiction.Model.from_xml(XML)
    q, v, act, ctrl = random_states(model, 60, np.random.default_rng(3))
    ctrl = ctrl.astype(np.float32).astype(float)
    batch, steps = steps_of_both(model, precision, q, v, ctrl, act=act)
    for i, s in enumerate(steps):
        near(batch.qvel[i], s.qvel, tolerance)
        near(batch.act[i], s.act, max(1e-13, tolerance / 100))


def test_short_steps_move_a_muscle_as_mujocos():
    """Explicit there and implicit here: both err by a share of the timestep."""
    def ends(dt):
        xml = XML.replace(".003", str(dt))
        m = mujoco.MjModel.from_xml_string(xml)
        m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        # other actuators only hold it; the muscles pull
        d = mujoco.MjData(m)
        d.ctrl[:4] = .4, .6, .3, .2
        model = stiction.Model.from_xml(xml.replace("/>", "><flag limit='disable'/></option>", 1))
        batch = stiction.Batch(model, precision="float64")
        batch.ctrl[:] = d.ctrl
        steps = round(.2 / dt)
        for _ in range(steps):
            mujoco.mj_step(m, d)
        batch.step(steps)
        near(batch.act[0], d.act, 1e-10)
        return np.abs(batch.qpos[0] - d.qpos).max()

    coarse, fine = ends(1e-3), ends(1e-4)
    assert fine < coarse / 6 and fine < 1e-3, (coarse, fine)


SLIDE = """<mujoco><option timestep=".01" gravity="0 0 0"/><worldbody><body>
 <joint name="x" type="slide" axis="1 0 0" range="-2 3" limited="{limited}"/><geom size=".1" mass="2"/>
 </body></worldbody><actuator>{actuator}</actuator>{more}</mujoco>"""


def slide(actuator, limited="false", more=""):
    return SLIDE.format(actuator=actuator, limited=limited, more=more)


def test_closed_forms_of_activations():
    batch = stiction.Batch(stiction.Model.from_xml(slide(
        """<intvelocity joint="x" kp="1" actrange="-1 .3"/><position joint="x" timeconst=".25"/>
        <muscle joint="x" lengthrange="-5 5" timeconst=".05 .1"/>""").replace(
            'timestep=".01"', 'timestep=".001"')), num_envs=2)
    batch.ctrl[:] = [[.5, 2, 1], [-.25, -1, 0]]
    batch.set_state([1], act=[[0, 0, 1]])
    batch.step(400)  # 0.4 s
    np.testing.assert_allclose(batch.act[:, 0], [.5 * .4, -.25 * .4], rtol=1e-12)
    np.testing.assert_allclose(batch.act[:, 1], np.array([2, -1]) * (1 - np.exp(-.4 / .25)),
                               rtol=1e-6)  # τ is float
    # it never passes the control; without one a' = -a (.5 + 1.5 a)/τ, a/(.5 + 1.5 a) falls as exp(-t/2τ)
    assert 1 > batch.act[0, 2] > .97
    x = .5 * np.exp(-.4 / .2)
    assert batch.act[1, 2] == pytest.approx(.5 * x / (1 - 1.5 * x), rel=.05)  # a step is τ/100
    batch.step(400)
    assert batch.act[0, 0] == np.float32(.3)


def test_an_integrator_does_not_stall_in_single_precision():
    batch = stiction.Batch(stiction.Model.from_xml(slide('<intvelocity joint="x" kp="1"/>')))
    batch.set_state(act=[[1.]])
    batch.ctrl[:] = 1e-6
    batch.step(1000)
    assert batch.act[0, 0] - 1 == pytest.approx(1e-5, rel=1e-6)


def test_a_muscle_holds_its_load():
    """Isometric: activation 1 at the optimum carries the peak force, at rest."""
    more = '<keyframe><key act="1" ctrl="1"/></keyframe>'
    model = stiction.Model.from_xml(slide(
        '<muscle joint="x" lengthrange="-2.5 3.5" range=".75 1.25" force="30"/>', more=more))
    optimum = 0.5
    batch = stiction.Batch(model, precision="float64")
    batch.reset(qpos=[optimum], act=model.key_act[0])
    batch.ctrl[:] = model.key_ctrl[0]
    batch.qfrc_applied[:] = 30
    batch.step(500)
    assert abs(batch.qpos[0, 0] - optimum) < 1e-12 and abs(batch.qvel[0, 0]) < 1e-12
    np.testing.assert_allclose(batch.act, 1)


def test_the_activation_is_state(tmp_path):
    model = stiction.Model.from_xml(XML.replace("</mujoco>", "<keyframe><key name='k' act='"
                                                + " ".join(f".{i}" for i in range(10)) + " .95"
                                                + "'/><key name='bare'/></keyframe></mujoco>"))
    np.testing.assert_allclose(model.key_act, [[*np.arange(10) / 10, .95], np.zeros(11)])
    batch = stiction.Batch(model, num_envs=3)
    assert not batch.act.any()
    batch.reset(act=model.key_act[model.key("k")])
    batch.ctrl[:] = np.linspace(0, 1, model.nu)
    batch.step(3)
    state = batch.get_state()
    assert state["act"].shape == (3, 11)
    batch.save(tmp_path / "b")
    batch.step(5)
    after, hashed = np.array(batch.act), batch.state_hash()
    other = stiction.Batch(model, num_envs=3)
    other.load(tmp_path / "b")
    np.testing.assert_array_equal(other.act, state["act"])
    other.step(5)
    np.testing.assert_array_equal(other.act, after)
    assert other.state_hash() == hashed
    batch.set_state(**state)
    batch.set_state([2], qpos=model.qpos0)
    np.testing.assert_array_equal(batch.act[2], state["act"][2])  # what is not given stays
    batch.act[0] = .5
    batch.copy([0], [1])
    np.testing.assert_array_equal(batch.act[1], .5)
    batch.reset([0])
    assert not batch.act[0].any() and batch.act[1].all()
    with pytest.raises(stiction.ArgumentError, match="act"):
        batch.set_state(act=np.full((3, 11), np.nan))
    batch.act[1, 4] = np.nan
    batch.step()
    assert batch.status[1] & int(stiction.Status.bad_state) and not batch.status[2]
    assert np.isfinite(batch.act).all()


def test_own_parameters_of_muscles():
    """Twice the peak force is twice the force."""
    model = stiction.Model.from_xml(slide('<muscle joint="x" lengthrange="-3 3" force="10"/>'))
    batch = stiction.Batch(model, num_envs=2, precision="float64")
    batch.param("actuator_muscle")[1, 0, [2, 11]] *= 2
    batch.set_state(act=[.5])
    batch.step()
    assert batch.qvel[1, 0] / batch.qvel[0, 0] == pytest.approx(2, rel=.02)  # damping is twice, too
    batch.param("actuator_dynprm")[1, 0, 0] = 0
    with pytest.raises(stiction.ArgumentError, match="actuator_dynprm"):
        batch.step()


@pytest.mark.parametrize("actuator, uselimit", [
    ('<muscle joint="hip" gear="-.1"/>', True),
    ('<muscle joint="hip" gear="-.1"/>', False),
    ('<muscle tendon="couple" gear="2"/>', False),
])
def test_length_ranges_follow_from_limits(actuator, uselimit):
    """MuJoCo pulls at the joints until their limits hold, and its limits give way by 1e-3 of the range."""
    option = f"<compiler><lengthrange uselimit='{str(uselimit).lower()}'/></compiler>"
    xml = f"<mujoco>{option}{BODY}<actuator>{actuator}</actuator></mujoco>"
    ours = stiction.Model.from_xml(xml, strict=True).actuator_lengthrange[0]
    theirs = mujoco.MjModel.from_xml_string(xml).actuator_lengthrange[0]
    near(ours, theirs, 1e-15 if uselimit else 5e-3)


@pytest.mark.parametrize("actuator, words", [
    ('<muscle joint="x"/>', "lengthrange"),
    ('<muscle joint="x" lengthrange="0 1" range="1 1"/>', "range"),
    ('<muscle joint="x" lengthrange="0 1" lmin="1.2"/>', "lmin"),
    ('<muscle joint="x" lengthrange="0 1" vmax="0"/>', "vmax"),
    ('<muscle joint="x" lengthrange="0 1" timeconst="0 .1"/>', "time constant"),
    ('<general joint="x" dyntype="filter" dynprm="0"/>', "time constant"),
    ('<position joint="x" timeconst="-1"/>', "timeconst"),
    ('<general joint="x" dyntype="user"/>', 'dyntype="user"'),
    ('<general joint="x" input="pos vel"/>', 'input="pos vel"'),
    ('<general joint="x" input="ff"/>', 'input="ff"'),
    ('<general joint="x" dyntype="filter" actdim="2"/>', 'actdim="2"'),
    ('<general joint="x" dyntype="filter" gainprm="2" biastype="affine" biasprm="0 -2" inheritrange="1"/>',
     "inheritrange"),
    ('<intvelocity joint="x" actrange="-1 1" inheritrange="1"/>', "actrange"),
])
def test_what_can_not_be_computed_is_refused(actuator, words):
    with pytest.raises(stiction.ModelError, match=words):
        stiction.Model.from_xml(slide(actuator, "true" if "inherit" in actuator else "false"))


def test_defaults_are_mujocos():
    for default, actuator in (
            ('<general dyntype="filterexact" dynprm=".3 .4 .5" gainprm="2 3 4" actrange="-1 1" actearly="true"/>',
             '<position joint="x"/>'),
            ('<general dyntype="integrator" dynprm=".3" gainprm="2" actearly="true"/>', '<cylinder joint="x"/>'),
            ('<general dyntype="muscle" dynprm=".3 .4 .5" gainprm="2 3 4"/>',
             '<muscle joint="x" lengthrange="0 1" force="5"/>'),
            ('<muscle timeconst=".2 .3" force="3" lmin=".4"/>', '<muscle joint="x" lengthrange="0 1"/>'),
            ('<muscle timeconst=".2 .3" force="3" lmin=".4"/>',
             '<muscle joint="x" lengthrange="0 1" force="-2" scale="300"/>'),
            ('<muscle timeconst=".2 .3" force="3"/>', '<general joint="x" lengthrange="0 1"/>'),
            ('<cylinder timeconst=".2" area="3" bias="1 2 3"/>', '<cylinder joint="x"/>'),
            ('<position timeconst=".2"/>', '<position joint="x"/>'),
            ('<position timeconst=".2"/>', '<cylinder joint="x"/>'),
            ('<position timeconst=".2"/>', '<motor joint="x"/>'),
            ('<intvelocity kp="3" kv="2" inheritrange=".5"/>', '<intvelocity joint="x" actrange="-3 3"/>'),
            ('<intvelocity kp="3" kv="2" inheritrange=".5"/>', '<intvelocity joint="x" ctrlrange="-3 3"/>')):
        xml = slide(actuator, "true").replace("<worldbody>", f"<default>{default}</default><worldbody>")
        m, ours = mujoco.MjModel.from_xml_string(xml), stiction.Model.from_xml(xml)
        assert ours.actuator_dyntype[0] == m.actuator_dyntype[0], (default, actuator)
        assert ours.actuator_actearly[0] == m.actuator_actearly[0]
        assert ours.actuator_actlimited[0] == m.actuator_actlimited[0]
        np.testing.assert_allclose(ours.actuator_actrange, m.actuator_actrange)
        if m.na and m.actuator_dyntype[0] != 1:
            np.testing.assert_allclose(ours.actuator_dynprm[0], m.actuator_dynprm[0, :3])
        if m.actuator_gaintype[0] == mujoco.mjtGain.mjGAIN_MUSCLE:
            muscle = np.append(m.actuator_gainprm[0, :9], m.actuator_biasprm[0, :9])
            force = np.where(muscle < 0, muscle[3] / m.actuator_acc0[0], muscle)  # force = -1
            np.testing.assert_allclose(ours.actuator_muscle[0], force)
        else:
            np.testing.assert_allclose(ours.actuator_gain[0], m.actuator_gainprm[0, :3])
            np.testing.assert_allclose(ours.actuator_bias[0], m.actuator_biasprm[0, :3])


@pytest.mark.parametrize("task", [info.id for info in stiction.Env.tasks()])
def test_no_robot_of_a_task_has_an_activation(task):
    """The kernels of tasks do not reset any (cuda/step_status.h)."""
    assert stiction.Env(task, num_envs=1).batch.model.na == 0
