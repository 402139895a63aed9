"""Tasks written in Python: the same numbers as compiled ones, and mistakes that are named."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stiction
from kinds import CART, Pendulum, actions

ROOT = Path(__file__).parents[3]


class Cheetah(stiction.Task):
    """HalfCheetah-v5 of Gymnasium."""

    frame_skip = 5
    metric_names = ("reward_forward", "reward_ctrl", "x_position", "x_velocity")

    def setup(self):
        self.x = self.xp.zeros(self.num_envs, dtype=self.xp.float64)
        self.qpos0 = self.xp.asarray(self.batch.model.qpos0)

    def reset(self, ids):
        model, draw = self.batch.model, self.draw(ids)
        qpos = self.qpos0 + draw.uniform(-0.1, 0.1, model.nq)
        return qpos, 0.1 * draw.normal(model.nv)

    def act(self, action):
        super().act(action)
        self.x = self.xp.copy(self.batch.qpos[:, 0])

    def observe(self):
        return self.xp.hstack([self.batch.qpos[:, 1:], self.batch.qvel])

    def reward(self):
        xp = self.xp
        self.speed = xp.astype((self.batch.qpos[:, 0] - self.x) / self.dt, xp.float32)
        self.cost = -0.1 * xp.sum(self.action * self.action, axis=1)
        return self.speed + self.cost

    def metrics(self):
        x = self.batch.qpos[:, 0]
        return dict(zip(self.metric_names, (self.speed, self.cost, x, self.speed)))


# A sum of six squares rounds up to six times in float32, in another order or fused.
@pytest.mark.parametrize(
    "id, task, tolerance",
    [("InvertedPendulum-v5", Pendulum, 0), ("HalfCheetah-v5", Cheetah, 6 * 2**-23)],
)
@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_compiled_and_python_versions_give_identical_numbers(id, task, tolerance, autoreset):
    options = {"seed": 5, "autoreset": autoreset, "max_episode_steps": 25}
    compiled = stiction.Env(id, 40, **options)
    python = task()
    python.model = compiled.model_xml
    python.options = compiled.info.engine
    python = stiction.TaskEnv(python, 40, **options)
    assert (python.frame_skip, python.dt, python.num_obs) == (
        compiled.frame_skip,
        compiled.dt,
        compiled.num_obs,
    )
    assert np.array_equal(python.action_low, compiled.action_low)
    assert python.obs.tobytes() == compiled.obs.tobytes()
    names = [python.metric_names.index(n) for n in compiled.metric_names]
    ends = 0
    for k in range(60):
        for env in (compiled, python):
            env.step(actions(env, k) / 2)
        for name in ("obs", "final_obs", "terminated", "truncated", "episode_length"):
            assert getattr(python, name).tobytes() == getattr(compiled, name).tobytes(), name
        ends += (compiled.terminated | compiled.truncated).sum()
        scale = 1 + np.abs(compiled.metrics[:, :2]).max()
        np.testing.assert_allclose(python.reward, compiled.reward, rtol=0, atol=tolerance * scale)
        np.testing.assert_allclose(
            python.metrics[:, names], compiled.metrics, rtol=0, atol=tolerance * scale
        )
    assert python.batch.state_hash() == compiled.batch.state_hash()
    assert ends >= 40


def examples(language):
    guide = (ROOT / "docs" / "tasks.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code, shown", zip(examples("python"), examples("text"), strict=True), ids=["task", "terrain"])
def test_the_examples_of_the_guide_run_and_print_what_is_shown(code, shown):
    assert len(code.splitlines()) <= 60
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout == shown


def test_model_as_text_file_or_model(tmp_path):
    (tmp_path / "cart.xml").write_text(CART)
    for model in (
        CART,
        tmp_path / "cart.xml",
        str(tmp_path / "cart.xml"),
        stiction.Model.from_xml(CART),
    ):
        env = stiction.TaskEnv(Pendulum(model=model), 2, seed=1)
        assert env.obs.tobytes() == stiction.TaskEnv(Pendulum, 2, seed=1).obs.tobytes()
    with pytest.raises(stiction.ArgumentError, match="model: not set"):
        stiction.TaskEnv(stiction.Task, 2)


def test_options_go_to_the_task():
    env = stiction.TaskEnv(Pendulum, 50, reset_noise_scale=0.05)
    assert 0.04 < np.abs(env.obs).max() <= 0.05
    with pytest.raises(stiction.ArgumentError, match="reset_noise_scale"):
        stiction.TaskEnv(Pendulum(), 2, reset_noise_scale=0.05)


@pytest.mark.parametrize(
    "hook, wrong",
    [
        ("observe", lambda self: np.zeros(4)),
        ("reward", lambda self: np.zeros((3, 1))),
        ("terminated", lambda self: False),
        ("metrics", lambda self: {"reward_survive": np.zeros(2), "angle": np.zeros(3)}),
    ],
)
def test_wrong_shapes_name_the_hook(hook, wrong):
    task = type("Wrong", (Pendulum,), {hook: wrong})
    with pytest.raises(stiction.ArgumentError, match=f"Wrong.{hook}"):
        stiction.TaskEnv(task, 3).step(np.zeros((3, 1)))


def test_missing_hooks_are_named():
    with pytest.raises(NotImplementedError, match="Bare.observe"):
        stiction.TaskEnv(type("Bare", (stiction.Task,), {"model": CART}), 2)


def test_own_parameters_may_be_written_in_reset_and_are_checked():
    class Heavy(Pendulum):
        factor = 2.0

        def reset(self, ids):
            mass = self.batch.param("body_mass")
            mass[ids, 2] = self.batch.model.body_mass[2] * self.factor
            return super().reset(ids)

    env = stiction.TaskEnv(Heavy, 3)
    assert np.allclose(env.batch.param("body_mass")[:, 2], 2 * env.batch.model.body_mass[2])
    with pytest.raises(stiction.ArgumentError, match="body_mass"):
        stiction.TaskEnv(type("Light", (Heavy,), {"factor": -1.0}), 3)


def test_actions_other_than_controls():
    class Velocity(Pendulum):
        num_actions, action_low, action_high = 2, -1, [1, 2]

        def act(self, action):
            self.batch.ctrl[:, 0] = action.sum(axis=1)

    env = stiction.TaskEnv(Velocity, 3)
    assert env.action_low.tolist() == [-1, -1] and env.action_high.tolist() == [1, 2]
    env.step(np.tile([1.0, 0.5], (3, 1)))
    assert env.batch.ctrl.tolist() == [[1.5]] * 3


def test_observations_of_the_critic():
    class Blind(Pendulum):
        def observe(self):
            return self.batch.qpos

        def observe_critic(self):
            return np.hstack([self.batch.qpos, self.batch.qvel])

    plain = stiction.TaskEnv(Pendulum, 6, seed=3)
    blind = stiction.TaskEnv(Blind, 6, seed=3)
    noisy = stiction.RandomizedEnv.open(
        stiction.TaskEnv, Blind, 6, stiction.Randomization(), seed=3
    )
    assert plain.critic_obs is plain.obs and blind.num_obs == 2
    for k in range(30):
        for env in (blind, noisy):
            held = env.critic_obs.copy(), env.critic_obs
            env.step(actions(env, k))
            assert held[0].tobytes() == held[1].tobytes()
        plain.step(actions(plain, k))
        for env in (blind, noisy):
            assert env.critic_obs.tobytes() == plain.obs.tobytes()
            assert env.obs.tobytes() == plain.obs[:, :2].tobytes()
    assert plain.final_episode_length.max() > 0
    wrong = type("Wrong", (Blind,), {"observe_critic": lambda self: np.zeros((2, 3))})
    with pytest.raises(stiction.ArgumentError, match="Wrong.observe_critic"):
        stiction.TaskEnv(wrong, 6)


def test_the_snippets_of_the_guide_to_environments_run():
    pytest.importorskip("gymnasium")
    guide = (ROOT / "docs" / "environments.md").read_text().replace("4096", "8")
    first, last = re.findall(r"^```py\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    trainers = "from stiction.adapters"
    names = {
        "stiction": stiction,
        "actions": np.zeros((8, 8)),
        "gymnasium": __import__("gymnasium"),
    }
    exec("\n".join(line for line in first.splitlines() if trainers not in line), names)
    assert names["reward"].shape == (8,) and names["envs"].num_envs == 8
    exec(last, names)
    assert names["env"].batch.param_is_own("dof_damping") and names["envs"].env.id == "Ant-v5"


# ------------------------------------------------------------------------------- how episodes ended


class Ends(Pendulum):
    max_episode_steps, metric_names = 5, ("count",)

    def setup(self):
        self.seen = []

    def reset(self, ids):
        e = self.ended
        self.seen.append((list(ids), e.length[ids].tolist(), e.terminated[ids].tolist(), e.truncated[ids].tolist(),
                          e.metrics["count"][ids].tolist()))  # fmt: skip
        return super().reset(ids)

    def terminated(self):
        return (self.episode_length == 3) & (self.xp.arange(self.num_envs) == 1)

    def metrics(self):
        return {"count": self.xp.astype(self.episode_length, self.xp.float32) * 10}


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_a_reset_knows_how_the_episode_ended(autoreset):
    env = stiction.TaskEnv(Ends, 3, autoreset=autoreset)
    env.reset()
    del env.task.seen[:]
    for _ in range(4):
        env.step(np.zeros((3, env.num_actions)))
    assert env.task.seen == [([1], [3], [True], [False], [30])]
    del env.task.seen[:]
    env.reset([0])  # 4 steps of its episode are over, and nothing ended it
    assert env.task.seen == [([0], [4], [False], [False], [40])]
    for _ in range(2):
        env.step(np.zeros((3, env.num_actions)))
    assert env.task.seen[1] == ([2], [5], [False], [True], [50])
    again = stiction.TaskEnv(Ends, 3, autoreset=autoreset)
    again.restore(env.snapshot())
    assert again.task.ended.length.tolist() == env.task.ended.length.tolist()
