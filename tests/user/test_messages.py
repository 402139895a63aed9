"""What wrong programs say: one line each, with what to do."""

import copy
import pickle

import numpy as np
import pytest

import stiction

SWING = """<mujoco model="swing"><worldbody><body><joint name="hinge"/><geom size="0.1"/></body></worldbody>
  <actuator><motor joint="hinge" ctrlrange="-1 1"/></actuator></mujoco>"""


class Swing(stiction.Task):
    model = SWING

    def observe(self):
        return self.batch.qpos

    def reward(self):
        return self.batch.qpos[:, 0]


def said(do, kind=stiction.Error) -> str:
    with pytest.raises(kind) as error:
        do()
    (line,) = str(error.value).splitlines()
    return line


def test_metrics_without_their_names():
    class Named(Swing):
        def metrics(self):
            return {"height": self.batch.qpos[:, 0]}

    assert said(lambda: stiction.TaskEnv(Named)) == "Named.metrics: metric_names is empty: name there what it returns"


def test_metrics_of_other_names():
    class Named(Swing):
        metric_names = ("height",)

        def metrics(self):
            return {"heigth": self.batch.qpos[:, 0]}

    env = stiction.TaskEnv(Named)
    assert said(lambda: env.step([[0]])) == "Named.metrics: gave ['heigth']; metric_names says ['height']"


@pytest.mark.parametrize("wrong, meant", [
    ("frameskip", "frame_skip"), ("frame_skips", "frame_skip"), ("max_episodes_steps", "max_episode_steps"),
    ("metrics_names", "metric_names"), ("Observe_critic", "observe_critic"), ("terminate", "terminated"), ("height", None), ("ppo_setting", "ppo_settings"),
])  # fmt: skip
def test_a_misspelt_attribute(wrong, meant):
    task = type("Swing", (Swing,), {wrong: 4})
    if meant is None:  # more than a letter
        stiction.TaskEnv(task)
        return
    assert said(lambda: stiction.TaskEnv(task)) == (
        f"Swing.{wrong}: a task has no such attribute or hook; meant is {meant!r}? A name of your own should differ more from it"
    )
    stiction.TaskEnv(type("Swing", (Swing,), {wrong: 4, meant: getattr(Swing, meant)}))  # it has both


def test_the_batch_before_there_is_one():
    class Early(Swing):
        def __init__(self):
            self.joint = self.batch.model.joint("hinge")

    assert said(lambda: stiction.TaskEnv(Early)) == (
        "Early.batch: not there before setup(): look things up there; __init__ has the options of the task alone"
    )


@pytest.mark.parametrize("hook", [
    "reset", "begin", "act", "measure", "terminated", "reward", "truncated", "command", "observe", "observe_critic", "metrics",
])  # fmt: skip
def test_physics_steps_inside_of_a_hook(hook):
    class Seen(Swing):
        metric_names = ("height",)

        def metrics(self):
            return {"height": self.batch.qpos[:, 0]}

        def observe_critic(self):
            return self.batch.qpos

    def steps(self, *given):
        self.batch.step()
        return getattr(Seen, hook)(self, *given)

    task = type("Steps", (Seen,), {hook: steps})
    assert said(lambda: stiction.TaskEnv(task).step([[0]])) == (
        f"Steps.{hook}: stepped the physics, which TaskEnv does: frame_skip steps between act() and reward()"
    )


@pytest.mark.parametrize("start, given", [
    (np.zeros((2, 1)), "ndarray of shape (2, 1)"), (np.zeros(1), "ndarray of shape (1,)"), ((np.zeros((2, 1)),), "(array("),
])  # fmt: skip
def test_a_reset_that_returns_one_array(start, given):
    class Resets(Swing):
        def reset(self, ids):
            return start

    line = said(lambda: stiction.TaskEnv(Resets, 2))
    assert line.startswith(f"Resets.reset: gave {given}")
    assert line.endswith("; expected (qpos, qvel), or None: the reference pose")


@pytest.mark.parametrize("make", ["Batch", "Reference"])
def test_a_name_in_the_place_of_a_model(make):
    assert said(lambda: getattr(stiction, make)("go2"), ValueError) == (
        f"model: given 'go2'; {make} takes a stiction.Model: stiction.assets.load(\"go2\") or stiction.Model.from_file(\"robot.xml\")"
    )


@pytest.mark.parametrize("make", [
    lambda **k: stiction.Batch(stiction.Model.from_xml(SWING), **k),
    lambda **k: stiction.Reference(stiction.Model.from_xml(SWING), **k),
    lambda **k: stiction.Env("Ant-v5", **k),
    lambda **k: stiction.TaskEnv(Swing, **k),
])  # fmt: skip
def test_options_that_are_none(make):
    line = said(lambda: make(options={}), ValueError)
    assert line.startswith("options: given {}; expected stiction.Options(...), or None")


@pytest.mark.parametrize("make, state", [
    (lambda: stiction.Batch(stiction.Model.from_xml(SWING), 2), "a Batch does not pickle: send its model and options"),
    (lambda: stiction.Env("Ant-v5", 2), "an Env does not pickle: send its id and options"),
    (lambda: stiction.TaskEnv(Swing, 2), "a TaskEnv does not pickle: send its task and options"),
])  # fmt: skip
def test_what_does_not_travel(make, state):
    thing = make()
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        line = said(lambda: way(thing))
        assert line.startswith(state) and "snapshot() and restore()" in line
    assert repr(thing).startswith("<stiction.") and "num_envs=2" in repr(thing)


def test_what_is_around_another():
    env = stiction.RandomizedEnv.open(stiction.Env, "Ant-v5", 2, stiction.Randomization())
    assert repr(env) == "<stiction.RandomizedEnv around <stiction.Env 'Ant-v5' num_envs=2>>"
    assert said(lambda: pickle.dumps(env)).startswith("a RandomizedEnv does not pickle: send its task, options and randomization and")
