"""Parameters by name: which numbers of a batch they are, and what is refused."""

import numpy as np
import pytest

import stiction
from robot_logs import arm, block, pendulum
from stiction.identification import Parameter
from stiction.identification.parameters import bind

ARM = arm(0.4, 0.02, 0.35, 40)
FREE = block(2, 0.4, '<freejoint name="root"/>')


def batch(xml=ARM, n=3):
    return stiction.Batch(stiction.Model.from_xml(xml), n, precision="float64", threads=1)


def test_text():
    assert Parameter.parse("latency") == Parameter("latency")
    assert Parameter.parse("dof_damping[*]") == Parameter("dof_damping", each=True)
    assert Parameter.parse(" kp[shoulder, elbow] = 30 , low=1,high = 90,prior=5") == Parameter(
        "kp", ("shoulder", "elbow"), start=30.0, low=1.0, high=90.0, prior=5.0
    )
    assert Parameter.parse("body_ipos[hand:2]=0.1") == Parameter("body_ipos", ("hand",), column=2, start=0.1)


@pytest.mark.parametrize(
    "text, message",
    [
        ("dof damping", "'dof damping': expected NAME[ROWS]=START,low=L,high=H,prior=S"),
        ("kp=x", "'kp=x': start = 'x' is not a number"),
        ("kp=1,least=2", "'kp=1,least=2': 'least=2': expected low=L, high=H or prior=S"),
        ("dof_dampng", "no parameter 'dof_dampng'; nearest: 'dof_damping'"),
        ("dof_damping[elbw]", "dof_damping: no joint 'elbw'; nearest: 'elbow'"),
        ("dof_damping[7]", "dof_damping: row 7; must be in [0, 2)"),
        ("mass[head]", "mass: no body 'head'; nearest: 'hand'"),
        (
            "dof_frictionloss",
            "dof_frictionloss: it is 0 in the model, and its logarithm is fitted: give a start, dof_frictionloss=0.1",
        ),
        ("kp=30,low=40", "kp: low = 40, start = 30, high = 300000: must be in this order"),
        ("latency=0.01,low=-1", "latency: low = -1: must be >= 0"),
        ("kp,prior=0", "kp: prior = 0: must be > 0"),
        ("body_quat", "body_quat: its numbers are not free of each other, so it can't be fitted"),
        ("body_ipos", "body_ipos has 3 numbers in a row: say which, body_ipos[world:0]"),
        ("body_ipos[hand:3]", "body_ipos: column 3; must be in [0, 3)"),
        ("gravity", "gravity: the accelerations that a log has scale with it; fit masses"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(stiction.ArgumentError) as refused:
        bind([text], batch())
    assert str(refused.value) == message


def test_no_number_twice():
    with pytest.raises(
        stiction.ArgumentError, match=r"^dof_damping and dof_damping\[elbow\] move the same numbers: leave one out$"
    ):
        bind(["dof_damping", "dof_damping[elbow]"], batch())
    with pytest.raises(stiction.ArgumentError, match=r"^kp and strength move the same numbers: leave one out$"):
        bind(["kp", "strength"], batch())
    with pytest.raises(stiction.ArgumentError, match="^no parameters to fit$"):
        bind([], batch())


def test_what_has_no_such_gain_is_refused():
    with pytest.raises(stiction.ArgumentError, match="^kp: the model has nothing that has it$"):
        bind(["kp"], batch(pendulum(0.1, 0.01, 0)))
    with pytest.raises(stiction.ArgumentError, match="^kp: actuator 'motor' has no kp in the model$"):
        bind(["kp[motor]"], batch(pendulum(0.1, 0.01, 0)))


def labels(*texts, xml=ARM):
    return [(b.label, b.rows.tolist(), b.unit) for b in bind(texts, batch(xml))]


def test_rows_and_labels():
    assert labels("dof_damping") == [("dof_damping", [0, 1], "N m s/rad")]
    assert labels("dof_armature[*]") == [
        ("dof_armature[shoulder]", [0], "kg m^2"),
        ("dof_armature[elbow]", [1], "kg m^2"),
    ]
    assert labels("latency", "kv[1]") == [("latency", [0, 1], "s"), ("kv[elbow]", [1], "N m s/rad")]
    assert labels("body_ipos[hand:2]") == [("body_ipos[hand:2]", [3], "m")]
    assert labels("dof_damping[x]=0.1", xml=block(2, 0.4)) == [("dof_damping[x]", [0], "N s/m")]
    assert labels("dof_damping[root.5]=0.1", xml=FREE) == [("dof_damping[root.5]", [5], "N m s/rad or N s/m")]
    assert labels("mass", xml=FREE) == [("mass[block]", [1], "kg")]


@pytest.mark.parametrize(
    "text, x, field, expected",
    [
        ("dof_damping", 3.0, "dof_damping", [3, 3]),
        ("dof_damping[elbow]", 3.0, "dof_damping", [0.4, 3]),
        ("mass[hand]", 0.7, "body_mass", [0, 1, 0.5, 0.7]),
        ("kp[elbow]", 7.0, "actuator_gain", [[40, 0, 0], [7, 0, 0]]),
        ("kp[elbow]", 7.0, "actuator_bias", [[0, -40, -1], [0, -7, -0.5]]),
        ("kv", 7.0, "actuator_bias", [[0, -40, -7], [0, -40, -7]]),
        ("kv", 7.0, "actuator_gain", [[40, 0, 0], [40, 0, 0]]),
        ("strength[shoulder]", 2.0, "actuator_bias", [[0, -80, -2], [0, -40, -0.5]]),
        ("actuator_gain[shoulder]", 7.0, "actuator_gain", [[7, 0, 0], [40, 0, 0]]),
        ("body_ipos[hand:2]", 0.01, "body_ipos", [[0, 0, 0], [0, 0, -0.15], [0, 0, -0.125], [0, 0, 0.01]]),
    ],
)
def test_what_a_number_writes(text, x, field, expected):
    """Into the environments that are asked for, and into no others."""
    b = batch()
    if field == "dof_damping":
        b.param(field)[:, 1] = 0.4
    (bound,) = bind([text], b)
    bound.write(b, np.array([0, 2]), np.array([x, x]))
    now = b.param(field)
    np.testing.assert_allclose(now[0], expected, atol=1e-12)
    np.testing.assert_allclose(now[2], expected, atol=1e-12)
    if field != "dof_damping" and not (text == "kv" and field == "actuator_gain"):
        np.testing.assert_allclose(now[1], getattr(b.model, field), atol=1e-12)


def test_velocity_servos_have_kv_in_both():
    xml = ARM.replace(
        '<position name="elbow" joint="elbow" kp="40" kv=".5"/>', '<velocity name="elbow" joint="elbow" kv="3"/>'
    )
    b = batch(xml)
    (bound,) = bind(["kv[elbow]"], b)
    assert bound.start == 3
    bound.write(b, np.array([1]), np.array([5.0]))
    assert b.param("actuator_gain")[1, 1].tolist() == [5, 0, 0] and b.param("actuator_bias")[1, 1].tolist() == [
        0,
        0,
        -5,
    ]


def test_mass_keeps_the_shape():
    b = batch()
    (bound,) = bind(["mass[hand]"], b)
    bound.write(b, np.array([0]), np.array([0.7]))
    np.testing.assert_allclose(b.param("body_inertia")[0, 3], 2 * b.model.body_inertia[3])


def test_logarithms_of_what_is_positive():
    bounds = {b.name: b for b in bind(["kp", "latency=0.01", "body_ipos[hand:2]", "mass[hand]"], batch())}
    assert [b.logarithmic for b in bounds.values()] == [True, False, False, True]
    for b in bounds.values():
        assert b.value(b.number(0.03)) == pytest.approx(0.03)
    assert bounds["latency"].low == 0 and bounds["latency"].high == 0.1 and bounds["body_ipos"].low == -np.inf
