"""Go2Rough: what it has beside Go2Flat, whose tests transcribe the rest."""

import mujoco
import numpy as np
import pytest
from test_env_go2 import CLEAN, DT, LeggedGym, Mjlab, base_axes, bodies

import stiction

PRESETS = ["mjlab", "legged_gym"]
BORDER = {"mjlab": 20, "legged_gym": 25}
SMALL = {"levels": 5, "columns": 10}


def make(preset, n=16, **options):
    return stiction.Env("Go2Rough", n, preset=preset, autoreset="disabled", **SMALL | options)


def ground(preset):
    t = stiction.terrain(preset, border=BORDER[preset], **SMALL)
    return t, lambda x, y: height(t, x, y)


def height(t, x, y):
    """Of the two triangles of a cell."""
    u, v = (x + t.size[0]) / 0.1, (y + t.size[1]) / 0.1
    i, j = np.floor(u).astype(int), np.floor(v).astype(int)
    u, v, z = u - i, v - j, t.elevation
    a, b, c, d = z[j, i], z[j, i + 1], z[j + 1, i], z[j + 1, i + 1]
    return np.where(u >= v, a * (1 - u) + b * (u - v) + d * v, a * (1 - v) + c * (v - u) + d * u)


def places(qpos):
    """(187, 2) of the grid, x slow and y fast, and its own coordinates."""
    R = base_axes(qpos[3:7])
    yaw = np.arctan2(R[1, 0], R[0, 0])
    x, y = np.meshgrid(0.1 * np.arange(-8, 9), 0.1 * np.arange(-5, 6), indexing="ij")
    x, y = x.ravel(), y.ravel()
    c, s = np.cos(yaw), np.sin(yaw)
    return np.stack([qpos[0] + c * x - s * y, qpos[1] + s * x + c * y], 1), x, y, yaw


def is_smooth(t, xy):
    """Off the edges of triangles, where a rounded place reads another one."""
    u, v = (xy[:, 0] + t.size[0]) / 0.1, (xy[:, 1] + t.size[1]) / 0.1
    off = lambda w: np.abs(w - np.round(w)) > 1e-4
    return off(u) & off(v) & off(u - v)


class Rough:
    """Mixed into the definitions of the flat tasks."""

    def look(self):
        super().look()
        _, over = self.ground
        b, i = self.env.batch, self.i
        feet = b.xpos[i, bodies(self.env, "foot")]
        self.foot_z = feet[:, 2] - over(feet[:, 0], feet[:, 1])
        xy, x, y, yaw = places(b.qpos[i])
        self.heights = over(xy[:, 0], xy[:, 1])
        sx, sy = (x @ self.heights) / (x @ x), (y @ self.heights) / (y @ y)
        normal = np.array([-np.cos(yaw) * sx + np.sin(yaw) * sy, -np.sin(yaw) * sx - np.cos(yaw) * sy, 1])
        self.up = base_axes(b.qpos[i, 3:7]).T @ (normal / np.linalg.norm(normal))


class RoughLeggedGym(Rough, LeggedGym):
    def observation(self, c, a):
        over = np.clip(self.env.batch.qpos[self.i, 2] - 0.5 - self.heights, -1, 1)
        return np.concatenate([super().observation(c, a), 5 * over])

    def reward(self, c, c_next, a):
        terms, _, end = super().reward(c, c_next, a)
        terms["orientation"], terms["torques"] = 0, terms["torques"] * 0.4
        terms["feet_air_time"] *= 0.5
        terms["stumble"] = 0
        return terms, max(0, DT * sum(terms.values())), end


class RoughMjlab(Rough, Mjlab):
    def observation(self, c, a):
        over = np.clip(self.env.batch.qpos[self.i, 2] - self.heights, -5, 5)
        return np.concatenate([super().observation(c, a), over / 5])

    def reward(self, c, c_next, a):
        terms, _, _ = super().reward(c, c_next, a)
        terms["upright"] = np.exp(-np.sum(self.up[:2] ** 2) / 0.2)
        hits = np.sum(self.norm("calf") > 10) + (np.linalg.norm(self.force[1]) > 10)
        terms["collision"] = -0.1 * hits
        return terms, DT * sum(terms.values()), (self.norm("thigh") > 10).any()


@pytest.mark.parametrize("preset, kind", [("legged_gym", RoughLeggedGym), ("mjlab", RoughMjlab)])
def test_definition(preset, kind):
    n, rng = 20, np.random.default_rng(4)
    env = make(preset, n, precision="float64", **CLEAN)
    kind.ground = ground(preset)
    assert env.num_obs == 235 and len(env.metric_names) == 14
    obs = env.reset(seed=9).copy()
    walkers = [kind(env, i) for i in range(n)]
    action, seen, ended, compared = np.zeros((n, 12)), {name: 0 for name in env.metric_names}, 0, []
    for step in range(200):
        action = 0.8 * action + rng.normal(size=(n, 12)) * np.where(rng.random((n, 1)) < 0.03, 4, 0.5)
        last, (obs, reward, terminated, _) = obs.copy(), env.step(action)
        used = np.clip(action.astype(np.float32), -5, 5).astype(float)
        for i, w in enumerate(walkers):
            w.look()
            c, c_next = (x[i, w.command_at] / w.command_scale for x in (last, obs))
            expected = w.observation(c_next, used[i])
            sure = np.ones(235, bool)
            sure[48:] = is_smooth(w.ground[0], places(env.batch.qpos[i])[0])
            compared.append(sure.mean())
            np.testing.assert_allclose(obs[i, sure], expected[sure], rtol=1e-5, atol=1e-5)
            terms, total, end = w.reward(c, c_next, used[i])
            assert reward[i] == pytest.approx(total, rel=1e-4, abs=1e-5)
            assert terminated[i] == end
            for name, x in terms.items():
                metric = env.metrics[i][env.metric_names.index("reward_" + name)]
                assert metric == pytest.approx(DT * x, rel=1e-4, abs=1e-6), name
                seen["reward_" + name] += x != 0
            ended += end
    idle = {"reward_orientation", "reward_stumble"} if preset == "legged_gym" else set()
    counted = {k: v for k, v in seen.items() if k.startswith("reward_") and k not in idle}
    assert min(counted.values()) > 3, seen
    assert ended > 5 and np.mean(compared) > 0.99


@pytest.mark.parametrize("preset", PRESETS)
def test_robots_start_over_their_patches(preset):
    env = make(preset, 400, **CLEAN)
    env.reset(seed=3)
    t, over = ground(preset)
    q = env.batch.qpos
    spread = 1 if preset == "legged_gym" else 0.5
    level, column = ((q[:, k] / 8 + (5, 10)[k] / 2).astype(int) for k in (0, 1))
    origin = t.origins[level, column]
    assert (np.abs(q[:, :2] - origin[:, :2]) <= spread).all()
    low, high = (0.42, 0.42) if preset == "legged_gym" else (0.288, 0.328)
    assert ((q[:, 2] - origin[:, 2] > low - 1e-6) & (q[:, 2] - origin[:, 2] < high + 1e-6)).all()
    assert (q[:, 2] > over(q[:, 0], q[:, 1])).all()
    assert set(column) == set(range(10)) and set(level) == set(range(5))
    env.step(np.zeros((400, 12)))
    assert np.array_equal(env.metrics[:, env.metric_names.index("terrain_level")], level)


def levels(env):
    env.step(np.zeros((env.num_envs, 12)))
    return env.metrics[:, env.metric_names.index("terrain_level")].astype(int)


def test_levels_follow_merit():
    env = make("mjlab", 300, pushes=False, command_x=(0.3, 0.31), command_y=(0, 0.01), levels=5)
    env.reset(seed=1)
    first = levels(env)
    start = env.batch.qpos[:, :2].copy()
    origin = 8 * np.round((start - (0, 4)) / 8) + (0, 4)
    # a third walks 4.5 m, a third 3.2 m (asked for 0.3 m/s in 20 s, half of it is 3 m), a third stays
    walked = np.repeat([4.5, 3.2, 0.5], 100)
    env.batch.qpos[:, :2] = origin + np.stack([walked, 0 * walked], 1)
    env.step(np.zeros((300, 12)))
    stands = ~env.step(np.zeros((300, 12)))[0][:, 45:47].any(axis=1)
    env.reset(np.arange(300))
    second = levels(env)
    up, kept, down = np.split(np.arange(300), 3)
    top = first[up] == 4
    assert np.array_equal(second[up][~top], first[up][~top] + 1)
    assert top.sum() > 5 and len(set(second[up][top])) > 1  # anywhere
    assert np.array_equal(second[kept], first[kept])
    falls = ~stands[down]
    assert np.array_equal(second[down][falls], np.maximum(first[down][falls] - 1, 0))
    assert np.array_equal(second[down][~falls], first[down][~falls])  # asked for nothing
    env.reset(seed=1)  # from episode 0
    assert np.array_equal(levels(env), first)


def test_levels_are_kept_by_snapshots_and_do_not_depend_on_the_batch():
    env, small = make("mjlab", 40), make("mjlab", 5)
    for e in (env, small):
        e.reset(seed=2)
        e.batch.qpos[:, 0] += 5
        e.step(np.zeros((e.num_envs, 12)))
    taken = env.snapshot()
    env.reset(np.arange(40)), small.reset(np.arange(5))
    after = levels(env)
    assert np.array_equal(levels(small), after[:5])
    assert np.array_equal(small.obs, env.obs[:5])
    env.restore(taken)
    env.reset(np.arange(40))
    assert np.array_equal(levels(env), after)


def test_fixed_places():
    env = make("legged_gym", 50, level=3, column=7)
    env.reset(seed=4)
    origin = ground("legged_gym")[0].origins[3, 7]
    for _ in range(2):
        assert (levels(env) == 3).all()
        assert (np.abs(env.batch.qpos[:, :2] - origin[:2]) < 1.3).all()
        env.reset(np.arange(50))
    for name, value in (("level", 5), ("column", 10), ("level", 0.5), ("column", -2)):
        with pytest.raises(stiction.ArgumentError, match=f"{name} = "):
            make("mjlab", 1, **{name: value})
    with pytest.raises(stiction.ArgumentError, match="terrain"):
        make("mjlab", 1, terrain="moon")


def test_other_terrain_and_seed():
    a, b = (make("mjlab", 1, terrain="legged_gym", terrain_seed=s) for s in (0, 1))
    t = stiction.terrain("legged_gym", **SMALL)
    assert a.model_assets["terrain.bin"] == t.hfield_file() != b.model_assets["terrain.bin"]


def test_noise_of_heights():
    noisy, clean = (make("legged_gym", 64, observation_noise=x, randomize=False) for x in (True, False))
    noise = (noisy.reset(seed=5) - clean.reset(seed=5))[:, 48:] / 5
    assert np.abs(noise).max() <= 0.1 + 1e-6 and np.abs(noise).max() > 0.099
    assert np.std(noise) == pytest.approx(0.2 / np.sqrt(12), rel=0.05)
    assert abs(np.corrcoef(noise[:, :-1].ravel(), noise[:, 1:].ravel())[0, 1]) < 0.03


def test_mujoco_has_the_same_ground():
    env = make("mjlab", 1)
    m = mujoco.MjModel.from_xml_string(env.model_xml, env.model_assets)
    ours = env.batch.model
    assert m.ngeom == ours.ngeom and m.nhfield == 1
    np.testing.assert_allclose(m.hfield_size[0], ours.hfield_size[0], rtol=1e-12)
    np.testing.assert_allclose(m.hfield_data, ours.hfield_data, atol=1e-7)
    assert m.geom_pos[0, 2] == pytest.approx(ground("mjlab")[0].lowest)
