"""Robots that come with the package: files, licences, names on the command line."""

import json
import warnings

import numpy as np
import pytest

import stiction
from robots import SPHERE
from stiction import assets
from stiction.view.motion import ModelMotion, falls_for_ever

NAMES = assets.names()
FIXED = {"panda", "leap_right", "allegro_right"}  # to the world
LEGGED = [name for name in NAMES if name not in FIXED]


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stiction.ModelWarning)
        yield


def test_names():
    assert {"go1", "go2", "anymal_c", "h1", "g1", "panda"} < set(NAMES)
    files = {path.stem for path in assets.path("go2", floor=False).parent.glob("*.xml")}
    assert files | {"quadruped"} == set(NAMES), "every file has a name"


@pytest.mark.parametrize("name", NAMES)
def test_a_robot_has_its_licence(name):
    robot = assets.info(name)
    head = robot.file.read_text()[:2000]
    if robot.licence_file is None:
        assert name == "quadruped"
        return
    for licence in robot.licence.split(", "):
        assert licence in head
    assert "Copyright" in robot.licence_file.read_text() or "Apache License" in robot.licence_file.read_text()
    assert robot.title.split(",")[0].split()[1] in head


@pytest.mark.parametrize("name", NAMES)
def test_on_a_floor_or_without(name):
    alone, scene = assets.load(name, floor=False), assets.load(name)
    for field in ("nq", "nv", "nu", "nbody"):
        assert getattr(alone, field) == getattr(scene, field)
    np.testing.assert_array_equal(alone.body_mass, scene.body_mass)
    assert not falls_for_ever(scene)
    planes = [int(np.sum(m.geom_type == stiction.GeomType.plane)) for m in (alone, scene)]
    has_own = "feetonly" in name or name == "quadruped"
    assert planes == ([1, 1] if has_own else [0, 0] if name in FIXED else [0, 1])


@pytest.mark.parametrize("name", ["quadruped", "go1", "go2", "anymal_c", "h1_feetonly"])
def test_it_holds_its_start_pose(name):
    """Servos by themselves, torque motors by the PD law of the view."""
    motion = ModelMotion(assets.path(name), None, "hold", 0)
    start = float(motion.batch.qpos[0, 2])
    for _ in range(100):  # 2 s
        motion.advance()
    assert motion._hold.acts == (name == "go2")
    assert motion.batch.status_count == 0
    assert abs(motion.batch.qpos[0, 2] - start) < 0.07 * start
    assert abs(motion.batch.qpos[0, 3:7] @ motion.model.key_qpos[0, 3:7]) > 0.99, "upright"


def test_motors_that_do_nothing_let_it_fall():
    motion = ModelMotion(assets.path("go2"), None, "zero", 0)
    for _ in range(100):
        motion.advance()
    assert motion.batch.qpos[0, 2] < 0.15


def test_g1_has_the_motors_of_its_source():
    g1, plain = assets.load("g1"), assets.load("g1_feetonly")
    joints = {g1.jnt_names[j]: a for a, j in enumerate(g1.actuator_trnid)}
    knee, hip = joints["left_knee_joint"], joints["right_hip_pitch_joint"]
    inertia = g1.dof_armature[g1.jnt_dofadr[g1.actuator_trnid]]
    frequency = 2 * np.pi * 10
    np.testing.assert_allclose(g1.actuator_gain[:, 0], inertia * frequency**2, rtol=1e-4)
    np.testing.assert_allclose(-g1.actuator_bias[:, 2], 4 * inertia * frequency, rtol=1e-4)
    assert tuple(g1.actuator_forcerange[[knee, hip], 1]) == (139, 88)
    assert g1.jnt_names == plain.jnt_names and g1.body_mass.sum() == pytest.approx(plain.body_mass.sum())


def test_cassies_loops_stay_closed():
    """A fall and two seconds of fidgeting on the ground, with a fifth of the motors' torque."""
    model = assets.load("cassie")
    batch, rng, engine = stiction.Batch(model, 8), np.random.default_rng(3), stiction.Reference(model)
    worst, rest = 0, np.zeros(model.nv)
    for _ in range(50):
        batch.ctrl[:] = 0.2 * rng.uniform(*model.actuator_ctrlrange.T, batch.ctrl.shape)
        batch.step(80)
        gaps = [engine.forward(q, rest).eq_gap for q in np.array(batch.qpos, float)]
        worst = max(worst, np.abs(gaps).max())
    assert batch.status_count == 0 and batch.ncon.sum() > 5
    assert 1e-4 < worst < 0.01  # the springs of the connects give way by 7 mm at the impact


def test_unknown_names():
    with pytest.raises(stiction.ArgumentError, match="no robot 'go3' in stiction.assets; nearest: 'go1', 'go2'"):
        assets.path("go3")
    with pytest.raises(stiction.ArgumentError, match="no robot 'zebra' .*there are: quadruped, go1"):
        assets.load("zebra")


# ------------------------------------------------------------------------------- command line


def test_list_robots(cli):
    result = cli("list-robots")
    rows = {line.split()[0]: line for line in result.stdout.splitlines()[1:] if line}
    assert result.returncode == 0 and result.stderr == "" and set(NAMES) < set(rows)
    assert rows["go2"].split()[3:] == ["BSD-3-Clause", "-"]
    assert rows["g1"].split()[1:3] == ["35", "29"]
    assert max(map(len, result.stdout.splitlines())) <= 80
    found = json.loads(cli("list-robots", "--json").stdout)
    assert [r["name"] for r in found] == NAMES and found[1]["mass"] == pytest.approx(12.743)


@pytest.mark.parametrize("arguments", [
    ("check-model", "go2"), ("info", "panda"), ("rollout", "go1", "--steps", 5),
])  # fmt: skip
def test_a_name_where_a_file_is_taken(cli, arguments):
    result = cli(*arguments)
    assert result.returncode == 0, result.stderr
    assert arguments[1] in result.stdout


def test_a_file_of_that_name_wins(cli, tmp_path, monkeypatch):
    (tmp_path / "go2").write_text(SPHERE)
    monkeypatch.chdir(tmp_path)
    assert "nv 6," in cli("check-model", "go2").stdout
    assert "nv 18," in cli("check-model", "go1").stdout


@pytest.mark.parametrize("command", ["check-model", "info", "rollout"])
def test_neither_a_file_nor_a_robot(cli, command):
    result = cli(command, "go22")
    assert result.returncode == 2
    assert "no such file: go22; nearest: 'go2'" in result.stderr.splitlines()[-1]
