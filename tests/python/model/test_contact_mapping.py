"""Stiffness of contact pairs mapped from solref and solimp, against MuJoCo's depth at rest."""

import pytest

import stiction

mujoco = pytest.importorskip("mujoco")

GRAVITY = 9.81
RADIUS = 0.1

# Both depths solve the same static equation, W = N(depth). What is left is how still MuJoCo stands
# when it is read: SETTLED times the longest time constant (0.2 s) is 2e-13 m, 5e-9 of the least
# depth compared here (39 micrometres).
TOLERANCE = 1e-8
SETTLED = 1e-12  # m/s

SCENE = """
<mujoco>
  <option timestep="{timestep}" tolerance="0" iterations="200" cone="{cone}" impratio="{impratio}"/>
  <default><geom friction="{mu}"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" {floor}/>
    <body name="ball" pos="0 0 {radius}">
      <freejoint/>
      <geom name="ball" size="{radius}" mass="{mass}" {ball}/>
    </body>
  </worldbody>
</mujoco>
"""


def scene(ball="", floor="", mu=1.0, mass=1.0, cone="pyramidal", impratio=1.0, timestep=0.002):
    return SCENE.format(ball=ball, floor=floor, mu=mu, mass=mass, cone=cone, impratio=impratio,
                        timestep=timestep, radius=RADIUS)


def settle(xml):
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    for _ in range(40000):
        mujoco.mj_step(model, data)
        if data.time > 0.1 and abs(data.qvel).max() < SETTLED:
            break
    else:
        pytest.fail(f"MuJoCo does not settle: |v| = {abs(data.qvel).max():.1e} m/s")
    mujoco.mj_forward(model, data)
    return model, data


def rest_stiffness(xml, geom1, geom2, weight):
    """Load over depth of the contact of two geoms when MuJoCo has come to rest."""
    model, data = settle(xml)
    ids = {mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, name) for name in (geom1, geom2)}
    (contact,) = [c for c in data.contact if set(c.geom) == ids]
    return weight / (contact.includemargin - contact.dist)


CASES = {
    "defaults": dict(),
    "light": dict(mass=0.01),
    "heavy": dict(mass=300.0),
    "stiff solimp": dict(ball='solimp="0.99 0.99 0.001" priority="1"'),
    "soft solimp": dict(ball='solimp="0.8 0.8 0.001" priority="1"'),
    "wide solimp": dict(ball='solimp="0.7 0.95 0.01 0.3 4" priority="1"'),
    "late midpoint": dict(ball='solimp="0.5 0.97 0.005 0.9 3" priority="1"'),
    "linear ramp": dict(ball='solimp="0.5 0.9 0.01 0.2 1" priority="1"'),
    "no width": dict(ball='solimp="0.5 0.9 0 0.5 2" priority="1"'),
    "clamped solimp": dict(ball='solimp="0 1 0.05 0.5 1" priority="1"'),
    "deeper than the width": dict(ball='solref="0.2 1" priority="1"'),
    "solref": dict(ball='solref="0.05 0.7" priority="1"'),
    "solref below two timesteps": dict(ball='solref="0.004 1" priority="1"', timestep=0.005),
    "friction 0.5": dict(mu=0.5),
    "friction 1.5": dict(mu=1.5),
    "friction of the other geom": dict(mu=0.2, floor='friction="0.8"'),
    "elliptic": dict(cone="elliptic", mu=0.3),
    "elliptic, impratio": dict(cone="elliptic", mu=0.3, impratio=10.0),
    "impratio": dict(impratio=4.0),
    "frictionless": dict(ball='condim="1" priority="1"'),
    "condim 4": dict(ball='condim="4"', mu=0.8),
    "condim 6": dict(ball='condim="6"', mu=0.8),
    "priority": dict(ball='priority="1" solref="0.03 1" friction="0.7"', floor='solref="0.1 1"'),
    "solmix": dict(ball='solmix="3" solref="0.03 1"', floor='solref="0.1 2" solimp="0.8 0.9 0.01"'),
    "solmix 0": dict(ball='solmix="0" solref="0.03 1"', floor='solref="0.1 2"'),
    "direct": dict(ball='solref="-5000 -100" priority="1"'),
    "direct and standard": dict(ball='solref="-5000 -100"'),
    "margin": dict(ball='margin="0.01"', floor='margin="0.02"'),
}


@pytest.mark.filterwarnings("ignore::stiction.ModelWarning")  # condim 4 and 6
@pytest.mark.parametrize("name", CASES)
def test_rests_as_deep_as_mujoco(name):
    case = CASES[name]
    xml = scene(**case)
    mujoco_stiffness = rest_stiffness(xml, "floor", "ball", GRAVITY * case.get("mass", 1.0))
    (stiffness,) = stiction.Model.from_xml(xml).pair_stiffness
    assert stiffness == pytest.approx(mujoco_stiffness, rel=TOLERANCE)


# The figures of the design: k in kN/m, three digits.
@pytest.mark.parametrize(
    "case, kilonewton",
    [
        (dict(), 26.7),
        (dict(ball='solimp="0.99 0.99 0.001" priority="1"'), 250),
        (dict(ball='solimp="0.8 0.8 0.001" priority="1"'), 12.5),
        (dict(mu=0.5), 144),
        (dict(mu=1.5), 12.4),
    ],
)
def test_figures_of_the_design(case, kilonewton):
    (stiffness,) = stiction.Model.from_xml(scene(**case)).pair_stiffness
    assert stiffness == pytest.approx(1e3 * kilonewton, rel=5e-3)  # half a unit of the last digit


def test_explicit_pair_ignores_the_geoms():
    pair = '<pair geom1="ball" geom2="floor" solref="0.03 1" friction="0.6 0.6"/>'
    xml = scene(ball='solref="0.1 1" solimp="0.5 0.5 0.01" condim="6" margin="0.05"')
    xml = xml.replace("</mujoco>", f"<contact>{pair}</contact></mujoco>")
    (stiffness,) = stiction.Model.from_xml(xml).pair_stiffness
    assert stiffness == pytest.approx(rest_stiffness(xml, "floor", "ball", GRAVITY), rel=TOLERANCE)


# The lighter body on top: its weight is the load that the pair is made for.
STACK = """
<mujoco>
  <option tolerance="0" iterations="200"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body pos="0 0 0.1">
      <joint type="slide" axis="0 0 1"/><geom name="lower" size="0.1" mass="7"/>
    </body>
    <body pos="0 0 0.3">
      <joint type="slide" axis="0 0 1" armature="0.5"/><geom name="upper" size="0.1" mass="2"/>
    </body>
  </worldbody>
</mujoco>
"""


def test_two_masses_on_each_other():
    model = stiction.Model.from_xml(STACK)
    names = list(model.geom_names)
    wanted = {names.index("lower"), names.index("upper")}
    pairs = zip(model.pair_geom1, model.pair_geom2, model.pair_stiffness)
    (stiffness,) = [k for g1, g2, k in pairs if {int(g1), int(g2)} == wanted]
    mujoco_stiffness = rest_stiffness(STACK, "lower", "upper", 2 * GRAVITY)
    assert stiffness == pytest.approx(mujoco_stiffness, rel=TOLERANCE)
