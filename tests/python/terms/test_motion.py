"""Reference motions and the terms that follow them, against their definitions."""

import math

import numpy as np
import pytest

import stiction
from stiction import Motion, rotations, terms
from stiction.library import G1Tracking
from stiction.terms import Event

ROBOT = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="trunk" pos="0 0 0.5">
      <freejoint/><geom type="box" size="0.1 0.1 0.1" mass="2"/>
      <body name="arm" pos="0.1 0 0"><joint name="swing" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/>
        <body name="tip" pos="0.3 0 0"><joint name="reach" type="slide" axis="1 0 0"/><geom size="0.03"/></body></body>
    </body>
  </worldbody>
  <actuator><position joint="swing" kp="10"/><position joint="reach" kp="10"/></actuator>
</mujoco>"""


@pytest.fixture(scope="module")
def model():
    return stiction.Model.from_xml(ROBOT)


def spin(t, rate=0.7):
    """Poses of a trunk that turns about z at a constant rate and flies along x, with joints that swing."""
    t = np.asarray(t, float)
    q = rotations.multiply(rotations.from_yaw(rate * t), rotations.from_euler(0.2 + 0 * t, 0 * t, 0 * t))
    return np.stack([0.3 * t, 0 * t, 0.5 + 0 * t, *q.T, 0.4 * np.sin(2 * t), 0.1 * t], 1)


def test_velocities_and_bodies_are_those_of_the_poses(model):
    time = np.arange(101) / 50
    motion = Motion.from_poses(model, spin(time), 50)
    assert len(motion) == 101 and motion.seconds == pytest.approx(2.0)
    assert motion.joint_names == ("swing", "reach") and motion.body_names == ("trunk", "arm", "tip")
    inner = slice(1, -1)
    # central differences of a sine: its slope times sin(h)/h
    slope = 0.8 * np.cos(2 * time) * math.sin(2 / 50) / (2 / 50)
    np.testing.assert_allclose(motion.joint_vel[inner, 0], slope[inner], atol=1e-9)
    np.testing.assert_allclose(motion.joint_vel[:, 1], 0.1, atol=1e-9)
    np.testing.assert_allclose(motion.body_ang_vel[:, 0], np.tile([0, 0, 0.7], (101, 1)), atol=2e-6)
    np.testing.assert_allclose(motion.body_lin_vel[:, 0], np.tile([0.3, 0, 0], (101, 1)), atol=2e-6)
    # the arm's origin is 0.1 m from the trunk's along its x axis, and turns with it
    x = rotations.rotate(motion.body_quat[:, 0], np.array([1.0, 0, 0]))
    np.testing.assert_allclose(motion.body_pos[:, 1] - motion.body_pos[:, 0], 0.1 * x, atol=1e-6)
    expected = motion.body_lin_vel[:, 0] + 0.7 * np.cross([0, 0, 1], 0.1 * x)
    np.testing.assert_allclose(motion.body_lin_vel[:, 1], expected, atol=3e-6)


def test_motions_are_resampled_by_lines_and_shortest_rotations(model):
    poses = spin(np.arange(61) / 30)
    poses[::2, 3:7] *= -1  # the same rotations
    motion = Motion.from_poses(model, poses, 30, 50)
    assert len(motion) == 101 and motion.fps == 50
    exact = spin(np.arange(101) / 50)
    assert np.abs(rotations.angle_between(motion.qpos[:, 3:7], exact[:, 3:7])).max() < 1e-7  # at a constant rate it is exact
    np.testing.assert_allclose(motion.qpos[:, :3], exact[:, :3], atol=1e-12)
    # a chord of a sine: h²/8 of its second derivative
    assert np.abs(motion.qpos[:, 7] - exact[:, 7]).max() <= 1.01 * 1.6 / 8 / 30**2


def test_files_give_the_motion_back(model, tmp_path):
    poses = spin(np.arange(61) / 30)
    motion = Motion.from_poses(model, poses, 30, 50)
    motion.save(tmp_path / "spin.npz")
    same = Motion.load(model, tmp_path / "spin.npz")
    np.testing.assert_allclose(same.qpos, motion.qpos, atol=1e-6)
    np.testing.assert_allclose(same.body_lin_vel, motion.body_lin_vel, atol=1e-4)
    stored = dict(np.load(tmp_path / "spin.npz"))
    for name in ("joint_names", "body_names"):  # as mjlab's, which has no names
        del stored[name]
    np.savez(tmp_path / "bare.npz", **stored)
    np.testing.assert_array_equal(Motion.load(model, tmp_path / "bare.npz").qpos, same.qpos)

    columns = poses[:, [0, 1, 2, 4, 5, 6, 3, 7, 8]]
    np.savetxt(tmp_path / "spin.csv", columns, delimiter=",", fmt="%.12g")
    by_csv = Motion.from_csv(model, tmp_path / "spin.csv", fps=30)
    np.testing.assert_allclose(by_csv.qpos, motion.qpos, atol=1e-9)
    swapped = tmp_path / "swapped.csv"
    np.savetxt(swapped, columns[:, [*range(7), 8, 7]], delimiter=",", fmt="%.12g", header="x,y,z,a,b,c,d,reach,swing", comments="")
    np.testing.assert_allclose(Motion.from_csv(model, swapped, fps=30).qpos, motion.qpos, atol=1e-9)
    part = Motion.from_csv(model, tmp_path / "spin.csv", fps=30, frames=(30, 60))
    np.testing.assert_allclose(part.qpos[:, 0], motion.qpos[50:, 0], atol=1e-9)


def test_what_is_no_motion_is_refused(model, tmp_path):
    poses = spin(np.arange(10) / 50)
    bad = poses.copy()
    bad[4, 2] = np.nan
    with pytest.raises(stiction.ArgumentError, match="nan in frame 4, number 2"):
        Motion.from_poses(model, bad, 50)
    bad = poses.copy()
    bad[3, 3:7] *= 2
    with pytest.raises(stiction.ArgumentError, match="quaternion of frame 3 has length 2"):
        Motion.from_poses(model, bad, 50)
    with pytest.raises(stiction.ArgumentError, match=r"given shape \(10, 8\); expected \(T, 9\)"):
        Motion.from_poses(model, poses[:, :8], 50)
    with pytest.raises(stiction.ArgumentError, match="fps = 0"):
        Motion.from_poses(model, poses, 0)
    with pytest.raises(stiction.ArgumentError, match="no motion walk"):
        Motion.load(model, "walk")
    (tmp_path / "a.csv").write_text("1,2,3,0,0,0,1,0,0\n" * 4 + "1,2,x,0,0,0,1,0,0\n")
    with pytest.raises(stiction.ArgumentError, match=r"a.csv:5: .*expected numbers"):
        Motion.from_csv(model, tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("1,2,3,0,0,0,1,0\n" * 4)
    with pytest.raises(stiction.ArgumentError, match="8 columns; expected 7 of the base and 2 joints"):
        Motion.from_csv(model, tmp_path / "b.csv")
    (tmp_path / "c.npz").write_bytes(b"PK")
    with pytest.raises(stiction.Error, match="c.npz"):
        Motion.load(model, tmp_path / "c.npz")
    with pytest.raises(stiction.ArgumentError, match="25 frames per second; the task steps 50 times"):
        stiction.TaskEnv(G1Tracking, 1, motion=Motion.from_poses(stiction.assets.load("g1"), Motion.load(
            stiction.assets.load("g1"), "g1_walk").qpos, 50, 25))  # fmt: skip
    with pytest.raises(stiction.ArgumentError, match="is of another robot"):
        stiction.TaskEnv(G1Tracking, 1, motion=Motion.from_poses(model, poses, 50))


@pytest.fixture(scope="module")
def walk():
    return Motion.load(stiction.assets.load("g1"), "g1_walk")


def test_the_clip_of_the_package_is_a_walk_of_six_steps(walk):
    assert "g1_walk" in stiction.motions.names() and walk.seconds > 5
    feet = [walk.body_names.index(f"{side}_ankle_roll_link") for side in ("left", "right")]
    flies = walk.body_pos[:, feet, 2] > 0.05
    assert (np.diff(flies.astype(int), axis=0) == 1).sum() == 6  # lifts
    assert not flies.all(1).any()
    stands = walk.body_pos[:, feet, 2] < 0.0351
    assert np.abs(walk.body_lin_vel[:, feet][stands]).max() < 0.02  # feet on the ground do not slide
    limits = np.array(stiction.assets.load("g1").jnt_range)[1:]
    assert (walk.joint_pos > limits[:, 0]).all() and (walk.joint_pos < limits[:, 1]).all()


def place(env, walk, frame):
    """Robots exactly on a frame of the motion, without a step."""
    task, n = env.task, env.num_envs
    env.batch.reset(qpos=np.tile(walk.qpos[frame], (n, 1)), qvel=np.tile(walk.qvel[frame], (n, 1)))
    task.commands["motion"].frame[:] = frame
    task.commands["motion"].update()
    task.robot.forget()


REWARDS = ("anchor_position", "anchor_orientation", "body_positions", "body_orientations", "body_linear_velocities",
           "body_angular_velocities")  # fmt: skip


def test_who_is_where_the_motion_is_earns_everything(walk):
    env = stiction.TaskEnv(G1Tracking, 2, from_start=True)
    for frame in (0, 57, 200):
        place(env, walk, frame)
        for name in REWARDS:
            np.testing.assert_allclose(env.task._call("rewards", name), 1, atol=1e-5, err_msg=name)
        for name in ("anchor_height", "anchor_tilt", "ends_height", "motion_ended"):
            assert not env.task._call("terminations", name).any(), name
        m = env.task.commands["motion"]
        np.testing.assert_allclose(terms.motion_anchor_position(env.task), 0, atol=1e-6)
        np.testing.assert_allclose(terms.motion_anchor_orientation(env.task), [[1, 0, 0, 1, 0, 0]] * 2, atol=1e-6)
        np.testing.assert_array_equal(m.value, [[*walk.joint_pos[frame], *walk.joint_vel[frame]]] * 2)
    place(env, walk, len(walk) - 1)
    assert env.task._call("terminations", "motion_ended").all()


def matrix(q):
    return np.array(rotations.to_matrix(np.asarray(q, float)))


def angle(a, b):
    return math.acos(np.clip((np.trace(matrix(a).T @ matrix(b)) - 1) / 2, -1, 1))


def test_terms_are_what_they_say_where_robots_are_off(walk):
    env = stiction.TaskEnv(G1Tracking, 6, seed=5)
    for step in range(12):
        env.step(0.4 * np.sin(step + np.arange(6)[:, None] + np.arange(29)).astype(np.float32))
    task, b = env.task, env.batch
    m, names = task.commands["motion"], list(b.model.body_names)
    task.robot.forget()
    assert len(m.body_names) == 14
    rows = [names.index(name) for name in m.body_names]
    anchor = names.index("torso_link")
    for i in range(6):
        f = int(m.frame[i])
        p, q = b.xpos[i, rows].astype(float), b.xquat[i, rows]
        pm, qm = walk.body_pos[f][np.array(rows) - 1], walk.body_quat[f][np.array(rows) - 1]
        pa, qa, pam, qam = b.xpos[i, anchor].astype(float), b.xquat[i, anchor], walk.body_pos[f, anchor - 1], walk.body_quat[f, anchor - 1]
        r = matrix(qa) @ matrix(qam).T
        yaw = math.atan2(r[1, 0], r[0, 0])
        turn = np.array([[math.cos(yaw), -math.sin(yaw), 0], [math.sin(yaw), math.cos(yaw), 0], [0, 0, 1]])
        relative = np.array([*pa[:2], pam[2]]) + (pm - pam) @ turn.T
        angles = [math.acos(np.clip((np.trace((turn @ matrix(x)).T @ matrix(y)) - 1) / 2, -1, 1)) for x, y in zip(qm, q)]
        vel = b.xvel[i, rows].astype(float)
        wanted = {
            "anchor_position": math.exp(-((pa - pam) ** 2).sum() / 0.09),
            "anchor_orientation": math.exp(-(angle(qa, qam) ** 2) / 0.16),
            "body_positions": math.exp(-((relative - p) ** 2).sum(1).mean() / 0.09),
            "body_orientations": math.exp(-np.square(angles).mean() / 0.16),
            "body_linear_velocities": math.exp(-((walk.body_lin_vel[f][np.array(rows) - 1] - vel[:, 3:]) ** 2).sum(1).mean()),
            "body_angular_velocities": math.exp(
                -((walk.body_ang_vel[f][np.array(rows) - 1] - vel[:, :3]) ** 2).sum(1).mean() / 3.14**2),
        }  # fmt: skip
        for name, value in wanted.items():
            assert task._call("rewards", name)[i] == pytest.approx(value, rel=2e-4, abs=1e-5), name
        ends = [k for k, name in enumerate(m.body_names) if "ankle" in name or "wrist" in name]
        for by in (0.01, 0.05, 0.25):
            assert terms.anchor_height_off(task, by)[i] == (abs(pam[2] - pa[2]) > by)
            assert terms.body_heights_off(task, by, bodies=(".*_ankle_roll_link", ".*_wrist_yaw_link"))[i] == (
                abs(relative[ends, 2] - p[ends, 2]) > by).any()  # fmt: skip
            tilt = abs(-matrix(qam)[2, 2] + matrix(qa)[2, 2])
            assert terms.anchor_tilt_off(task, by)[i] == (tilt > by)
        np.testing.assert_allclose(terms.motion_anchor_position(task)[i], matrix(qa).T @ (pam - pa), atol=2e-6)
        np.testing.assert_allclose(
            terms.motion_anchor_orientation(task)[i].reshape(3, 2), (matrix(qa).T @ matrix(qam))[:, :2], atol=2e-6)
        np.testing.assert_allclose(terms.motion_body_positions(task)[i].reshape(-1, 3), (p - pa) @ matrix(qa), atol=2e-6)
        for k, x in enumerate(terms.motion_body_orientations(task)[i].reshape(-1, 3, 2)):
            np.testing.assert_allclose(x, (matrix(qa).T @ matrix(q[k]))[:, :2], atol=2e-6)


def test_starts_are_frames_of_the_motion_and_the_command_is_the_next(walk):
    class Exact(G1Tracking):
        events = {"start": Event(terms.start_on_motion)}

    env = stiction.TaskEnv(Exact, 200, seed=3)
    frame = np.array(env.task.commands["motion"].frame)
    np.testing.assert_allclose(env.batch.qpos, walk.qpos[frame - 1], atol=1e-6)
    np.testing.assert_allclose(env.batch.qvel, walk.qvel[frame - 1], atol=1e-5)
    np.testing.assert_allclose(env.obs[:, :29], walk.joint_pos[frame], atol=1e-6)
    assert frame.min() < 20 and frame.max() > len(walk) - 20 and frame.max() <= len(walk) - 1
    env.step(np.zeros((200, 29), np.float32))
    goes_on = env.episode_length > 0
    np.testing.assert_array_equal(np.array(env.task.commands["motion"].frame)[goes_on], frame[goes_on] + 1)
    np.testing.assert_array_equal(env.truncated, frame == len(walk) - 1)


def test_errors_of_the_start_stay_within_their_ranges(walk):
    env = stiction.TaskEnv(G1Tracking, 300, seed=3)
    frame = np.array(env.task.commands["motion"].frame) - 1
    off = env.batch.qpos[:, :3] - walk.qpos[frame, :3]
    assert (np.abs(off) <= [0.0501, 0.0501, 0.0101]).all() and (np.abs(off).max(0) > [0.045, 0.045, 0.009]).all()
    joints = env.batch.qpos[:, 7:] - walk.joint_pos[frame]
    assert np.abs(joints).max() <= 0.1001 and np.abs(joints).max() > 0.099
    limits = np.array(env.batch.model.jnt_range)[1:]
    assert (env.batch.qpos[:, 7:] >= limits[:, 0] - 1e-6).all() and (env.batch.qpos[:, 7:] <= limits[:, 1] + 1e-6).all()
    linear = env.batch.qvel[:, :3] - walk.qvel[frame, :3]
    assert (np.abs(linear) <= [0.5001, 0.5001, 0.2001]).all() and (np.abs(linear).max(0) > [0.45, 0.45, 0.18]).all()


def test_a_robot_does_the_same_alone_and_after_a_snapshot():
    env, one = stiction.TaskEnv(G1Tracking, 5, seed=1), stiction.TaskEnv(G1Tracking, 1, seed=1 + 3)
    act = lambda step, n, first: 0.3 * np.sin(step + first + np.arange(n)[:, None] + np.arange(29)).astype(np.float32)
    kept = None
    for step in range(40):
        env.step(act(step, 5, 0)), one.step(act(step, 1, 3))
        np.testing.assert_array_equal(env.obs[3:4], one.obs)
        np.testing.assert_array_equal(env.critic_obs[3:4], one.critic_obs)
        if step == 25:
            kept = env.snapshot()
    last = env.obs.copy(), env.reward.copy()
    env.restore(kept)
    for step in range(26, 40):
        env.step(act(step, 5, 0))
    np.testing.assert_array_equal(env.obs, last[0])
    np.testing.assert_array_equal(env.reward, last[1])


def test_the_command_line_converts_motions(model, tmp_path, capsys):
    from stiction.cli import main

    (tmp_path / "robot.xml").write_text(ROBOT)
    np.savetxt(tmp_path / "spin.csv", spin(np.arange(61) / 30)[:, [0, 1, 2, 4, 5, 6, 3, 7, 8]], delimiter=",", fmt="%.12g")
    files = [str(tmp_path / name) for name in ("spin.csv", "spin.npz")]
    assert main(["motion", *files, "--robot", str(tmp_path / "robot.xml"), "--frames", "0:30"]) == 0
    assert "51 frames, 1.00 s at 50 per second; fastest joint swing, 0.8 rad/s" in capsys.readouterr().out.replace("\n  ", " ")
    assert len(Motion.load(model, files[1])) == 51
    assert main(["motion", *files, "--robot", str(tmp_path / "robot.xml"), "--frames", "0:99"]) == 1
    assert "0 <= first < last < 61" in capsys.readouterr().err
