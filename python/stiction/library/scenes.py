"""Models of tasks: robots of the package with other servos, start poses and ground."""

import xml.etree.ElementTree as ET

from .. import assets
from .._core import Model
from ..terms.select import values_of

_FLOOR = '<geom name="floor" type="plane" size="0 0 0.05"/>'


def tree_of(robot) -> ET.Element:
    """The MJCF of a robot without floor and keyframes, to be changed."""
    root = ET.parse(assets.path(robot, floor=False)).getroot()
    for key in root.findall("keyframe"):
        root.remove(key)
    return root


def set_servos(root, joints, kp, kv, force):
    """Position servos on `joints` in the place of all actuators, named like the joints. kp (N m/rad), kv (N m s/rad),
    force (N m): numbers, or dicts from patterns of names to numbers. Targets are free."""
    for old in root.findall("actuator"):
        root.remove(old)
    actuator = ET.SubElement(root, "actuator")
    columns = [values_of(x, joints, what, "servos") for what, x in (("kp", kp), ("kv", kv), ("force", force))]
    for name, p, v, most in zip(joints, *columns):
        ET.SubElement(actuator, "position", name=name, joint=name, kp=f"{p:.9g}", kv=f"{v:.9g}",
                      forcerange=f"{-most:.9g} {most:.9g}")  # fmt: skip


def set_joints(root, **attributes):
    """Attributes of all named joints in the place of what their classes say: a number for all, or a dict from patterns."""
    joints = [j for j in root.iter("joint") if j.get("name") and j.get("joint") is None]
    names = [j.get("name") for j in joints]
    for what, given in attributes.items():
        for joint, value in zip(joints, values_of(given, names, what, "joints")):
            joint.set(what, f"{value:.9g}")


def joint_names(root) -> list[str]:
    """Names of hinges and slides, in the order of the file, which is the model's."""
    return [j.get("name") for j in root.find("worldbody").iter("joint")]


def with_ground(root, height, angles, ground=None) -> Model:
    """The robot in its start pose "home" on a plane, or on a stiction.Terrain. angles: rad by patterns of joints."""
    names = joint_names(root)
    q = values_of(angles, names, "angles", "start pose")
    keyframe = ET.SubElement(root, "keyframe")
    qpos = " ".join(f"{x:.9g}" for x in (0, 0, height, 1, 0, 0, 0, *q))
    ET.SubElement(keyframe, "key", name="home", qpos=qpos, ctrl=" ".join(f"{x:.9g}" for x in q))
    if ground is None:
        root.find("worldbody").append(ET.fromstring(_FLOOR))
        return Model.from_xml(ET.tostring(root, "unicode"))
    asset = root.find("asset")
    asset = ET.SubElement(root, "asset") if asset is None else asset
    asset.append(ET.fromstring(ground.hfield_element("ground")))
    root.find("worldbody").append(
        ET.fromstring(f'<geom name="ground" type="hfield" hfield="ground" pos="0 0 {ground.lowest}"/>')
    )
    return Model.from_xml(ET.tostring(root, "unicode"), assets={"terrain.bin": ground.hfield_file()})
