"""The same models in MuJoCo and here: robots of Gymnasium and of stiction.assets, a joint zoo."""

import collections
import functools
import os
import pathlib
import warnings

import numpy as np
import pytest

import stiction

gymnasium = pytest.importorskip("gymnasium")
mujoco = pytest.importorskip("mujoco")

GYMNASIUM = pathlib.Path(os.path.dirname(gymnasium.__file__)) / "envs" / "mujoco" / "assets"
MODELS = stiction.assets.path("go2", floor=False).parent

FILES = {
    f"{folder}/{path.name}": path
    for folder, where in (("gymnasium", GYMNASIUM), ("models", MODELS))
    for path in sorted(where.glob("*.xml"))
}

# What the files above miss. One model per subject, numbers without pattern.
ZOO = {
    "ball joints": """
    <mujoco>
      <option gravity="1 -2 -9"/>
      <worldbody>
        <body pos="0.1 0.2 1" quat="0.8 0.2 -0.3 0.4">
          <joint name="a" type="ball" pos="0.02 -0.03 0.1" stiffness="3" damping="0.7"
                 armature="0.02"/>
          <geom type="box" size="0.1 0.05 0.2" pos="0.03 0.01 -0.2" euler="20 30 40"/>
          <site name="tip" pos="0.1 0.2 0.3" euler="10 -20 70"/>
          <body pos="0 0.1 -0.4">
            <joint name="b" type="ball" stiffness="1.5" damping="0.1"/>
            <geom type="ellipsoid" size="0.1 0.06 0.04" pos="0.1 0.05 0"/>
          </body>
        </body>
      </worldbody>
      <actuator>
        <motor joint="a" gear="1.5 -0.3 0.8" ctrlrange="-1 1"/>
        <position joint="b" gear="0.4 0.5 -0.6" kp="20" kv="3"/>
        <position joint="b" gear="0 0 0" kp="20"/>
        <general joint="a" gear="0 0 1" gainprm="2" biastype="affine" biasprm="1 -3 -0.1"/>
      </actuator>
    </mujoco>""",
    "several joints per body": """
    <mujoco>
      <worldbody>
        <body pos="0 0 1" euler="10 20 30">
          <joint type="slide" axis="1 0.2 0" pos="0.1 0 0" stiffness="40" damping="2"/>
          <joint type="hinge" axis="0.3 1 0" pos="0 0.1 0" armature="0.1"/>
          <joint type="slide" axis="0 0.4 1" pos="0 0 0.2"/>
          <joint type="hinge" axis="1 0 1" pos="-0.1 0.05 0.03" stiffness="5" springref="25"/>
          <geom type="capsule" fromto="0 0 0 0.2 0.1 -0.4" size="0.04"/>
          <body pos="0.2 0.1 -0.4">
            <joint type="hinge" axis="0 1 0" pos="0 0 0.05" damping="0.2"/>
            <joint type="ball" pos="0.01 0.02 0.03"/>
            <geom type="cylinder" size="0.05 0.1" euler="90 10 0"/>
            <body pos="0 0.2 0">
              <joint type="slide" axis="1 1 1"/>
              <joint type="slide" axis="-1 1 0.5"/>
              <joint type="ball" pos="0 0.04 0"/>
              <geom type="box" size="0.05 0.08 0.02" pos="0.1 0 0"/>
            </body>
          </body>
        </body>
      </worldbody>
    </mujoco>""",
    "free bodies": """
    <mujoco>
      <worldbody>
        <body name="a" pos="0.3 0.1 0.5" quat="0.5 -0.5 0.7 0.1">
          <joint name="a" type="free" stiffness="12" damping="0.3" armature="0.05"/>
          <inertial pos="0.05 -0.02 0.1" mass="2" fullinertia="0.05 0.07 0.04 0.004 -0.003 0.002"/>
          <body pos="0.2 0 0">
            <joint axis="0 0 1"/>
            <geom size="0.1" pos="0.1 0 0" contype="0" conaffinity="0"/>
          </body>
        </body>
        <body name="b"><freejoint/><geom type="ellipsoid" size="0.1 0.2 0.3"/></body>
      </worldbody>
      <actuator>
        <motor joint="a" gear="1 -2 3 0.4 -0.5 0.6"/>
        <general joint="a" gear="0 0 1 0.3 0 0" gainprm="2" biastype="affine" biasprm="0.5 0 -0.7"/>
      </actuator>
    </mujoco>""",
    "tendons": """
    <mujoco>
      <worldbody>
        <body pos="0 0 1">
          <joint name="x" type="slide" axis="1 0 0" damping="1"/>
          <geom type="box" size="0.1 0.1 0.1"/>
          <body pos="0.1 0 0">
            <joint name="y" axis="0 1 0" ref="30" range="-60 80"/>
            <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
            <body pos="0.3 0 0">
              <joint name="z" axis="0 1 0.1"/>
              <geom type="capsule" fromto="0 0 0 0.2 0 0.1" size="0.02"/>
            </body>
          </body>
        </body>
      </worldbody>
      <tendon>
        <fixed name="s"><joint joint="x" coef="0.5"/><joint joint="y" coef="-1.5"/></fixed>
        <fixed name="t"><joint joint="z" coef="2"/><joint joint="y" coef="0.3"/></fixed>
      </tendon>
      <actuator>
        <motor tendon="s" gear="3" ctrlrange="-0.5 0.7"/>
        <position tendon="t" gear="2" kp="30" kv="1" forcerange="-4 6"/>
        <velocity tendon="s" kv="5"/>
        <general tendon="t" gainprm="3" biastype="affine" biasprm="1 -2 -0.4"/>
        <velocity joint="z" kv="0.5" gear="1.5" ctrlrange="0 1"/>
        <damper joint="x" kv="3" gear="-2" ctrlrange="0 0.8" forcerange="-1 2"/>
        <general joint="y" gaintype="affine" gainprm="2 -1 0.5" biastype="affine" biasprm="0 1 -2"/>
      </actuator>
    </mujoco>""",
    "gravity compensation": """
    <mujoco>
      <option gravity="0.5 1 -9"/>
      <worldbody>
        <body pos="0 0 1" gravcomp="0.4">
          <freejoint/>
          <geom type="box" size="0.1 0.2 0.05" pos="0.03 0 0"/>
          <body pos="0.1 0.2 0" gravcomp="1">
            <joint axis="1 0.5 0"/>
            <geom type="capsule" fromto="0 0 0 0 0.1 -0.3" size="0.03"/>
            <body pos="0 0.1 -0.3" gravcomp="-0.5">
              <geom size="0.05"/>
              <body pos="0 0 -0.1" gravcomp="2">
                <joint type="slide" axis="0 0 1"/>
                <geom size="0.04"/>
              </body>
            </body>
          </body>
        </body>
      </worldbody>
    </mujoco>""",
    "references": """
    <mujoco>
      <compiler angle="radian"/>
      <worldbody>
        <body pos="0 0 1">
          <joint type="slide" axis="0 1 0" ref="0.3" springref="-0.2" stiffness="50" range="-1 2"/>
          <joint axis="1 0 0" ref="0.7" springref="-0.4" stiffness="8" armature="0.2"
                 frictionloss="0.3"/>
          <geom type="cylinder" size="0.1 0.2"/>
          <body pos="0 0.3 0">
            <joint axis="1 0 0" ref="-1.2" stiffness="2" pos="0 -0.1 0.05" actuatorfrcrange="-1 0.5"
                   name="j"/>
            <geom type="cylinder" fromto="0 0 0 0 0.4 0.1" size="0.04"/>
          </body>
        </body>
      </worldbody>
      <actuator><motor joint="j" gear="-3"/><motor joint="j" forcerange="-0.2 0.1"/></actuator>
    </mujoco>""",
    "medium": """
    <mujoco>
      <option density="900" viscosity="0.4" wind="0.7 -1.1 0.3"/>
      <default><geom contype="0" conaffinity="0"/></default>
      <worldbody>
        <geom type="plane" size="1 1 1" pos="0 0 -9" fluidshape="ellipsoid"/>
        <body pos="0 0 1">
          <freejoint/>
          <inertial pos="0.02 0.1 0" mass="2" fullinertia="0.05 0.07 0.04 0.004 -0.003 0.002"/>
          <geom type="box" size="0.1 0.2 0.05"/>
          <body pos="0.2 0 0">
            <joint axis="0 1 0.3"/>
            <geom type="ellipsoid" size="0.1 0.2 0.05" pos="0.1 0 0.1" euler="20 30 50"
                  fluidshape="ellipsoid" fluidcoef="0.4 0.3 1.2 0.8 0.9"/>
            <geom type="capsule" size="0.03 0.1" pos="0 0.1 0.3" fluidshape="ellipsoid"/>
            <geom type="cylinder" size="0.03 0.1" pos="0 0.1 -0.3" fluidshape="ellipsoid"/>
            <geom type="box" size="0.03 0.1 0.1" pos="0 -0.1 -0.3"/>
            <body pos="0 0 0.3">
              <joint type="ball" pos="0.01 0.02 0"/>
              <geom size="0.05"/>
              <geom type="box" size="0.1 0.02 0.3" pos="0.1 0 0" fluidshape="ellipsoid"/>
              <geom size="0.04" pos="0 0 0.2" fluidshape="ellipsoid" fluidcoef="1 0 0 2 0"/>
              <body pos="0 0.2 0.1">
                <joint type="slide" axis="1 1 0"/>
                <geom type="capsule" size="0.02 0.2" euler="10 20 30"/>
              </body>
            </body>
          </body>
        </body>
      </worldbody>
    </mujoco>""",
    "fixed and mocap bodies": """
    <mujoco>
      <worldbody>
        <site name="origin" pos="1 2 3"/>
        <body pos="1 0 0" euler="0 0 40">
          <geom size="0.2" pos="0 0 0.1"/>
          <body pos="0 0.5 0" euler="30 0 0">
            <geom type="box" size="0.1 0.1 0.3"/>
            <body pos="0 0 0.4"><joint axis="0 1 0"/><geom size="0.1" pos="0.2 0 0"/></body>
          </body>
        </body>
        <body name="hand" mocap="true" pos="0 -1 1" quat="0.6 0 0.8 0">
          <geom size="0.1 0.05 0.02" type="box" contype="0" conaffinity="0"/>
          <site name="grip" pos="0 0 0.1"/>
          <body pos="0 0 0.2">
            <joint axis="1 0 0" pos="0 0 0.05"/><geom type="capsule" size="0.03 0.1"/>
            <site name="end" pos="0 0 0.1" zaxis="1 1 0"/>
          </body>
        </body>
      </worldbody>
    </mujoco>""",
}

NAMES = [*FILES, *(f"zoo/{name}" for name in ZOO)]


@functools.cache
def load(name):
    """(MuJoCo's model, ours)."""
    with warnings.catch_warnings():
        # some of these robots have tendons, fluid or meshes: what is compared is computed
        warnings.simplefilter("ignore", stiction.ModelWarning)
        if name in FILES:
            path = str(FILES[name])
            return mujoco.MjModel.from_xml_path(path), stiction.Model.from_file(path)
        xml = ZOO[name.removeprefix("zoo/")]
        return mujoco.MjModel.from_xml_string(xml), stiction.Model.from_xml(xml)


def random_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def random_qpos(m, rng):
    """Within the range where there is one, else about qpos0; quaternions uniform."""
    q = m.qpos0.copy()
    for j in range(m.njnt):
        at = m.jnt_qposadr[j]
        kind = m.jnt_type[j]
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            q[at : at + 3] += rng.uniform(-1, 1, 3)
            q[at + 3 : at + 7] = random_quaternion(rng)
        elif kind == mujoco.mjtJoint.mjJNT_BALL:
            q[at : at + 4] = random_quaternion(rng)
        elif m.jnt_limited[j]:
            q[at] = rng.uniform(*m.jnt_range[j])
        else:
            q[at] += rng.uniform(-2, 2)
    return q


def random_ctrl(m, rng):
    """Half as wide again as the range on either side, so that it is clamped half of the time."""
    ctrl = 3 * rng.normal(size=m.nu)
    for a in np.flatnonzero(m.actuator_ctrllimited):
        low, high = m.actuator_ctrlrange[a]
        ctrl[a] = rng.uniform(1.5 * low - 0.5 * high, 1.5 * high - 0.5 * low)
    return ctrl


def moving(m):
    return m.body_dofnum[m.body_weldid] > 0


class Worst:
    """Largest share of the tolerance by quantity, and where; printed by `pytest -s`."""

    def __init__(self):
        self.shares = collections.defaultdict(lambda: (0.0, ""))

    def add(self, quantity, share, where):
        self.shares[quantity] = max(self.shares[quantity], (share, where))

    def print(self, title):
        print(f"\n\n{title}")
        for quantity, (share, where) in sorted(self.shares.items()):
            print(f"  {quantity:24} {share:8.1e}  {where}")


def primitives(m, field, array):
    """Poses of geoms without those of meshes, whose vertices MuJoCo keeps in single precision; the second axis from the
    end is geoms."""
    return array[..., m.geom_type != mujoco.mjtGeom.mjGEOM_MESH, :] if field.startswith("geom_x") else array


def share_of_tolerance(ours, theirs, relative):
    """Largest difference over `relative` times the largest entry of MuJoCo's array."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    assert ours.shape == theirs.shape, f"shape {ours.shape}, MuJoCo {theirs.shape}"
    error = np.abs(ours - theirs).max(initial=0.0)
    if error == 0:
        return 0.0
    return float(error / (relative * np.abs(theirs).max())) if theirs.any() else np.inf


def dense(m, adr, nnz, ind, values, rows):
    """A sparse matrix of MuJoCo's with m.nv columns."""
    J = np.zeros((rows, m.nv))
    for i in range(rows):
        for k in range(adr[i], adr[i] + nnz[i]):
            J[i, ind[k]] += values[k]
    return J


def tendon_jacobian(m, d):
    return dense(m, m.ten_J_rowadr, m.ten_J_rownnz, m.ten_J_colind, d.ten_J.ravel(), m.ntendon)


def actuator_moment(m, d):
    return dense(m, d.moment_rowadr, d.moment_rownnz, d.moment_colind, d.actuator_moment.ravel(), m.nu)


def equality_rows(m, d, i):
    """MuJoCo's residual and Jacobian of an equality that is active."""
    assert not mujoco.mj_isSparse(m)
    rows = (d.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY) & (d.efc_id == i)
    J = d.efc_J[: d.nefc * m.nv]  # rows that MuJoCo has dropped may follow
    return d.efc_pos[rows], J.reshape(d.nefc, m.nv)[rows]


def as_mujocos_equality(m, d, i, gap, J):
    """Our gap (6) and Jacobian (6, nv) of an equality as MuJoCo's residual and Jacobian.

    Of a weld ours has the turn as a rotation vector in world axes and the velocity at the middle of both points, MuJoCo
    torquescale sin(angle/2) in the axes of body 2 and the difference of the velocities of both points.
    """
    turn, move = gap[:3], gap[3:]
    if m.eq_type[i] == mujoco.mjtEq.mjEQ_CONNECT:
        return -move, -J[3:]
    if m.eq_type[i] != mujoco.mjtEq.mjEQ_WELD:  # couplings of joints or tendons
        return gap[3:4], J[3:4]
    sites = m.eq_objtype[i] == mujoco.mjtObj.mjOBJ_SITE
    id1, id2 = m.eq_obj1id[i], m.eq_obj2id[i]
    b1, b2 = m.site_bodyid[[id1, id2]] if sites else (id1, id2)
    spin = np.zeros((2, 3, m.nv))
    for k, b in enumerate((b1, b2)):
        mujoco.mj_jacBody(m, d, None, spin[k], b)
    linear = J[3:] + np.cross(spin.sum(axis=0), 0.5 * move, axisa=0, axisb=0, axisc=0)
    q1 = quaternion_product(d.xquat[b1], m.site_quat[id1] if sites else m.eq_data[i, 6:10])
    back = quaternion_product(d.xquat[b2], m.site_quat[id2]) if sites else d.xquat[b2].copy()
    back[1:] *= -1
    angle, scale = np.linalg.norm(turn), m.eq_data[i, 10]
    axis = np.zeros(3)
    mujoco.mju_rotVecQuat(axis, turn / (angle or 1), back)
    sine = -np.sign(quaternion_product(back, q1)[0]) * np.sin(angle / 2)
    rates = [quaternion_product(quaternion_product(back, np.append(0, -w)), q1)[1:] for w in J[:3].T]
    return (np.concatenate([-move, scale * sine * axis]),
            np.concatenate([-linear, 0.5 * scale * np.transpose(rates)]))


def quaternion_product(a, b):
    c = np.zeros(4)
    mujoco.mju_mulQuat(c, a, b)
    return c
