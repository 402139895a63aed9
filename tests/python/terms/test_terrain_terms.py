"""Terms on terrain: where episodes begin, levels by merit, heights around a robot."""

import numpy as np
import pytest

import stiction
from stiction import terms
from stiction.sensors import HeightScan
from stiction.terms import Curriculum, Event, Observation, UniformCommand
from walker import WALKER, actions

GROUND = stiction.terrain([stiction.TerrainPatch("rough", noise=(0, 0.1)), stiction.TerrainPatch("stairs", height=(0.02, 0.2))],
                          levels=4, columns=3, patch=4.0, border=4)  # fmt: skip
FIELD = WALKER.replace(
    '<geom name="floor" type="plane" size="0 0 1"/>',
    f'<geom name="floor" type="hfield" hfield="ground" pos="0 0 {GROUND.lowest}"/>',
).replace("<worldbody>", f"<asset>{GROUND.hfield_element('ground')}</asset><worldbody>")


class Climb(stiction.TermTask):
    model = stiction.Model.from_xml(FIELD, assets={"terrain.bin": GROUND.hfield_file()})
    terrain, first_levels = GROUND, 2
    frame_skip, max_episode_steps = 4, 3
    observations = {"heights": Observation(terms.heights, offset=0.1)}
    sensors = {"scan": HeightScan(nx=3, ny=2)}
    # so far in a whole episode of 0.06 s: 1.2 m
    commands = {"velocity": UniformCommand(low=(20, 0, 0), high=(20, 0, 0))}
    events = {"start": Event(terms.start_base, x=(-0.2, 0.2), y=(-0.2, 0.2))}
    curricula = {"level": Curriculum(terms.terrain_levels)}


def test_episodes_begin_on_the_patches():
    env = stiction.TaskEnv(Climb, 400, seed=3)
    task, q = env.task, env.batch.qpos
    assert set(task.level) == {0, 1, 2} and set(task.column) == {0, 1, 2}
    np.testing.assert_array_equal(task.origin, GROUND.origins[task.level, task.column])
    off = q[:, :3] - task.origin - [0, 0, 0.46]
    assert np.abs(off[:, :2]).max() <= 0.2 and np.abs(off[:, 2]).max() < 1e-12
    one = stiction.TaskEnv(Climb, 1, seed=3 + 77)
    assert one.task.level[0] == task.level[77] and one.task.column[0] == task.column[77]
    np.testing.assert_allclose(env.obs, -env.batch.height_scan(1, nx=3, ny=2).reshape(400, 6) - 0.1, atol=1e-6)


def test_levels_rise_and_fall_by_merit():
    n = 300
    env = stiction.TaskEnv(Climb, n, seed=1)
    task = env.task
    for first in (0, 3):
        task.level[:] = first
        env.step(actions(env, 0))
        env.step(actions(env, 1))
        q = np.array(env.batch.qpos)
        far = np.arange(n) % 3  # 0: nowhere; 1: half of what was asked, no further; 2: beyond half a patch
        q[:, :2] = task.origin[:, :2] + np.stack([np.choose(far, [0.0, 0.8, 2.3]), np.zeros(n)], 1)
        q[:, 2] = 5.0
        env.batch.set_state(qpos=q)
        column = task.column.copy()
        env.step(actions(env, 2))
        assert env.truncated.all()
        np.testing.assert_array_equal(task.column, column)
        if first == 0:
            np.testing.assert_array_equal(task.level, np.choose(far, [0, 0, 1]))
        else:
            np.testing.assert_array_equal(task.level[far < 2], np.choose(far, [2, 3, 0])[far < 2])
            assert set(task.level[far == 2]) == {0, 1, 2, 3}, "who masters the last level goes to any"
        np.testing.assert_array_equal(task.logged["curricula/level"], task.level)  # a metric of the steps that follow
        np.testing.assert_array_equal(task.origin, GROUND.origins[task.level, task.column])


def test_levels_go_on_from_a_snapshot():
    there, here = stiction.TaskEnv(Climb, 20, seed=2), stiction.TaskEnv(Climb, 20, seed=2)
    for step in range(10):
        there.step(actions(there, step))
    here.restore(there.snapshot())
    for step in range(10, 20):
        there.step(actions(there, step)), here.step(actions(here, step))
        np.testing.assert_array_equal(there.obs, here.obs)
    np.testing.assert_array_equal(there.task.level, here.task.level)


def test_g1_on_rough_ground():
    env = stiction.TaskEnv(stiction.library.G1Rough, 12, seed=4, levels=6, columns=4)
    assert env.num_obs == 99 + 187 and env.task.level.max() <= 5
    one = stiction.TaskEnv(stiction.library.G1Rough, 1, seed=4 + 7, levels=6, columns=4)
    for _ in range(5):
        env.step(np.zeros((12, 29))), one.step(np.zeros((1, 29)))
        np.testing.assert_array_equal(env.obs[7], one.obs[0])
    assert not env.terminated.any() and (env.batch.qpos[:, 2] - env.task.origin[:, 2] > 0.6).all()


def test_what_is_no_level_is_refused():
    Wrong = type("Wrong", (Climb,), {"first_levels": 4})
    with pytest.raises(stiction.ArgumentError, match=r"Wrong.first_levels = 4: must be in \[0, 4\)"):
        stiction.TaskEnv(Wrong, 1)
    Flat = type("Flat", (Climb,), {"terrain": None})
    env = stiction.TaskEnv(Flat, 1)
    with pytest.raises(stiction.ArgumentError, match="the task has no terrain"):
        for step in range(4):
            env.step(actions(env, step))
