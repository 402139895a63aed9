"""No command lets a file speak to the terminal: escape sequences, line breaks, marks of direction."""

import json
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest

import stiction
from stiction.view.rendering import find_backend
from stiction._util.text import say, visible

PACKAGE = Path(stiction.__file__).parent
# sets the title, clears the screen (once by the character CSI), turns the line round, forges a line
EVIL = "\x1b]0;t\x07\x1b[2J\x9b2J\u202e\u2066\u2028\r\nforged: accepted"
XML = EVIL.replace("\n", "&#10;").replace("\r", "&#13;")
TASK = "InvertedPendulum-v5"


def named(kind):
    return f'name="{kind}{XML}"'


GOOD = f"""<mujoco model="m{XML}">
  <option integrator="RK4"/>
  <visual><map force="1"/></visual>
  <asset><hfield {named("field")} file="field.png" size="1 1 1 1"/></asset>
  <worldbody>
    <geom {named("floor")} type="plane" size="1 1 1" rgba="1 0 0 1"/>
    <site rgba="1 0 0 {XML}"/>
    <body {named("base")} pos="0 0 1">
      <freejoint {named("root")}/><geom {named("egg")} type="ellipsoid" size=".1 .1 .2"/>
      <site {named("tip")}/>
      <body {named("link")}><joint {named("knee")} axis="0 1 0"/>
        <geom {named("drum")} type="cylinder" size=".1 .2" pos="1 0 0"/></body>
    </body>
    <geom {named("hills")} type="hfield" hfield="field{XML}"/>
  </worldbody>
  <actuator><motor {named("motor")} joint="knee{XML}"/></actuator>
  <sensor><gyro {named("gyro")} site="tip{XML}"/></sensor>
  <keyframe><key {named("home")} time="0"/></keyframe>
</mujoco>"""
BALL = '<worldbody><body name="b"><freejoint/><geom size="1"/></body></worldbody>'
BAD = {
    "value": BALL.replace('size="1"', f'size="1{XML}"'),
    "word": BALL.replace('size="1"', f'size="1" type="{XML}"'),
    "attribute": BALL.replace('size="1"', 'size="1" ty\u202e\u2028pe="1"'),
    "element": f"<ge\u202eom\u2028/>{BALL}",
    "text": BALL.replace("<freejoint/>", f"<freejoint/>{XML}"),
    "include": f'<include file="{XML}"/>',
    "target": f'{BALL}<actuator><motor {named("m")} joint="{XML}"/></actuator>',
    "class": BALL.replace('size="1"', f'size="1" class="{XML}"'),
    "twice": f'<worldbody><geom {named("g")} size="1"/><geom {named("g")} size="1"/></worldbody>',
    "massless": f'<worldbody><body {named("b")}><freejoint/></body></worldbody>',
    "inertia": f'<worldbody><body {named("b")}><freejoint/><inertial pos="0 0 0" mass="1" '
    'diaginertia="1 1 5"/></body></worldbody>',
    "keyframe": f'{BALL}<keyframe><key {named("k")} qpos="1 2"/></keyframe>',
    "plugin": f'<extension><plugin plugin="{XML}"/></extension>{BALL}',
    "mesh": f'<asset><mesh {named("m")} file="{XML}.obj"/></asset>{BALL}',
    "equality": f'{BALL}<equality><weld {named("w")} body1="{XML}" body2="b"/></equality>',
    "sensor": f'{BALL}<sensor><gyro {named("s")} site="{XML}"/></sensor>',
    "pair": f'{BALL}<contact><pair {named("p")} geom1="{XML}" geom2="{XML}"/></contact>',
}


def assert_quiet(text):
    loud = {c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs")}
    assert not loud, [hex(ord(c)) for c in loud]
    assert not re.search("^ *forged", text, re.MULTILINE)


@pytest.fixture(scope="module")
def speak(tmp_path_factory):
    """Runs a command; what it prints must be quiet. Returns the process."""

    def run(*args, module="stiction", cwd=None):
        done = subprocess.run([sys.executable, "-m", module, *map(str, args)], cwd=cwd, timeout=120,
                              capture_output=True, stdin=subprocess.DEVNULL)  # fmt: skip
        out, err = (os.fsdecode(stream) for stream in (done.stdout, done.stderr))
        assert_quiet(out), assert_quiet(err)
        assert "Traceback" not in err, err
        return done.returncode, out, err

    return run


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    """A file whose own name is as bad as the names in it."""
    path = tmp_path_factory.mktemp("robots") / f"robot{EVIL}.xml"
    path.write_text(GOOD)
    return path


@pytest.mark.parametrize(
    "more", [(), ("--all",), ("--strict",), ("--json",), ("--strict", "--json")], ids=str
)
def test_check_model(speak, robot, more):
    code, out, err = speak("check-model", robot, *more)
    assert code == (1 if "--strict" in more else 0)
    assert "egg\\" in out + err or "--all" not in more


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("more", [(), ("--json",)], ids=str)
def test_check_model_that_is_refused(speak, tmp_path, what, more):
    (tmp_path / "bad.xml").write_text(f"<mujoco>{BAD[what]}</mujoco>")
    code, out, err = speak("check-model", tmp_path / "bad.xml", *more)
    # a mesh that is missing and a plugin that is unknown may be reported as ignored
    assert code == 1 or what in ("mesh", "plugin", "equality", "text", "keyframe")


def test_info_rollout_view(speak, robot, tmp_path):
    assert speak("info", robot)[0] == 0
    assert speak("rollout", robot, "--steps", 3)[0] == 0
    assert speak("rollout", robot, "--steps", 3, "--output", tmp_path / f"{EVIL[:-9]}.npz")[0] == 0
    code, _, err = speak("rollout", robot, "--keyframe", "hom")
    last = err.splitlines()[-1]
    assert code == 1 and "nearest: 'home\\x1b]0;t\\x07" in last and "\\nforged" not in last.split("'")[0]
    assert speak("rollout", robot, "--controls", f"home{EVIL}", "--steps", 2)[0] == 0
    assert speak("view", robot, "--video", tmp_path / f"film{EVIL}.mp4", "--seconds", 0.1)[0] in (0, 1)
    many = ("--num-envs", 2, "--seconds", 0.05, "--video", tmp_path / f"many{EVIL}.mp4")
    assert speak("view", robot, *many)[0] in (0, 1)


def test_names_that_are_given(speak, robot, tmp_path):
    for args in (("check-model", tmp_path / EVIL), (EVIL,), ("info", robot, "--num-envs", EVIL),
                 ("list-envs", EVIL), ("bench", EVIL), ("train", EVIL, "--trainer", "numpy"),
                 ("train", TASK, "--trainer", "numpy", "--option", f"{EVIL}=1"),
                 ("train", TASK, "--trainer", "numpy", "--option", f"reset_noise_scale={EVIL}"),
                 ("train", TASK, "--trainer", "numpy", "--engine-option", f"{EVIL}=1"),
                 ("train", TASK, "--trainer", "numpy", "--engine-option", f"stiction={EVIL}"),
                 ("play", robot), ("replay", robot), ("train", TASK, EVIL)):  # fmt: skip
        assert speak(*args, cwd=tmp_path)[0] in (1, 2), args


def test_replay(speak, robot, tmp_path):
    model = stiction.Model.from_file(robot)
    batch = stiction.Batch(model, 1)
    batch.param("body_mass")[:] *= 2
    dump = tmp_path / "dump.json"
    batch.step(200)
    batch.dump(0, dump)
    code, out, _ = speak("replay", dump, "--steps", 2)
    assert code == 0 and "m\\x1b]0;t" in out
    whole = json.loads(dump.read_text())
    for change in ({"env": EVIL, "precision": EVIL, "parameters": {EVIL: 1}}, {"format": EVIL},
                   {"model": {"file": EVIL, "name": EVIL}}, {"options": {EVIL: 1}},
                   {"options": whole["options"] | {"contact_model": EVIL}}, {"state": {EVIL: 1}},
                   {"state": {"qpos": [EVIL], "qvel": []}}):  # fmt: skip
        dump.write_text(json.dumps(whole | change))
        assert speak("replay", dump)[0] == 1
    dump.write_text('{"' + EVIL)
    assert speak("replay", dump)[0] == 1


def test_policies(speak, tmp_path):
    out = tmp_path / f"run{EVIL}"
    arguments = ("--trainer", "numpy", "--no-plot", "--num-envs", 8, "--iterations", 1, "--out", out)
    assert speak("train", TASK, *arguments)[0] == 0
    assert speak("train", TASK, *arguments)[0] == 1  # exists
    file = out / "policy.npz"
    assert speak("play", file, "--episodes", 1)[0] == 0
    with np.load(file) as data:
        whole = dict(data)
    engine = {"id": TASK, "options": {}, "engine": {}}
    for task in (engine | {"id": EVIL}, engine | {"options": {EVIL: 1}}, engine | {"engine": {EVIL: EVIL}},
                 engine | {"options": {"reset_noise_scale": EVIL}}, engine | {"engine": {"stiction": EVIL}}):  # fmt: skip
        np.savez(file, **whole | {"task": np.array(json.dumps(task))})
        assert speak("play", file, "--episodes", 1)[0] == 1
        assert speak("train", TASK, *arguments, "--resume")[0] == 1
    np.savez(file, **whole | {"format": np.array(EVIL)})
    assert speak("play", file)[0] == 1


def test_film_of_a_model_that_only_mujoco_refuses(speak, tmp_path):
    if find_backend()[0] is None:
        pytest.skip("no renderer")
    tall = f'<asset><material {named("x")} texture="{XML}"/></asset>{BALL}'
    (tmp_path / "a.xml").write_text(f"<mujoco>{tall}</mujoco>")
    code, _, err = speak("view", tmp_path / "a.xml", "--video", tmp_path / "a.mp4", "--seconds", 0.1)
    assert code == 1 and "MuJoCo, which draws, can't read the model" in err


def test_names_in_python(robot):
    model = stiction.Model.from_file(robot)
    batch = stiction.Batch(model, 1)
    shown = [repr(model), repr(batch), model.report.table(all=True), model.report.table()]
    shown += map(repr, [*model.report.entries, *model.report.pairs_without_collider])
    for text in shown:
        assert_quiet(text)
    assert model.body_names[1] == "base" + EVIL, "names themselves are the file's"
    for call in (lambda: model.body(EVIL), lambda: model.key("hom"), lambda: batch.param(EVIL),
                 lambda: stiction.Env(EVIL), lambda: stiction.Model.from_file(EVIL)):  # fmt: skip
        with pytest.raises(stiction.Error) as error:
            call()
        assert_quiet(str(error.value))


def test_what_shows_stays(capsys):
    assert visible("Fuß 膝 🦿 a\\x1b") == "Fuß 膝 🦿 a\\x1b"
    assert visible(Path("a\nb")) == "a\\nb" and visible("\udc80") == "\\xed\\xb2\\x80"
    say("one\n", "two\x1b", 3)
    assert capsys.readouterr().out == "one\n two\\x1b 3\n"


def test_nothing_else_prints():
    """Commands speak through `say`; the learning curve moves the cursor itself and shows numbers."""
    allowed = {"text.py", "curve.py"}
    for file in PACKAGE.rglob("*.py"):
        code = re.sub(r'""".*?"""', "", file.read_text(), flags=re.DOTALL)
        assert file.name in allowed or not re.search(r"\bprint\(|\bsys\.std(out|err)\.write\(", code), file
