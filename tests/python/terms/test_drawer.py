"""PandaDrawer: its rewards written out for one environment at a time, its drawer, and that a scripted hand opens it by friction."""

import numpy as np
import pytest

import stiction
from stiction import rotations
from stiction.library import PandaDrawer

PALM, TIP = 0.1034, 0.046
# x of the hand along the world's y, y up, z into the cabinet: the left finger above a bar that lies along y
GRASP = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], float)


def still(env):
    return np.tile(np.array([0] * 7 + [1], np.float32), (env.num_envs, 1))


def joints_for(model, place, q):
    """Angles of the arm that bring the grasp to a place (3,) as in GRASP, by Newton's method from q (7,)."""
    batch, hand = stiction.Batch(model, 1, precision="float32"), model.body_names.index("hand")
    for _ in range(40):
        batch.reset(qpos=np.concatenate([q, [0.04, 0.04, 0]])[None])
        axes = rotations.to_matrix(np.array(batch.xquat[0, hand], float))
        at = batch.xpos[0, hand] + PALM * axes[:, 2]
        error = np.concatenate([place - at, rotations.log(rotations.from_matrix((GRASP @ axes.T)[None]))[0]])
        jac = np.concatenate([j[0, :, :7] for j in batch.jac("hand", at)]).astype(float)
        step = min(1.0, 0.3 / max(np.linalg.norm(error), 1e-9)) * error
        q = np.clip(q + jac.T @ np.linalg.solve(jac @ jac.T + 1e-5 * np.eye(6), step), model.jnt_range[:7, 0], model.jnt_range[:7, 1])
    assert np.linalg.norm(error) < 1e-3
    return q


@pytest.fixture(scope="module")
def way():
    """[(s, angles of the arm, opening of the gripper, 1 or -1)]: to before the handle, around it, shut, and back by 0.35 m."""
    model = PandaDrawer().model
    handle = stiction.Batch(model, 1).xpos[0, model.body_names.index("handle")].astype(float)
    q, found = np.array([0, -0.3, 0, -2.0, 0, 3.2, -0.785]), {}
    for back in (0.12, 0, 0.09, 0.18, 0.27, 0.35):
        q = found[back] = joints_for(model, handle - [back, 0, 0], q)
    start = np.array([0, -0.569, 0, -2.81, 0, 3.037, 0.741])
    plan = [(0, start, 1), (2, found[0.12], 1), (3, found[0], 1), (3.5, found[0], -1)]
    plan += [(3.5 + 0.8 * k, found[back], -1) for k, back in enumerate((0.09, 0.18, 0.27, 0.35), 1)]
    return [*plan, (8, found[0.35], -1)]


def action_at(way, t, num_envs, gripper=None):
    k = max(i for i in range(len(way) - 1) if way[i][0] <= t)
    (t0, a, _), (t1, b, grip) = way[k], way[k + 1]
    arm = a + (b - a) * (t - t0) / (t1 - t0) - way[0][1]
    return np.tile(np.append(arm, grip if gripper is None else gripper), (num_envs, 1)).astype(np.float32)


def follow(env, way, until=7.9, gripper=None, seen=None):
    """Metrics of the last step."""
    for k in range(round(until / env.dt)):
        env.step(action_at(way, k * env.dt, env.num_envs, gripper))
        if seen:
            seen(k)
    return dict(zip(env.metric_names, np.array(env.metrics).T))


def test_a_hand_that_grips_the_handle_opens_the_drawer(way):
    env, first = stiction.TaskEnv(PandaDrawer, 8, seed=3), {}

    def seen(k):
        now = dict(zip(env.metric_names, np.array(env.metrics).T))
        np.testing.assert_array_equal(now["success"], now["drawer"] > 0.3)
        np.testing.assert_array_equal(now["drawer"], env.batch.qpos[:, 9].astype(np.float32))
        for i in np.flatnonzero(now["success"]):
            first.setdefault(int(i), k * env.dt)

    last = follow(env, way, seen=seen)
    assert (last["success"] == 1).all() and set(first) == set(range(8))
    assert all(5.8 < t < 6.8 for t in first.values()), first  # of 0.3 m of the way back
    # the hand takes it along: what the fingers slip is less than 3 mm in all
    np.testing.assert_allclose(last["drawer"], 0.35, atol=3e-3)
    np.testing.assert_allclose(last["rewards/stages"], 2.5 * env.dt, rtol=1e-6)
    np.testing.assert_allclose(last["rewards/opened"], 7.5 * env.dt * 2 * last["drawer"], rtol=1e-5)
    assert env.batch.status_count == 0


def test_it_stays_shut_where_the_fingers_are_open_or_slide(way):
    env = stiction.TaskEnv(PandaDrawer, 2, seed=3)
    last = follow(env, way, gripper=1)
    assert (np.abs(last["drawer"]) < 1e-3).all() and not last["success"].any()
    env = stiction.TaskEnv(PandaDrawer, 2, seed=3, set={"events.friction": None})
    env.batch.param("geom_friction")[:] = 0.02  # 2 fingers of 12 N: half a newton of the drawer's 4 to 12
    last = follow(env, way)
    assert (np.abs(last["drawer"]) < 0.01).all() and not last["success"].any()


def test_the_drawer_has_dry_friction():
    env = stiction.TaskEnv(PandaDrawer, 3, seed=1, set={"events.drawer_friction": None})
    m = env.batch.model
    assert m.dof_frictionloss[9] == 8 and m.dof_damping[9] == 5
    env.batch.qfrc_applied[:, 9] = (7.6, 8.4, -20)
    for _ in range(120):
        env.step(still(env))
    q = env.batch.qpos[:, 9]
    # what is held creeps by the regularization alone; what exceeds friction by 0.4 N tends to 0.4/5 m/s; shut is the end of the range
    assert abs(q[0]) < 1e-3 and 0.08 < q[1] < 0.16 and abs(q[2]) < 2e-3


def test_rewards_are_isaac_labs(way):
    env, checked = stiction.TaskEnv(PandaDrawer, 4, seed=5), set()
    m, b = env.batch.model, env.batch
    body = m.body_names.index

    def seen(k):
        if k % 37:
            return
        now = dict(zip(env.metric_names, np.array(env.metrics).T))
        for i in range(4):
            axes = lambda name, i=i: rotations.to_matrix(np.array(b.xquat[i, body(name)], float))
            along = lambda name, by, i=i: b.xpos[i, body(name)] + by * axes(name)[:, 2]
            handle, hand, drawer = b.xpos[i, body("handle")], axes("hand"), b.qpos[i, 9]
            d = np.linalg.norm(handle - along("hand", PALM))
            above, below = along("left_finger", TIP)[2] - handle[2], handle[2] - along("right_finger", TIP)[2]
            around = above > 0 and below > 0
            signed = lambda x: np.sign(x) * x * x
            expected = {
                "near_handle": 2.0 * (1 + (d <= 0.2)) / (1 + d * d) ** 2,
                "aligned": 0.5 * 0.5 * (signed(hand[0, 2]) + signed(hand[1, 0])),
                "fingers_near": 5.0 * around * (0.08 - above - below),
                "around": 0.125 * around,
                "shut": 0.5 * (d <= 0.03) * (0.08 - b.qpos[i, 7] - b.qpos[i, 8]),
                "opened": 7.5 * (1 + around) * drawer,
                "stages": 0.5 * (drawer > 0.01) + around * (float(drawer > 0.2) + float(drawer > 0.3)),
            }
            for name, value in expected.items():
                assert now[f"rewards/{name}"][i] == pytest.approx(env.dt * value, rel=1e-4, abs=2e-6), (name, k)
                checked.add((name, bool(value)))
            relative = handle - along("hand", PALM)
            np.testing.assert_allclose(env.obs[i, 20:23], relative, atol=1e-5)
            assert env.obs[i, 9] == pytest.approx(drawer, abs=1e-6)

    follow(env, way, seen=seen)
    assert {(name, True) for name, _ in checked} <= checked  # each has been paid


def test_episodes_start_with_the_drawer_shut():
    env = stiction.TaskEnv(PandaDrawer, 200, seed=2)
    m = env.batch.model
    assert (env.num_obs, env.num_actions, round(1 / env.dt), env.max_episode_steps) == (31, 8, 60, 480)
    start = np.array([0, -0.569, 0, -2.81, 0, 3.037, 0.741, 0.04, 0.04, 0])
    off = env.batch.qpos - np.float32(start)
    assert (np.abs(off[:, :7]) <= 0.1 + 1e-6).all() and (np.ptp(off[:, :7], axis=0) > 0.19).all() and not np.abs(off[:, 7:]).max() > 1e-6
    friction, loss = np.array(env.batch.param("geom_friction")[:]), np.array(env.batch.param("dof_frictionloss"))
    assert 0.8 <= friction.min() < 0.82 and 1.23 < friction.max() <= 1.25 and (np.ptp(friction, axis=1) == 0).all()
    assert 4 <= loss[:, 9].min() < 4.2 and 11.8 < loss[:, 9].max() <= 12 and not loss[:, :9].any()
    env.step(still(env))
    env.reset()
    assert (env.batch.param("dof_frictionloss")[:, 9] != loss[:, 9]).all()
    assert m.jnt_names[9] == "drawer"


def test_an_environment_does_the_same_alone_and_among_others(way):
    env, one = stiction.TaskEnv(PandaDrawer, 4, seed=3), stiction.TaskEnv(PandaDrawer, 1, seed=3 + 2)
    for k in range(260):  # fingers around the handle at the end
        whole, alone = env.step(action_at(way, k * env.dt, 4)), one.step(action_at(way, k * env.dt, 1))
        for a, b in zip(whole, alone):
            np.testing.assert_array_equal(a[2:3], b)
    assert env.batch.qpos[2, 9] > 0.05


def test_an_episode_ends_after_eight_seconds_and_not_before():
    env = stiction.TaskEnv(PandaDrawer, 1, autoreset="disabled")
    for k in range(480):
        _, _, terminated, truncated = env.step(still(env))
        assert not terminated[0] and truncated[0] == (k == 479)
