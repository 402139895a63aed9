"""PandaPickCube against a transcription of MuJoCo Playground's definition into NumPy."""

import mujoco
import numpy as np
import pytest

import stiction

HOME = np.array([0, 0.3, 0, -1.57079, 0, 2, -0.7853, 0.04, 0.04])
LOW = np.array([-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973, 0])
HIGH = np.array([2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973, 0.04])


def make(n=8, **options):
    return stiction.Env("PandaPickCube", n, autoreset="disabled", precision="float64", **options)


class Definition:
    """With MuJoCo's kinematics and contacts at the states of the environment."""

    def __init__(self, env):
        self.model = mujoco.MjModel.from_xml_string(env.model_xml)
        self.data = mujoco.MjData(self.model)
        self.reached = 0.0

    def look(self, qpos, qvel, target, ctrl):
        m, d = self.model, self.data
        d.qpos[:], d.qvel[:], d.mocap_pos[0], d.ctrl[:] = qpos, qvel, target, ctrl
        mujoco.mj_forward(m, d)
        self.tip, self.gripper = d.site("gripper").xpos, d.site("gripper").xmat
        self.box, self.turn = d.body("box").xpos, d.body("box").xmat
        self.touches = any(
            {"floor"} < {m.geom(c.geom1).name, m.geom(c.geom2).name} and
            {m.geom(c.geom1).name, m.geom(c.geom2).name} & {"left_pad", "right_pad", "hand"}
            for c in d.contact
        )
        return np.concatenate([
            qpos, qvel, self.tip, self.gripper[3:], self.turn[3:], self.box - self.tip, target - self.box,
            np.eye(3).ravel()[:6] - self.turn[:6], ctrl - qpos[:8]])

    def reward(self, qpos, target):
        error = np.linalg.norm(target - self.box)
        turned = np.linalg.norm(np.eye(3).ravel()[:6] - self.turn[:6])
        reach = np.linalg.norm(self.box - self.tip)
        self.reached = max(self.reached, float(reach < 0.012))
        return {
            "gripper_box": 1 - np.tanh(5 * reach),
            "box_target": (1 - np.tanh(5 * (0.9 * error + 0.1 * turned))) * self.reached,
            "no_floor_collision": 1.0 - self.touches,
            "robot_target_qpos": 1 - np.tanh(np.linalg.norm(qpos[:7] - HOME[:7])),
            "out_of_bounds": float((np.abs(self.box) > 1).any() or self.box[2] < 0),
            "box_distance": error,
            "grasp": (reach < 0.02) * np.clip((0.04 - qpos[7:9].mean()) / 0.02, 0, 1),
            "lift": (reach < 0.02) * np.clip((self.box[2] - 0.03) / 0.1, 0, 1),
            "carry": (reach < 0.02) * np.clip(1 - error / 0.5, 0, 1),
            "success": float(error < 0.3),
        }


WEIGHTS = {"gripper_box": 4, "box_target": 8, "no_floor_collision": 0.25, "robot_target_qpos": 0.3, "grasp": 2, "lift": 2, "carry": 2}


def test_definition():
    n, rng = 8, np.random.default_rng(3)
    plain = next(t for t in stiction.Env.tasks() if t.id == "PandaPickCube")
    assert {o.name: o.value for o in plain.options}["hold_weight"] == 0  # of the source
    env = make(n, hold_weight=2.0, success_distance=0.3)
    obs = env.reset(seed=1)
    b = env.batch
    definitions = [Definition(env) for _ in range(n)]
    ctrl, sure = np.tile(np.delete(HOME, 8), (n, 1)), 0
    seen = {name: 0.0 for name in env.metric_names}
    for step in range(120):
        if step == 40:  # into the hand
            for i in range(4):
                b.qpos[i, 9:12] = definitions[i].tip
                b.qvel[i, 9:] = 0
        if step == 60:
            b.qpos[4, 9:12] = (1.2, 0, 0.5)
        if step == 80:  # the hand on the floor
            b.qpos[5:7, 1], ctrl[5:7, 1] = 1.2, 1.2
            b.ctrl[5:7, 1] = 1.2
        action = rng.normal(size=(n, 8)) * (0.2 if step < 90 else 1)
        obs, reward, terminated, _ = env.step(action)
        ctrl = np.clip(ctrl + 0.04 * action.astype(np.float32), LOW, HIGH)
        np.testing.assert_allclose(b.ctrl, ctrl, atol=1e-6)
        for i, d in enumerate(definitions):
            target = b.mocap_pos[i, 0]
            expected = d.look(b.qpos[i], b.qvel[i], target, b.ctrl[i])
            np.testing.assert_allclose(obs[i], expected, rtol=1e-5, atol=1e-5)
            terms = d.reward(b.qpos[i], target)
            metrics = dict(zip(env.metric_names, env.metrics[i]))
            if metrics["no_floor_collision"] != terms["no_floor_collision"]:
                continue  # found where the step began, not where it ended
            sure += 1
            assert metrics == pytest.approx(terms, rel=1e-4, abs=1e-5)
            assert reward[i] == pytest.approx(sum(w * terms[k] for k, w in WEIGHTS.items()), rel=1e-5)
            assert terminated[i] == bool(terms["out_of_bounds"])
            for name, x in terms.items():
                seen[name] += x != (1 if name == "no_floor_collision" else 0)
    assert sure > 0.97 * 120 * n
    assert min(seen.values()) > 5, seen


def test_starts():
    env = make(2000)
    env.reset(seed=2)
    b = env.batch
    np.testing.assert_allclose(b.qpos[:, :9], np.tile(HOME, (2000, 1)), atol=1e-7)
    np.testing.assert_allclose(b.ctrl, np.tile(np.delete(HOME, 8), (2000, 1)), atol=1e-6)
    for places, low, high in ((b.qpos[:, 9:12], (-0.2, -0.2, 0), (0.2, 0.2, 0)),
                              (b.mocap_pos[:, 0], (-0.2, -0.2, 0.2), (0.2, 0.2, 0.4))):
        moved = places - [0.7, 0, 0.03]
        np.testing.assert_allclose(moved.min(0), low, atol=2e-3)
        np.testing.assert_allclose(moved.max(0), high, atol=2e-3)
    assert np.abs(np.corrcoef(b.qpos[:, 9], b.mocap_pos[:, 0, 0])[0, 1]) < 0.1
    assert (env.action_low == -1).all() and (env.action_high == 1).all()


def test_a_hand_that_closes_lifts_the_cube():
    """Down, shut, up, by the inverse kinematics of a few Newton steps; then it is held still."""
    env = make(1)
    env.reset(seed=0)
    b, d = env.batch, Definition(env)
    b.qpos[0, 9:12] = (0.6, 0.1, 0.03)

    def targets(place):
        q = b.qpos[0].copy()
        for _ in range(100):
            d.look(q, b.qvel[0] * 0, b.mocap_pos[0, 0], b.ctrl[0])
            J, Jr = np.zeros((3, d.model.nv)), np.zeros((3, d.model.nv))
            mujoco.mj_jacSite(d.model, d.data, J, Jr, d.model.site("gripper").id)
            down = np.cross(d.gripper.reshape(3, 3)[:, 2], [0, 0, -1.0])
            error = np.concatenate([place - d.tip, down])
            A = np.vstack([J, Jr])[:, :7]
            q[:7] += A.T @ np.linalg.solve(A @ A.T + 1e-4 * np.eye(6), error) * 0.5
        return q[:7]

    def go(place, fingers, steps):
        b.ctrl[0, :7], b.ctrl[0, 7] = targets(np.array(place)), fingers
        for _ in range(steps):
            env.step(np.zeros((1, 8)))

    go((0.6, 0.1, 0.15), 0.04, 60)
    go((0.6, 0.1, 0.035), 0.04, 80)
    go((0.6, 0.1, 0.035), 0.0, 30)
    go((0.6, 0.1, 0.3), 0.0, 100)
    assert b.qpos[0, 11] > 0.2
    assert env.metrics[0, env.metric_names.index("gripper_box")] > 0.8
    before = b.qpos[0, 9:12] - b.xpos[0, b.model.body_names.index("hand")]
    for _ in range(200):
        env.step(np.zeros((1, 8)))
    after = b.qpos[0, 9:12] - b.xpos[0, b.model.body_names.index("hand")]
    assert np.linalg.norm(after - before) < 1e-4  # a grasp does not creep
