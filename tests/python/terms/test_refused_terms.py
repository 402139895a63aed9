"""What of a task made of terms is refused, by the name of the term; and other numbers for terms by their paths."""

import numpy as np
import pytest

import stiction
from stiction import terms
from stiction.randomization import NormalNoise
from stiction.terms import Action, Event, Observation, Reward, Termination
from walker import Walk, task_of

# ------------------------------------------------------------------------------- refused


def bad(task):
    return np.zeros(3)


@pytest.mark.parametrize(
    "terms_of_it, message",
    [
        (dict(rewards={"slip": Reward(terms.foot_slip, sensr="feet")}),
         r"Small.rewards\['slip'\]: foot_slip has no parameter 'sensr'; nearest: 'sensor'"),
        (dict(rewards={"track": Reward(terms.track_linear_velocity)}), r"Small.rewards\['track'\]: track_linear_velocity needs std"),
        (dict(rewards={"track": terms.foot_slip}), r"Small.rewards\['track'\]: given function; expected Reward"),
        (dict(rewards={"track": Observation(terms.base_height)}), r"Small.rewards\['track'\]: given Observation; expected Reward"),
        (dict(rewards=[Reward(terms.alive)]), r"Small.rewards: given list; expected a dict of terms by name"),
        (dict(rewards={"three": Reward(bad)}), r"Small.rewards\['three'\]: gave shape \(3,\); expected \(2,\)"),
        (dict(observations={"three": Observation(bad)}), r"Small.observations\['three'\]: gave shape \(3,\)"),
        (dict(observations={}), r"Small.observations: there are none"),
        (dict(observations={"z": Observation(terms.base_height, delay=(3, 1))}), r"Small.observations\['z'\]: delay = \(3, 1\)"),
        (dict(observations={"z": Observation(terms.base_height, history=0)}), r"history = 0: must be a whole number >= 1"),
        (dict(observations={"z": Observation(terms.base_height, noise=NormalNoise(np.ones(2)))}), r"noise = \[1. 1.\]: must be >= 0, one number or 1"),
        (dict(observations={"z": Observation(terms.base_height, scale=(1, 2))}), r"scale: given shape \(2,\); expected one number or 1"),
        (dict(observations={"c": Observation(terms.command, name="walk")}), r"no command 'walk'; there are none"),
        (dict(terminations={"fell": Termination(terms.tilted)}), r"tilted needs degrees"),
        (dict(events={"push": Event(terms.push, mode="interval")}), r"Small.events\['push'\]: interval = None"),
        (dict(events={"push": Event(terms.push, mode="often")}), r"mode = 'often': must be one of startup, reset, interval"),
        (dict(actions={"a": Action(actuators="left_nee")}), r"Small.actions\['a'\]: no actuator fits 'left_nee'; nearest: 'left_knee'"),
        (dict(actions={"a": Action(), "b": Action(".*hip")}), r"Small.actions: two terms write left_hip"),
        (dict(actions={"a": Action(scale={".*hip": 1})}), r"Small.actions\['a'\]: scale: no pattern fits 'left_knee'"),
        (dict(commands={"v": terms.VelocityCommand(x=(1, 0))}), r"Small.commands\['v'\]: x = \(1, 0\)"),
        (dict(keyframe="squat"), r"squat"),
    ],
)  # fmt: skip
def test_what_can_not_be_is_refused_by_its_name(terms_of_it, message):
    with pytest.raises((stiction.ArgumentError, stiction.Error), match=message):
        env = stiction.TaskEnv(task_of(**terms_of_it), 2)
        env.step(np.zeros((2, env.num_actions)))


def test_errors_in_a_function_say_which_term_it_was():
    Wrong = task_of(rewards={"r": Reward(lambda task: task.nothing)})
    with pytest.raises(AttributeError) as e:
        stiction.TaskEnv(Wrong, 1).step(np.zeros((1, 4)))
    assert e.value.__notes__ == ["in Small.rewards['r']"]


def test_numbers_that_are_none_name_term_environment_and_step():
    def at_two(task):
        return np.where((task.episode_length == 2) & (np.arange(task.num_envs) == 1), np.nan, 1.0)

    env = stiction.TaskEnv(task_of(rewards={"fine": Reward(terms.alive), "r": Reward(at_two)}), 3)
    env.step(np.zeros((3, 4)))
    with pytest.raises(stiction.Error, match=r"Small.rewards\['r'\]: environment 1: nan after 2 steps of its episode 0"):
        env.step(np.zeros((3, 4)))
    env = stiction.TaskEnv(task_of(observations={
        "z": Observation(terms.base_height), "o": Observation(lambda t: np.stack([np.ones(3), at_two(t)], 1), history=2)}), 3)  # fmt: skip
    env.step(np.zeros((3, 4)))
    with pytest.raises(stiction.Error, match=r"Small.observe: environment 1, number 4 \(o\[3\]\): nan after 2 steps"):
        env.step(np.zeros((3, 4)))


# ------------------------------------------------------------------------------- other numbers


def test_overrides_change_weights_parameters_and_fields():
    env = stiction.TaskEnv(Walk, 2, set={
        "rewards.slip": -0.5, "rewards.track.std": 0.25, "rewards.air": None, "commands.velocity.x": [0, 0.1],
        "observations.joints.noise": 0.5, "events.push.interval": [1, 2], "events.friction": None,
        "actions.legs.scale": 0.1, "sensors.feet.threshold": 5, "terminations.fell.degrees": 30,
    })  # fmt: skip
    task = env.task
    assert task.weights["slip"] == -0.5 and task.rewards["track"].params["std"] == 0.25 and "air" not in task.rewards
    assert task.commands["velocity"].x == (0, 0.1) and task.observations["joints"].noise == 0.5
    assert task.events["push"].interval == (1, 2) and "friction" not in task.events
    assert task.actions["legs"].scale == 0.1 and task.sensors["feet"].threshold == 5
    assert task.terminations["fell"].params["degrees"] == 30
    assert Walk.rewards["slip"].weight == -0.1 and Walk.commands["velocity"].x == (-1, 1), "of this instance alone"
    assert env.task_options["set"]["rewards.slip"] == -0.5


@pytest.mark.parametrize(
    "path, value, message",
    [
        ("reward.slip", 1, "set reward.slip: no list of terms 'reward'; nearest: 'rewards'"),
        ("rewards.slp", 1, "set rewards.slp: no term 'slp' in rewards; nearest: 'slip'"),
        ("rewards.slip.sensr", 1, "no 'sensr' of this term; nearest: 'sensor'"),
        ("rewards.slip", "much", "set rewards.slip: 'much': must be a number"),
        ("rewards.slip", True, "set rewards.slip: True: must be a number"),
        ("observations.joints.history", 1.5, "must be a whole number"),
        ("observations.joints", 1, "set observations.joints: which number of it"),
        ("commands.velocity.x", 3, "must be like"),
        ("terminations.away.time_out", 1, "must be true or false"),
    ],
)
def test_wrong_overrides_are_refused(path, value, message):
    with pytest.raises(stiction.ArgumentError, match=message):
        stiction.TaskEnv(Walk, 1, set={path: value})


def test_tasks_without_terms_have_nothing_to_set():
    class Hooks(stiction.Task):
        model = Walk.model

    with pytest.raises(stiction.ArgumentError, match="set rewards.a: Hooks is not made of terms"):
        stiction.TaskEnv(Hooks, 1, set={"rewards.a": 1})
