"""Tasks made of terms: what they draw, remember and log, and what is refused by the name of the term."""

import math

import numpy as np
import pytest

import stiction
from stiction import terms
from stiction.randomization import NormalNoise
from stiction.terms import Action, Curriculum, Event, Memory, Observation, Reward, Termination, UniformCommand
from walker import WALKER, Walk, actions, task_of

RESULTS = ("obs", "final_obs", "reward", "terminated", "truncated", "metrics", "critic_obs", "episode_length")


def results(env, rows=slice(None)):
    return {name: np.array(getattr(env, name))[rows] for name in RESULTS}


def same(a, b):
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


# ------------------------------------------------------------------------------- whole episodes


def test_an_environment_does_the_same_alone_and_among_others():
    many, one = stiction.TaskEnv(Walk, 9, seed=4), stiction.TaskEnv(Walk, 1, seed=4 + 5)
    ended = pushed = 0
    for step in range(150):
        many.step(actions(many, step))
        one.step(actions(one, step, first=5))
        same(results(many, slice(5, 6)), results(one))
        ended += int((one.terminated | one.truncated)[0])
    assert ended >= 2, "several episodes"
    assert not np.array_equal(many.obs[0], many.obs[1])


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_snapshots_go_on_with_the_same_bits(autoreset):
    make = lambda: stiction.TaskEnv(Walk, 5, seed=1, autoreset=autoreset)
    there, here = make(), make()
    for step in range(43):
        there.step(actions(there, step))
    here.restore(there.snapshot())
    for step in range(43, 120):
        there.step(actions(there, step))
        here.step(actions(here, step))
        same(results(there), results(here))


def test_a_step_in_which_a_term_fails_has_not_happened():
    class Fragile(Walk):
        fail = False
        rewards = Walk.rewards | {"glass": Reward(lambda task: 1 / 0 if Fragile.fail else task.robot.yaw, 0.1)}

    there, here = stiction.TaskEnv(Fragile, 4, seed=2), stiction.TaskEnv(Fragile, 4, seed=2)
    for step in range(30):
        if step in (7, 20):
            Fragile.fail = True
            with pytest.raises(ZeroDivisionError) as e:
                there.step(actions(there, step + 1))
            assert e.value.__notes__ == ["in Fragile.rewards['glass']"]
            Fragile.fail = False
        there.step(actions(there, step))
        here.step(actions(here, step))
        same(results(there), results(here))


class Hooks(stiction.Task):
    """A task written with hooks."""

    model, frame_skip, max_episode_steps = WALKER, 4, 50
    metric_names = ("rewards/track", "rewards/rate")

    def setup(self):
        key = self.batch.model.key("home")
        self.start = np.array(self.batch.model.key_qpos[key])
        self.before = np.zeros((self.num_envs, 4), np.float32)
        self.last = np.zeros((self.num_envs, 4), np.float32)

    def reset(self, ids):
        self.before[ids] = self.last[ids] = 0
        return np.tile(self.start, (len(ids), 1)), np.zeros((len(ids), self.batch.model.nv))

    def act(self, action):
        self.before[:], self.last[:] = self.last, action
        offset, scale = np.float32(self.start[7:]), np.float32(0.5)
        low, high = (np.float32((self.batch.model.actuator_ctrlrange[:, k] - self.start[7:]) / 0.5) for k in (0, 1))
        self.batch.ctrl[:] = offset + scale * np.clip(action, low, high)

    def _velocity(self):
        return stiction.rotations.rotate_back(self.batch.xquat[:, 1], self.batch.xvel[:, 1, 3:])

    def observe(self):
        return np.hstack([self._velocity(), self.batch.qpos[:, 7:] - self.start[7:]])

    def _terms(self):
        error = self._velocity()[:, 0] - 0.5
        rate = self.last - self.before
        value = np.float32(np.exp(-(error * error) / 0.25)), np.float32((rate * rate).sum(1))
        return [np.float32(w * self.dt) * x for w, x in zip((1.0, -0.1), value)]

    def reward(self):
        return sum(self._terms())

    def terminated(self):
        g = stiction.rotations.rotate_back(self.batch.xquat[:, 1], np.array([0, 0, -1.0]))
        return g[:, 2] > -math.cos(math.radians(60))

    def metrics(self):
        return dict(zip(self.metric_names, self._terms()))


def test_terms_give_the_same_bits_as_hooks():
    def speed(task, aim):
        error = task.robot.linear_velocity[:, 0] - aim
        return task.xp.exp(-(error * error) / 0.25)

    Terms = task_of(
        max_episode_steps=50,
        actions={"legs": Action(scale=0.5, offset="start")},
        observations={"v": Observation(terms.base_linear_velocity), "q": Observation(terms.joint_positions)},
        rewards={"track": Reward(speed, 1.0, aim=0.5), "rate": Reward(terms.action_rate, -0.1)},
        terminations={"fell": Termination(terms.tilted, degrees=60)},
    )
    there, here = stiction.TaskEnv(Terms, 6), stiction.TaskEnv(Hooks, 6)
    for step in range(120):
        a = 2 * actions(there, step)
        there.step(a)
        here.step(a)
        for name in ("obs", "final_obs", "reward", "terminated", "truncated"):
            np.testing.assert_array_equal(getattr(there, name), getattr(here, name), err_msg=name)
        np.testing.assert_array_equal(there.metrics[:, :2], here.metrics)
    assert there.final_episode_length.min() > 0


# ------------------------------------------------------------------------------- rewards and ends


def test_each_term_is_logged_and_they_add_up():
    env = stiction.TaskEnv(Walk, 7, seed=3)
    names = {name: k for k, name in enumerate(env.metric_names)}
    assert list(names)[:6] == [f"rewards/{n}" for n in Walk.rewards]
    assert list(names)[6:] == ["terminations/fell", "terminations/away", "commands/velocity/error_linear",
                               "commands/velocity/error_yaw"]  # fmt: skip
    seen = {"fell": 0, "away": 0}
    for step in range(150):
        env.step(actions(env, step))
        m = env.metrics
        np.testing.assert_allclose(m[:, :6].sum(1), env.reward, rtol=1e-5, atol=1e-6)
        for name in seen:
            seen[name] += m[:, names[f"terminations/{name}"]].sum()
        np.testing.assert_array_equal(m[:, names["terminations/fell"]] > 0, env.terminated)
        assert (env.truncated[m[:, names["terminations/away"]] > 0] | env.terminated[m[:, names["terminations/away"]] > 0]).all()
    assert seen["fell"] > 0 and seen["away"] > 0, "both ends came"


def test_a_term_has_weight_times_dt_and_a_weight_of_zero_is_not_computed():
    calls = []

    def one(task):
        calls.append(1)
        return task.xp.ones(task.num_envs)

    Two = task_of(rewards={"one": Reward(one, 3.0), "none": Reward(one, 0.0)})
    env = stiction.TaskEnv(Two, 2)
    env.step(np.zeros((2, 4)))
    assert env.reward == pytest.approx(3.0 * 0.02) and len(calls) == 1
    np.testing.assert_array_equal(env.metrics, np.float32([[0.06, 0]] * 2))


def test_hooks_mix_with_terms():
    class Mixed(Walk):
        metric_names = ("height",)

        def height(self):
            return self.robot.position[:, 2]

        rewards = {"height": Reward(height, 1.0), "track": Walk.rewards["track"]}

        def reward(self):
            return np.maximum(super().reward() - 0.01, 0)

        def metrics(self):
            return super().metrics() | {"height": self.height()}

    env = stiction.TaskEnv(Mixed, 3)
    env.step(actions(env, 0))
    height, bonus, track = env.metrics[:, 0], env.metrics[:, 1], env.metrics[:, 2]
    assert env.metric_names[0] == "height" and (height > 0.3).all()
    np.testing.assert_allclose(bonus, np.float32(0.02) * height, rtol=1e-6)
    np.testing.assert_allclose(env.reward, np.maximum(bonus + track - 0.01, 0), rtol=1e-5, atol=1e-7)


# ------------------------------------------------------------------------------- observations


def clock_task(**observation):
    """Observes how many steps the episode has done, so that histories and delays can be read off."""
    count = lambda task: task.episode_length * 1.0
    return task_of(max_episode_steps=12, observations={"t": Observation(count, **observation)})


def test_histories_show_the_oldest_first_and_begin_with_the_first():
    env = stiction.TaskEnv(clock_task(history=3), 2)
    seen = [env.obs[0].tolist()]
    for _ in range(14):
        env.step(np.zeros((2, 4)))
        seen.append(env.obs[0].tolist())
        if len(seen) == 4:
            env.observe()  # changes nothing
    assert seen[:4] == [[0, 0, 0], [0, 0, 1], [0, 1, 2], [1, 2, 3]]
    assert seen[12:14] == [[0, 0, 0], [0, 0, 1]], "nothing of the last episode"


def test_delays_are_drawn_once_for_an_episode_in_steps():
    env = stiction.TaskEnv(clock_task(delay=(1, 4), history=2), 64)
    lags = []
    for step in range(1, 12):
        env.step(np.zeros((64, 4)))
        lags.append(step - env.obs[:, 1])
        np.testing.assert_array_equal(env.obs[:, 0], np.maximum(env.obs[:, 1] - 1, 0))
    late = np.array(lags[4:])
    assert (late == late[0]).all() and set(late[0]) == {1, 2, 3, 4}
    np.testing.assert_array_equal(env.critic_obs[:, 1], 11)  # sees no delay
    env.step(np.zeros((64, 4)))
    for _ in range(5):
        env.step(np.zeros((64, 4)))
    assert not np.array_equal(5 - env.obs[:, 1], late[0]), "another one in the next episode"


def test_noise_is_added_before_clip_and_scale_and_the_critic_has_none():
    base = lambda task: task.xp.ones((task.num_envs, 2))
    n = 4000
    Noisy = task_of(observations={
        "u": Observation(base, noise=0.5, clip=(0.8, 1.2), scale=(10, 100)),
        "n": Observation(base, noise=NormalNoise(0.1)),
    })  # fmt: skip
    env = stiction.TaskEnv(Noisy, n)
    u, normal = env.obs[:, :2], env.obs[:, 2:]
    assert u[:, 0].min() == 8 and u[:, 0].max() == 12 and u[:, 1].max() == pytest.approx(120)
    inside = ((u[:, 0] > 8) & (u[:, 0] < 12)).mean()
    assert abs(inside - 0.4) < 5 * math.sqrt(0.24 / n)
    assert abs(normal.std() - 0.1) < 5 * 0.1 / math.sqrt(4 * n) and abs(normal.mean() - 1) < 5 * 0.1 / math.sqrt(2 * n)
    np.testing.assert_array_equal(env.critic_obs, np.float32([[10, 100, 1, 1]] * n))
    first = env.obs.copy()
    np.testing.assert_array_equal(env.observe(), first)
    env.step(np.zeros((n, 4)))
    assert (env.obs[:, 2] != first[:, 2]).all()


def test_what_a_term_draws_does_not_depend_on_the_others():
    def obs(task):
        return stiction.TaskEnv(task, 3, seed=5).obs

    height = Observation(terms.base_height, noise=0.1)
    alone = obs(task_of(observations={"z": height}))
    beside = obs(task_of(observations={"a": Observation(terms.projected_gravity, noise=1.0), "z": height}))
    np.testing.assert_array_equal(alone[:, 0], beside[:, 3])
    other_name = obs(task_of(observations={"height": height}))
    assert (alone != other_name).all()


# ------------------------------------------------------------------------------- commands, events, curricula


def test_velocity_commands_keep_their_shares_ranges_and_times():
    env = stiction.TaskEnv(task_of(commands={"velocity": terms.VelocityCommand(
        interval=(0.1, 0.2), x=(-1, 2), y=(-0.5, 0.5), yaw=(-0.3, 0.3), standing=0.2, forward=0.3, holding=0.4,
        least_forward=0.5)}, max_episode_steps=0), 3000)  # fmt: skip
    command = env.task.commands["velocity"]
    values, changed = command.value.copy(), np.zeros(3000, int)
    still, ahead = (values == 0).all(1), (values[:, 0] >= 0.5) & (values[:, 1:] == 0).all(1)
    assert abs(still.mean() - 0.2) < 0.04 and abs(ahead.mean() - 0.3 * 0.8) < 0.04
    assert abs(command.holds.mean() - 0.4 * 0.7 * 0.8) < 0.04
    assert values[:, 0].min() < -0.9 and values[:, 0].max() > 1.9 and np.abs(values[:, 1]).max() < 0.5
    error = stiction.rotations.wrap_angle(command.heading - env.task.robot.yaw)
    np.testing.assert_allclose(values[command.holds, 2], np.clip(0.5 * error, -0.3, 0.3)[command.holds])
    gaps = []
    last = np.zeros(3000, int)
    for step in range(1, 31):
        env.step(np.zeros((3000, 4)))
        new = (command.value[:, :2] != values[:, :2]).any(1)
        gaps += (step - last)[new].tolist()
        last[new] = step
        values = command.value.copy()
    assert min(gaps) == 5 and {5, 6, 7, 8, 9, 10} <= set(gaps)


def test_uniform_commands_fill_their_box():
    env = stiction.TaskEnv(task_of(commands={"goal": UniformCommand(low=(0, -1), high=(1, 3))}), 2000)
    value = env.task.commands["goal"].value
    assert (value.min(0) < [0.01, -0.95]).all() and (value.max(0) > [0.99, 2.95]).all()
    before = value.copy()
    env.step(np.zeros((2000, 4)))
    np.testing.assert_array_equal(value, before)


def test_events_come_in_their_modes():
    seen = {"startup": [], "reset": [], "interval": []}

    def note(task, ids, draw, to):
        seen[to].append((task._env.steps, ids.copy(), draw.uniform()[:, 0].copy()))

    Eventful = task_of(max_episode_steps=10, events={
        "a": Event(note, mode="startup", to="startup"),
        "b": Event(note, to="reset"),
        "c": Event(note, interval=(0.04, 0.12), to="interval"),
    })  # fmt: skip
    env = stiction.TaskEnv(Eventful, 40, seed=9)
    for step in range(25):
        env.step(np.zeros((40, 4)))
    assert [len(seen[k]) for k in ("startup", "reset")] == [3, 3], "at the beginning of three episodes"
    for again in seen["startup"][1:]:
        np.testing.assert_array_equal(again[2], seen["startup"][0][2])
    assert (seen["reset"][1][2] != seen["reset"][0][2]).all()
    times = {}
    for step, ids, _ in seen["interval"]:
        for i in ids:
            times.setdefault(int(i), []).append(step)
    waits = [b - a for t in times.values() for a, b in zip(t, t[1:]) if a // 10 == b // 10]
    assert set(waits) == {2, 3, 4, 5, 6}
    values = np.concatenate([u for _, _, u in seen["interval"]])
    assert len(np.unique(values)) == len(values)


def test_what_an_episode_begins_with_is_drawn_for_its_step_0():
    kicks = {}

    def kick(task, ids, draw):
        for i in ids:
            kicks.setdefault(int(i), task._env.steps)

    Late = task_of(
        actions={"legs": Action(delay=(0, 9))},
        observations={"time": Observation(lambda task: task.episode_length + 0, delay=(0, 9))},
        events={"kick": Event(kick, interval=(0.04, 0.4))},
    )
    env = stiction.TaskEnv(Late, 40, seed=5)
    task = env.task
    drawn = {path: task.draw_for(path, None, 0) for path in ("actions.legs delay", "observations.time delay", "events.kick")}
    waits = np.round(drawn["events.kick"].uniform(0.04, 0.4)[:, 0] / task.dt)
    late = [drawn[path].integer(0, 9)[:, 0] for path in ("actions.legs delay", "observations.time delay")]
    moved = np.full(40, -1)
    rest = np.array(env.batch.ctrl)
    for step in range(20):
        env.step(np.full((40, 4), 0.1))
        acts = (env.batch.ctrl != rest).any(1)
        moved[(moved < 0) & acts] = step
        if step == 9:
            np.testing.assert_array_equal(10 - env.obs[:, 0], late[1])
    np.testing.assert_array_equal(moved, late[0])
    first = np.array([kicks[i] for i in range(40)])
    np.testing.assert_array_equal(first, waits - 1)  # in the last of the steps that it waits
    assert len(set(waits)) > 5


def test_pushes_and_starts_are_what_they_say():
    Pushed = task_of(events={
        "start": Event(terms.start_base, x=(1, 2), z=(0.1, 0.2), yaw=(-1, 1), roll=(-0.2, 0.2), linear=(-1, 1)),
        "joints": Event(terms.start_joints, joints=".*hip", scale=(0.5, 1.5), velocity=(-2, 2)),
        "push": Event(terms.push, interval=(0.02, 0.02), linear=((2, 3), (-0.5, 0.5), (0, 0)), angular=((0, 0), (0, 0), (1, 2))),
    })  # fmt: skip
    env = stiction.TaskEnv(Pushed, 500)
    q, v = env.batch.qpos.copy(), env.batch.qvel.copy()
    assert q[:, 0].min() >= 1 and q[:, 0].max() <= 2 and 0.55 < q[:, 2].min() < q[:, 2].max() < 0.67
    roll, pitch, yaw = stiction.rotations.to_euler(q[:, 3:7])
    assert np.abs(roll).max() <= 0.2 + 1e-9 and np.abs(pitch).max() < 1e-9 and 0.9 < np.abs(yaw).max() <= 1
    np.testing.assert_array_equal(q[:, [8, 10]], [[-0.6, -0.6]] * 500)
    assert 0.15 <= q[:, 7].min() and q[:, 7].max() <= 0.45 and 1.9 < np.abs(v[:, 6]).max() <= 2
    env.task.act(np.zeros((500, 4), np.float32))
    pushed = env.batch.qvel - v
    assert (pushed[:, 0] >= 2 - 1e-6).all() and (pushed[:, 0] <= 3 + 1e-6).all() and (pushed[:, 2] == 0).all()
    world = stiction.rotations.rotate(q[:, 3:7], pushed[:, 3:6].astype(float))
    np.testing.assert_allclose(world[:, :2], 0, atol=1e-5)  # float32 of velocities up to 3
    assert (world[:, 2] > 0.99).all() and (world[:, 2] < 2.01).all()


def test_a_start_turns_the_pose_that_the_keyframe_has():
    lying = '<key name="lying" qpos="0 0 0.3 0.5 0.5 0.5 0.5 0 0 0 0"/></keyframe>'
    Lying = task_of(model=WALKER.replace("</keyframe>", lying), keyframe="lying",
                    events={"start": Event(terms.start_base, yaw=(0.4, 0.4))})  # fmt: skip
    q = stiction.TaskEnv(Lying, 1).batch.qpos[0, 3:7]
    wanted = stiction.rotations.multiply(np.array([math.cos(0.2), 0, 0, math.sin(0.2)]), np.full(4, 0.5))
    np.testing.assert_allclose(q, wanted, atol=1e-12)


def test_randomized_parameters_are_own_and_startup_ones_last():
    env = stiction.TaskEnv(Walk, 6, seed=1)
    mass, slide = env.batch.param("body_mass").copy(), env.batch.param("geom_friction").copy()
    share = mass[:, 1] / 3
    assert 0.8 <= share.min() < share.max() <= 1.2 and 0.4 <= slide.min() < slide.max() <= 1.2
    env.reset()
    env.reset()
    np.testing.assert_array_equal(env.batch.param("body_mass"), mass)
    assert (env.batch.param("geom_friction")[:, 1] != slide[:, 1]).all()
    Wrong = task_of(events={"mass": Event(terms.randomize, param=stiction.randomization.payload(-9, 1, "trunk"))})
    with pytest.raises(stiction.ArgumentError, match=r"Small.events\['mass'\]: .*body_mass"):
        stiction.TaskEnv(Wrong, 2)


def test_curricula_change_weights_and_are_logged():
    Harder = task_of(max_episode_steps=5, rewards={"up": Reward(terms.alive, 1.0)}, curricula={
        "weight": Curriculum(terms.scheduled, reward="up", stages=[(8, 2.0), (12, 3.0)]),
    })  # fmt: skip
    env = stiction.TaskEnv(Harder, 2)
    rewards = []
    for _ in range(17):
        env.step(np.zeros((2, 4)))
        rewards.append(round(float(env.reward[0]) / 0.02, 5))
    assert rewards == [1] * 10 + [2] * 5 + [3] * 2
    assert env.metrics[0, env.metric_names.index("curricula/weight")] == 3
    with pytest.raises(stiction.ArgumentError, match="no reward 'upp'; nearest: 'up'"):
        terms.scheduled(env.task, None, None, "upp", [])


def test_terms_with_memory_begin_anew():
    class Travelled(Memory):
        def __init__(self, task, scale=1.0):
            self.start, self.scale = task.xp.zeros((task.num_envs, 2)), scale

        def begin(self, task, ids):
            self.start[ids] = task.robot.position[ids, :2]

        def __call__(self, task):
            return self.scale * (task.robot.position[:, 0] - self.start[:, 0])

    Moves = task_of(max_episode_steps=4, rewards={"x": Reward(Travelled, 1.0, scale=2.0)},
                    events={"start": Event(terms.start_base, x=(-3, 3), linear=(0.5, 0.5))})  # fmt: skip
    env = stiction.TaskEnv(Moves, 3)
    for step in range(9):
        start = env.batch.qpos[:, 0].copy() if step % 4 == 0 else start
        env.step(np.zeros((3, 4)))
        if step % 4 < 3:
            np.testing.assert_allclose(env.reward, 0.04 * (env.batch.qpos[:, 0] - start), rtol=1e-4, atol=1e-7)


# ------------------------------------------------------------------------------- actions


def test_actions_are_scaled_offset_clipped_and_delayed():
    Late = task_of(actions={
        "knees": Action(actuators=".*knee", scale=2.0, clip=(-0.25, 0.25)),
        "hips": Action(actuators=".*hip", scale={"left.*": 0.5, "right.*": 1.0}, offset="start", delay=(2, 2)),
    })  # fmt: skip
    env = stiction.TaskEnv(Late, 2)
    assert env.num_actions == 4
    np.testing.assert_allclose(env.action_low, [-0.25, -0.25, (-1 - 0.3) / 0.5, -1.3], rtol=1e-6)
    np.testing.assert_allclose(env.action_high, [0.25, 0.25, (1.5 - 0.3) / 0.5, 1.2], rtol=1e-6)
    ctrl = []
    for k in range(4):
        env.step(np.full((2, 4), 0.1 * (k + 1)))
        ctrl.append(env.batch.ctrl[0].tolist())
    np.testing.assert_allclose([c[1] for c in ctrl], [0.2, 0.4, 0.5, 0.5], rtol=1e-6)  # knees, clipped
    np.testing.assert_allclose([c[0] for c in ctrl], [0.3, 0.3, 0.35, 0.4], rtol=1e-6)  # left hip, two steps late
    np.testing.assert_allclose([c[2] for c in ctrl], [0.3, 0.3, 0.4, 0.5], rtol=1e-6)
    env.reset([0])
    env.step(np.full((2, 4), 0.5))
    np.testing.assert_allclose(env.batch.ctrl[:, 0], [0.3, 0.45], rtol=1e-6)  # nothing of the last episode
    scale = terms.effort_scale(0.25)(env.batch.model, np.arange(4))
    np.testing.assert_allclose(scale, 0.25 * 15 / 30)
