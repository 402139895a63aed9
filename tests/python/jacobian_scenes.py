"""Scenes in which the derivative of a step is compared: flight, joints, limits, servos, and every kind of contact."""

import dataclasses

import numpy as np

import stiction
import tangents

MATERIAL = {"stiffness": 2e4, "dissipation": 5.0}


@dataclasses.dataclass
class Scene:
    xml: str
    qpos: list
    qvel: list
    ctrl: tuple = ()
    material: dict | None = None

    def model(self):
        model = stiction.Model.from_xml(self.xml)
        if self.material is None:
            return model
        for g in range(model.ngeom):
            rigid = g == 0
            model = model.with_contact_material(
                g, **(MATERIAL | {"stiffness": 1e40, "dissipation": 0.0} if rigid else MATERIAL)
            )
        return model


def world(bodies, rest="", option=""):
    return f"""<mujoco><option timestep="0.004" {option}/><worldbody>
      <geom name="floor" type="plane" size="1 1 1" friction="0.6"/>{bodies}</worldbody>{rest}</mujoco>"""


def free(geom, pos="0 0 0", inertia='<inertial pos="0 0 0" mass="1.3" diaginertia=".004 .005 .006"/>'):
    return f'<body pos="{pos}"><freejoint/>{inertia}<geom {geom} friction="0.6"/></body>'


def quat(*axis_angle):
    return list(tangents.quat_exp(np.array(axis_angle, float)))


BALL = world(free('type="sphere" size="0.05"'))
DEEP = 0.05 - 6e-4  # 13 N on 2e4 N/m, at rest
ARM = world(
    """<body pos="0 0 1"><joint name="a" type="hinge" axis="0 1 0" range="-0.5 0.4" limited="true"
         damping="0.2" armature="0.01"/><geom type="capsule" size="0.03 0.1" pos="0 0 -.1" mass="1"
         contype="0" conaffinity="0"/>
       <body pos="0 0 -0.2"><joint name="b" type="ball" damping="0.05" stiffness="0.4"/>
         <geom type="box" size="0.03 0.05 0.08" pos=".01 0 -.08" mass="0.6" contype="0" conaffinity="0"/>
         <body pos="0 0 -0.2"><joint name="c" type="slide" axis="0 0.6 -0.8" stiffness="30" springref="0.05"
           frictionloss="0.7"/><geom type="sphere" size="0.04" mass="0.3" contype="0" conaffinity="0"/>
         </body></body></body>""",
    """<actuator><motor joint="a" gear="2" ctrlrange="-3 3"/>
         <position joint="c" kp="200" kv="3" forcerange="-4 4"/>
         <velocity joint="a" kv="2"/></actuator>""",
)
ARM_Q = [0.1, *quat(0.2, -0.3, 0.4), 0.02]
ARM_V = [0.3, 1.0, -2.0, 0.7, 0.5]

SCENES = {
    "flight": Scene(world(free('type="box" size=".1 .1 .1"',
                               inertia='<inertial pos=".02 -.01 .03" mass="1.3" '
                                       'diaginertia=".004 .005 .007"/>')),
                    [0, 0, 5, *quat(0.4, 0.1, -0.7)], [1, 2, 3, 4, -5, 6]),
    "arm": Scene(ARM, ARM_Q, ARM_V, (0.7, 0.03, 0.2)),
    "at its limit": Scene(ARM, [0.43, *ARM_Q[1:]], [0.8, *ARM_V[1:]], (0.7, 0.03, 0.2)),
    "control out of range, servo saturated": Scene(ARM, ARM_Q, ARM_V, (4.0, 0.9, 0.2)),
    "dry friction holds": Scene(ARM, [0.0, 1, 0, 0, 0, 0.05 - 1e-3], [0, 0, 0, 0, 1e-6], (0, 0.049, 0)),
    "sticking": Scene(world(free('type="sphere" size="0.05"'), option='gravity="2 1 -9.81"'),
                      [0, 0, DEEP, 1, 0, 0, 0], [3e-5, -1e-5, 0, 2e-4, 7e-4, 0.3]),
    "sliding": Scene(BALL, [0, 0, DEEP, *quat(0.3, 0, 0)], [1.5, -0.4, 0.002, 0, 0, 0]),
    "rolling": Scene(BALL, [0, 0, DEEP, *quat(0.3, 0.5, 0)], [0.5, 0, 0, *(
        np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]]) @ [0, 10.0, 0])]),
    "impact": Scene(BALL, [0, 0, 0.05 + 1e-3, *quat(0.3, 0, 0)], [1.0, 0.2, -2.0, 3, 0, 1]),
    "leaving": Scene(BALL, [0, 0, DEEP, 1, 0, 0, 0], [1.0, 0.2, 0.03, 3, 0, 1]),
    "standing box": Scene(world(free('type="box" size="0.05 0.06 0.04"')),
                          [0, 0, 0.04 - 1.6e-4, 1, 0, 0, 0], [2e-5, 1e-5, 0, 0, 0, 1e-4]),
    "box on its edge": Scene(world(free('type="box" size="0.05 0.06 0.04"')),
                             [0, 0, 0.0637, *quat(1e-4, 0.8, 0)], [0.3, 0.1, -0.1, 1, 2, 0.5]),
    "cylinder": Scene(world(free('type="cylinder" size="0.05 0.06"')),
                      [0, 0, 0.0746, *quat(0.6, 0.2, 0)], [0.3, 0.1, -0.1, 1, 2, 0.5]),
    "ellipsoid": Scene(world(free('type="ellipsoid" size="0.05 0.06 0.04"')),
                       [0, 0, 0.0465, *quat(0.6, 0.2, 0)], [0.3, 0.1, -0.1, 1, 2, 0.5]),
}  # fmt: skip

PAIRS = {  # what lies on a fixed geom in place of the floor
    "sphere on sphere": ('type="sphere" size="0.1"', 'type="sphere" size="0.05"', [0.03, 0.02, 0.1446]),
    "sphere on capsule": ('type="capsule" size="0.1 0.2" euler="0 90 0"', 'type="sphere" size="0.05"',
                          [0.03, 0.02, 0.1480]),
    "sphere on box": ('type="box" size="0.1 0.1 0.1"', 'type="sphere" size="0.05"', [0.12, 0.03, 0.1450]),
    "capsules crossed": ('type="capsule" size="0.1 0.2" euler="0 90 0"', 'type="capsule" size="0.05 0.2"',
                         [0.02, 0.03, 0.1465]),
    "capsule on box": ('type="box" size="0.1 0.1 0.1"', 'type="capsule" size="0.05 0.2"',
                       [0.02, 0.01, 0.1510]),
    "box on box": ('type="box" size="0.1 0.1 0.1"', 'type="box" size="0.05 0.06 0.04"',
                   [0.02, 0.03, 0.1480]),
}  # fmt: skip
for _name, (_fixed, _moving, _pos) in PAIRS.items():
    _turn = quat(1.4, 0.2, 0.1) if "capsule" in _moving else quat(0.05, 0.08, 0.6)
    SCENES[_name] = Scene(
        f"""<mujoco><option timestep="0.004"/><worldbody><geom {_fixed} friction="0.6"/>
        {free(_moving)}</worldbody></mujoco>""",
        [*_pos, *_turn], [0.3, 0.1, -0.4, 1, 2, 0.5])  # fmt: skip
for _name in SCENES:
    if SCENES[_name].xml is not ARM:
        SCENES[_name].material = MATERIAL
