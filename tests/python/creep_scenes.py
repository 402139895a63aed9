"""Scenes of held and sliding loads: what the creep tests and bench/bench_creep.py measure.

Every scene fixes the contact material itself (k = 1e5 N/m per pair, d = 20 s/m), so that
the load on a contact and its elastic travel are known.
"""

import re
from dataclasses import dataclass

import numpy as np

import engines
import stiction
from mesh_files import icosphere, numbers
from stiction.control import start_state

GRAVITY = 9.81
V_S = 1e-4  # stiction tolerance, m/s: the options' default
ANCHOR_STEPS = 5  # tau / timestep
ANCHOR_REACH = 10  # c
MATERIAL = '<custom><numeric name="stiction_contact" data="2e5 20"/></custom>'

PRECISIONS = ("float64", "float32")
# Velocities below the stopping rule (1e-6, 1e-4 in float32) are accepted; from the design, m/s.
REST = {"float64": 0.02e-6, "float32": 0.5e-6}


def creep(load, eps=V_S):
    """Speed at which regularised friction carries `load` times its bound."""
    return eps * load / np.sqrt(1 - load**2)


def elastic_travel(load, timestep, eps=V_S):
    """Length of an anchor that carries `load` times the bound."""
    return creep(load, eps) * ANCHOR_STEPS * timestep


def reach(timestep, eps=V_S):
    """Greatest length of an anchor, c eps tau."""
    return ANCHOR_REACH * eps * ANCHOR_STEPS * timestep


@dataclass
class Scene:
    model: stiction.Model
    qpos: np.ndarray
    qvel: np.ndarray
    ctrl: np.ndarray

    def engine(self, **options):
        return engines.make(self.model, stiction.Options(**options))


def scene(xml, qvel=None):
    model = stiction.Model.from_xml(xml)
    qvel = np.zeros(model.nv) if qvel is None else np.asarray(qvel, float)
    return Scene(model, model.qpos0.copy(), qvel, np.zeros(model.nu))


def load_ratio_scene(load, mu=0.5, timestep=0.004, shape="box"):
    """1 kg on a plane; gravity pulls `load` times the friction bound along x (a tilted plane)."""
    geom = {"box": 'type="box" size=".1 .1 .05"', "sphere": 'type="sphere" size=".05"'}[shape]
    depth = GRAVITY / ((4 if shape == "box" else 1) * 1e5)
    return scene(f"""
<mujoco>
  <option timestep="{timestep}" gravity="{load * mu * GRAVITY} 0 {-GRAVITY}"/>
  {MATERIAL}
  <default><geom friction="{mu}"/></default>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body pos="0 0 {0.05 - depth}"><freejoint/><geom {geom} mass="1"/></body>
  </worldbody>
</mujoco>""")


def incline_scene(degrees=15.0, mu=0.5, timestep=0.004, gap=0.0):
    """The box of `load_ratio_scene` on a plane tilted about y, dropped from `gap` above it."""
    angle = np.radians(degrees)
    height = 0.05 + gap
    return scene(f"""
<mujoco>
  <option timestep="{timestep}"/>
  {MATERIAL}
  <default><geom friction="{mu}"/></default>
  <worldbody>
    <geom type="plane" size="5 5 1" euler="0 {degrees} 0"/>
    <body pos="{height * np.sin(angle)} 0 {height * np.cos(angle)}" euler="0 {degrees} 0">
      <freejoint/><geom type="box" size=".1 .1 .05" mass="1"/>
    </body>
  </worldbody>
</mujoco>""")


PADS = "".join(
    f'<geom type="sphere" size=".01" pos="{{x}} {y} {z}" mass=".01"/>'
    for y, z in ((-0.02, -0.015), (0.02, -0.015), (0.0, 0.02)))


def gripper_scene(timestep=0.002, force=8.0, mu=0.6):
    """0.5 kg box between two fingers with three sphere pads each, pressed together by motors."""
    pads = PADS.format(x=0)
    return scene_with_ctrl(f"""
<mujoco>
  <option timestep="{timestep}"/>
  {MATERIAL}
  <default><geom friction="{mu}"/></default>
  <worldbody>
    <body name="left" pos="-.04 0 0" gravcomp="1"><joint name="left" type="slide" axis="1 0 0"/>{pads}</body>
    <body name="right" pos=".04 0 0" gravcomp="1"><joint name="right" type="slide" axis="-1 0 0"/>{pads}</body>
    <body name="object"><freejoint/><geom type="box" size=".03 .04 .04" mass=".5"/></body>
  </worldbody>
  <contact><exclude body1="left" body2="right"/></contact>
  <actuator><motor joint="left"/><motor joint="right"/></actuator>
</mujoco>""", [force, force])


def wrist_scene(axis, timestep=0.002, force=8.0, mu=0.6, push=None):
    """The gripper on a wrist that turns about `axis`; one finger is fixed, the other pressed on.

    push: without gravity, a third finger pushes the object along the wrist's -y with that force.
    """
    pusher, motor = "", ""
    if push is not None:
        pusher = ('<body name="pusher" pos="0 .05 0"><joint name="pusher" type="slide" axis="0 -1 0"/>'
                  '<geom type="sphere" size=".01" mass=".03"/></body>')
        motor = '<motor joint="pusher"/>'
    return scene_with_ctrl(f"""
<mujoco>
  <option timestep="{timestep}" gravity="0 0 {-GRAVITY if push is None else 0}"/>
  {MATERIAL}
  <default><geom friction="{mu}"/></default>
  <worldbody>
    <body name="wrist" gravcomp="1">
      <joint name="wrist" axis="{axis}" armature="1"/>
      <inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/>
      {PADS.format(x=-.04)}
      <body name="finger" pos=".04 0 0" gravcomp="1">
        <joint name="finger" type="slide" axis="-1 0 0"/>{PADS.format(x=0)}
      </body>
      {pusher}
    </body>
    <body name="object"><freejoint/><geom type="box" size=".03 .04 .04" mass=".5"/></body>
  </worldbody>
  <contact><exclude body1="wrist" body2="finger"/></contact>
  <actuator><position joint="wrist" kp="1e5" kv="1e4"/><motor joint="finger"/>{motor}</actuator>
</mujoco>""", [0.0, force] + ([] if push is None else [push]))


def point_scene(timestep=0.002, mu=0.5):
    """A point mass of 1 kg that slides along x on a plane, pushed by a motor."""
    depth = GRAVITY / 1e5
    return scene_with_ctrl(f"""
<mujoco>
  <option timestep="{timestep}"/>
  {MATERIAL}
  <default><geom friction="{mu}"/></default>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body pos="0 0 {0.05 - depth}">
      <joint name="x" type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
      <geom type="sphere" size=".05" mass="1"/>
    </body>
  </worldbody>
  <actuator><motor joint="x"/></actuator>
</mujoco>""", [0.0])


def quadruped_scene(degrees=15.0, timestep=0.005, dry_friction=True):
    """The packaged quadruped in its home pose, gravity tilted as on an incline."""
    tilt = np.radians(degrees)
    text = stiction.assets.path("quadruped").read_text()
    option = (f'<option timestep="{timestep}" gravity="{GRAVITY * np.sin(tilt)} 0 '
              f'{-GRAVITY * np.cos(tilt)}"/>{MATERIAL}')
    changes = {'<option timestep="0.002"/>': option}
    if not dry_friction:
        changes[' frictionloss="0.1"'] = ""
    for old, new in changes.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    model = stiction.Model.from_xml(text)
    return Scene(model, *start_state(model))


def scene_with_ctrl(xml, ctrl):
    s = scene(xml)
    s.ctrl = np.asarray(ctrl, float)
    return s


def contact_slip(result):
    """Greatest slip speed of the contacts that carry load, and their number."""
    speeds = [np.linalg.norm(c.slip) for c in result.contacts if c.n0 > 0]
    return max(speeds, default=0.0), len(speeds)


def on_slope(text, degrees, timestep, mu, assets=""):
    """The text of a robot on a plane, gravity tilted as on an incline."""
    tilt = np.radians(degrees)
    gravity = f"{GRAVITY * np.sin(tilt)} 0 {-GRAVITY * np.cos(tilt)}"
    return text.replace("<worldbody>", f"""<option timestep="{timestep}" gravity="{gravity}"/>{MATERIAL}<asset>{assets}</asset>
      <worldbody><geom type="plane" size="9 9 1" friction="{mu}" priority="9" condim="3"/>""", 1)  # fmt: skip


def replaced(pattern, new, text, count):
    text, found = re.subn(pattern, new, text)
    assert found == count, (pattern, found)
    return text


def go2_scene(degrees=15.0, timestep=0.005, mu=0.8, mesh_feet=False):
    """A Go2 in its home pose on PD servos (60 N m/rad, 3 N m s/rad), gravity tilted as on an incline.

    Its feet are balls of 22 mm, or meshes of 162 vertices on these.
    """
    text = stiction.assets.path("go2", floor=False).read_text()
    text = replaced('<option cone="elliptic" impratio="100" />', "", text, 1)
    text = replaced(r'<motor class="\w+"', '<position kp="60" kv="3"', text, 12)
    foot = ""
    if mesh_feet:
        text = replaced('<geom size="0.022" pos="-0.002 0 -0.213"', '<geom type="mesh" mesh="foot" pos="-0.002 0 -0.213"', text, 1)
        foot = f'<mesh name="foot" vertex="{numbers(icosphere(0.022))}"/>'
    model = stiction.Model.from_xml(on_slope(text, degrees, timestep, mu, foot))
    return Scene(model, *start_state(model))


def g1_scene(degrees=2.0, timestep=0.005, mu=0.8):
    """A G1 in its home pose, gravity tilted as on an incline; each foot is a mesh, the hull of the seven capsules of its sole.

    Its servos are ten times as stiff: its ankles have 57 N m/rad, but its centre of mass, 33 kg 0.67 m over the
    ground, topples with 219 N m/rad.
    """
    text = stiction.assets.path("g1", floor=False).read_text()
    text = replaced(r'kp="([\d.]+)" kv="([\d.]+)"', r'kp="\g<1>e1" kv="\g<2>e1"', text, 5)
    feet = ""
    for side in ("left", "right"):
        capsules = re.findall(rf'<geom name="{side}_foot._collision" class="foot_capsule" fromto="([^"]*)" />', text)
        ends = np.array([c.split() for c in capsules], float).reshape(14, 3)
        outwards = ends[:, :2] - ends[:, :2].mean(axis=0)
        outwards *= 0.01 / np.linalg.norm(outwards, axis=1, keepdims=True)
        sides = ends + np.column_stack([outwards, np.zeros(14)])
        hull = np.vstack([ends - [0, 0, 0.01], sides, ends + [0, 0, 0.01]])
        feet += f'<mesh name="{side}_foot" vertex="{numbers(hull)}"/>'
        text = replaced(rf'<geom name="{side}_foot[2-7]_collision" .*/>', "", text, 6)
        text = replaced(rf'<geom name="{side}_foot1_collision" .*/>', f'<geom type="mesh" mesh="{side}_foot" class="foot_capsule"/>', text, 1)
    model = stiction.Model.from_xml(on_slope(text, degrees, timestep, mu, feet))
    return Scene(model, *start_state(model))


CUBE = " ".join(f"{x} {y} {z}" for x in (-0.05, 0.05) for y in (-0.05, 0.05) for z in (-0.05, 0.05))
STACKED = {"box": 'type="box" size=".05 .05 .05"', "mesh": 'type="mesh" mesh="cube"'}


def stack_scene(count=10, timestep=0.004, mu=0.5, degrees=0.0, drop=0.0, shape="box"):
    """Boxes of 1 kg and 0.1 m, one on the other; gravity tilted as on an incline.

    At rest depth, or each `drop` above the place where it would rest on the one below.
    """
    tilt = np.radians(degrees)
    asset = f'<asset><mesh name="cube" vertex="{CUBE}"/></asset>' if shape == "mesh" else ""
    height, bodies = 0.0, ""
    for i in range(count):
        # four points carry the boxes above; geom on geom is a pair of two springs of 2e5 N/m
        depth = (count - i) * GRAVITY / (4 * 1e5)
        height += 0.05 - depth
        bodies += (f'<body pos="0 0 {height!r}"><freejoint/>'
                   f'<geom {STACKED[shape]} mass="1"/></body>')
        height += 0.05
    s = scene(f"""
<mujoco>
  <option timestep="{timestep}" gravity="{GRAVITY * np.sin(tilt)} 0 {-GRAVITY * np.cos(tilt)}"/>
  {MATERIAL}
  <default><geom friction="{mu}"/></default>
  {asset}
  <worldbody><geom type="plane" size="5 5 1"/>{bodies}</worldbody>
</mujoco>""")
    s.qpos[2::7] += drop * np.arange(1, count + 1)
    return s
