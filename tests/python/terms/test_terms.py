"""Each common term against its definition, written out for one environment at a time."""

import math

import numpy as np
import pytest

import stiction
from stiction import terms
from stiction.sensors import ContactSensor, HeightScan
from stiction.terms import Observation, Reward
from walker import WALKER, actions, task_of

N = 8
# terms are computed in double precision from float32 fields, and logged as float32
TOLERANCE = {"rtol": 2e-6, "atol": 1e-6}


def dance(rewards, steps=40, **more):
    """Steps robots that fall and stamp; yields the env and the unweighted terms of each step."""
    Task = task_of(
        sensors={"feet": ContactSensor(".*_foot")},
        commands={"velocity": terms.VelocityCommand(standing=0.4, interval=(0.1, 0.3))},
        events={"start": terms.Event(terms.start_base, z=(0, 0.1), roll=(-0.3, 0.3), linear=(-1, 1), angular=(-1, 1)),
                "joints": terms.Event(terms.start_joints, position=(-0.3, 0.3))},
        rewards={name: Reward(r.function, 1.0, r.params) for name, r in rewards.items()},
        max_episode_steps=25, **more,
    )  # fmt: skip
    env = stiction.TaskEnv(Task, N, seed=2)
    commands = env.task.commands["velocity"]
    for step in range(steps):
        asked = commands.value.copy()
        env.batch.qpos.flags  # noqa: B018
        before = {name: np.array(getattr(env.batch, name)) for name in ("qpos", "qvel")}
        state = step_and_look(env, 2 * actions(env, step))
        values = {name: env.metrics[:, k] / 0.02 for k, name in enumerate(rewards)}
        yield env, state, asked, values, before


def step_and_look(env, action):
    """A step, and the state at its end, before environments begin anew."""
    seen = {}
    task, reward = env.task, type(env.task).reward

    def look(self):
        b = self.batch
        seen.update({name: np.array(getattr(b, name), float) for name in (
            "qpos", "qvel", "xpos", "xquat", "xvel", "qacc", "qfrc_actuator", "xfrc_contact")})  # fmt: skip
        feet = self.sensors["feet"]
        seen.update({name: np.array(getattr(feet, name)) for name in (
            "landed", "touching", "last_air_time", "air_time", "contact_time")})  # fmt: skip
        seen["actions"] = [np.array(a, float) for a in (self.last_action, self.action_before)]
        return reward(self)

    type(task).reward = look
    try:
        env.step(action)
    finally:
        type(task).reward = reward
    return seen


def axes(state, i, body=1):
    w, x, y, z = state["xquat"][i, body]
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * k + 2 * k @ k


def base(state, i):
    """Velocity and rate of the base and direction of gravity, in its axes."""
    m = axes(state, i)
    return m.T @ state["xvel"][i, 1, 3:], m.T @ state["xvel"][i, 1, :3], m.T @ [0, 0, -1]


LIMITS = np.array([[-1, 1.5], [-2, 0.5]] * 2)
HOME = np.array([0.3, -0.6, 0.3, -0.6])
FEET = [3, 5]


def walking(c, least):
    return math.hypot(c[0], c[1]) + abs(c[2]) > least


def stance(s, i):
    """Shorter of one foot's stand and the other's flight, at most 0.06 s."""
    left, right = s["touching"][i]
    if left == right:
        return 0.0
    stand, flight = s["contact_time"][i, 0 if left else 1], s["air_time"][i, 1 if left else 0]
    return min(stand, flight, 0.06)


def definition(name, s, i, c):
    """The number of a term of environment i in the state s under the command c."""
    v, w, g = base(s, i)
    q, qd = s["qpos"][i, 7:], s["qvel"][i, 6:]
    tau, acc = s["qfrc_actuator"][i, 6:], s["qacc"][i, 6:]
    a, a1 = (x[i] for x in s["actions"])
    m = axes(s, i)
    yaw = math.atan2(m[1, 0], m[0, 0])
    upright = np.array([[math.cos(yaw), math.sin(yaw), 0], [-math.sin(yaw), math.cos(yaw), 0], [0, 0, 1]]) @ s["xvel"][i, 1, 3:]
    z = s["xpos"][i, FEET, 2]
    speed = np.hypot(*s["xvel"][i, FEET, 3:5].T)
    landed, touching = s["landed"][i], s["touching"][i]
    return {
        "track": lambda: math.exp(-((v[:2] - c[:2]) ** 2).sum() / 0.25),
        "track_vertical": lambda: math.exp(-(((v[:2] - c[:2]) ** 2).sum() + v[2] ** 2) / 0.25),
        "track_upright": lambda: math.exp(-((upright[:2] - c[:2]) ** 2).sum() / 0.25),
        "yaw": lambda: math.exp(-((w[2] - c[2]) ** 2) / 0.09),
        "yaw_all": lambda: math.exp(-((w[2] - c[2]) ** 2 + w[0] ** 2 + w[1] ** 2) / 0.09),
        "yaw_world": lambda: math.exp(-((s["xvel"][i, 1, 2] - c[2]) ** 2) / 0.09),
        "alive": lambda: 1.0,
        "vertical": lambda: v[2] ** 2,
        "rates": lambda: w[0] ** 2 + w[1] ** 2,
        "flat": lambda: g[0] ** 2 + g[1] ** 2,
        "upright": lambda: math.exp(-(g[0] ** 2 + g[1] ** 2) / 0.2**2),
        "upright_foot": lambda: math.exp(-((axes(s, i, 3).T @ [0, 0, -1])[:2] ** 2).sum() / 0.2**2),
        "height": lambda: (s["xpos"][i, 1, 2] - 0.4) ** 2,
        "torque": lambda: (tau**2).sum(),
        "torque_hips": lambda: tau[0] ** 2 + tau[2] ** 2,
        "speed": lambda: (qd**2).sum(),
        "acceleration": lambda: (acc**2).sum(),
        "power": lambda: abs(tau * qd).sum(),
        "limits": lambda: np.maximum(abs(q - LIMITS.mean(1)) - 0.5 * 0.5 * np.ptp(LIMITS, axis=1), 0).sum(),
        "rate": lambda: ((a - a1) ** 2).sum(),
        "posture": lambda: math.exp(-(((q - HOME) / (0.8 if walking(c, 0.05) else 0.3)) ** 2).mean()),
        "posture_each": lambda: math.exp(-(((q - HOME) / [0.2, 0.4, 0.2, 0.4]) ** 2).mean()),
        "deviation": lambda: abs(q - HOME)[[1, 3]].sum(),
        "stance": lambda: stance(s, i) if math.hypot(*c[:2]) > 0.1 else 0.0,
        "stance_always": lambda: stance(s, i),
        "slide": lambda: (speed * touching).sum(),
        "still": lambda: 0.0 if walking(c, 0.1) else abs(q - HOME).sum(),
        "air": lambda: ((s["last_air_time"][i] - 0.1) * landed).sum() if walking(c, 0.05) else 0.0,
        "air_most": lambda: (np.minimum(s["last_air_time"][i] - 0.1, 0.05) * landed).sum(),
        "slip": lambda: (speed**2 * touching).sum(),
        "clearance": lambda: (abs(z - 0.17 - 0.05) * speed).sum() if walking(c, 0.05) else 0.0,
        "landing": lambda: (np.linalg.norm(s["xfrc_contact"][i, FEET, :3], axis=1) * landed).sum(),
        "contacts": lambda: float(touching.sum()),
        "apart": lambda: max(0.25 - math.hypot(*(s["xpos"][i, 3, :2] - s["xpos"][i, 5, :2])), 0),
    }[name]()


R = Reward
REWARDS = {
    "track": R(terms.track_linear_velocity, std=0.5),
    "track_vertical": R(terms.track_linear_velocity, std=0.5, vertical=True),
    "track_upright": R(terms.track_linear_velocity, std=0.5, upright=True),
    "yaw": R(terms.track_yaw_rate, std=0.3),
    "yaw_all": R(terms.track_yaw_rate, std=0.3, roll_pitch=True),
    "yaw_world": R(terms.track_yaw_rate, std=0.3, world=True),
    "alive": R(terms.alive),
    "vertical": R(terms.vertical_velocity),
    "rates": R(terms.roll_pitch_rate),
    "flat": R(terms.flat_orientation),
    "upright": R(terms.upright, std=0.2),
    "upright_foot": R(terms.upright, std=0.2, body="left_foot"),
    "height": R(terms.base_height_error, height=0.4),
    "torque": R(terms.joint_torque),
    "torque_hips": R(terms.joint_torque, joints=".*hip"),
    "speed": R(terms.joint_velocity),
    "acceleration": R(terms.joint_acceleration),
    "power": R(terms.joint_power),
    "limits": R(terms.joint_limits, share=0.5),
    "rate": R(terms.action_rate),
    "posture": R(terms.posture, std=0.3, walking=0.8, command="velocity"),
    "posture_each": R(terms.posture, std={".*hip": 0.2, ".*knee": 0.4}),
    "deviation": R(terms.joint_deviation, joints=".*knee"),
    "stance": R(terms.single_stance_time, most=0.06, command="velocity"),
    "stance_always": R(terms.single_stance_time, most=0.06),
    "slide": R(terms.foot_slide),
    "still": R(terms.stand_still),
    "air": R(terms.air_time, threshold=0.1, command="velocity"),
    "air_most": R(terms.air_time, threshold=0.1, most=0.05),
    "slip": R(terms.foot_slip),
    "clearance": R(terms.foot_clearance, height=0.05, offset=0.17, command="velocity"),
    "landing": R(terms.landing_force),
    "contacts": R(terms.contacts, sensor="feet"),
    "apart": R(terms.feet_apart, least=0.25),
}


def test_rewards_are_what_they_say():
    largest = dict.fromkeys(REWARDS, 0.0)
    for env, state, asked, values, _ in dance(REWARDS):
        for name, value in values.items():
            wanted = np.array([definition(name, state, i, asked[i]) for i in range(N)])
            # squares of accelerations of 100 rad/s² from float32 fields
            np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=3e-6, err_msg=name)
            largest[name] = max(largest[name], np.abs(wanted).max())
    assert all(largest.values()), f"never anything but 0: {[n for n, x in largest.items() if not x]}"


def test_swing_height_takes_the_peak_of_each_flight_and_jerk_three_actions():
    peak, last = np.zeros((N, 2)), np.zeros((3, N, 4))
    rewards = {"swing": R(terms.swing_height, height=0.05, offset=0.17), "jerk": R(terms.action_acceleration)}
    landings = 0
    for env, s, asked, values, _ in dance(rewards, steps=60):
        peak = np.maximum(peak, s["xpos"][:, FEET, 2] - 0.17)
        wanted = ((peak / 0.05 - 1) ** 2 * s["landed"]).sum(1)
        np.testing.assert_allclose(values["swing"], wanted, **TOLERANCE)
        landings += s["landed"].sum()
        peak[s["touching"]] = 0
        last = np.stack([s["actions"][0], last[0], last[1]])
        np.testing.assert_allclose(values["jerk"], ((last[0] - 2 * last[1] + last[2]) ** 2).sum(1), rtol=1e-5, atol=1e-5)
        new = env.episode_length == 0
        peak[new], last[:, new] = 0, 0
    assert landings > 10


def test_observations_are_what_they_say():
    Seen = task_of(
        sensors={"feet": ContactSensor(".*_foot"), "scan": HeightScan(nx=3, ny=2)}, max_episode_steps=20,
        observations={
            "v": Observation(terms.base_linear_velocity), "w": Observation(terms.base_angular_velocity),
            "g": Observation(terms.projected_gravity), "z": Observation(terms.base_height),
            "r": Observation(terms.base_orientation), "q": Observation(terms.joint_positions, joints=".*knee"),
            "q0": Observation(terms.joint_positions, relative=False), "qd": Observation(terms.joint_velocities),
            "tau": Observation(terms.joint_torques), "feet": Observation(terms.body_positions, bodies=".*_foot"),
            "a": Observation(terms.last_action), "clock": Observation(terms.clock, period=0.5),
            "left": Observation(terms.time_left), "touch": Observation(terms.sensor, name="feet"),
            "rate": Observation(terms.sensor, name="rate"),
            "over": Observation(terms.heights), "over0.3": Observation(terms.heights, offset=0.3),
        },
        events={"start": terms.Event(terms.start_base, z=(0, 0.1), roll=(-0.3, 0.3), linear=(-1, 1), angular=(-1, 1))},
    )  # fmt: skip
    env = stiction.TaskEnv(Seen, N, seed=1)
    for step in range(12):
        a = actions(env, step)
        env.step(a)
        b = env.batch
        s = {name: np.array(getattr(b, name), float) for name in ("qpos", "qvel", "xpos", "xquat", "xvel", "qfrc_actuator")}
        for i in range(N):
            v, w, g = base(s, i)
            m, t = axes(s, i), 2 * math.pi * (step + 1) * 0.02 / 0.5
            feet = [m.T @ (s["xpos"][i, k] - s["xpos"][i, 1]) for k in FEET]
            site = m @ axes({"xquat": np.array([[[0.9238795, 0, 0, 0.3826834]]])}, 0, 0)
            wanted = np.concatenate([
                v, w, g, [s["xpos"][i, 1, 2]], m[:, 0], m[:, 1], s["qpos"][i, [8, 10]] + 0.6, s["qpos"][i, 7:],
                s["qvel"][i, 6:], s["qfrc_actuator"][i, 6:], *feet, a[i], [math.sin(t), math.cos(t)],
                [1 - (step + 1) / 20], env.task.sensors["feet"].touching[i], site.T @ s["xvel"][i, 1, :3],
                np.full(6, s["xpos"][i, 1, 2]), np.full(6, s["xpos"][i, 1, 2] - 0.3),
            ])  # fmt: skip
            np.testing.assert_allclose(env.obs[i], wanted, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize(
    "term, qpos, ends",
    [
        (terms.Termination(terms.tilted, degrees=30), {3: math.cos(0.25), 4: math.sin(0.25)}, False),  # 28.6 degrees
        (terms.Termination(terms.tilted, degrees=28), {3: math.cos(0.25), 4: math.sin(0.25)}, True),
        (terms.Termination(terms.base_below, height=0.3), {2: 0.29}, True),
        (terms.Termination(terms.base_below, height=0.3), {2: 0.31}, False),
        (terms.Termination(terms.far_away, distance=5), {0: 3.1, 1: 4}, True),
        (terms.Termination(terms.far_away, distance=5), {0: 2.9, 1: 4}, False),
        (terms.Termination(terms.joint_beyond_limits), {8: 0.51}, True),
        (terms.Termination(terms.joint_beyond_limits, by=0.1), {8: 0.51}, False),
        (terms.Termination(terms.joint_beyond_limits, joints=".*hip"), {8: 0.51}, False),
    ],
)
def test_ends_are_what_they_say(term, qpos, ends):
    env = stiction.TaskEnv(task_of(terminations={"end": term}), 2)
    state = np.array(env.batch.qpos[0])
    for k, x in qpos.items():
        state[k] = x
    env.batch.set_state(qpos=np.tile(state, (2, 1)))
    env.task.measure()
    assert env.task.terminated().tolist() == [ends] * 2


def test_illegal_contacts_end_the_episode_where_they_are():
    Touchy = task_of(sensors={"trunk": ContactSensor("trunk", threshold=1.0)},
                     terminations={"trunk": terms.Termination(terms.illegal_contact, sensor="trunk")},
                     rewards={"dead": R(terms.terminated)})  # fmt: skip
    env = stiction.TaskEnv(Touchy, 2, autoreset="disabled")
    qpos = np.tile(env.batch.qpos[0], (2, 1))
    qpos[1, 2], qpos[1, 3:7] = 0.16, [math.sqrt(0.5), math.sqrt(0.5), 0, 0]  # on its side
    env.batch.set_state(qpos=qpos)
    for _ in range(5):
        env.step(np.zeros((2, 4)))
        if env.terminated[1]:
            break
    assert env.terminated.tolist() == [False, True]
    np.testing.assert_allclose(env.reward, [0, 0.02])


def test_the_robot_chooses_by_names_and_patterns():
    env = stiction.TaskEnv(task_of(), 2)
    robot = env.task.robot
    assert robot.joint_names == ["left_hip", "left_knee", "right_hip", "right_knee"]
    assert robot.joints(".*hip").tolist() == [0, 2] and robot.joints(("left_hip", "left_knee")) == slice(0, 2)
    assert robot.joints(None) == slice(0, 4) and robot.base == 1
    with pytest.raises(stiction.ArgumentError, match="no joint fits 'left_hp'; nearest: 'left_hip'"):
        robot.joints("left_hp")
    with pytest.raises(stiction.ArgumentError, match=r"no regular expression"):
        robot.joints("(")
    with pytest.raises(stiction.ArgumentError, match=r"body '.*leg' fits 2: left_leg, right_leg; one is needed"):
        robot.only("body", ".*leg")
    fixed = WALKER.replace('<freejoint name="root"/>', "")
    Fixed = type("Fixed", (stiction.TermTask,), {
        "model": fixed.partition("<keyframe>")[0] + "</mujoco>", "observations": {"q": Observation(terms.joint_positions)},
        "events": {"push": terms.Event(terms.push, interval=(0.005, 0.005))}})  # fmt: skip
    env = stiction.TaskEnv(Fixed, 1)
    assert not env.task.robot.floats and env.num_obs == 4
    with pytest.raises(stiction.ArgumentError, match="no free joint"):
        env.step(np.zeros((1, 4)))
