"""One robot with every way of placing and joining things, against MuJoCo.

Real robots use few of these together; a swapped order or a lost inheritance shows here first.
"""

import numpy as np
import pytest

import stiction

mujoco = pytest.importorskip("mujoco")

XML = """
<mujoco model="odd">
  <compiler angle="degree" eulerseq="xYz" autolimits="true"/>
  <default>
    <geom density="700" friction="0.4"/>
    <joint armature="0.02" damping="0.3"/>
    <default class="arm">
      <geom type="capsule" size="0.03"/>
      <joint axis="0 1 0" stiffness="4" springref="20" range="-170 170"/>
      <default class="hand">
        <geom type="box" size="0.05 0.02 0.01"/>
        <joint type="slide" axis="1 0 0" range="-0.2 0.3" springref="0.05"/>
      </default>
    </default>
  </default>
  <worldbody>
    <geom name="ground" type="plane" size="1 1 1" euler="5 0 10"/>
    <frame pos="0.1 0.2 1" euler="20 -35 50">
      <body name="base" pos="0 0.3 0" euler="40 10 -25" childclass="arm" gravcomp="0.4">
        <joint name="turn" axis="1 2 3" ref="15"/>
        <joint name="lean" pos="0.02 0 0.1" axis="0 1 1"/>
        <joint name="reach" class="hand"/>
        <geom fromto="0 0 0 0.1 0.2 0.3"/>
        <frame axisangle="0 1 1 70" childclass="hand"><geom pos="0.1 0 0"/></frame>
        <body name="ball" pos="0.1 0.2 0.3" xyaxes="0 1 0 -1 0 0.2">
          <joint name="socket" type="ball" pos="0 0 0.02" stiffness="2" range="0 0"/>
          <geom class="hand" type="ellipsoid" size="0.05 0.04 0.03" pos="0 0 0.1"/>
          <geom type="cylinder" size="0.02 0.07" zaxis="1 0 1"/>
          <body name="tip" pos="0 0 0.2" quat="0.8 0 0.6 0">
            <inertial pos="0.01 0.02 0.03" mass="0.3" fullinertia="3e-3 2e-3 4e-3 1e-4 2e-4 -3e-4"/>
            <joint name="tip"/>
            <site name="end" pos="0 0 0.1"/>
          </body>
        </body>
      </body>
    </frame>
    <body name="loose" pos="0 0 3" euler="0 90 0"><freejoint/><geom type="sphere" size="0.1"/></body>
  </worldbody>
  <actuator>
    <motor joint="turn" gear="3" ctrlrange="-0.5 0.5"/>
    <position joint="lean" kp="30" kv="2" forcerange="-4 4"/>
    <velocity joint="reach" kv="5"/>
    <general joint="tip" gainprm="2" biastype="affine" biasprm="0.3 -1 -0.2"/>
  </actuator>
</mujoco>"""

# Both compute in double, some twenty operations deep from numbers of order one.
ROUND_OFF = 1e-12


@pytest.fixture(scope="module")
def robots():
    return stiction.Model.from_xml(XML), mujoco.MjModel.from_xml_string(XML)


def close(ours, theirs, name):
    theirs = np.asarray(theirs, float).reshape(np.shape(ours))
    scale = max(1.0, np.abs(theirs).max(initial=0))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=ROUND_OFF * scale, err_msg=name)


@pytest.mark.parametrize("name", [
    "body_pos", "body_quat", "body_mass", "body_ipos", "body_inertia", "body_gravcomp", "jnt_type",
    "jnt_pos", "jnt_axis", "jnt_range", "jnt_limited", "jnt_stiffness", "qpos0", "qpos_spring",
    "dof_armature", "dof_damping", "geom_type", "geom_size", "geom_pos", "geom_quat",
    "geom_friction", "site_pos", "actuator_gear", "actuator_ctrlrange", "actuator_forcerange"])
def test_model(robots, name):
    ours, theirs = (getattr(r, name) for r in robots)
    close(ours, theirs, name)


def test_dynamics_at_random_states(robots):
    ours, theirs = robots
    engine = stiction.Reference(ours)
    data = mujoco.MjData(theirs)
    rng = np.random.default_rng(3)
    for _ in range(20):
        data.qpos[:] = rng.normal(size=theirs.nq)
        mujoco.mj_normalizeQuat(theirs, data.qpos)
        data.qvel[:] = rng.normal(size=theirs.nv)
        data.ctrl[:] = rng.normal(size=theirs.nu)  # beyond ctrlrange and forcerange in some
        mujoco.mj_forward(theirs, data)
        mass = np.zeros((theirs.nv, theirs.nv))
        mujoco.mj_fullM(theirs, data, mass)
        f = engine.forward(data.qpos, data.qvel, data.ctrl)
        close(f.M, mass, "M")
        for name in ("xpos", "xipos", "geom_xpos", "site_xpos", "qfrc_bias", "qfrc_spring",
                     "qfrc_damper", "qfrc_gravcomp", "qfrc_passive", "actuator_length",
                     "actuator_velocity", "actuator_force", "qfrc_actuator"):
            close(getattr(f, name), getattr(data, name), name)
