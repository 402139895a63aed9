"""A step of a Python task is whole or has not happened; snapshots go on with the same bits."""

import numpy as np
import pytest

import stiction
from kinds import KINDS, NOISY, Pendulum, actions
from stiction.learning.ppo import Ppo, Settings


class Forgetful(Pendulum):
    """With memory of every kind, of which one hook raises when it is told to."""

    max_episode_steps = 9

    def setup(self):
        self.seen = np.zeros((self.num_envs, 2))
        self.log, self.counts, self.names = [], {"reset": 0, 3: [1.0]}, {"pole"}
        self.rng = np.random.default_rng(5)
        self.breaks_in = ""
        self.limits = np.linspace(0, 1, 4)
        self.limits.setflags(write=False)

    def _may_break(self, hook):
        self.log.append(hook)
        self.rng.normal()
        if hook == self.breaks_in:
            raise ZeroDivisionError(hook)

    def reset(self, ids):
        self.seen[ids] = 7
        self.counts["reset"] += 1
        self.batch.param("body_mass")[ids] *= 1 + 0.01 * self.draw(ids).uniform(count=1)
        self._may_break("reset")
        return super().reset(ids)

    def act(self, action):
        super().act(action + self.rng.normal(0, 0.1))
        self._may_break("act")

    def observe(self):
        self._may_break("observe")
        return super().observe()

    def reward(self):
        self.seen += self.batch.qpos
        self._may_break("reward")
        return 1 + 0 * self.batch.qpos[:, 1]

    def terminated(self):
        self._may_break("terminated")
        return super().terminated()

    def metrics(self):
        self._may_break("metrics")
        return super().metrics()


def make(num_envs=5, **options):
    return stiction.TaskEnv(Forgetful, num_envs, seed=2, **options)


def noisy(num_envs=5, **options):
    noise = stiction.Randomization(NOISY.observation_noise, (0, 2), (0, 2))
    return stiction.RandomizedEnv.open(stiction.TaskEnv, Forgetful, num_envs, noise, seed=2, **options)


def everything(env):
    """Numbers of the batch, of the loop and of the task, by name."""
    batch, task = env.batch, env.task
    found = {f.name: np.array(getattr(batch, f.name)) for f in batch.fields() if f.kind != "param"}
    found |= {name: np.array(getattr(env, name)) for name in (
        "obs", "reward", "terminated", "truncated", "metrics", "final_obs", "episode_length",
        "episode_return", "final_episode_length", "final_episode_return", "steps")}  # fmt: skip
    found |= {"status": np.array(batch.status), "mass": np.array(batch.param("body_mass"))}
    found |= {"seen": task.seen.copy(), "log": list(task.log), "counts": repr(task.counts)}
    return found | {"rng": repr(task.rng.bit_generator.state), "action": np.array(task.action)}


def assert_same(a, b):
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


HOOKS = ("act", "terminated", "reward", "observe", "metrics")


@pytest.mark.parametrize("create", [make, noisy])
@pytest.mark.parametrize(
    "hook, autoreset",
    [(hook, mode) for mode in ("same_step", "next_step", "disabled") for hook in HOOKS]
    + [("reset", "same_step"), ("reset", "next_step")],
)
def test_a_step_of_which_a_hook_raises_has_not_happened(create, hook, autoreset):
    env, twin = create(autoreset=autoreset), create(autoreset=autoreset)
    for k in range(6):
        env.step(actions(env, k)), twin.step(actions(env, k))
    raised = 0
    for k in range(6, 20):
        before, length, views = everything(env), env.episode_length, env.obs
        env.task.breaks_in = "" if raised else hook
        try:
            env.step(actions(env, k))
        except ZeroDivisionError:
            raised += 1
            assert_same(before, everything(env))
            assert env.episode_length is length and env.obs is views
            env.task.breaks_in = ""
            env.step(actions(env, k))
        twin.step(actions(env, k))
        assert_same(everything(twin), everything(env))
    assert raised == 1


def test_a_reset_or_observation_of_which_a_hook_raises_has_not_happened():
    env = make()
    for k in range(4):
        env.step(actions(env, k))
    before = everything(env)
    for hook, call in (("reset", lambda: env.reset([1, 3], seed=9)), ("observe", env.reset), ("observe", env.observe)):
        env.task.breaks_in = hook
        with pytest.raises(ZeroDivisionError):
            call()
        env.task.breaks_in = ""
        assert_same(before, everything(env))


@pytest.mark.parametrize("kind", [*KINDS, "forgetful"])
@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_a_snapshot_goes_on_with_the_same_bits(kind, autoreset):
    create = make if kind == "forgetful" else KINDS[kind]
    env = create(6, autoreset=autoreset, seed=4) if kind != "forgetful" else create(6, autoreset=autoreset)
    for k in range(13):
        env.step(actions(env, k))
    snapshot = env.snapshot()
    other = create(6, autoreset=autoreset, seed=4) if kind != "forgetful" else create(6, autoreset=autoreset)
    other.step(actions(env, 3))
    other.restore(snapshot)
    for name in ("obs", "reward", "final_obs", "episode_length", "metrics"):
        np.testing.assert_array_equal(getattr(env, name), getattr(other, name), err_msg=name)
    for k in range(13, 40):
        env.step(actions(env, k)), other.step(actions(env, k))
        for name in ("obs", "reward", "terminated", "truncated", "final_obs", "final_episode_return"):
            np.testing.assert_array_equal(getattr(env, name), getattr(other, name), err_msg=f"{k}: {name}")
    if kind == "forgetful":
        assert_same(everything(env), everything(other))


def test_a_foreign_or_damaged_snapshot_changes_nothing():
    env = make()
    env.step(actions(env, 0))
    good, before = env.snapshot(), everything(env)
    wrong = [
        (b"nothing", "not one, or damaged"),
        (good[: len(good) // 2], "not one, or damaged"),
        (make(4).snapshot(), "of 4 environments of Forgetful"),
        (make(autoreset="disabled").snapshot(), "autoreset disabled"),
        (make(options=stiction.Options(timestep=0.01)).snapshot(), "another model or other options"),
        (stiction.TaskEnv(Pendulum, 5).snapshot(), "of 5 environments of Pendulum"),
        (stiction.Env("InvertedPendulum-v5", 5).snapshot(), "not one, or damaged"),
    ]
    for snapshot, message in wrong:
        with pytest.raises(stiction.Error, match=message):
            env.restore(snapshot)
        assert_same(before, everything(env))
    env.restore(good)


def test_a_task_that_cannot_be_written_is_named():
    class Odd(Pendulum):
        def setup(self):
            self.plan = [np.zeros(3), iter([1, 2])]

    env = stiction.TaskEnv(Odd, 2)
    with pytest.raises(stiction.Error, match=r"loop.task.plan\[1\]: list_iterator can't be written"):
        env.snapshot()


@pytest.mark.parametrize("hook, where", [("observe", ", number 1"), ("observe_critic", ", number 1"), ("reward", "")])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_raises_with_hook_and_environment(hook, where, bad):
    class Bad(Pendulum):
        def _spoil(self, which, x):
            x = np.array(x, float)
            if which == hook and self.episode_length[2] == 3:
                x[2, ..., -1:] = bad
            return x

        def observe(self):
            return self._spoil("observe", self.batch.qpos)

        def observe_critic(self):
            return self._spoil("observe_critic", self.batch.qvel)

        def reward(self):
            return self._spoil("reward", np.ones((self.num_envs, 1)))[:, 0]

    env = stiction.TaskEnv(Bad, 4)
    env.step(np.zeros((4, 1))), env.step(np.zeros((4, 1)))
    message = rf"Bad.{hook}: environment 2{where}: {bad} after 3 steps of its episode 0"
    with pytest.raises(stiction.Error, match=message):
        env.step(np.zeros((4, 1)))
    assert env.steps == 2 and (env.episode_length == 2).all()


def test_an_environment_that_froze_ends_whatever_is_observed():
    class Inverse(Pendulum):
        def observe(self):
            return np.where(self.batch.status[:, None] != 0, np.nan, super().observe())

    env = stiction.TaskEnv(Inverse, 3)
    env.batch.qvel[1] = np.nan
    obs, reward, terminated, _ = env.step(np.zeros((3, 1)))
    assert terminated.tolist() == [False, True, False] and reward[1] == 0 and np.isfinite(obs).all()


@pytest.mark.parametrize("kind", ["python", "randomized", "forgetful"])
def test_training_goes_on_to_the_same_curve(kind, tmp_path):
    create = (lambda n: make(n)) if kind == "forgetful" else (lambda n: KINDS[kind](n, seed=1))
    settings = Settings(num_envs=8, horizon=16, hidden=(8,))
    ppo = Ppo(create(8), settings, seed=3)
    ppo.iterate()
    ppo.save(tmp_path / "half.npz")
    ppo.iterate(), ppo.iterate()
    again = Ppo.load(tmp_path / "half.npz", create(8))
    assert again.begins == ""
    again.iterate(), again.iterate()
    np.testing.assert_array_equal(ppo.policy.actor.parameters, again.policy.actor.parameters)
    np.testing.assert_array_equal(ppo.critic.parameters, again.critic.parameters)


def test_training_of_a_task_that_cannot_be_written_begins_new_episodes_and_says_why(tmp_path):
    class Odd(Pendulum):
        def setup(self):
            self.numbers = iter([1, 2])

    ppo = Ppo(stiction.TaskEnv(Odd, 4), Settings(num_envs=4, horizon=8, hidden=(8,)))
    ppo.iterate()
    ppo.save(tmp_path / "policy.npz")
    again = Ppo.load(tmp_path / "policy.npz", stiction.TaskEnv(Odd, 4))
    assert "loop.task.numbers: list_iterator can't be written" in again.begins
    assert again.iterate().number == 2


def test_a_snapshot_of_a_batch_has_the_outputs_of_the_last_step():
    env = stiction.Env("Ant-v5", 3)
    for k in range(30):
        env.step(actions(env, k))
    snapshot, outputs = env.batch.snapshot(), [f.name for f in env.batch.fields() if f.kind == "output"]
    expected = {name: np.array(getattr(env.batch, name)) for name in outputs}
    assert np.abs(expected["xfrc_contact"]).max() > 0 and np.abs(expected["qacc"]).max() > 0
    other = stiction.Env("Ant-v5", 3, seed=8).batch
    other.restore(snapshot)
    for name in outputs:
        np.testing.assert_array_equal(expected[name], getattr(other, name), err_msg=name)
