"""What the reader makes of odd files, against MuJoCo's own compiler."""

import itertools

import numpy as np
import pytest

import stiction

mujoco = pytest.importorskip("mujoco")

# ---- one actuator default per class, whatever its elements are called

# Elements of a default class, and elements of the model; numbers without pattern.
LAWS = (
    "<general/>",
    "<general gear='3'/>",
    "<general gainprm='9'/>",
    "<general biastype='affine' biasprm='0.7 -8 -2' gainprm='8'/>",
    "<general gaintype='affine' gainprm='0.3 0 -6'/>",
    "<general dyntype='filterexact' dynprm='0.4' gainprm='5'/>",
    "<general dyntype='filter'/>",
    "<general dyntype='integrator' actrange='-2 3' actearly='true'/>",
    "<general dyntype='none' gaintype='fixed' biastype='none'/>",
    "<motor/>",
    "<motor ctrlrange='-2 1' gear='4'/>",
    "<position/>",
    "<position kp='50' kv='3'/>",
    "<position kp='-6' forcerange='-3 4'/>",
    "<position dampratio='0.6'/>",
    "<position timeconst='0.3'/>",
    "<position timeconst='0'/>",
    "<position inheritrange='0.5'/>",
    "<position ctrlrange='-3 2'/>",
    "<velocity/>",
    "<velocity kv='20'/>",
    "<damper kv='7' ctrlrange='0 1'/>",
    "<damper ctrlrange='0 2'/>",
    "<intvelocity kp='9' kv='1'/>",
    "<cylinder area='3' bias='1 2 3' timeconst='0.2'/>",
    "<muscle force='100'/>",
    "<muscle timeconst='0.3 0.2' range='0.6 1.2' lmin='0.4'/>",
    "<adhesion gain='4' ctrlrange='0 1'/>",
    "<pid kp='4' kv='2' ki='1'/>",
    "<dcmotor motorconst='0.1 0.1' resistance='1'/>",
)
DEFAULTS = ("", *LAWS, "<position kp='50' kv='3'/><velocity kv='20'/>", "<velocity/><general/>")
ELEMENTS = tuple(law for law in LAWS if law.split()[0].strip("</>") in (
    "general", "motor", "position", "velocity", "damper", "intvelocity", "cylinder", "muscle"))  # fmt: skip


def actuated(parent, child, element):
    element = element.replace("/>", " joint='j' class='c'/>")
    return f"""<mujoco>
      <default>{parent}<default class='c'>{child}</default></default>
      <worldbody><body>
        <joint name='j' type='slide' range='-1 3'/><geom size='1' mass='4'/>
      </body></worldbody>
      <actuator>{element}</actuator>
    </mujoco>"""


def mujoco_actuator(xml):
    """Numbers of the only actuator; None where it has a law that is not computed here."""
    m = mujoco.MjModel.from_xml_string(xml)
    law = [m.actuator_dyntype[0], m.actuator_gaintype[0], m.actuator_biastype[0]]
    if law[0] > 4 or max(law[1:]) > 2 or m.nu != 1:
        return None
    tau = m.actuator_dynprm[0, :3]
    if law[0] == 2 and tau[0] <= 0 or law[0] == 4 and min(tau[:2]) <= 0:
        return None  # divided by there
    muscle = np.zeros(18)
    for k, (kind, numbers) in enumerate(zip(law[1:], (m.actuator_gainprm[0], m.actuator_biasprm[0]))):
        if kind == 2:
            muscle[9 * k : 9 * k + 9] = numbers[:9]
            if numbers[2] < 0:
                muscle[9 * k + 2] = numbers[3] / m.actuator_acc0[0]
    numbers = {
        "gain": np.where([law[1] < 2, law[1] == 1, law[1] == 1], m.actuator_gainprm[0, :3], 0),
        "bias": np.where(law[2] == 1, m.actuator_biasprm[0, :3], 0), "gear": m.actuator_gear[0],
        "ctrllimited": m.actuator_ctrllimited[0], "forcelimited": m.actuator_forcelimited[0],
        "ctrlrange": m.actuator_ctrlrange[0], "forcerange": m.actuator_forcerange[0],
        "dyntype": m.actuator_dyntype[0], "muscle": muscle,
    }  # fmt: skip
    if law[0] > 0:
        numbers |= {"actearly": m.actuator_actearly[0], "actrange": m.actuator_actrange[0],
                    "actlimited": m.actuator_actlimited[0]}
    if law[0] > 1:
        numbers["dynprm"] = tau
    return numbers


# A <general> that takes gain and bias, but not the types, from a default of these is refused.
UNKNOWN = ("pid", "dcmotor")


@pytest.mark.parametrize("parent", DEFAULTS)
def test_every_mixture_of_actuator_defaults(parent):
    """Shortcut in the parent's default x in the child's x element: equal forces, or both refuse."""
    compared = refused = unknown = 0
    for child, element in itertools.product(DEFAULTS, ELEMENTS):
        xml = actuated(parent, child, element)
        try:
            theirs = mujoco_actuator(xml)
        except ValueError:
            theirs = None
        if theirs is not None and not all(np.isfinite(v).all() for v in theirs.values()):
            theirs = None  # a negative spring has no damping ratio: NaN there
        if theirs is None:
            refused += 1
            with pytest.raises(stiction.ModelError):
                stiction.Model.from_xml(xml)
            continue
        try:
            ours = stiction.Model.from_xml(xml)
        except stiction.ModelError as e:
            (law,) = (law for law in UNKNOWN if f"default is a <{law}>" in str(e))
            assert f"<{law}" in parent + child and "<motor" not in element, xml
            unknown += 1
            continue
        compared += 1
        for name, value in theirs.items():
            # kv of a damping ratio: a square root of the inertia at qpos0
            np.testing.assert_allclose(
                getattr(ours, f"actuator_{name}")[0], value, rtol=1e-12, atol=0,
                err_msg=f"{name} of {parent} | {child} | {element}")  # fmt: skip
    assert compared > 100 and refused > 10 and unknown < 40


# ---- same verdict, same arrays

BODY = "<worldbody><body name='b'><joint name='j' type='{}'/><geom name='g' {}/></body></worldbody>"
BALL = BODY.format("hinge", "size='1' {}")
FREE = BODY.format("free", "size='1'")
CAPSULE = BODY.format("hinge", "type='capsule' size='.1' {}")
TWIN = "<worldbody><body><freejoint/><geom size='1'/></body></worldbody>"
KEY = "<keyframe><key {}/></keyframe>"
TWO_MOTORS = "<actuator><motor joint='j'/><motor joint='j'/></actuator>"
BOTH = {
    **{f"integrator {i}": f"<option integrator='{i}'/>" + FREE
       for i in ("Euler", "RK4", "implicit", "implicitfast", "discrete", "EulerCoriolis")},
    **{f"{n} numbers of surfacevel": BALL.format("surfacevel='" + n * "0 " + "'")
       for n in (1, 3, 6, 7)},
    "text in the model": "text" + FREE,
    "text in a body": FREE.replace("<geom", "text<geom"),
    "text in a joint": FREE.replace("<joint name='j' type='free'/>",
                                    "<joint name='j' type='free'>text</joint>"),
    "zero quaternion in a key": FREE + KEY.format("qpos='1 2 3 0 0 0 0'"),
    "long quaternion in a key": FREE + KEY.format("qpos='1 2 3 0 0 3 4'"),
    "key of three positions": FREE + KEY.format("qpos='1 2 3'"),
    "key of five positions": FREE + KEY.format("qpos='1 2 3 0 5'"),
    "key of no position": FREE + KEY.format("qpos=''"),
    "key of eight positions": FREE + KEY.format("qpos='1 2 3 1 0 0 0 4'"),
    "key of two velocities": FREE + KEY.format("qvel='1 2'"),
    "key of seven velocities": FREE + KEY.format("qvel='1 2 3 4 5 6 7'"),
    "key of one control": BALL.format("") + TWO_MOTORS + KEY.format("ctrl='3'"),
    "key of three controls": BALL.format("") + TWO_MOTORS + KEY.format("ctrl='3 4 5'"),
    "key with activation": FREE + KEY.format("act='1'"),
    "pos beside fromto": CAPSULE.format("pos='1 0 0' fromto='0 0 0 1 0 0'"),
    "zero pos beside fromto": CAPSULE.format("pos='0 0 0' fromto='0 0 0 1 0 0'"),
    "pos in the default, fromto": "<default><geom pos='1 1 1'/></default>"
    + CAPSULE.format("fromto='0 0 0 1 0 0'"),
    "quat beside fromto": CAPSULE.format("quat='1 1 1 1' fromto='0 0 0 1 0 0'"),
    "site with pos and fromto": FREE.replace(
        "<geom", "<site type='box' size='.1' pos='0 1 0' fromto='0 0 0 1 0 0'/><geom"),
    "negative margin": BALL.format("margin='-0.01'"),
    "negative gap": BALL.format("gap='-0.01'"),
    "negative margin of a joint": FREE.replace("type='free'", "range='-10 10' margin='-0.1'"),
    "negative kp": BALL.format("") + "<actuator><position joint='j' kp='-2' kv='1'/></actuator>",
    "negative kv of a position": BALL.format("")
    + "<actuator><position joint='j' kv='-1'/></actuator>",
    "negative kv of a velocity": BALL.format("")
    + "<actuator><velocity joint='j' kv='-3'/></actuator>",
    "springdamper of zeros": FREE.replace("type='free'", "springdamper='0 0'"),
    "springdamper of one zero": FREE.replace("type='free'", "springdamper='1 0'"),
}
TUMBLER = """<worldbody><body name='b' pos='1 2 3' quat='1 0 0 .2'>{joint}
  <geom type='box' size='.1 .2 .3' pos='.1 .2 .3' euler='10 20 30'/><geom size='.1' pos='-.1 0 0'/>
  <site name='s' pos='.5 0 0' euler='5 6 7'/>{child}</body></worldbody>"""
for word, joint in itertools.product(
    ("false", "true"),
    ("<freejoint/>", "<joint type='free'/>", *(f"<freejoint align='{a}'/>" for a in
                                                ("false", "true", "auto"))),
):  # fmt: skip
    compiler = f"<compiler alignfree='{word}'/>"
    BOTH[f"alignfree {word} {joint}"] = compiler + TUMBLER.format(joint=joint, child="")
    BOTH[f"alignfree {word} {joint} with a child"] = compiler + TUMBLER.format(
        joint=joint, child="<body pos='.3 0 0'><geom size='.1'/></body>")
BOTH["align, inertial"] = TUMBLER.format(
    joint="<freejoint align='true'/>",
    child="<inertial pos='.1 0 .2' mass='2' fullinertia='.5 .7 .4 .04 -.03 .02'/>")

FIELDS = """body_pos body_quat body_mass body_ipos jnt_range jnt_margin jnt_stiffness qpos0 dof_damping
    dof_invweight0 geom_pos geom_quat geom_size geom_margin geom_gap site_pos site_quat actuator_ctrlrange
    key_qpos key_qvel key_ctrl""".split()


def arrays(m, names):
    return {name: np.array(getattr(m, name), float) for name in names}


@pytest.mark.parametrize("name", BOTH)
def test_same_verdict_and_same_arrays(name):
    xml = f"<mujoco>{BOTH[name]}</mujoco>"
    try:
        theirs = mujoco.MjModel.from_xml_string(xml)
    except ValueError:
        with pytest.raises(stiction.ModelError):
            stiction.Model.from_xml(xml)
        return
    ours = stiction.Model.from_xml(xml)
    for field, value in arrays(theirs, FIELDS).items():
        got = arrays(ours, [field])[field]
        if field.endswith("quat") and len(got):  # q and -q are the same rotation
            got = got * np.where((got * value).sum(axis=1, keepdims=True) < 0, -1, 1)
        # through the principal axes of an inertia: an eigen-decomposition
        np.testing.assert_allclose(got, value, rtol=1e-9, atol=1e-9, err_msg=field)


# ---- the files of a model

CHAIN = {
    "robot.xml": "<mujoco><include file='parts/arm.xml'/></mujoco>",
    "parts/arm.xml": b"<mujoco><include file='hand.xml'/></mujoco>",
    "parts/hand.xml": "<mujoco><worldbody><geom size='1'/><geom size='2'/></worldbody></mujoco>",
}


@pytest.mark.parametrize("text", (
    "<mujoco><include file='robot.xml'/></mujoco>",
    "<mujoco><include file='hand.xml'/></mujoco>",
    "<mujoco><include file='somewhere/else/robot.xml'/></mujoco>",
    "<mujoco><include file='./parts/../robot.xml'/></mujoco>",
    "<mujoco><include file='robot.xml'/><include file='hand.xml'/></mujoco>",
    "<mujoco><include file='robot.xml'/><include file='robot.xml'/></mujoco>",
    "<mujoco><include file='robots.xml'/></mujoco>",
))  # fmt: skip
def test_a_dictionary_of_assets(text):
    assets = {k: v if isinstance(v, bytes) else v.encode() for k, v in CHAIN.items()}
    try:
        theirs = mujoco.MjModel.from_xml_string(text, assets).ngeom
    except ValueError:
        with pytest.raises(stiction.ModelError, match="robots?.xml|hand.xml"):
            stiction.Model.from_xml(text, assets=CHAIN)
        return
    assert stiction.Model.from_xml(text, assets=CHAIN).ngeom == theirs


def test_assets_go_before_the_disk(tmp_path):
    (tmp_path / "part.xml").write_text("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
    main = tmp_path / "main.xml"
    main.write_text("<mujoco><include file='part.xml'/></mujoco>")
    assert stiction.Model.from_file(main).ngeom == 1
    assert stiction.Model.from_file(main, assets={"part.xml": CHAIN["parts/hand.xml"]}).ngeom == 2
    with pytest.raises(TypeError):
        stiction.Model.from_file(main, assets={"part.xml": 3})


MESH = "<asset><mesh name='m' file='{}'/></asset>" + FREE


@pytest.mark.parametrize("compiler, file, assets, there", (
    ("", "no.stl", {}, False),
    ("", "no.stl", {"no.stl": b""}, True),
    ("", "deep/no.stl", {"no.stl": b""}, True),
    ("<compiler meshdir='x'/>", "d/no.stl", {"x/d/no.stl": b""}, True),
    ("<compiler assetdir='x'/>", "d/no.stl", {"x/d/no.stl": b""}, True),
    ("<compiler meshdir='x' strippath='true'/>", "d/no.stl", {"x/no.stl": b""}, True),
    ("<compiler meshdir='x'/>", "d/no.stl", {"x/d/nope.stl": b""}, False),
))  # fmt: skip
def test_missing_files_are_noticed(compiler, file, assets, there):
    xml = "<mujoco>" + compiler + MESH.format(file) + "</mujoco>"
    report = stiction.Model.from_xml(xml, assets=assets).report
    (entry,) = (e for e in report.entries if e.attribute == "file")
    assert ("file not found" not in entry.note) is there


def test_a_chain_of_includes_ends_in_an_error(tmp_path):
    """5000 files, each including the next: an error that names some of them, no overflow."""
    n = 5000
    files = {f"f{i}.xml": f"<mujoco><include file='f{i + 1}.xml'/></mujoco>" for i in range(n)}
    files[f"f{n}.xml"] = "<mujoco/>"
    with pytest.raises(stiction.ModelError, match="chain") as e:
        stiction.Model.from_xml("<mujoco><include file='f0.xml'/></mujoco>", assets=files)
    assert "f63.xml" in str(e.value) and len(str(e.value)) < 2000
    shorter = {k: v for k, v in files.items() if k not in ("f60.xml",)}
    shorter["f60.xml"] = "<mujoco/>"
    stiction.Model.from_xml("<mujoco><include file='f0.xml'/></mujoco>", assets=shorter)
    with pytest.raises(stiction.ModelError, match="already included"):
        stiction.Model.from_xml("<mujoco><include file='a'/></mujoco>",
                                assets={"a": "<mujoco><include file='b'/></mujoco>",
                                        "b": "<mujoco><include file='a'/></mujoco>"})
