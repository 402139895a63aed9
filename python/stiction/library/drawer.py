"""An arm that opens a drawer by its handle, as a task made of terms: Isaac Lab's cabinet task of the Panda (manipulation/cabinet,
config/franka), whose terms, weights and start these are, with a cabinet of boxes and a handle of capsules."""

import xml.etree.ElementTree as ET

from .. import rotations, terms
from .._core import Model, Options
from ..randomization import Param, friction
from ..terms import Action, Event, Observation, Reward, TermTask
from .scenes import tree_of

_START = (0, -0.569, 0, -2.81, 0, 3.037, 0.741)  # rad
_PALM, _TIP = 0.1034, 0.046  # m, of the grasp along z of the hand, of a tip along z of its finger
_OPEN = 0.04  # m, of a finger
_EASY, _MEDIUM, _HARD = 0.01, 0.2, 0.3  # m, stages of an open drawer

# open at the front, where the shut drawer's front is 1 mm before the walls
_CABINET = """
<body name="cabinet" pos="0.8 0 0.65">
  <geom name="cabinet_top" type="box" conaffinity="0" pos="0.2 0 0.11" size="0.2 0.25 0.01"/>
  <geom name="cabinet_bottom" type="box" conaffinity="0" pos="0.2 0 -0.375" size="0.2 0.25 0.275"/>
  <geom name="cabinet_left" type="box" conaffinity="0" pos="0.2 0.24 0" size="0.2 0.01 0.1"/>
  <geom name="cabinet_right" type="box" conaffinity="0" pos="0.2 -0.24 0" size="0.2 0.01 0.1"/>
  <body name="drawer">
    <joint name="drawer" type="slide" axis="-1 0 0" range="0 0.4" frictionloss="8" damping="5"/>
    <geom name="drawer_front" type="box" conaffinity="0" pos="-0.011 0 0" size="0.01 0.245 0.095" mass="1.2"/>
    <geom name="drawer_floor" type="box" contype="0" conaffinity="0" pos="0.19 0 -0.085" size="0.19 0.22 0.005" mass="1.5"/>
    <body name="handle" pos="-0.071 0 0">
      <geom name="handle_bar" type="capsule" conaffinity="0" fromto="0 -0.06 0 0 0.06 0" size="0.008" mass="0.1"/>
      <geom name="handle_left" type="capsule" conaffinity="0" fromto="0 0.06 0 0.05 0.06 0" size="0.006" mass="0.05"/>
      <geom name="handle_right" type="capsule" conaffinity="0" fromto="0 -0.06 0 0.05 -0.06 0" size="0.006" mass="0.05"/>
    </body>
  </body>
</body>"""


def _panda_and_cabinet() -> Model:
    root = tree_of("panda")
    # pads and hand meet floor and cabinet, and not each other; of a finger's five boxes the one that is its surface
    for c in root.iter("default"):
        name = c.get("class") or ""
        if name.startswith("fingertip_pad_collision"):
            c.find("geom").attrib.update(contype="0", conaffinity="1" if name.endswith("_1") else "0", friction="1", condim="3")
    hand = next(b for b in root.iter("body") if b.get("name") == "hand")
    hand.append(ET.fromstring('<geom name="hand" type="capsule" size="0.03" fromto="0 0.06 0.03 0 -0.06 0.03" contype="0" conaffinity="1" mass="0"/>'))
    # Isaac Lab's gripper: 2000 N/m of each finger; 70 N are those of the real one
    gripper = next(a for a in root.find("actuator") if a.get("tendon") == "split")
    gripper.attrib.update(name="gripper", ctrlrange="0 0.04", gainprm="4000", biasprm="0 -4000 -200", forcerange="-140 140")
    world = root.find("worldbody")
    world.append(ET.fromstring('<geom name="floor" type="plane" conaffinity="0" size="0 0 0.05"/>'))
    world.append(ET.fromstring(_CABINET))
    arm = " ".join(map(str, _START))
    ET.SubElement(ET.SubElement(root, "keyframe"), "key", name="home", qpos=f"{arm} {_OPEN} {_OPEN} 0", ctrl=f"{arm} {_OPEN}")
    return Model.from_xml(ET.tostring(root, "unicode"))


def _point(task, body, height=0.0):
    """(n, 3) m, of a body at that place along its z axis."""
    k = task.robot.only("body", body)
    return task.batch.xpos[:, k] + height * rotations.to_matrix(task.batch.xquat[:, k])[..., 2]


def _drawer(task):
    """(n,) m, how far the drawer is open."""
    return task.robot.joint_positions[:, task.robot.joints("drawer")][:, 0]


def to_handle(task):
    """(n, 3) m, from between the fingertips to the middle of the handle."""
    return _point(task, "handle") - _point(task, "hand", _PALM)


def _distance(task):
    d = to_handle(task)
    return task.xp.sqrt((d * d).sum(-1))


def _heights(task):
    """(n,) m each, of the left fingertip above the handle and of the right one below it."""
    z = _point(task, "handle")[:, 2]
    return _point(task, "left_finger", _TIP)[:, 2] - z, z - _point(task, "right_finger", _TIP)[:, 2]


def near_handle(task, threshold):
    """(1/(1 + d²))², twice that within `threshold` (m), d from the grasp to the handle."""
    d = _distance(task)
    value = 1 / (1 + d * d) ** 2
    return task.xp.where(d <= threshold, 2 * value, value)


def aligned(task):
    """½ (z |z| + x |x|): z, how much the hand points at the cabinet, x, how much its fingers are one above the other with the left one up."""
    m = rotations.to_matrix(task.batch.xquat[:, task.robot.only("body", "hand")])
    z, x = m[:, 0, 2], m[:, 1, 0]  # the hand's z along the world's x, its x along the world's y
    return 0.5 * (z * task.xp.abs(z) + x * task.xp.abs(x))


def around(task):
    """1 where the left fingertip is above the handle and the right one below it."""
    left, right = _heights(task)
    return task.xp.astype((left > 0) & (right > 0), task.xp.float32)


def fingers_near(task, offset):
    """Of such fingers: Σ (offset − height of the tip above or below the handle), m."""
    left, right = _heights(task)
    return around(task) * (2 * offset - left - right)


def shut(task, threshold):
    """Within `threshold` (m) of the handle: how far the fingers are shut, summed, m."""
    q = task.robot.joint_positions[:, task.robot.joints("finger_joint.*")]
    return (_distance(task) <= threshold) * (_OPEN - q).sum(-1)


def opened(task):
    """m, how far the drawer is open, twice that where the fingers are around the handle."""
    return (around(task) + 1) * _drawer(task)


def stages(task):
    """½ from 1 cm on; 1 more from 0.2 m and 1 more from 0.3 m on, where the fingers are around the handle."""
    q = _drawer(task)
    return 0.5 * (q > _EASY) + around(task) * ((q > _MEDIUM) * 1.0 + (q > _HARD) * 1.0)


class PandaDrawer(TermTask):
    """A Franka Panda opens a drawer by its handle."""

    id = "PandaDrawer"
    summary = "a Panda arm opens a drawer by its handle (Isaac Lab's terms)"
    options = Options(timestep=1 / 120)
    base = "link0"
    frame_skip = 2
    max_episode_steps = 480
    metric_names = ("drawer", "success")
    ppo_settings = {"num_envs": 512, "horizon": 96, "init_std": 0.5, "hidden": (256, 128, 64), "entropy": 0.001}

    actions = {
        "arm": Action("actuator[1-7]", offset="start"),
        "gripper": Action("gripper", scale=terms.half_range, offset=terms.middle_of_range, clip=(-1, 1)),
    }
    observations = {
        "joint_positions": Observation(terms.joint_positions),
        "joint_velocities": Observation(terms.joint_velocities),
        "to_handle": Observation(to_handle),
        "last_action": Observation(terms.last_action),
    }
    rewards = {
        "near_handle": Reward(near_handle, 2.0, threshold=0.2),
        "aligned": Reward(aligned, 0.5),
        "fingers_near": Reward(fingers_near, 5.0, offset=0.04),
        "around": Reward(around, 0.125),
        "shut": Reward(shut, 0.5, threshold=0.03),
        "opened": Reward(opened, 7.5),
        "stages": Reward(stages, 1.0),
        "action_rate": Reward(terms.action_rate, -0.01),
        "joint_velocity": Reward(terms.joint_velocity, -0.0001),
    }
    events = {
        "start": Event(terms.start_joints, joints="joint.*", position=(-0.1, 0.1)),
        "friction": Event(terms.randomize, mode="startup", param=friction(0.8, 1.25)),
        "drawer_friction": Event(terms.randomize, param=Param("dof_frictionloss", 0.5, 1.5, rows=(9,))),
    }

    def __init__(self):
        self.model = _panda_and_cabinet()

    def metrics(self):
        return super().metrics() | {"drawer": _drawer(self), "success": _drawer(self) > _HARD}
