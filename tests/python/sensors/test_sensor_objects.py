"""Sensors as objects against their definitions, fresh after resets, the same whatever the batch."""

import math

import numpy as np
import pytest

import stiction
from stiction import rotations, terms
from stiction.sensors import ContactSensor, Encoder, HeightScan, Imu, RayCaster
from stiction.terms import Event, Observation
from walker import WALKER, actions, task_of

START = {
    "start": Event(terms.start_base, z=(0.0, 0.1), yaw=(-3, 3), roll=(-0.2, 0.2), linear=(-0.5, 0.5), angular=(-1, 1)),
    "joints": Event(terms.start_joints, position=(-0.2, 0.2), velocity=(-1, 1)),
}


def env_of(num_envs=6, seed=0, steps=15, autoreset="same_step", **sensors):
    Task = task_of(sensors=sensors, max_episode_steps=steps, events=START)
    env = stiction.TaskEnv(Task, num_envs, seed=seed, autoreset=autoreset)
    return env, env.task.sensors


# ------------------------------------------------------------------------------- contacts


def test_contacts_have_forces_and_times_of_flight_and_stand():
    env, sensors = env_of(feet=ContactSensor(".*_foot", threshold=2.0, history=3), autoreset="disabled", steps=0)
    feet = sensors["feet"]
    assert feet.names == ["left_foot", "right_foot"] and not feet.force.any() and not feet.air_time.any()
    air, stand = np.zeros((2, 6, 2))
    last_air, last_stand = np.zeros((2, 6, 2))
    touched, forces, landings, lifts = np.zeros((6, 2), bool), [], 0, 0
    for step in range(80):
        env.step(2 * actions(env, step))
        force = env.batch.xfrc_contact[:, [3, 5], :3]
        forces.insert(0, force.copy())
        now = np.linalg.norm(force, axis=2) > 2.0
        landed, lifted = now & ~touched, touched & ~now
        last_air[landed], last_stand[lifted] = air[landed] + 0.02, stand[lifted]
        air, stand, touched = np.where(now, 0, air + 0.02), np.where(now, stand + 0.02, 0), now
        np.testing.assert_array_equal(feet.force, force)
        np.testing.assert_allclose(feet.magnitude, np.linalg.norm(force, axis=2), rtol=1e-6)
        for name, wanted in [("touching", now), ("landed", landed), ("lifted", lifted)]:
            np.testing.assert_array_equal(getattr(feet, name), wanted, err_msg=name)
        for name, wanted in [("air_time", air), ("contact_time", stand), ("last_air_time", last_air),
                             ("last_contact_time", last_stand)]:  # fmt: skip
            np.testing.assert_allclose(getattr(feet, name), wanted, atol=2e-6, err_msg=name)
        for k in range(min(3, len(forces))):
            np.testing.assert_array_equal(feet.forces[:, k], forces[k])
        landings, lifts = landings + landed.sum(), lifts + lifted.sum()
    assert landings > 20 and lifts > 20
    env.reset([1, 4])
    for name in ("force", "touching", "air_time", "contact_time", "last_air_time", "last_contact_time"):
        value = getattr(feet, name)
        assert not value[[1, 4]].any(), name
    assert feet.last_air_time[[0, 2, 3, 5]].all()


def test_contacts_are_counted_against_some_bodies():
    """On its side the trunk lies on the floor, and action is reaction."""
    env, sensors = env_of(
        num_envs=3, autoreset="disabled", steps=0,
        all=ContactSensor("trunk"), floor=ContactSensor("trunk", against="world"),
        legs=ContactSensor("trunk", against=".*(leg|foot)"), ground=ContactSensor("world", against="trunk"),
    )  # fmt: skip
    qpos = np.tile(env.batch.qpos[0], (3, 1))
    qpos[:, 2], qpos[:, 3:7] = [0.17, 0.18, 20.0], [math.sqrt(0.5), math.sqrt(0.5), 0, 0]
    qpos[:, 7:] = [1.4, -1.9, 1.4, -1.9]
    env.batch.set_state(qpos=qpos, qvel=np.zeros((3, env.batch.model.nv)))
    for step in range(40):
        env.step(0 * actions(env, step) + [1.4, -1.9, 1.4, -1.9])
        c = env.batch.contacts()
        total = np.zeros((3, 3))
        np.add.at(total, c.env[c.body2 == 1], c.force[c.body2 == 1])
        np.add.at(total, c.env[c.body1 == 1], -c.force[c.body1 == 1])
        np.testing.assert_allclose(sensors["floor"].force[:, 0] + sensors["legs"].force[:, 0], total, rtol=1e-5, atol=1e-4)
        np.testing.assert_array_equal(sensors["ground"].force, -sensors["floor"].force)
    assert sensors["floor"].force[0, 0, 2] > 10 and (sensors["floor"].force[2] == 0).all()
    on_trunk = (c.body2 == 1) & (c.body1 == 0) & (c.env == 1)
    np.testing.assert_allclose(sensors["floor"].force[1, 0], c.force[on_trunk].sum(0), rtol=1e-5)
    both = sensors["floor"].force + sensors["legs"].force
    np.testing.assert_allclose(both[:2, 0, 2], sensors["all"].force[:2, 0, 2], rtol=0.1)  # nearly at rest


# ------------------------------------------------------------------------------- inertial units


def test_an_exact_imu_reads_what_the_models_sensors_do():
    env, sensors = env_of(imu=Imu("imu"))
    imu = sensors["imu"]
    for step in range(20):
        env.step(actions(env, step))
        new = env.episode_length == 0
        acceleration, rate = env.batch.sensordata[:, :3], env.batch.sensordata[:, 3:]
        np.testing.assert_allclose(imu.gyro, rate, atol=1e-5)
        np.testing.assert_allclose(imu.accelerometer[~new], acceleration[~new], rtol=1e-6)
        site = rotations.multiply(env.batch.xquat[:, 1], np.array([0.9238795, 0, 0, 0.3826834]))
        rest = rotations.rotate_back(site, np.array([0, 0, 9.81]))
        np.testing.assert_allclose(imu.accelerometer[new], rest[new], rtol=1e-6)
    assert imu.value.shape == (6, 6)


def test_errors_of_an_imu_have_their_sizes():
    n = 3000
    kinds = {
        "noise": Imu("imu", noise=(0.1, 0.3)), "bias": Imu("imu", bias=(0.2, 0.4)), "walk": Imu("imu", walk=(0.5, 0.7)),
        "mount": Imu("imu", mount=0.1), "late": Imu("imu", delay=(1, 3)),
    }  # fmt: skip
    env, s = env_of(n, steps=0, autoreset="disabled", **kinds)
    error = lambda name: s[name].value - s[name].true
    first = {name: error(name).copy() for name in kinds}
    turn = s["mount"].turn.copy()
    late = [s["late"].true.copy()]
    steps = 10
    for step in range(steps):
        env.step(actions(env, step))
        late.append(s["late"].true.copy())
    spread = lambda name, part: error(name)[:, part].std()
    gyro, accelerometer = slice(0, 3), slice(3, 6)
    share = 5 / math.sqrt(2 * 3 * n)  # five deviations of a deviation
    for name, part, size in [
        ("noise", gyro, 0.1), ("noise", accelerometer, 0.3), ("bias", gyro, 0.2 / math.sqrt(3)),
        ("bias", accelerometer, 0.4 / math.sqrt(3)), ("walk", gyro, 0.5 * math.sqrt(steps * 0.02)),
        ("walk", accelerometer, 0.7 * math.sqrt(steps * 0.02)),
    ]:  # fmt: skip
        assert spread(name, part) == pytest.approx(size, rel=share), (name, part)
    assert (error("noise") != first["noise"]).all()
    # rounding of readings of 1000 m/s² to float32
    np.testing.assert_allclose(error("bias"), first["bias"], atol=1e-4)
    np.testing.assert_allclose(first["walk"], 0, atol=1e-4)
    angle = np.linalg.norm(rotations.log(turn), axis=1)
    assert 0.09 < np.abs(rotations.log(turn)).max() <= 0.1 and angle.max() <= 0.1 * math.sqrt(3)
    wanted = rotations.rotate(turn, s["mount"].true[:, :3])
    np.testing.assert_allclose(s["mount"].gyro, wanted, rtol=1e-5, atol=1e-5)
    lag = s["late"]._delay.steps
    assert set(lag) == {1, 2, 3}
    wanted = np.stack(late)[steps - lag, np.arange(n)]
    np.testing.assert_allclose(s["late"].value, wanted, rtol=1e-5, atol=1e-5)
    env.reset(np.arange(n) % 2 == 0)
    np.testing.assert_array_equal(s["mount"].turn, turn)
    assert (error("bias")[::2] != first["bias"][::2]).all()
    np.testing.assert_allclose(error("bias")[1::2], first["bias"][1::2], atol=1e-4)
    np.testing.assert_allclose(error("late")[::2], 0, atol=1e-5)  # at the first state nothing was before


def test_an_imu_without_an_accelerometer_says_so():
    model = WALKER.replace('<accelerometer name="acceleration" site="imu"/>', "")
    Task = task_of(model=model, sensors={"imu": Imu("imu")}, observations={"a": Observation(terms.sensor, name="imu")})
    env = stiction.TaskEnv(Task, 2)
    assert env.num_obs == 3
    with pytest.raises(stiction.ArgumentError, match=r'Small.sensors\[.imu.\]: the model has no <accelerometer site="imu"/>'):
        env.task.sensors["imu"].accelerometer


# ------------------------------------------------------------------------------- encoders


def test_encoders_count_and_differ():
    res = 2 * math.pi / 256
    env, s = env_of(
        fine=Encoder(), counts=Encoder(".*knee", resolution=res), true=Encoder(resolution=res, difference=False),
        off=Encoder(offset=0.05), late=Encoder(delay=(2, 2)), noisy=Encoder(noise=0.01), autoreset="disabled", steps=0,
    )  # fmt: skip
    seen = [env.batch.qpos[:, 7:].copy()]
    assert not s["fine"].velocity.any() and not s["counts"].velocity.any()
    offset = s["off"].position - seen[0]
    for step in range(10):
        env.step(actions(env, step))
        q, before = env.batch.qpos[:, 7:].copy(), seen[-1]
        count = lambda x: np.floor(x / res + 0.5) * res
        np.testing.assert_array_equal(s["fine"].position, q)
        np.testing.assert_allclose(s["fine"].velocity, (q - before) / 0.02, atol=1e-12)
        np.testing.assert_array_equal(s["counts"].position, count(q[:, [1, 3]]))
        np.testing.assert_allclose(s["counts"].velocity, (count(q) - count(before))[:, [1, 3]] / 0.02, atol=1e-12)
        np.testing.assert_array_equal(s["true"].velocity, env.batch.qvel[:, 6:])
        np.testing.assert_allclose(s["off"].position - q, offset, atol=1e-12)
        np.testing.assert_allclose(s["late"].position, seen[max(step - 1, 0)], atol=0)
        np.testing.assert_allclose(s["fine"].relative, q - [0.3, -0.6, 0.3, -0.6])
        error = s["noisy"].position - q
        assert np.abs(error).max() <= 0.01 and np.abs(error).max() > 0.005
        seen.append(q)
    assert 0.04 < np.abs(offset).max() <= 0.05
    env.reset([2])
    np.testing.assert_allclose((s["off"].position - env.batch.qpos[:, 7:])[2], offset[2], atol=1e-12)
    assert not s["fine"].velocity[2].any() and s["fine"].velocity[0].any()
    np.testing.assert_array_equal(s["late"].position[2], env.batch.qpos[2, 7:])


# ------------------------------------------------------------------------------- rays


def test_scans_and_rays_are_those_of_the_batch_and_fresh():
    down = [(0, 0, -1), (0.3, 0, -1), (0, 0, 1)]
    env, s = env_of(scan=HeightScan(nx=3, ny=2, step=0.2, clip=(0, 0.5)), rays=RayCaster(down, most=2.0))
    for step in range(20):
        env.step(actions(env, step))
        heights = env.batch.height_scan(1, nx=3, ny=2, step=0.2)
        np.testing.assert_array_equal(s["scan"].heights, heights)
        np.testing.assert_allclose(s["scan"].value, np.clip(env.batch.xpos[:, 1, 2:], 0, 0.5) + np.zeros(6), atol=1e-6)
        distance = env.batch.raycast([(0, 0, 0)], down, body=1, exclude_body=1)[0]
        np.testing.assert_array_equal(s["rays"].value, np.where((distance < 0) | (distance > 2), 2, distance))
    assert (s["rays"].value[:, 2] == 2).all()


# ------------------------------------------------------------------------------- all of them


def everything():
    return dict(
        feet=ContactSensor(".*_foot", history=2), imu=Imu("imu", (0.1, 0.1), (0.1, 0.1), (0.1, 0.1), 0.05, (0, 3)),
        joints=Encoder(None, 0.01, 0.02, 0.01, True, (0, 3)), scan=HeightScan(nx=3, ny=3),
    )  # fmt: skip


def reading(sensors):
    return np.hstack([s.value for s in sensors.values()] + [sensors["joints"].velocity, sensors["feet"].air_time])


def test_sensors_of_an_environment_read_the_same_alone_and_go_on_from_a_snapshot():
    many, there = env_of(7, seed=10, **everything())
    one, here = env_of(1, seed=14, **everything())
    again, restored = env_of(7, seed=10, **everything())
    for step in range(40):
        if step == 22:
            again.restore(many.snapshot())
        many.step(actions(many, step))
        one.step(actions(one, step, first=4))
        np.testing.assert_array_equal(reading(there)[4:5], reading(here))
        if step >= 22:
            again.step(actions(again, step))
            np.testing.assert_array_equal(reading(restored), reading(there))


@pytest.mark.parametrize(
    "sensor, message",
    [
        (ContactSensor("foot"), r"Small.sensors\['s'\]: no body fits 'foot'; nearest: 'left_foot', 'right_foot'"),
        (ContactSensor(threshold=-1), r"Small.sensors\['s'\]: threshold = -1: must be >= 0"),
        (ContactSensor(history=0), r"history = 0: must be a whole number >= 1"),
        (ContactSensor("trunk", against="flor"), r"sensors\['s'\].against: no body fits 'flor'"),
        (Imu("imo"), r"Small.sensors\['s'\]: no site fits 'imo'; nearest: 'imu'"),
        (Imu("imu", noise=(0.1, -1)), r"Small.sensors\['s'\]: noise = \(0.1, -1\)"),
        (Imu("imu", delay=(2, 1)), r"Small.sensors\['s'\]: delay = \(2, 1\)"),
        (Encoder("hip"), r"Small.sensors\['s'\]: no joint fits 'hip'"),
        (Encoder(resolution=math.nan), r"resolution = nan: must be >= 0"),
        (RayCaster(most=0), r"most = 0: must be > 0"),
        (RayCaster((0, 0, 1)), r"directions: given shape \(3,\); expected \(k, 3\)"),
    ],
)
def test_wrong_sensors_are_refused_by_their_name(sensor, message):
    with pytest.raises(stiction.ArgumentError, match=message):
        stiction.TaskEnv(task_of(sensors={"s": sensor}), 1)
