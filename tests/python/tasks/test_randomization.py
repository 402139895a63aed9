"""Noise, delays and drawn parameters: what they do, that they depend on the seed alone, what is refused."""

import numpy as np
import pytest

import stiction
from kinds import Pendulum, actions
from stiction.randomization import (
    NormalNoise,
    Param,
    Randomization,
    UniformNoise,
    actuator_strength,
    centre_of_mass,
    friction,
    mass,
    payload,
    set_param,
)


def randomized(num_envs=1, seed=0, task=Pendulum, autoreset="same_step", **what):
    return stiction.RandomizedEnv.open(
        stiction.TaskEnv, task, num_envs, Randomization(**what), seed=seed, autoreset=autoreset
    )


def test_nothing_given_changes_nothing():
    plain, wrapped = stiction.TaskEnv(Pendulum, 5, seed=2), randomized(5, seed=2)
    for k in range(40):
        plain.step(actions(plain, k))
        wrapped.step(actions(plain, k))
        for name in (
            "obs",
            "reward",
            "terminated",
            "final_obs",
            "metrics",
            "episode_length",
            "episode_return",
        ):
            assert getattr(plain, name).tobytes() == getattr(wrapped, name).tobytes(), name
    assert plain.final_episode_length.max() > 0
    assert wrapped.id == "Pendulum" and wrapped.dt == plain.dt


@pytest.mark.parametrize(
    "noise, deviation",
    [
        (UniformNoise(0.3), 0.3 / np.sqrt(3)),
        (NormalNoise(np.array([0.0, 0.1, 0.2, 3.0])), [0, 0.1, 0.2, 3]),
    ],
)
def test_observation_noise(noise, deviation):
    n, steps = 500, 8  # standard error of a deviation: 1 / sqrt(2 n steps) = 1.1 %
    env = randomized(n, observation_noise=noise)
    errors = [env.obs - env.critic_obs]
    for _ in range(steps):
        env.step(np.zeros((n, 1)))
        errors.append(env.obs - env.critic_obs)
    errors = np.array(errors)
    np.testing.assert_allclose(errors.std(axis=(0, 1)), deviation, rtol=0.06, atol=1e-7)
    assert np.abs(errors.mean(axis=(0, 1))).max() < 0.06 * np.max(deviation)
    correlation = np.corrcoef(errors[:-1, :, 3].ravel(), errors[1:, :, 3].ravel())[0, 1]
    assert abs(correlation) < 5 / np.sqrt(n * steps), "steps draw for themselves"


def test_observation_delay():
    """What is seen is what was true `lag` steps ago, and the first observation before that."""
    env = randomized(60, observation_delay=(1, 3))
    lag = env._observations.lag.copy()
    assert set(lag) == {1, 2, 3}
    history = [env.critic_obs.copy()]
    for k in range(8):
        env.step(np.full((60, 1), 0.02))
        assert not env.terminated.any()
        history.append(env.critic_obs.copy())
        for i in range(60):
            assert np.array_equal(env.obs[i], history[max(0, k + 1 - lag[i])][i])


def test_a_new_episode_forgets_what_was_seen():
    env = randomized(8, seed=3, observation_delay=(2, 2), action_delay=(2, 2))
    ends = 0
    for k in range(40):
        env.step(actions(env, k))
        ended = env.terminated
        ends += ended.sum()
        assert np.array_equal(env.obs[ended], env.critic_obs[ended])
        assert (env._actions.ring[:, ended] == 0).all()
    assert ends > 5


def test_action_delay():
    """The task gets the action of `lag` steps ago, and zero before the first."""
    env = randomized(60, action_delay=(0, 2))
    lag = env._actions.lag.copy()
    assert set(lag) == {0, 1, 2}
    given = []
    for k in range(6):
        given.append(np.full((60, 1), 0.1 * (k + 1), np.float32))
        env.step(given[-1])
        expected = [given[k - lag[i]][i, 0] if k >= lag[i] else 0 for i in range(60)]
        assert np.array_equal(env.batch.ctrl[:, 0], np.array(expected, np.float32))


def test_parameters_are_drawn_at_each_reset_from_the_nominal_value():
    env = randomized(200, params=[mass(0.5, 1.5), Param("dof_damping", 0.0, 2.0, "add", each=True)])
    model, seen = env.batch.model, []
    for _ in range(4):
        ratio = env.batch.param("body_mass")[:, 1:] / model.body_mass[1:]
        inertia = env.batch.param("body_inertia")[:, 1:] / model.body_inertia[1:]
        np.testing.assert_allclose(inertia, np.repeat(ratio[:, :, None], 3, 2), rtol=1e-6)
        added = env.batch.param("dof_damping") - model.dof_damping
        for x, low, high in ((ratio, 0.5, 1.5), (added, 0, 2)):
            assert (x >= low - 1e-6).all() and (x <= high + 1e-6).all()
            # five standard errors of a mean of 400 uniform numbers
            assert abs(x.mean() - (low + high) / 2) < 5 * (high - low) / np.sqrt(12 * 400)
        assert abs(np.corrcoef(ratio.T)[0, 1]) < 5 / np.sqrt(200), "bodies draw for themselves"
        seen.append(ratio.copy())
        env.reset()
    # the first reset repeats episode 0
    assert (
        np.array_equal(seen[0], seen[1])
        and not (seen[1] == seen[2]).any()
        and not (seen[2] == seen[3]).any()
    )


def test_only_the_environments_that_are_reset_draw():
    env = randomized(6, seed=3, params=[mass(0.5, 1.5)])
    before = env.batch.param("body_mass").copy()
    changed = np.zeros(6, bool)
    for k in range(12):
        env.step(actions(env, k))
        changed |= env.terminated
        assert np.array_equal((env.batch.param("body_mass") != before).any(axis=1), changed)
        if changed.any():
            break
    assert 0 < changed.sum() < 6


def test_parameters_act_on_the_physics():
    light = randomized(1, params=[mass(0.5, 0.5)])
    heavy = randomized(1, params=[mass(2.0, 2.0)])
    for env in (light, heavy):
        env.step(np.ones((1, 1)))
    assert light.batch.qvel[0, 0] > 2 * heavy.batch.qvel[0, 0]


def test_interval():
    """Drawn again after every 2 to 4 steps, at times of its own in each environment."""
    endless = type("Endless", (Pendulum,), {"terminated": stiction.Task.terminated})
    env = randomized(100, task=endless, params=[mass(0.5, 1.5, each=False, interval=(0.08, 0.16))])
    before, last, gaps = env.batch.param("body_mass").copy(), np.zeros(100, int), []
    for k in range(1, 40):
        env.step(np.zeros((100, 1)))
        now = env.batch.param("body_mass")
        drawn = (now != before).any(axis=1)
        gaps += list(k - last[drawn])
        last[drawn] = k
        before = now.copy()
    assert set(gaps) == {2, 3, 4}
    assert min(gaps.count(g) for g in (2, 3, 4)) > len(gaps) / 5


def test_environments_do_not_depend_on_their_neighbours():
    what = {
        "observation_noise": NormalNoise(0.1),
        "observation_delay": (0, 3),
        "action_delay": (0, 3),
        "params": [mass(0.5, 2.0), Param("jnt_stiffness", 0, 5, "add", interval=(0.04, 0.2))],
    }
    many, alone = randomized(20, seed=50, **what), randomized(1, seed=63, **what)
    for k in range(40):
        many.step(actions(many, k))
        alone.step(actions(alone, k, first=13))
        assert many.obs[13].tobytes() == alone.obs[0].tobytes()
        assert (
            many.batch.param("body_mass")[13].tobytes()
            == alone.batch.param("body_mass")[0].tobytes()
        )
    assert alone.final_episode_length[0] > 0


GO = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body name="trunk" pos="0 0 .1"><freejoint/><geom name="foot" size=".1" mass="2"/></body></worldbody></mujoco>"""


class Ball(stiction.Task):
    model = GO
    num_actions = 0

    def observe(self):
        return self.batch.qpos

    def reward(self):
        return np.zeros(self.num_envs)


def test_typed_setters():
    env = randomized(
        50, task=Ball,
        params=[friction(0.2, 0.8, ["foot"]), payload(-0.5, 1.0, "trunk"), centre_of_mass(0.02, ["trunk"]),
                Param("gravity", -0.5, 0.5, "add", rows=(2,))],
    )  # fmt: skip
    b, m = env.batch, env.batch.model
    foot = b.param("geom_friction")
    assert np.ptp(foot[:, 1]) > 0.3 and (foot[:, 0] == 1).all(), "the floor keeps its own"
    assert (foot[:, 1] >= 0.2).all() and (foot[:, 1] <= 0.8).all()
    assert (
        1.5 <= b.param("body_mass")[:, 1].min() < 1.8
        and 2.7 < b.param("body_mass")[:, 1].max() <= 3
    )
    shift = b.param("body_ipos")[:, 1] - m.body_ipos[1]
    assert (np.ptp(shift, axis=0) > 0.02).all() and np.abs(shift).max() <= 0.02
    gravity = b.param("gravity")
    assert (gravity[:, :2] == 0).all() and np.ptp(gravity[:, 2]) > 0.5
    strong = randomized(2, params=[actuator_strength(0.5, 0.5)])
    strong.step(np.ones((2, 1)))
    plain = stiction.TaskEnv(Pendulum, 2)
    plain.step(np.ones((2, 1)))
    np.testing.assert_allclose(
        strong.batch.qfrc_actuator[:, 0], plain.batch.qfrc_actuator[:, 0] / 2, rtol=1e-6
    )


def test_log_uniform():
    env = randomized(400, params=[Param("dof_damping", 0.01, 100, "set", each=True, log=True)])
    x = np.log10(env.batch.param("dof_damping"))
    assert x.min() >= -2 - 1e-6 and x.max() <= 2 + 1e-6
    assert abs(x.mean()) < 5 * 4 / np.sqrt(12 * 800)


@pytest.mark.parametrize(
    "params, why",
    [
        ([mass(-0.1, 1.0)], "body_mass"),
        ([payload(-6.0, 0.0, "pole")], "body_mass"),
        ([Param("body_inertia", 0.1, 9.0, columns=(0,))], "sum of the other two"),
        ([Param("geom_size", 1.0, 1.5)], "at most the model's"),
        ([Param("dof_damping", -2, 1, "add")], "dof_damping"),
        ([Param("body_quat", 0.5, 0.9)], "length 1"),
        ([Param("jnt_range", 2.0, 3.0, "add", columns=(0,))], "upper bound"),
        ([Param("dof_damping", 2, 1)], "low <= high"),
        ([Param("dof_damping", np.nan, 1)], "finite"),
        ([Param("dof_damping", 0, 1, log=True)], "> 0"),
        ([Param("dof_damping", 0, 1, "times")], "scale, add or set"),
        ([Param("dof_dampin", 0, 1)], "dof_damping"),
        ([mass(1, 2, ["pol"])], "cart, pole"),
        ([mass(1, 2, [3])], r"\[0, 3\)"),
        ([mass(1, 2), payload(0, 1, "pole")], "same numbers"),
    ],
)
def test_what_is_refused(params, why):
    with pytest.raises(stiction.ArgumentError, match=why):
        randomized(2, params=params)


@pytest.mark.parametrize(
    "what",
    [
        {"observation_noise": UniformNoise(-1.0)},
        {"observation_noise": NormalNoise(np.ones(3))},
        {"observation_noise": NormalNoise(np.nan)},
        {"observation_delay": (2, 1)},
        {"action_delay": (-1, 1)},
    ],
)
def test_noise_and_delay_out_of_range(what):
    with pytest.raises(stiction.ArgumentError, match=next(iter(what))):
        randomized(2, **what)


def test_two_terms_on_different_bodies():
    env = randomized(30, params=[mass(0.5, 1.5, ["cart"]), payload(0, 1, "pole")])
    m = env.batch.param("body_mass")
    assert np.ptp(m[:, 1]) > 1 and np.ptp(m[:, 2]) > 0.3


def test_the_task_keeps_its_own_parameters():
    class Own(Pendulum):
        def setup(self):
            self.batch.param("body_mass")

    with pytest.raises(stiction.ArgumentError, match="the task sets it itself"):
        randomized(2, task=Own, params=[mass(0.5, 1.5)])


def test_set_param_refuses_and_undoes():
    batch = stiction.TaskEnv(Pendulum, 3).batch
    set_param(batch, "body_mass", [0, 1, 2], ids=[1])
    assert batch.param("body_mass")[1].tolist() == [0, 1, 2]
    before = batch.param("body_mass").copy()
    for bad in (-1, np.nan):
        with pytest.raises(stiction.ArgumentError, match="body_mass"):
            set_param(batch, "body_mass", bad, ids=[0, 2])
        assert np.array_equal(batch.param("body_mass"), before)


def test_make_takes_a_randomization():
    pytest.importorskip("gymnasium")
    what = Randomization(observation_noise=UniformNoise(0.1), params=[mass(0.5, 1.5)])
    for task in (Pendulum, "InvertedPendulum-v5"):
        envs = stiction.make(task, 4, randomization=what, autoreset="next_step")
        assert np.ptp(envs.env.batch.param("body_mass")[:, 1]) > 0
        obs, *_ = envs.step(np.zeros((4, 1)))
        assert (obs != envs.env.critic_obs).all()


def test_needs_an_environment_that_does_not_reset_itself():
    with pytest.raises(stiction.ArgumentError, match="disabled"):
        stiction.RandomizedEnv(stiction.TaskEnv(Pendulum, 2), Randomization())
