"""Several models behind one environment: what a group gives is what its members give alone."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stiction


class Push(stiction.Task):
    """A hand pushes a thing of some shape and size, one of them or two."""

    frame_skip = 2
    max_episode_steps = 15
    metric_names = ("way",)

    def __init__(self, shape="box", size=0.1, count=1):
        things = "".join(
            f'<body name="thing{k}" pos="{0.4 + 0.3 * k} 0 0.11"><freejoint/>'
            f'<geom type="{shape}" size="{size} {size} {size}" mass="0.5"/></body>' for k in range(count))  # fmt: skip
        self.model = f"""<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="0 0 1"/>
          <body name="hand" pos="0 0 0.1"><joint name="x" type="slide" axis="1 0 0" damping="5"/><geom size="0.08" mass="1"/></body>
          {things}</worldbody><actuator><motor joint="x" gear="30" ctrlrange="-1 1"/></actuator></mujoco>"""
        self.count = count

    def setup(self):
        self.first = self.batch.model.body_names.index("thing0")

    def reset(self, ids):
        qpos = np.tile(self.batch.model.qpos0, (len(ids), 1))
        qpos[:, 0] = self.draw(ids).uniform(-0.1, 0.1)[:, 0]
        return qpos, np.zeros((len(ids), self.batch.model.nv))

    def observe(self):
        where = np.zeros((self.num_envs, 2), np.float32)  # absent things are at 0
        where[:, : self.count] = self.batch.xpos[:, self.first : self.first + self.count, 0]
        return np.concatenate([self.batch.qpos[:, :1], self.batch.qvel[:, :1], where], 1)

    def reward(self):
        return self.batch.xpos[:, self.first, 0]

    def terminated(self):
        return self.batch.qpos[:, 0] > 0.45

    def metrics(self):
        return {"way": self.batch.qpos[:, 0]}


MEMBERS = [(Push, 3), (Push, 2, {"shape": "sphere", "size": 0.08}), (Push, 4, {"count": 2})]


def actions(step, n, first=0):
    return (0.6 + 0.4 * np.sin(0.7 * step + first + np.arange(n)))[:, None].astype(np.float32)


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_members_do_the_same_alone(autoreset):
    group = stiction.EnvGroup(MEMBERS, seed=5, autoreset=autoreset)
    assert (group.num_envs, group.num_obs, group.num_actions, group.metric_names) == (9, 4, 1, ("way",))
    alone, first = [], 0
    for task, n, *options in MEMBERS:
        alone.append((first, stiction.TaskEnv(task, n, seed=5 + first, autoreset=autoreset, **(options[0] if options else {}))))
        first += n
    ends = 0
    for step in range(40):
        group.step(actions(step, 9))
        for first, env in alone:
            env.step(actions(step, env.num_envs, first))
            rows = slice(first, first + env.num_envs)
            for name in ("obs", "reward", "terminated", "truncated", "final_obs", "metrics", "episode_length", "episode_return",
                         "final_episode_length", "final_episode_return"):  # fmt: skip
                np.testing.assert_array_equal(getattr(group, name)[rows], getattr(env, name), err_msg=f"{name} {step}")
        ends += (group.terminated | group.truncated).sum()
    assert ends > 15 and len(group.batches) == 3 and group.batches[2].model.nbody == 4


def test_resets_seeds_and_snapshots_are_those_of_one_environment():
    group, other = stiction.EnvGroup(MEMBERS, seed=1), stiction.EnvGroup(MEMBERS, seed=7)
    for step in range(7):
        group.step(actions(step, 9))
    np.testing.assert_array_equal(group.reset(seed=7), other.reset(seed=7))
    for step in range(20):
        group.step(actions(step, 9)), other.step(actions(step, 9))
        np.testing.assert_array_equal(group.obs, other.obs)
        if step == 8:
            kept = group.snapshot()
    last = group.obs.copy()
    group.restore(kept)
    for step in range(9, 20):
        group.step(actions(step, 9))
    np.testing.assert_array_equal(group.obs, last)
    before = group.obs.copy()
    group.reset([2, 4])
    np.testing.assert_array_equal(np.flatnonzero((group.obs != before).any(1)), [2, 4])
    assert group.episode_length[2] == group.episode_length[4] == 0 and group.episode_length.any()


def test_a_step_in_which_one_member_fails_has_not_happened():
    class Breaks(Push):
        def reward(self):
            if self.fails:
                raise RuntimeError("broken")
            return super().reward()

        fails = False

    group, other = (stiction.EnvGroup([(Push, 2), (Breaks, 2)], seed=3) for _ in range(2))
    for step in range(4):
        group.step(actions(step, 4)), other.step(actions(step, 4))
    group.envs[1].task.fails = True
    with pytest.raises(RuntimeError, match="broken"):
        group.step(actions(4, 4))
    group.envs[1].task.fails = False
    for step in range(4, 20):
        group.step(actions(step, 4)), other.step(actions(step, 4))
        np.testing.assert_array_equal(group.obs, other.obs)


def test_a_group_learns_like_one_environment_and_its_policy_names_the_first_member(tmp_path):
    from stiction.learning.policy import Policy
    from stiction.learning.ppo import Ppo, Settings

    ppo = Ppo(stiction.EnvGroup(MEMBERS, seed=0), Settings(horizon=8, minibatches=2), seed=1)
    first, second = ppo.iterate(), ppo.iterate()
    assert second.steps - first.steps == 72 and np.isfinite(second.kl)
    ppo.save(tmp_path / "policy.npz")
    assert Policy.load(tmp_path / "policy.npz").task["id"].endswith(":Push")


def test_compiled_tasks_with_other_options_are_members_too():
    group = stiction.EnvGroup([("Go2Flat", 2), ("Go2Flat", 3, {"pushes": False})], seed=2)
    one = stiction.Env("Go2Flat", 3, seed=4, pushes=False)
    group.reset(), one.reset()
    for step in range(10):
        action = np.sin(step + np.arange(12) + np.arange(5)[:, None]).astype(np.float32)
        group.step(action), one.step(action[2:])
        np.testing.assert_array_equal(group.obs[2:], one.obs)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([], "no members"),
        ([(Push,)], "member 0: expected"),
        ([("Ant-v5", 2), ("Hopper-v5", 2)], "member 1: Hopper-v5: num_obs = 11; member 0, Ant-v5, has 105"),
        ([("Go2Flat", 2), ("Go2Flat", 2, {"frame_skip": 2})], "member 1: dt = 0.01; member 0 has 0.02"),
    ],
)
def test_members_that_do_not_fit_are_refused(members, message):
    with pytest.raises(stiction.ArgumentError, match=message):
        stiction.EnvGroup(members)


def test_the_example_of_the_guide_prints_what_is_shown():
    guide = (Path(__file__).parents[3] / "docs" / "environments.md").read_text().split("## Different objects")[1]
    code, shown = re.search(r"```python\n(.*?)```\n\nprints\n\n```text\n(.*?)```", guide, re.DOTALL).groups()
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == shown, run.stderr
