"""From one's own robot to a film, a replay and an export: a URDF with meshes in a folder, one step after the other."""

import json
import warnings

import numpy as np
import pytest

import stiction
from stiction.cli import main
from stiction.view.rendering import find_backend

HEAD = b"solid".ljust(80, b" ")
ROBOT = """<robot name="hopper">
  <link name="trunk"><inertial><mass value="3"/><inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="package://hopper/meshes/shell.dae"/></geometry></visual>
    <collision><geometry><mesh filename="package://hopper/meshes/trunk.stl"/></geometry></collision></link>
  <link name="leg"><inertial><origin xyz="0 0 -0.15"/><mass value="0.5"/>
    <inertia ixx="0.005" iyy="0.005" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -0.3"/><geometry><sphere radius="0.05"/></geometry></collision></link>
  <joint name="hip" type="prismatic"><parent link="trunk"/><child link="leg"/><origin xyz="0 0 -0.1"/><axis xyz="0 0 1"/>
    <limit lower="-0.1" upper="0.1" effort="200" velocity="5"/></joint>
</robot>"""
TASK = """
import stiction

ROBOT = stiction.Model.from_file("ros/hopper/urdf/hopper.urdf", urdf=stiction.Urdf(
    floor=True, free_root=True, actuators="position", kp=3000, search_path=["ros"]))


class Hop(stiction.Task):
    \"\"\"Keep the trunk up.\"\"\"

    model, frame_skip, max_episode_steps, metric_names = ROBOT, 5, 50, ("height", "success")

    def reset(self, ids):
        qpos = self.xp.asarray(self.batch.model.qpos0)[None].repeat(len(ids), 0)
        qpos[:, 2] = 0.5
        return qpos, self.xp.zeros((len(ids), self.batch.model.nv))

    def observe(self):
        return self.xp.concatenate([self.batch.qpos[:, 2:], self.batch.qvel], axis=1)

    def reward(self):
        return self.metrics()["height"]

    def metrics(self):
        height = self.batch.qpos[:, 2]
        return {"height": height, "success": self.xp.astype(height > 0.4, self.xp.float32)}
"""

HILLS = """
import stiction

GROUND = stiction.terrain([stiction.TerrainPatch("stairs", height=(0.05, 0.2))], levels=2, columns=1, border=1)


class Roll(stiction.Task):
    model = (f'''<mujoco><asset>{GROUND.hfield_element("ground")}</asset><worldbody>
      <geom type="hfield" hfield="ground" pos="0 0 {GROUND.lowest}"/>
      <body><freejoint/><geom type="sphere" size="0.2"/></body></worldbody></mujoco>''', {"terrain.bin": GROUND.hfield_file()})

    def reset(self, ids):
        qpos = self.xp.asarray(self.batch.model.qpos0)[None].repeat(len(ids), 0)
        qpos[:, :3] = self.xp.asarray(GROUND.origins[0, 0]) + self.xp.asarray([0, 0, 0.2])
        return qpos, self.xp.zeros((len(ids), 6))

    def observe(self):
        return self.batch.qpos

    def reward(self):
        return self.batch.qpos[:, 2]
"""


def block():
    """STL of a box of 0.2 x 0.1 x 0.1 m."""
    corners = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.05, 0.05) for z in (-0.05, 0.05)], np.float32)
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
             (1, 5, 7), (1, 7, 3)]  # fmt: skip
    rows = b"".join(np.zeros(3, np.float32).tobytes() + corners[list(f)].tobytes() + b"\0\0" for f in faces)
    return HEAD + len(faces).to_bytes(4, "little") + rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("robot")
    for name in ("urdf", "meshes"):
        (root / "ros/hopper" / name).mkdir(parents=True)
    (root / "ros/hopper/urdf/hopper.urdf").write_text(ROBOT)
    (root / "ros/hopper/meshes/trunk.stl").write_bytes(block())
    (root / "hop.py").write_text(TASK)
    (root / "hills.py").write_text(HILLS)
    return root


@pytest.fixture(autouse=True)
def there(folder, monkeypatch):
    monkeypatch.chdir(folder)


URDF = ("ros/hopper/urdf/hopper.urdf", "--floor", "--free-root", "--actuators", "position", "--search-path", "ros")
draws = pytest.mark.skipif(find_backend()[0] is None, reason="no renderer")


def run(capsys, *args):
    code = main([str(a) for a in args])
    out = capsys.readouterr()
    assert code == 0, out.err
    return " ".join(out.out.split())


def test_1_what_is_read_of_it(capsys):
    assert "accepted, nq 8, nv 7, nu 1" in run(capsys, "check-model", *URDF)
    assert "nbody 3" in run(capsys, "info", *URDF)


@draws
def test_2_a_film_of_it(capsys, folder):
    text = run(capsys, "view", *URDF, "--video", "hopper.mp4", "--seconds", 0.2)
    assert "written: hopper.mp4" in text and (folder / "hopper.mp4").stat().st_size > 1000


def test_3_training(capsys, folder):
    text = run(capsys, "train", "hop.py:Hop", "--trainer", "numpy", "--iterations", 3, "--num-envs", 16, "--no-plot")
    assert "13 observations, 1 actions" in text and "metrics height 0." in text
    assert json.loads((folder / "runs/Hop/summary.json").read_text())["success"] == 16


def test_4_the_same_policy_in_mujoco(capsys):
    pytest.importorskip("mujoco")
    ours = run(capsys, "play", "runs/Hop/policy.npz", "--episodes", 2)
    theirs = run(capsys, "play", "runs/Hop/policy.npz", "--episodes", 2, "--engine", "mujoco")
    height = [float(text.partition("height ")[2].split(",")[0]) for text in (ours, theirs)]
    assert height[0] == pytest.approx(height[1], abs=0.03) and "success in 2 of 2" in theirs


@draws
def test_5_a_film_of_the_policy(capsys, folder):
    run(capsys, "play", "runs/Hop/policy.npz", "--video", "hop.mp4", "--seconds", 0.2, "--episodes", 1)
    assert (folder / "hop.mp4").stat().st_size > 1000


def test_6_an_export(capsys):
    runtime = pytest.importorskip("onnxruntime")
    run(capsys, "export", "runs/Hop/policy.npz", "hop.onnx")
    session = runtime.InferenceSession("hop.onnx", providers=["CPUExecutionProvider"])
    (actions,) = session.run(None, {"obs": np.full((5, 13), 100, np.float32)})
    assert actions.shape == (5, 1) and (np.abs(actions) <= 0.1 + 1e-6).all(), "the range of the joint"


def test_7_the_robot_as_mjcf(folder):
    urdf = stiction.Urdf(floor=True, free_root=True, actuators="position", search_path=["ros"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stiction.ModelWarning)
        model = stiction.Model.from_file("ros/hopper/urdf/hopper.urdf", urdf=urdf)
        model.save("mjcf")
        again = stiction.Model.from_file("mjcf/model.xml")
    assert sorted(p.name for p in (folder / "mjcf").iterdir()) == ["model.xml", "trunk.stl"]
    np.testing.assert_array_equal(again.mesh_vert, model.mesh_vert)
    np.testing.assert_array_equal(again.body_inertia, model.body_inertia)
    with pytest.raises(stiction.Error, match="mjcf is there already"):
        model.save("mjcf")


@draws
@pytest.mark.parametrize("robots", [1, 3])
def test_8_a_film_on_terrain_of_text_and_assets(capsys, folder, robots):
    text = run(capsys, "view", "hills.py:Roll", "--video", f"hills{robots}.mp4", "--seconds", 0.1, "--num-envs", robots)
    assert f"written: hills{robots}.mp4" in text and (folder / f"hills{robots}.mp4").stat().st_size > 1000
