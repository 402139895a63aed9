"""What a new user does in the first hour, one after the other in one folder."""

import json
import subprocess
import sys

import numpy as np
import pytest

import stiction
from stiction.cli import main
from stiction.view.rendering import find_backend

TASK = "InvertedPendulum-v5"

LIFT = '''
import stiction

class Lift(stiction.Task):
    """Push a mass off the floor, and keep it there."""

    model = """<mujoco><worldbody><geom type="plane" size="5 5 1"/>
      <body pos="0 0 .1"><joint name="lift" type="slide" axis="0 0 1" damping="1"/><geom name="mass" size=".1"/></body>
      </worldbody><actuator><motor joint="lift" ctrllimited="true" ctrlrange="0 80"/></actuator></mujoco>"""
    frame_skip = 5
    max_episode_steps = 50
    metric_names = ("height",)
    ppo_settings = {"num_envs": 16, "horizon": 16, "hidden": (16,)}

    def __init__(self, goal=0.5):
        self.goal = goal

    def reset(self, ids):
        return self.draw(ids).uniform(0, 0.2, 1), self.draw(ids).normal(1) * 0.1

    def observe(self):
        return self.xp.hstack([self.batch.qpos, self.batch.qvel])

    def reward(self):
        return -abs(self.batch.qpos[:, 0] - self.goal)

    def metrics(self):
        return {"height": self.batch.qpos[:, 0]}

stiction.register("my/Lift", Lift)
'''

CRATES = """<mujoco><option timestep="0.005"/><worldbody><geom name="floor" type="plane" size="9 9 1" euler="0 20 0"/>
  <body name="crate" pos="0 0 .35"><freejoint/><geom name="crate" type="box" size=".2 .2 .1"/></body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hour")
    (folder / "lift.py").write_text(LIFT)
    (folder / "crates.xml").write_text(CRATES)
    return folder


@pytest.fixture
def stiction_says(folder, monkeypatch, capsys):
    """The command line in the user's folder: what it prints, where all went well."""
    monkeypatch.chdir(folder)

    def call(*arguments):
        code = main([str(a) for a in arguments])
        said = capsys.readouterr()
        assert code == 0, said.err
        return said.out

    return call


def test_1_list_train_resume_play(stiction_says, folder):
    listed = stiction_says("list-envs")
    assert "Ant-v5" in listed and max(map(len, listed.splitlines())) <= 80
    described = stiction_says("list-envs", TASK)
    assert "reset_noise_scale" in described and "horizon=32" in described
    assert max(map(len, described.splitlines())) <= 80
    train = ("train", TASK, "--trainer", "numpy", "--num-envs", 32)
    stiction_says(*train, "--seconds", 1)
    stiction_says(*train, "--resume", "--iterations", 5)
    rows = (folder / f"runs/{TASK}/progress.csv").read_text().splitlines()[1:]
    steps = [int(row.split(",")[2]) for row in rows]
    assert len(steps) > 5 and np.diff(steps).tolist() == [32 * 32] * (len(steps) - 1)
    assert "of 4 to the limit" in stiction_says("play", f"runs/{TASK}/policy.npz", "--num-envs", 4)
    assert "return 1000 ± 0" in stiction_says("play", "--pretrained", TASK)


def test_2_a_task_of_ones_own(stiction_says, folder):
    train = ("train", "lift.py:my/Lift", "--trainer", "numpy", "--no-plot", "--option", "goal=0.4")
    stiction_says(*train, "--iterations", 2)
    stiction_says(*train, "--iterations", 2, "--resume")
    stiction_says(*train, "--iterations", 4, "--out", "whole")
    halves, whole = (np.load(folder / f"{run}/policy.npz") for run in ("runs/my-Lift", "whole"))
    np.testing.assert_array_equal(halves["actor"], whole["actor"])  # resumed bit for bit
    assert "return -" in stiction_says("play", "runs/my-Lift/policy.npz", "--num-envs", 4)
    assert "my/Lift" in stiction_says("bench", "lift.py:my/Lift", "--num-envs", 8, "--seconds", 0.05)
    assert "Push a mass" in stiction_says("list-envs", "lift.py:Lift")


def test_3_gymnasium_with_wrappers_and_a_film(folder, monkeypatch):
    pytest.importorskip("gymnasium")
    from gymnasium.wrappers.vector import NormalizeObservation, RecordEpisodeStatistics, RecordVideo, RescaleAction

    renders = find_backend()[0] is not None
    envs = stiction.make("Hopper-v5", num_envs=3, seed=1, render_mode="rgb_array" if renders else None, width=64, height=64)
    if renders:
        envs = RecordVideo(envs, str(folder / "films"), video_length=8)
    envs = RescaleAction(NormalizeObservation(RecordEpisodeStatistics(envs)), -1.0, 1.0)
    envs.action_space.seed(1)
    envs.reset(seed=1)
    finished = 0
    for _ in range(100):
        _, _, _, _, infos = envs.step(envs.action_space.sample())
        finished += int(infos["_episode"].sum()) if "_episode" in infos else 0
    assert finished >= 3
    envs.close()
    if renders:
        assert next((folder / "films").glob("*.mp4")).stat().st_size > 500


def test_4_a_batch_of_ones_own_robot(folder):
    """A crate on a slope of 20°: it stays where the coefficient of friction is above tan 20° = 0.36."""
    model = stiction.Model.from_file(folder / "crates.xml")
    batch = stiction.Batch(model, num_envs=8, options=stiction.Options(stiction="anchored"))
    coefficients = np.linspace(0.1, 0.8, 8)
    batch.param("geom_friction")[:] = coefficients[:, None]
    batch.check_params()
    batch.step(400)
    before = np.array(batch.qpos)
    batch.step(200)
    moved = np.linalg.norm(batch.qpos[:, :3] - before[:, :3], axis=1)
    assert (moved[coefficients > 0.4] < 1e-4).all() and (moved[coefficients < 0.3] > 0.1).all()
    contacts = batch.contacts(7)
    weight = model.body_mass[1] * 9.81
    assert {c.geom1 for c in contacts} == {0} and {c.geom2 for c in contacts} == {1}
    force = sum(np.array(c.impulse) for c in contacts) / model.timestep  # N, of a step from here
    np.testing.assert_allclose(force, [0, 0, weight], atol=1e-3 * weight)
    np.testing.assert_allclose(force @ contacts[0].normal, weight * np.cos(np.radians(20)), rtol=1e-3)
    np.testing.assert_allclose(batch.xfrc_contact[7, 1, :3], [0, 0, weight], atol=1e-3 * weight)


def test_5_a_picture(folder):
    if (why := find_backend())[0] is None:
        pytest.skip(f"no renderer: {why[1]}")
    env = stiction.make("Ant-v5", 1, seed=1, render_mode="rgb_array", width=96, height=64)
    env.reset()
    (picture,) = env.render()
    assert picture.shape == (64, 96, 3) and picture.std() > 5
    env.close()


def test_6_out_of_the_house(stiction_says, folder):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    from stiction.learning.pretrained import pretrained

    policy = pretrained("Hopper-v5")
    policy.save(folder / "hopper.npz")
    stiction_says("export", "hopper.npz", "hopper.onnx")
    session = onnxruntime.InferenceSession(folder / "hopper.onnx")
    obs = np.random.default_rng(0).normal(0, 2, (50, policy.num_obs)).astype(np.float32)
    (actions,) = session.run(None, {session.get_inputs()[0].name: obs})
    np.testing.assert_allclose(actions, policy(obs), atol=1e-5)
    assert np.ptp(actions) > 0.1


def test_7_without_the_command_line(folder):
    """The same by `python -m stiction` in a process of its own: exit codes reach the shell."""
    run = [sys.executable, "-m", "stiction"]
    done = subprocess.run([*run, "list-envs", TASK, "--json"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and json.loads(done.stdout)[0]["id"] == TASK
    assert subprocess.run([*run, "train"], cwd=folder, capture_output=True).returncode == 2
