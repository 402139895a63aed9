"""Models whose parameters are fitted, and logs of them with noise, made by stiction and by MuJoCo."""

import numpy as np

import stiction
from mujoco_oracle import mujoco
from stiction.identification import Log

PENDULUM = """<mujoco><option timestep="0.002"/><worldbody><body name="arm" pos="0 0 1">
  <joint name="hinge" axis="0 1 0" damping="{damping}" armature="{armature}" frictionloss="{friction}" {more}/>
  <geom name="rod" type="capsule" fromto="0 0 0 0 0 -0.5" size="0.02" mass="1"/></body></worldbody>
  <actuator><motor name="motor" joint="hinge"/></actuator></mujoco>"""

ARM = """<mujoco><option timestep="0.002"/><worldbody>
  <body name="upper" pos="0 0 1"><joint name="shoulder" axis="0 1 0" damping="{damping}" armature="{armature}"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03" mass="1"/>
    <body name="lower" pos="0 0 -.3"><joint name="elbow" axis="0 1 0" damping="0.2" armature="{armature}"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.02" mass="0.5"/>
      <body name="hand" pos="0 0 -.25"><geom type="box" size=".05 .02 .05" mass="{mass}"/></body></body></body>
  </worldbody>
  <actuator><position name="shoulder" joint="shoulder" kp="{kp}" kv="1"/>
    <position name="elbow" joint="elbow" kp="{kp}" kv=".5"/></actuator></mujoco>"""

# pushed along x by forces at its centre; it may lift off
BLOCK = """<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="5 5 .1" friction="0.05"/>
  <body name="block" pos="0 0 .05">{joints}
    <geom name="block" type="box" size=".1 .1 .05" mass="{mass}" friction="{friction}"/><site name="centre"/></body>
  </worldbody>
  <actuator><motor name="push" site="centre" gear="1 0 0 0 0 0"/></actuator></mujoco>"""
SLIDES = '<joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>'


def pendulum(damping, armature, friction, more=""):
    return PENDULUM.format(damping=damping, armature=armature, friction=friction, more=more)


def arm(damping, armature, mass, kp):
    return ARM.format(damping=damping, armature=armature, mass=mass, kp=kp)


def block(mass, friction, joints=SLIDES):
    return BLOCK.format(mass=mass, friction=friction, joints=joints)


def commands(rng, n, nu, hold, amplitude):
    """(n, nu): a new command every `hold` rows."""
    return np.repeat(rng.uniform(-amplitude, amplitude, (n // hold + 2, nu)), hold, axis=0)[:n]


def measured(model, rng, time, qpos, qvel, ctrl, noise):
    """A log with white noise (of positions, of velocities); quaternions turn by as much."""
    from stiction.identification.replay import Tangent

    qpos = Tangent(model).add(np.array(qpos), noise[0] * rng.normal(size=(len(qpos), model.nv)))
    return Log(np.array(time), qpos, np.array(qvel) + noise[1] * rng.normal(size=(len(qpos), model.nv)), ctrl)


def log_of(xml, seconds, *, every=5, latency=0, seed=0, noise=(1e-3, 1e-2), hold=15, amplitude=1.0):
    """What stiction does. every: physics steps of a row. latency: in physics steps."""
    model = stiction.Model.from_xml(xml)
    batch = stiction.Batch(model, 1, stiction.Options(solver_tolerance=1e-10, friction_iterations="fixed_point"), precision="float64", threads=1)

    def step(ctrl):
        batch.ctrl[:] = ctrl
        batch.step()

    return _log(
        model,
        step,
        lambda: (batch.qpos[0].copy(), batch.qvel[0].copy()),
        seconds,
        every,
        latency,
        seed,
        noise,
        hold,
        amplitude,
    )


def mujoco_log(xml, seconds, *, every=5, latency=0, seed=0, noise=(1e-3, 1e-2), hold=15, amplitude=1.0):
    """The same of MuJoCo, with its implicitfast integrator."""
    model, theirs = stiction.Model.from_xml(xml), mujoco.MjModel.from_xml_string(xml)
    theirs.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    data = mujoco.MjData(theirs)

    def step(ctrl):
        data.ctrl[:] = ctrl
        mujoco.mj_step(theirs, data)

    return _log(
        model, step, lambda: (data.qpos.copy(), data.qvel.copy()), seconds, every, latency, seed, noise, hold, amplitude
    )


def _log(model, step, state, seconds, every, latency, seed, noise, hold, amplitude):
    rng, dt = np.random.default_rng(seed), model.timestep
    n = round(seconds / (every * dt)) + 1
    ctrl = commands(rng, n, model.nu, hold, amplitude)
    late = np.concatenate([np.repeat(ctrl[:1], latency, axis=0), np.repeat(ctrl, every, axis=0)])
    rows = []
    for k in range(n):
        rows.append(state())
        for i in range(every):
            step(late[k * every + i])
    return measured(model, rng, np.arange(n) * every * dt, *zip(*rows), ctrl, noise)


def assert_recovers(found, truth):
    """Within 5 %, and inside of the 95 % intervals, which are narrower than that."""
    assert [e.name for e in found.estimates] == list(truth)
    for e, true in zip(found.estimates, truth.values()):
        assert e.determined and not e.at_bound, e
        assert abs(e.value / true - 1) < 0.05, e
        assert e.low <= true <= e.high and e.high - e.low < 0.1 * true, (e, true)
