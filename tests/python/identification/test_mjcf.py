"""Fitted values in MJCF: read back they are the model, and the snippet says them."""

import numpy as np
import pytest

import stiction
from robot_logs import arm, block
from stiction.identification import mjcf
from stiction.identification.parameters import bind

# actuators of all kinds, a class, an unnamed joint, a frame, a second body with geoms before and after it
ROBOT = """<mujoco><default><joint damping="0.5"/><default class="strong"><position kp="50" kv="2"/></default></default>
  <worldbody>
  <body name="base" pos="0 0 1"><freejoint/><geom name="a" size=".1"/>
    <body name="one"><joint name="j" axis="0 1 0"/><geom name="b" size=".1" pos=".3 0 0"/></body>
    <frame pos="0 1 0"><body><joint axis="0 1 0"/><geom name="c" type="box" size=".1 .2 .3" pos=".2 0 0"/></body>
    </frame>
    <geom name="d" size=".05"/></body></worldbody>
  <tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>
  <actuator><motor name="m" joint="j"/><position name="p" joint="j" class="strong"/>
    <velocity name="v" joint="j" kv="3"/><position name="r" joint="j" kp="9" dampratio="1"/>
    <general name="f" joint="j" dyntype="filterexact" dynprm="0.1"/></actuator></mujoco>"""


def change(parameter, x, xml=ROBOT):
    model = stiction.Model.from_xml(xml)
    batch = stiction.Batch(model, 1, precision="float64", threads=1)
    bounds = bind([parameter], batch)
    values = mjcf.values_in(batch, bounds, [x] * len(bounds))
    return model, values


@pytest.mark.parametrize(
    "parameter, x",
    [
        ("dof_damping[j]=1", 0.25),
        ("dof_damping", 0.25),
        ("dof_armature=0.1", 0.01),
        ("dof_frictionloss[7]=0.1", 0.3),
        ("jnt_stiffness=1", 3),
        ("mass[one]", 0.3),
        ("body_mass[one]", 0.3),
        ("body_ipos[one:2]", 0.1),
        ("body_inertia[3:1]", 1.5),
        ("geom_friction[c]", 0.4),
        ("kp[p]", 70),
        ("kv[p]", 4),
        ("kv[v]", 5),
        ("kp[r]", 11),
        ("strength[p]", 1.3),
        ("actuator_gain[m]", 2.5),
        ("actuator_gain[f]", 0.9),
        ("actuator_dynprm[f]", 0.02),
        ("tendon_damping=0.1", 0.4),
        ("tendon_frictionloss=0.1", 0.4),
    ],
)
def test_a_value_read_back(parameter, x):
    model, values = change(parameter, x)
    made = mjcf.apply(model, values)
    for name, value in values.items():
        before = mjcf._model_field(model, name)
        np.testing.assert_allclose(mjcf._model_field(made, name), value, rtol=1e-12)
        assert not np.array_equal(before, value) or name in ("body_inertia", "actuator_bias", "actuator_gain")
    # nothing else has moved
    moved = set(values) | {
        "body_invweight0",
        "dof_invweight0",
        "actuator_acc0",
        "body_subtreemass",
        "tendon_invweight0",
        "pair_friction",
        "pair_stiffness",
        "pair_friction2",
        "body_mass",
        "body_inertia",
    }
    for name in (
        "jnt_axis",
        "dof_damping",
        "dof_armature",
        "dof_frictionloss",
        "actuator_gain",
        "actuator_bias",
        "actuator_ctrlrange",
        "actuator_gear",
        "body_mass",
        "body_inertia",
        "body_ipos",
        "geom_friction",
        "geom_size",
        "tendon_damping",
    ):
        if name not in moved:
            np.testing.assert_allclose(getattr(made, name), getattr(model, name), rtol=1e-12, err_msg=name)


def test_snippet():
    model, values = change("dof_damping[j]=1", 0.25)
    assert mjcf.snippet(model, values, ["latency"]) == '<joint name="j" damping="0.25"/>\n<!-- latency -->'
    model, values = change("strength[m]", 2)
    assert mjcf.snippet(model, values) == (
        '<general name="m" gaintype="affine" biastype="affine" gainprm="2 0 0" biasprm="0 0 0"/>'
    )
    model, values = change("mass[hand]", 0.7, arm(0.4, 0.02, 0.35, 40))
    assert mjcf.snippet(model, values).startswith(
        '<body name="hand"><inertial pos="0 0 0" quat="1 0 0 0" mass="0.7" diaginertia="'
    )


def test_what_a_file_cannot_say_is_refused():
    for parameter, xml, message in (
        ("pair_friction=0.3", block(2, 0.4), "^pair_friction is not written into a model: batch.param"),
        (
            "mass[block]",
            block(2, 0.4).replace("<mujoco>", '<mujoco><compiler inertiafromgeom="true"/>'),
            "^body_mass can't be written: the file says",
        ),
        (
            "dof_damping[0]=1",
            '<mujoco><worldbody><replicate count="2" offset="0 0 1"><body><joint/><geom size=".1"/></body></replicate>'
            "</worldbody></mujoco>",
            "^joint 0 can't be found in the file",
        ),
    ):
        model, values = change(parameter, 0.2, xml)
        with pytest.raises(stiction.Error, match=message):
            mjcf.apply(model, values)
