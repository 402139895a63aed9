"""Tasks made of terms on a device, in torch; tasks/test_on_device.py runs this with a module that has an emulated one."""

import numpy as np
import pytest
import torch

import stiction
from stiction import actuators, sensors, terms
from stiction.arrays import host
from test_terrain_terms import Climb
from walker import Walk, actions


def random_mlp(seed):
    rng = np.random.default_rng(seed)
    shapes = ((6, 8), (8, 1))
    return actuators.Mlp(tuple(rng.normal(size=s) / 3 for s in shapes), tuple(rng.normal(size=s[1]) for s in shapes), ("elu", "linear"))

RESULTS = ("obs", "final_obs", "reward", "terminated", "truncated", "metrics", "critic_obs", "episode_length")
# of whole steps on a device against the CPU, and of what grows from them until episodes have ended
TOLERANCE = 2e-3


class Measured(Walk):
    """With every sensor that a device has, and every common term."""

    sensors = Walk.sensors | {
        "imu": sensors.Imu("imu", (0.1, 0.1), (0.1, 0.1), (0.1, 0.1), 0.05, (0, 2)),
        "joints": sensors.Encoder(".*", 0.0, 0.02, 0.01, True, (0, 2)),
        "scan": sensors.HeightScan(nx=3, ny=2), "rays": sensors.RayCaster(),
    }  # fmt: skip
    observations = Walk.observations | {
        "imu": terms.Observation(terms.sensor, name="imu", scale=0.1),
        "counts": terms.Observation(terms.sensor, name="joints"),
        "scan": terms.Observation(terms.sensor, name="scan", noise=0.02), "rays": terms.Observation(terms.sensor, name="rays"),
        "orientation": terms.Observation(terms.base_orientation), "feet": terms.Observation(terms.body_positions, bodies=".*_foot"),
        "clock": terms.Observation(terms.clock, period=0.5), "left": terms.Observation(terms.time_left),
    }  # fmt: skip
    rewards = Walk.rewards | {
        "turn": terms.Reward(terms.track_yaw_rate, 0.1, std=0.5, roll_pitch=True),
        "upright": terms.Reward(terms.upright, 0.1, std=0.5, body="trunk"), "height": terms.Reward(terms.base_height_error, 0.1, height=0.4),
        "power": terms.Reward(terms.joint_power, -1e-4), "limits": terms.Reward(terms.joint_limits, -0.1, share=0.5),
        "still": terms.Reward(terms.stand_still, -0.1), "clear": terms.Reward(terms.foot_clearance, -0.1, height=0.05),
        "landing": terms.Reward(terms.landing_force, -1e-5), "apart": terms.Reward(terms.feet_apart, -0.1, least=0.3),
        "torque": terms.Reward(terms.joint_torque, -1e-5), "touch": terms.Reward(terms.contacts, 0.01, sensor="feet"),
        "dead": terms.Reward(terms.terminated, -1.0),
    }  # fmt: skip
    curricula = {"slip": terms.Curriculum(terms.scheduled, reward="slip", stages=[(10, -0.2)])}


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
def test_a_device_does_what_the_cpu_does(autoreset):
    there = stiction.TaskEnv(Measured, 9, seed=3, device="emulated", autoreset=autoreset)
    here = stiction.TaskEnv(Measured, 9, seed=3, autoreset=autoreset)
    ended = 0
    for step in range(30):
        a = 0.5 * actions(here, step)
        there.step(torch.from_numpy(a))
        here.step(a)
        # touching is a threshold: a foot that does or does not touch by round-off makes terms differ for a while
        same_feet = host(there.task.sensors["feet"].touching) == here.task.sensors["feet"].touching
        rows = same_feet.all(1)
        assert rows.mean() > 0.6
        for name in RESULTS:
            x, y = host(getattr(there, name)), getattr(here, name)
            assert isinstance(getattr(there, name), torch.Tensor) and x.dtype == y.dtype
            if step < 8:
                np.testing.assert_allclose(x[rows], y[rows], rtol=TOLERANCE, atol=TOLERANCE, err_msg=f"{name}, step {step}")
        ended += int((here.terminated | here.truncated).sum())
    assert ended or autoreset == "disabled"


def test_snapshots_of_a_device_go_on():
    there, again = (stiction.TaskEnv(Measured, 5, seed=1, device="emulated") for _ in range(2))
    for step in range(15):
        there.step(torch.from_numpy(actions(there, step)))
    again.restore(there.snapshot())
    for step in range(15, 40):
        for env in (there, again):
            env.step(torch.from_numpy(actions(env, step)))
        for name in RESULTS:
            assert torch.equal(getattr(there, name), getattr(again, name)), name


def test_levels_of_terrain_are_those_of_the_cpu():
    there, here = (stiction.TaskEnv(Climb, 40, seed=1, device=device) for device in ("emulated", "cpu"))
    for step in range(9):
        for env in (there, here):
            env.batch.qpos[:, 0] = env.batch.qpos[:, 0] + 0.8 * (env.xp.arange(40) % 4)  # some walk far
        a = actions(here, step)
        there.step(torch.from_numpy(a)), here.step(a)
        for name in ("level", "column"):
            np.testing.assert_array_equal(host(getattr(there.task, name)), getattr(here.task, name))
    assert len(set(here.task.level)) > 2


def test_contacts_against_bodies_are_refused_there():
    class Against(Walk):
        sensors = {"feet": sensors.ContactSensor(".*_foot", against="world")}

    with pytest.raises(stiction.ArgumentError, match=r"Against.sensors\['feet'\]: against = 'world': contacts come from the CPU"):
        stiction.TaskEnv(Against, 2, device="emulated")


def test_g1_runs_there():
    env = stiction.TaskEnv(stiction.library.G1Flat, 2, device="emulated")
    for _ in range(2):
        env.step(torch.zeros(2, 29))
    assert torch.isfinite(env.obs).all() and env.obs.shape == (2, 99)


class Driven(Walk):
    """Motors that come late, on one leg by a network."""

    actuators = {
        "left": actuators.DcMotor("left.*", kp=30, kd=1, limit=15, saturation=12, no_load_speed=20, delay=(0, 5), gains=(0.8, 1.2)),
        "hip": actuators.SpeedLimited("right_hip", kp=30, kd=1, limits=((0, 15), (10, 5), (20, 1))),
        "knee": actuators.Network("right_knee", network=random_mlp(2), torque_scale=3.0),
    }


def compare(task, steps, size, **options):
    """Whole steps there and here, until round-off has had time to grow."""
    there, here = (stiction.TaskEnv(task, 4, seed=3, device=device, **options) for device in ("emulated", "cpu"))
    for step in range(steps):
        a = 0.3 * np.sin(step + np.arange(4)[:, None] + np.arange(here.num_actions)).astype(np.float32)
        there.step(torch.from_numpy(a)), here.step(a)
        for name in ("obs", "reward", "critic_obs", "metrics"):
            np.testing.assert_allclose(host(getattr(there, name)), getattr(here, name), rtol=size, atol=size, err_msg=f"{name}, step {step}")
        np.testing.assert_array_equal(host(there.terminated), here.terminated)
    return there, here


def test_models_of_actuators_are_those_of_the_cpu():
    there, here = compare(Driven, 6, TOLERANCE)
    assert isinstance(there.batch.ctrl, torch.Tensor) and np.abs(here.batch.qfrc_actuator).max() > 1
    np.testing.assert_array_equal(host(there.task.actuators["left"]._delay.steps), here.task.actuators["left"]._delay.steps)
    kept = there.snapshot()
    again = stiction.TaskEnv(Driven, 4, seed=9, device="emulated")
    again.restore(kept)
    for step in range(10):
        there.step(torch.from_numpy(actions(here, step))), again.step(torch.from_numpy(actions(here, step)))
        assert torch.equal(there.obs, again.obs)


def test_motions_are_followed_there():
    class Free(stiction.library.G1Tracking):
        """Contacts of the robot with itself come from the CPU."""

        sensors = {}
        rewards = {k: v for k, v in stiction.library.G1Tracking.rewards.items() if k != "self_collisions"}

    compare(Free, 3, 5e-3)


def test_poses_and_cubes_are_those_of_the_cpu():
    compare(stiction.library.PandaReach, 3, TOLERANCE)
    compare(stiction.library.AllegroCube, 2, 5e-3)


def test_h1_runs_there():
    compare(stiction.library.H1Flat, 2, 5e-3)


def test_friction_by_load_is_refused_there():
    class Loaded(Walk):
        actuators = {"legs": actuators.Servo(servo="mx64")}

    with pytest.raises(stiction.ArgumentError, match=r"Loaded.actuators\['legs'\]: friction depends on loads, which come from the CPU"):
        stiction.TaskEnv(Loaded, 2, device="emulated")
