"""Numbers beyond what can be computed with are refused at the door; whatever loads is finite."""

import re

import numpy as np
import pytest

import stiction

# {x}: the number. What the message must name, and the last power of ten that loads.
ROBOT = """<mujoco>
  <compiler angle='radian' settotalmass='{settotalmass}'/>
  <option timestep='{timestep}' gravity='0 0 {gravity}' density='{medium}'
          viscosity='{viscosity}' wind='{wind} 0 0'/>
  <worldbody>
    <geom name='floor' type='plane' size='1 1 1'/>
    <body name='a' pos='0 0 {body_pos}' gravcomp='{gravcomp}'>
      <joint name='h' axis='0 1 0' pos='{joint_pos} 0 0' range='-1 {range}' ref='{ref}'
             springref='{springref}' stiffness='{stiffness}' damping='{damping}'
             armature='{armature}' frictionloss='{frictionloss}' margin='{joint_margin}'
             actuatorfrcrange='-1 {actuatorfrcrange}'/>
      <inertial pos='0 0 {inertial_pos}' mass='{mass}'
                diaginertia='{inertia} {inertia} {inertia}'/>
      <geom name='foot' size='{size}' pos='0 0 {geom_pos}' friction='{friction}' margin='{margin}'
            gap='{gap}' solmix='{solmix}' solref='{solref} {dampratio}' solimp='.9 .95 {width}'/>
      <site name='s' pos='0 0 {site_pos}'/>
    </body>
    <body name='c' pos='3 0 1'>
      <joint name='s' type='slide' axis='0 0 1' springdamper='{springdamper}'/>
      <geom size='.1' density='{density}'/>
      <body pos='1 0 0'><geom type='capsule' size='.1' fromto='0 0 0 0 0 {fromto}' mass='.1'/></body>
    </body>
  </worldbody>
  <tendon><fixed name='t'><joint joint='s' coef='{coef}'/></fixed></tendon>
  <actuator>
    <position name='p' joint='s' kp='{kp}' kv='{kv}'/>
    <general joint='h' gainprm='{gainprm}' gear='{gear}' ctrlrange='-1 {ctrlrange}'
             forcerange='-1 {forcerange}'/>
    <motor tendon='t'/>
  </actuator>
  <keyframe><key qpos='{key_qpos}' qvel='0 {key_qvel}' ctrl='{key_ctrl}'/></keyframe>
  <custom><numeric name='stiction_contact/foot' data='{native} {dissipation}'/></custom>
</mujoco>"""
DEFAULTS = dict(
    settotalmass=-1, timestep=0.002, gravity=-9.81, medium=0, viscosity=0, wind=0, body_pos=1, gravcomp=0, joint_pos=0.1, range=1,
    ref=0, springref=0, stiffness=1, damping=1, armature=0.1, frictionloss=0.1, joint_margin=0.01,
    actuatorfrcrange=10, inertial_pos=0.1, mass=1, inertia=0.1, size=0.1, geom_pos=0.1, friction=1,
    margin=0, gap=0, solmix=1, solref=0.02, dampratio=1, width=0.001, site_pos=0.1,
    springdamper="1 1", density=1000, fromto=1, coef=1, kp=10, kv=1, gainprm=1, gear=1, ctrlrange=1,
    forcerange=10, key_qpos=0, key_qvel=0, key_ctrl=0, native=1e5, dissipation=10,
)  # fmt: skip


def robot(**numbers):
    return ROBOT.format(**(DEFAULTS | numbers))


LARGEST = dict(
    settotalmass=1e12, timestep=1e3, gravity=1e6, medium=1e6, viscosity=1e6, wind=1e6,
    body_pos=1e6, gravcomp=1e6, joint_pos=1e6, range=1e10, ref=1e10, springref=1e10,
    stiffness=1e18, damping=1e18, armature=1e12,
    frictionloss=1e30, joint_margin=1e10, actuatorfrcrange=1e30, inertial_pos=1e6, mass=1e12,
    inertia=1e24, size=1e6, geom_pos=1e6, friction=1e6, margin=1e6, gap=1e6, solmix=1e6,
    solref=1e4, dampratio=1e4, width=1e6, site_pos=1e6, fromto=1e6, coef=1e6, kp=1e18, kv=1e18,
    gainprm=1e18, gear=1e6, ctrlrange=1e30, forcerange=1e30, key_qpos=1e10, key_qvel=1e8,
    key_ctrl=1e30, native=1e18, dissipation=1e6,
)  # fmt: skip
WRITTEN_AS = {  # where the name of the number is not the attribute's
    "medium": "density", "body_pos": "pos", "joint_pos": "pos", "joint_margin": "margin", "inertial_pos": "pos",
    "inertia": "diaginertia", "geom_pos": "pos", "dampratio": "solref", "width": "solimp",
    "site_pos": "pos", "key_qpos": "qpos", "key_qvel": "qvel", "key_ctrl": "ctrl",
    "native": "data", "dissipation": "data",
}  # fmt: skip


def float_arrays(model):
    for name in dir(model):
        value = getattr(model, name) if not name.startswith("_") else None
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            yield name, value


def expect_finite(model, what):
    arrays = dict(float_arrays(model))
    assert len(arrays) > 50
    for name, value in arrays.items():
        if name in ("geom_stiffness",):
            value = value[value < 1e40]  # 1e40 and more means rigid, and is never computed with
        with np.errstate(over="ignore"):
            assert np.isfinite(value.astype(np.float32)).all(), (what, name, value)


@pytest.mark.parametrize("name", LARGEST)
def test_every_quantity_has_a_bound(name):
    most = LARGEST[name]
    xml = robot(**{name: most})
    try:
        model = stiction.Model.from_xml(xml)
    except stiction.ModelError as e:
        # the number itself is fine, what follows from it is not
        assert f"{WRITTEN_AS.get(name, name)}=" not in str(e) or "gear" in str(e), e
    else:
        expect_finite(model, name)
    for beyond in (1.01 * most, 1e3 * most, 1e35, 1e200, 1e308, -1.01 * most, -1e200):
        if name == "settotalmass" and beyond < 0:
            continue  # means none
        if name == "native" and beyond >= 1e40:
            continue  # means rigid
        if name in ("solref", "dampratio") and -1e18 <= beyond < 0:
            continue  # a stiffness and a damping
        with pytest.raises(stiction.ModelError) as e:
            stiction.Model.from_xml(robot(**{name: beyond}))
        message = str(e.value)
        assert re.match(r"<string>:\d+: <", message), message
        assert f'{WRITTEN_AS.get(name, name)}="' in message, message
        assert "beyond" in message or "outside" in message or "negative" in message or (
            "below" in message) or "positive" in message, message  # fmt: skip


@pytest.mark.parametrize("numbers", (
    {"timestep": 1e-10}, {"timestep": 1e-300}, {"size": 1e-10}, {"size": 1e-300},
    {"solref": 1e-10}, {"solref": 1e-300}, {"springdamper": "1e-200 1"},
    {"springdamper": "1 1e-200"}, {"density": 1e11}, {"density": 1e200},
    {"kp": 1e12, "gear": 1}, ))  # fmt: skip
def test_too_small_and_too_heavy(numbers):
    xml = robot(**numbers)
    if numbers == {"kp": 1e12, "gear": 1}:
        expect_finite(stiction.Model.from_xml(xml), numbers)
        return
    with pytest.raises(stiction.ModelError, match=r"<string>:\d+: <"):
        if numbers == {"density": 1e11}:  # a mass that follows: 4/3 pi (10 m)^3 1e11
            xml = xml.replace("<geom size='.1' density", "<geom size='10' density")
        stiction.Model.from_xml(xml)


def test_static_terrain_may_be_large():
    m = stiction.Model.from_xml(
        "<mujoco><worldbody><body><geom type='box' size='1e5 1e5 10'/></body></worldbody></mujoco>")
    expect_finite(m, "terrain")
    with pytest.raises(stiction.ModelError, match="mass"):
        stiction.Model.from_xml("<mujoco><worldbody><body><freejoint/>"
                                "<geom type='box' size='1e5 1e5 10'/></body></worldbody></mujoco>")


def test_lengths_of_any_size():
    """An arm of 1e6 m loads, one of 1e7 m doesn't; engines agree on what loads."""
    for power in (0, 3, 6, 7, 10, 100, 200):
        xml = f"""<mujoco><worldbody><body pos='0 0 1'><joint axis='0 1 0' damping='.1'/>
          <geom type='capsule' fromto='0 0 0 0 0 -.5' size='.02'/><body pos='0 0 -1e{power}'>
          <joint axis='0 1 0' damping='.1'/><geom type='capsule' fromto='0 0 0 0 .1 -.5' size='.02'/>
          </body></body></worldbody></mujoco>"""
        if power > 6:
            with pytest.raises(stiction.ModelError, match=r"<body> pos=.* is beyond 1e\+(06 m|36)"):
                stiction.Model.from_xml(xml)
        else:
            expect_finite(stiction.Model.from_xml(xml), power)


SPREAD = dict(
    settotalmass=None, timestep=(-9, 3), gravity=(-6, 6), springdamper=None, density=None,
)  # fmt: skip


def test_whatever_loads_is_finite_and_steps():
    """Random numbers over all orders of magnitude, several at once."""
    rng = np.random.default_rng(2)
    loaded, refused = 0, 0
    names = [n for n in LARGEST if n not in ("settotalmass",)]
    for _ in range(400):
        chosen = rng.choice(names, rng.integers(1, 8), replace=False)
        numbers = {n: 10.0 ** rng.uniform(-18, np.log10(LARGEST[n]) + 0.3) for n in chosen}
        try:
            model = stiction.Model.from_xml(robot(**numbers))
        except stiction.ModelError:
            refused += 1
            continue
        loaded += 1
        expect_finite(model, numbers)
        for precision in ("float32", "float64"):
            batch = stiction.Batch(model, num_envs=1, threads=1, precision=precision)
            batch.step(2)
            for field in ("qpos", "qvel", "xpos", "qfrc_bias"):
                if hasattr(batch, field):
                    assert np.isfinite(getattr(batch, field)).all(), (precision, field, numbers)
    assert loaded > 100 and refused > 20
