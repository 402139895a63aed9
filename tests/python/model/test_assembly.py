"""<replicate> and <attach> against MuJoCo's compiler: the same names in the same order, the same numbers."""

import itertools
import time

import numpy as np
import pytest

import stiction

mujoco = pytest.importorskip("mujoco")

# One frame after another: each a product of two quaternions and a turned vector.
PLACED = dict(rtol=1e-12, atol=1e-12)

ARRAYS = """
    body_pos body_quat body_mass body_ipos body_inertia body_parentid jnt_type jnt_pos jnt_axis jnt_range jnt_limited
    jnt_stiffness dof_damping dof_armature geom_type geom_pos geom_quat geom_size geom_bodyid geom_contype
    geom_friction site_pos site_quat site_bodyid qpos0 key_qpos key_qvel key_ctrl key_act key_mpos key_mquat actuator_gear
    actuator_ctrlrange tendon_range
""".split()


def in_mujoco(xml, assets):
    return mujoco.MjModel.from_xml_string(xml, {name: text.encode() for name, text in assets.items()})


def names(model, kind, n):
    return [mujoco.mj_id2name(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}"), i) or "" for i in range(n)]


def compare(theirs, ours):
    for kind, n, found in (
        ("body", theirs.nbody, ours.body_names), ("joint", theirs.njnt, ours.jnt_names),
        ("geom", theirs.ngeom, ours.geom_names), ("site", theirs.nsite, ours.site_names),
        ("tendon", theirs.ntendon, ours.tendon_names), ("actuator", theirs.nu, ours.actuator_names),
        ("equality", theirs.neq, ours.eq_names), ("key", theirs.nkey, ours.key_names),
        ("sensor", theirs.nsensor, [s.name for s in ours.sensors]),
    ):  # fmt: skip
        assert list(found) == names(theirs, kind, n), kind
    for array in ARRAYS:
        a, b = np.asarray(getattr(ours, array), float), np.asarray(getattr(theirs, array), float)
        np.testing.assert_allclose(a.ravel(), b.ravel(), err_msg=array, **PLACED)
    assert ours.timestep == theirs.opt.timestep
    np.testing.assert_array_equal(ours.gravity, theirs.opt.gravity)
    exclude = {(int(s) >> 16, int(s) & 0xFFFF) for s in theirs.exclude_signature}
    touching = {tuple(sorted((ours.geom_bodyid[a], ours.geom_bodyid[b]))) for a, b in zip(ours.pair_geom1, ours.pair_geom2)}
    assert not exclude & touching


def both(xml, **assets):
    files = {f"{name}.xml": text for name, text in assets.items()}
    ours = stiction.Model.from_xml(xml, assets=files)
    compare(in_mujoco(xml, files), ours)
    return ours


# ---- replicate

RELATIONS = """
  <contact>
    <pair name="both" geom1="g" geom2="gz"/><exclude name="x" body1="b" body2="c"/><pair geom1="left" geom2="gz"/>
  </contact>
  <tendon>
    <fixed name="t"><joint joint="j" coef="1"/><joint joint="jz" coef="2"/></fixed>
    <fixed name="other"><joint joint="jz" coef="2"/></fixed>
    <spatial name="string"><site site="s"/><site site="sz"/></spatial>
  </tendon>
  <actuator>
    <motor name="a" joint="j" gear="3"/><motor name="az" joint="jz"/><position name="at" tendon="t" kp="4"/>
  </actuator>
  <sensor>
    <jointpos name="sj" joint="j"/><clock name="cl"/><jointpos name="sz" joint="jz"/>
    <framepos name="f1" objtype="site" objname="s" reftype="body" refname="z"/>
    <framepos name="f2" objtype="xbody" objname="z" reftype="site" refname="s"/>
    <tendonpos tendon="t" name="tp"/><actuatorfrc actuator="at"/><jointvel joint="j"/>
  </sensor>
  <equality>
    <joint joint1="j" joint2="k" name="e"/><joint joint1="j" joint2="jz" name="lost"/><joint joint1="k" name="ek"/>
    <connect body1="b" anchor="0 0 0" name="con"/>
  </equality>
"""


def world(tree, relations=RELATIONS, compiler="", more=""):
    return f"""<mujoco>{compiler}<worldbody>
      <geom name="left" size=".1"/>
      <body name="z"><joint name="jz" range="-1 1"/><geom size=".1" name="gz"/><site name="sz"/></body>
      {tree}
      <geom name="right" size=".1"/>
    </worldbody>{relations}{more}</mujoco>"""


PART = """<body name="b" pos="0 .2 0" euler="10 20 30"><joint name="j"/><geom name="g" size=".1"/><site name="s"/>
  <body name="c" pos="0 0 1"><joint name="k" range="-20 30"/><geom size=".1"/></body></body>"""


@pytest.mark.parametrize("copies", (
    'count="3" sep="-" offset="1 0 0" euler="0 0 30"', 'count="1"', 'count="11" offset="0 1 .5"', 'count="2" euler="20 30 40"',
    'count="4" sep="_x" offset="1 2 3" euler="-70 10 5"',
))  # fmt: skip
@pytest.mark.parametrize("compiler", ("", '<compiler angle="radian" eulerseq="ZyX"/>'))
def test_copies_and_what_refers_to_them(copies, compiler):
    tree = f'<replicate {copies}><geom name="wg" size=".1"/>{PART}</replicate>'
    relations = RELATIONS if 'count="11"' not in copies else RELATIONS.replace('<clock name="cl"/>', "")
    m = both(world(tree, relations, compiler))
    (left_out,) = [e for e in m.report.entries if "left out, as in MuJoCo" in e.note]
    assert left_out.element == "joint" and left_out.line > 1


def test_inside_a_frame_and_a_body():
    tree = f"""<body name="holder" pos="1 2 3" euler="5 6 7"><frame pos=".1 .2 .3" euler="40 50 60">
      <replicate count="2" offset="0 0 1" euler="1 2 3"><site name="inner"/>
        <replicate count="3" sep="+" offset="1 0 0" childclass="main">{PART}</replicate></replicate></frame></body>"""
    both(world(tree, RELATIONS.replace('<clock name="cl"/>', "")))


@pytest.mark.parametrize("key", ('qpos="1 2 3 4 5 6 7"', 'qpos="1 2 3"', 'ctrl="1 2" qvel="3 4"', 'time="2"'))
def test_keyframes_are_of_the_whole_model(key):
    tree = f'<replicate count="3">{PART}</replicate>'
    both(world(tree, more=f'<keyframe><key name="k" {key}/></keyframe>'))


@pytest.mark.parametrize("count, message", ((100_000, "makes more than 200000 elements"), (3000, "6001 degrees of freedom")))
def test_many_copies_are_refused_at_once(count, message):
    xml = f"""<mujoco><worldbody><replicate count="{count}"><body><joint name="a"/><geom size=".1"/>
      <body><joint name="b"/><geom size=".1"/></body></body></replicate><body><joint/><geom size=".1"/></body></worldbody>
      <tendon><fixed><joint joint="a" coef="1"/><joint joint="b" coef="1"/></fixed></tendon></mujoco>"""
    begin = time.process_time()
    with pytest.raises(stiction.ModelError, match=message):
        stiction.Model.from_xml(xml)
    assert time.process_time() - begin < 5  # 0.001 and 0.1 s; copied first they take 24 and 10


def test_none():
    both(world('<replicate count="0"><geom size=".1"/></replicate>', ""))


# ---- attach

CHILD = """<mujoco model="kid">
  <compiler angle="radian" eulerseq="zyx" {compiler}/><option timestep="0.001" gravity="0 0 -1"/>
  <default><geom density="500"/><motor gear="7"/><default class="k"><joint damping="3"/></default></default>
  <worldbody>
    <geom name="w" size=".1"/>
    <frame name="f" pos="1 2 3" euler="0.3 0.2 0.1" childclass="k">
      <site name="fs" size=".1"/><body name="b2"><joint name="j2"/><geom size=".1"/></body>
    </frame>
    <body name="b" pos="0 0 1" childclass="k">
      <joint name="j" range="-1 1"/><geom name="g" size=".1" euler=".3 .2 .1"/><site name="s"/>
      <body name="b3" quat="1 1 0 0"><joint name="j3" class="main" type="ball"/><geom size=".1"/>{inner}</body>
    </body>
  </worldbody>
  <custom><numeric name="n" data="1"/></custom>
  <sensor><clock name="cl"/><jointpos name="sj" joint="j"/><jointpos name="s2" joint="j2"/></sensor>
  <contact><exclude body1="world" body2="b"/></contact>
  <tendon><fixed name="t"><joint joint="j" coef="2"/></fixed></tendon>
  <actuator>
    <motor name="a2" joint="j2"/><general joint="j" name="a" dyntype="filter"/><position name="at" tendon="t"/>
  </actuator>
  <keyframe>
    <key name="home" qpos="1 2 .6 0 .8 0" qvel="4 5 6 7 8" act="9"/><key name="h2" ctrl="7 8 9"/>
  </keyframe></mujoco>"""
KID = CHILD.format(compiler="", inner="")


def parent(tree, more="", compiler="", model='<model name="kid" file="kid.xml"/>'):
    return f"""<mujoco>{compiler}<asset>{model}</asset><default><joint damping="2"/></default><worldbody>
      <body name="z" euler="10 0 0"><joint name="jz"/><geom size=".1" name="gz"/>{tree}</body></worldbody>
      <actuator><motor name="az" joint="jz"/></actuator><sensor><jointpos joint="jz" name="sz"/></sensor>{more}</mujoco>"""


ATTACHED = (
    '<attach model="kid" body="b" prefix="p_"/>',
    '<attach model="kid" body="b3" prefix="p_"/>',
    '<attach model="kid" frame="f" prefix="p_"/>',
    '<attach model="kid" prefix="p_"/>',
    '<frame pos="1 2 3" euler="4 5 6"><attach model="kid" body="b" prefix="p_"/></frame>',
    '<attach model="kid" body="b" prefix="p_"/><attach model="kid" body="b" prefix="q_"/>',
    '<replicate count="2" offset="1 0 0" euler="0 10 0"><attach model="kid" body="b" prefix="p_"/></replicate>',
    '<body name="more"><geom size=".1"/><site name="here"/></body><attach body="more" prefix="p_"/>',
)


@pytest.mark.parametrize("tree", ATTACHED)
@pytest.mark.parametrize("compiler", ("", '<compiler conflict="merge"/>'))
@pytest.mark.parametrize("key", ("", '<keyframe><key name="mine" qpos="9"/></keyframe>'))
def test_another_model(tree, compiler, key):
    both(parent(tree, key, compiler), kid=KID)


def test_what_the_parent_says_of_a_part_of_it():
    both(parent('<attach model="kid" body="b" prefix="p_"/>',
                '<actuator><position joint="p_j" kp="3" name="mine"/></actuator>'
                '<contact><exclude body1="z" body2="p_b3"/></contact>'), kid=KID)  # fmt: skip


def test_models_that_attach_models():
    middle = """<mujoco model="middle"><compiler eulerseq="XYZ"/><asset><model name="kid" file="kid.xml"/></asset>
      <worldbody><body name="m" euler="10 20 30"><joint name="mj"/><geom size=".2"/>
        <replicate count="2" offset="0 1 0"><attach model="kid" body="b" prefix="in_"/></replicate></body></worldbody>
      <actuator><motor joint="mj"/></actuator></mujoco>"""
    kid = KID[: KID.index("<keyframe>")].replace('<clock name="cl"/>', "") + "</mujoco>"
    both(parent('<attach model="middle" body="m" prefix="o_"/>', model='<model name="middle" file="middle.xml"/>'),
         kid=kid, middle=middle)  # fmt: skip


@pytest.mark.parametrize("compiler", ('inertiafromgeom="true"', 'boundmass="30"', 'settotalmass="3"', 'autolimits="false"',
                                      'inertiagrouprange="1 2"', 'alignfree="true"', 'boundinertia="4"'))  # fmt: skip
def test_the_attached_model_keeps_its_compiler(compiler):
    inner = '<geom size=".2" group="3"/>'
    kid = CHILD.format(compiler=compiler, inner=inner)
    if "autolimits" in compiler:
        kid = kid.replace('range="-1 1"', 'range="-1 1" limited="true"')
    if "group" in compiler:
        kid = kid.replace("<geom ", '<geom mass="1" ').replace('name="g" ', 'name="g" group="1" ').replace(
            '<geom mass="1" size=".1"/>{inner}', "").replace('size=".1"/><geom', 'size=".1" group="2"/><geom')
        kid = kid.replace("<geom mass=\"1\" density", "<geom density")
    both(parent('<attach model="kid" body="b" prefix="p_"/>'), kid=kid)


def test_meshes_and_files_beside_each_model(tmp_path):
    """Each model's meshdir counts from its own folder."""
    tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 {}\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
    for folder, height in ((tmp_path / "meshes", 1), (tmp_path / "kid" / "parts", 3)):
        folder.mkdir(parents=True)
        (folder / "part.obj").write_text(tetrahedron.format(height))
    (tmp_path / "kid" / "kid.xml").write_text("""<mujoco><compiler meshdir="parts"/>
      <default><mesh scale="2 1 1"/><default class="d"><mesh scale="1 1 3"/></default></default>
      <asset><mesh file="part.obj"/><mesh name="d" class="d" file="part.obj"/></asset>
      <worldbody><body name="b"><freejoint/><geom name="g" type="mesh" mesh="part"/><geom type="mesh" mesh="d"/></body>
      </worldbody></mujoco>""")
    main = tmp_path / "main.xml"
    main.write_text("""<mujoco><compiler meshdir="meshes"/>
      <asset><mesh file="part.obj"/><model name="kid" file="kid/kid.xml"/></asset><worldbody>
      <body><freejoint/><geom type="mesh" mesh="part"/></body>
      <replicate count="2" offset="5 0 0"><attach model="kid" body="b" prefix="k_"/></replicate></worldbody></mujoco>""")
    ours, theirs = stiction.Model.from_file(main), mujoco.MjModel.from_xml_path(str(main))
    assert list(ours.geom_names) == names(theirs, "geom", theirs.ngeom)
    for array in ("body_mass", "body_ipos", "qpos0", "geom_pos"):
        # meshes in single precision
        np.testing.assert_allclose(getattr(ours, array), getattr(theirs, array), rtol=1e-6, atol=1e-6)


def test_native_materials_go_along():
    kid = KID.replace('<numeric name="n" data="1"/>', '<numeric name="stiction_contact/g" data="1e4 2"/>')
    m = stiction.Model.from_xml(parent('<replicate count="2"><attach model="kid" body="b" prefix="p_"/></replicate>'),
                                assets={"kid.xml": kid})  # fmt: skip
    native = [name for name, on in zip(m.geom_names, m.geom_native) if on]
    assert native == ["p_g0", "p_g1"]
    general = kid.replace("stiction_contact/g", "stiction_contact")
    with pytest.raises(stiction.ModelError, match="kid.xml:.*those of single elements are taken"):
        stiction.Model.from_xml(parent(ATTACHED[0]), assets={"kid.xml": general}, strict=True)


def test_the_report_tells_what_is_repeated_once():
    m = stiction.Model.from_xml(world('<replicate count="9"><geom size=".1" solref="0.01 1"/></replicate>', ""))
    told = [(e.element, e.attribute) for e in m.report.entries]
    assert told.count(("geom", "solref")) == 1
    assert told.count(("replicate", "count")) == 1
    assert ("frame", "pos") not in told


def test_every_combination_of_conflicting_options():
    for mode, mine, theirs in itertools.product(("warning", "merge", "error"), ("", 'timestep="0.004"', 'timestep="0.0005"'),
                                                ('timestep="0.001"', 'density="3"', 'gravity="0 0 -9.81"')):  # fmt: skip
        kid = KID.replace('timestep="0.001" gravity="0 0 -1"', theirs)
        xml = parent(ATTACHED[0], compiler=f'<compiler conflict="{mode}"/><option {mine}/>')
        try:
            expected = in_mujoco(xml, {"kid.xml": kid})
        except ValueError:
            with pytest.raises(stiction.ModelError, match="conflict"):
                stiction.Model.from_xml(xml, assets={"kid.xml": kid})
            continue
        ours = stiction.Model.from_xml(xml, assets={"kid.xml": kid})
        compare(expected, ours)
        assert ours.density == expected.opt.density


# ---- bad input

BAD = (
    ('<replicate offset="1 0 0"><geom size="1"/></replicate>', "<replicate>.*count is required"),
    ('<replicate count="-1"><geom size="1"/></replicate>', 'count="-1".*negative'),
    ('<replicate count="2.5"><geom size="1"/></replicate>', 'count="2.5".*whole number'),
    ('<replicate count="300000"><geom size="1"/></replicate>', 'count="300000".*elements'),
    ('<replicate count="1000"><replicate count="1000"><geom size="1"/></replicate></replicate>', 'count="1000".*elements'),
    ('<replicate count="2" offset="nan 0 0"><geom size="1"/></replicate>', 'offset="nan 0 0"'),
    ('<replicate count="2"><geom size="-1"/></replicate>', 'size="-1"'),
    ('<body><geom size="1"/><replicate count="2"><frame><joint/></frame></replicate></body>', "<joint>.*within its body"),
    ('<geom name="a0" size="1"/><replicate count="2"><geom name="a" size="1"/></replicate>', 'name="a0".*taken'),
    ('<attach model="kid" body="b"/>', "prefix is required"),
    ('<attach prefix="p_"/>', "needs a model"),
    ('<attach model="kids" body="b" prefix="p_"/>', 'model="kids".*did you mean "kid"'),
    ('<attach model="kid" body="nobody" prefix="p_"/>', 'body="nobody".*no body of this name'),
    ('<attach model="kid" frame="b" prefix="p_"/>', 'frame="b".*no frame of this name'),
    ('<attach model="kid" body="b" frame="f" prefix="p_"/>', "keep one"),
    ('<attach body="z" prefix="p_"/>', 'body="z".*inside itself'),
    ('<attach body="later" prefix="p_"/><body name="later"><geom size="1"/></body>', 'body="later".*before the attach'),
    ('<attach model="kid" body="b" prefix="p_"/><attach model="kid" body="b" prefix="p_"/>', "p_b.*taken"),
    ('<attach model="round" body="b" prefix="p_"/>', "round.xml:.*attaches itself"),
    ('<attach model="gone" body="b" prefix="p_"/>', 'file="gone.xml".*not found'),
    ('<attach model="broken" body="b" prefix="p_"/>', "broken.xml:2.*unknown attribute(.|\n)*attached from"),
    ('<attach model="keys" body="b" prefix="p_"/>', 'keys.xml:.*<key name="home">.*qpos=.*expected 6 numbers, found 1'),
)  # fmt: skip


@pytest.mark.parametrize(("tree", "message"), BAD)
def test_bad_input(tree, message):
    models = "".join(f'<model name="{name}" file="{name}.xml"/>' for name in ("kid", "round", "gone", "broken", "keys"))
    assets = {
        "kid.xml": KID,
        "round.xml": '<mujoco><asset><model name="r" file="round.xml"/></asset><worldbody><body name="b">'
                     '<attach model="r" body="b" prefix="x"/></body></worldbody></mujoco>',
        "broken.xml": '<mujoco><worldbody>\n<body name="b" posi="1 2 3"/></worldbody></mujoco>',
        "keys.xml": KID.replace('qpos="1 2 .6 0 .8 0"', 'qpos="1"'),
    }  # fmt: skip
    with pytest.raises(stiction.ModelError, match=message) as error:
        stiction.Model.from_xml(parent(tree, model=models), assets=assets)
    assert ".xml:" in str(error.value) or "<string>:" in str(error.value)
