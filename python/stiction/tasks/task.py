"""Tasks of your own: observation, reward and reset in NumPy or torch on a `stiction.Batch`.

A `Task` says what an episode is and never steps the physics; a `TaskEnv` steps it and looks like a
`stiction.Env`, so that every adapter takes it. docs/tasks.md has a complete example.
"""

import inspect
import os
import weakref

import numpy as np

from .._core import ArgumentError, Batch, Error, Model, Options
from .._util.nearest import hint, misspelt
from .._util.statistics import FROZEN
from .._util.text import visible
from ..arrays import host, is_tensor, namespace, on_tensors
from .episodes import EpisodeLoop
from .philox import Draw, Purpose


class Task:
    """Base class of tasks. All arrays have one row for each environment: NumPy's on the CPU, torch
    tensors on a device; `self.xp` has the functions for either, by NumPy's names.

    Class attributes (or set in `__init__`, whose keyword arguments are the options of the task):
    model: Model, or MJCF text, or the path of a file, or (MJCF text, its files by name); max_episode_steps: 0 for no limit;
    frame_skip: physics steps per control step; options: how the physics step, unless TaskEnv gets
    others; metric_names: keys of what `metrics` returns; reward_threshold: return that solves the task;
    num_actions, action_low, action_high: None for one action per actuator in its control range;
    ppo_settings: what `stiction train --trainer numpy` should have other than its defaults, by the
    names of stiction.learning.ppo.Settings; randomization: a stiction.Randomization that `stiction train` puts around it.

    In the hooks: self.batch, self.xp, self.num_envs, self.dt (s, of a control step), self.action (as given,
    (num_envs, num_actions) float32), self.episode_length, self.ended, self.draw(ids).
    """

    id: str | None = None  # None: the name of the class
    summary: str = ""
    model: Model | str | os.PathLike | tuple | None = None
    frame_skip: int = 1
    max_episode_steps: int = 1000
    options: Options | None = None
    num_actions: int | None = None
    action_low = action_high = None
    ppo_settings: dict = {}
    randomization = None
    reward_threshold: float | None = None
    metric_names: tuple[str, ...] = ()

    # ---- hooks

    def prepare(self, model):
        """Once, before the batch exists: what depends on the model alone, like num_actions and metric_names."""

    def setup(self):
        """Once, when the batch exists: look up indices, make memory of (num_envs, ...)."""

    def reset(self, ids):
        """Start states (qpos, qvel) of the environments `ids`, or None for the reference pose.

        Write own parameters (`batch.param`) and own memory of these rows here: the batch is reset,
        and the parameters are checked, right after. `self.ended` says how their last episodes ended.
        """

    def begin(self, ids):
        """Episodes of the environments `ids` have begun: the batch is at their first states."""

    def act(self, action):
        """Before the physics of a control step: the action becomes ctrl or other inputs."""
        self.batch.ctrl[:] = action

    def drive(self, step):
        """Before each physics step of a control step, the `step`-th from 0: laws that act faster than the policy, like those of motors,
        write ctrl or other inputs. Without this hook all physics steps are one call; with it a mocap body jumps to its pose at the first."""

    def measure(self):
        """After the physics of a control step, before ends and rewards: what is remembered of it, like times in the air."""

    def command(self):
        """After the reward, before the observation: what is asked for next."""

    def observe(self):
        """(num_envs, num_obs) at the present state. Called again after resets: change nothing."""
        raise NotImplementedError(f"{type(self).__name__}.observe")

    def observe_critic(self):
        """(num_envs, n) what only the critic of a trainer sees, as `observe`; None: the same."""

    def reward(self):
        """(num_envs,) of the step just done."""
        raise NotImplementedError(f"{type(self).__name__}.reward")

    def terminated(self):
        """(num_envs,) bool: where the episode ended by its own doing, not by the time limit."""
        return self.xp.zeros(self.num_envs, dtype=bool)

    def truncated(self):
        """(num_envs,) bool: where the episode ended as by a time limit, which TaskEnv has besides."""
        return self.xp.zeros(self.num_envs, dtype=bool)

    def metrics(self):
        """dict of (num_envs,) with the keys `metric_names`: what is worth logging of the step."""
        return {}

    def arrows(self, env):
        """What views and films draw of environment `env`: a list of (start, end, colour), world coordinates in m and red, green, blue in 0 to 1."""
        return []

    def override(self, changes):
        """Other numbers for terms, by their paths: what `--set` gives. Only tasks that are made of terms have any."""
        raise ArgumentError(
            f"set {next(iter(changes))}: {type(self).__name__} is not made of terms (stiction.TermTask)"
        )

    def column_name(self, hook, column):
        """What a column of `observe` is, for messages."""
        return ""

    @property
    def drives(self) -> bool:
        """Whether there is something to do before each physics step."""
        return type(self).drive is not Task.drive

    # ---- what hooks may use

    def draw(self, ids, purpose: Purpose = Purpose.reset) -> Draw:
        """Random numbers of the environments `ids` at their episode and step."""
        env = self._env
        step = 0 if purpose == Purpose.reset else env.episode_length[ids]
        return Draw(env._seed[ids], env._episode[ids], purpose, step)

    def _of_env(name, of=None):
        def get(self):
            if "_env" not in vars(self):
                raise Error(f"{type(self).__name__}.{name}: not there before setup(): look things up there; "
                            "__init__ has the options of the task alone")  # fmt: skip
            return getattr(self._env, of or name)

        return property(get)

    xp, batch, num_envs, dt = map(_of_env, ("xp", "batch", "num_envs", "dt"))
    action, episode_length, ended = _of_env("action", "_action"), _of_env("episode_length"), _of_env("ended", "_last")
    del _of_env


def _check_class(task):
    """Refuses a misspelt attribute or hook, and metrics without their names."""
    classes = type(task).__mro__[: type(task).__mro__.index(Task) + 1]
    ours = [cls for cls in classes if cls.__module__.partition(".")[0] == "stiction"]
    known = dict.fromkeys(name for cls in ours for name in vars(cls) if not name.startswith("_"))
    for cls in classes:
        for name in () if cls in ours else vars(cls):
            meant = None if name.startswith("_") or name in known else misspelt(name, known)
            if meant and meant not in vars(cls):
                raise ArgumentError(f"{cls.__name__}.{name}: a task has no such attribute or hook; meant is {meant!r}? "
                                    f"A name of your own should differ more from it")  # fmt: skip
    if next(cls for cls in classes if "metrics" in vars(cls)) not in ours and not task.metric_names:
        raise ArgumentError(f"{type(task).__name__}.metrics: metric_names is empty: name there what it returns")


def _load(model) -> tuple[Model, str | None]:
    """The model, and its MJCF where that stands for itself."""
    if isinstance(model, Model):
        return model, None
    if isinstance(model, tuple):
        text, assets = model
        return Model.from_xml(text, assets=assets), text
    if isinstance(model, str) and model.lstrip().startswith("<"):
        return Model.from_xml(model), model
    return Model.from_file(model), None


def _check_options(task, given):
    """Refuses names that the constructor of a class of tasks does not know, naming the nearest."""
    known = inspect.signature(task).parameters
    if any(p.kind is p.VAR_KEYWORD for p in known.values()):
        return
    own = inspect.signature(TaskEnv).parameters
    for name in given:
        if name not in known and name != "set":
            raise ArgumentError(f"{task.__name__} has no option {name!r}{hint(name, [*known, *own])}")


class TaskEnv(EpisodeLoop):
    """Environments of a `Task`, with the attributes and methods of `stiction.Env`.

    env = stiction.TaskEnv(MyTask, num_envs=4096)
    obs, reward, terminated, truncated = env.step(actions)

    task: a Task, or a class of tasks that gets `task_options`; the option `set` is a dict that gives terms of a
    `stiction.TermTask` other numbers, {"rewards.slip": -0.2}. What a step returns stays untouched
    during the next one; two buffers alternate. An environment that froze (Batch.status) ends its
    episode as terminated with reward 0. Observations and rewards of the others must be finite (Error that
    names hook and environment). A step or reset of which a hook raises has not happened: state,
    parameters, results and memory of the task are as before. On a device it is left half done, and all
    environments must be reset.

    `snapshot` and `restore` go on with the same bits; memory of the task are its attributes: arrays, numbers,
    text, lists, dicts, random generators, objects with such attributes. Read-only arrays are left alone.

    device: "cpu", or "cuda:0": everything is there, in torch tensors, in the order of torch's
    current stream; only which episodes ended comes to the host.
    """

    def __init__(self, task, num_envs=1, *, device="cpu", threads=None, seed=0, precision="float32",
                 autoreset="same_step", max_episode_steps=None, options=None, **task_options):  # fmt: skip
        self.task_options = task_options
        if isinstance(task, type):
            _check_options(task, task_options)
            task_options = dict(task_options)
            changes = task_options.pop("set", None)
            task = task(**task_options)
            if changes:
                task.override(changes)
        elif task_options:
            raise ArgumentError(
                f"{sorted(task_options)}: options belong to a class, not to an instance"
            )
        if options is not None and not isinstance(options, Options):
            raise ArgumentError(f"options: given {options!r}; expected stiction.Options(...), or None: the task's")
        if task.model is None:
            raise ArgumentError(
                f"{type(task).__name__}.model: not set; a Model, MJCF text or a path"
            )
        model, self.model_xml = _load(task.model)
        self.model_timestep = model.timestep  # of the file, whatever the options
        self.task = task
        self.id = task.id or type(task).__name__
        task.prepare(model)
        _check_class(task)
        self.batch = on_tensors(
            Batch(model, num_envs, options or task.options, device, precision, threads)
        )
        self.frame_skip = int(task.frame_skip)
        self.physics_steps = 1 if task.drives else self.frame_skip  # of a call of batch.step, or of what takes its place
        self.physics_dt = self.batch.options.timestep
        self.dt = self.frame_skip * self.physics_dt
        self._set_actions(task, model)
        if max_episode_steps is None:
            max_episode_steps = task.max_episode_steps
        super().__init__(num_envs, 0, task.metric_names, seed=seed, autoreset=autoreset,
                         max_episode_steps=max_episode_steps, device=self.batch.device)  # fmt: skip
        self._action = self.xp.zeros((num_envs, self.num_actions), dtype=self.xp.float32)
        # not a cycle, which would keep threads and memory until the garbage collector comes by
        task._env = weakref.proxy(self)
        with self.xp.quiet:
            task.setup()
            self._start(self.xp.arange(num_envs))
            self._size_observation()

    def __repr__(self):
        return f"<stiction.TaskEnv '{visible(self.id)}' num_envs={self.num_envs}>"

    def __reduce__(self):
        raise Error("a TaskEnv does not pickle: send its task and options and make another one there; its state goes by "
                    "snapshot() and restore()")  # fmt: skip

    def _set_actions(self, task, model):
        limited = model.actuator_ctrllimited != 0
        low = np.where(limited, model.actuator_ctrlrange[:, 0], -np.inf)
        high = np.where(limited, model.actuator_ctrlrange[:, 1], np.inf)
        self.num_actions = n = model.nu if task.num_actions is None else task.num_actions
        if n != model.nu:
            low, high = np.full(n, -np.inf), np.full(n, np.inf)
        low = low if task.action_low is None else np.broadcast_to(task.action_low, n)
        high = high if task.action_high is None else np.broadcast_to(task.action_high, n)
        self.action_low, self.action_high = low.astype(np.float32), high.astype(np.float32)

    def _size_observation(self):
        """num_obs is the width of what the task observes."""
        xp = self.xp
        obs = xp.asarray(self.task.observe())
        if obs.ndim != 2 or len(obs) != self.num_envs:
            raise ArgumentError(
                f"{self.id}.observe: gave shape {tuple(obs.shape)}; expected ({self.num_envs}, n)"
            )
        self.num_obs = obs.shape[1]
        critic = self.task.observe_critic()
        for b in self._buffers:
            b.obs, b.final_obs = xp.zeros((2, *obs.shape), dtype=xp.float32)
            if critic is not None:
                shape = self.num_envs, xp.asarray(critic).shape[-1]
                b.critic_obs = xp.zeros(shape, dtype=xp.float32)
            self._look(b)
            b.final_obs[:] = b.obs

    def _look(self, b, rows=slice(None)):
        xp, self._stepped = self.xp, self._count()
        xp.follow(self.batch)
        seen = self._checked("observe", self.task.observe(), b.obs.shape, rows)
        xp.put(b.obs, rows, seen[rows])
        if b.critic_obs is not None:
            critic = self.task.observe_critic()
            seen = self._checked("observe_critic", critic, b.critic_obs.shape, rows)
            xp.put(b.critic_obs, rows, seen[rows])

    def _checked(self, hook, value, shape, rows=slice(None)):
        """What a hook gave; its `rows` are numbers, but of environments that froze."""
        self._no_steps_in(hook)
        xp, value = self.xp, self.xp.asarray(value)
        if value.shape != shape:
            given, shape = tuple(value.shape), tuple(shape)
            raise ArgumentError(f"{self.id}.{hook}: gave shape {given}; expected {shape}")
        if self._waits and not xp.isfinite(value).all():
            wrong = host(~xp.isfinite(value) & self._moves(value.ndim))
            chosen = np.zeros_like(wrong)
            chosen[host(rows) if is_tensor(rows) else rows] = True
            for env, *column in np.argwhere(wrong & chosen):
                where = f", number {column[0]}" if column else ""
                if column and (name := self.task.column_name(hook, column[0])):
                    where += f" ({name})"
                raise Error(
                    f"{self.id}.{hook}: environment {env}{where}: {float(value[(env, *column)])} after "
                    f"{int(self._length[env])} steps of its episode {int(self._episode[env])}"
                )
        return value

    def _count(self):
        """Steps that the batch has done; on a device, which would be waited for, None."""
        return self.batch.counts.env_steps if self.xp is namespace() else None

    def _no_steps_in(self, hook):
        if self._count() != self._stepped:
            raise Error(f"{self.id}.{hook}: stepped the physics, which TaskEnv does: frame_skip steps between act() and reward()")

    @property
    def _waits(self):
        """Whether the host looks at what hooks gave: on a device that takes a wait, which a step without
        autoreset does not have."""
        return self.xp is namespace() or self.autoreset != "disabled"

    def _moves(self, ndim):
        """The environments that did not freeze, as a column for an array of `ndim` axes."""
        moves = (self.batch.status & FROZEN) == 0
        return moves[:, None] if ndim > 1 else moves

    def _advance(self, actions, b, physics):
        task, n, xp = self.task, self.num_envs, self.xp
        xp.follow(self.batch)
        self._action, self._stepped = actions, self._count()
        task.act(actions)
        self._no_steps_in("act")
        for step in range(self.frame_skip // self.physics_steps):
            if task.drives:
                task.drive(step)
                self._no_steps_in("drive")
            self.batch.step(self.physics_steps) if physics is None else physics()
            self._stepped = self._count()
        self._length += 1
        task.measure()
        self._no_steps_in("measure")
        frozen = (self.batch.status & FROZEN) != 0
        b.terminated[:] = self._checked("terminated", task.terminated(), (n,)) | frozen
        b.reward[:] = xp.where(frozen, 0, self._checked("reward", task.reward(), (n,)))
        ended = self._checked("truncated", task.truncated(), (n,))
        if self.max_episode_steps:
            ended = ended | (self._length >= self.max_episode_steps)
        b.truncated[:] = ended & ~b.terminated
        task.command()
        self._no_steps_in("command")
        self._look(b)
        if self.metric_names:
            metrics = task.metrics()
            self._no_steps_in("metrics")
            if not isinstance(metrics, dict) or set(metrics) != set(self.metric_names):
                given = sorted(map(str, metrics)) if isinstance(metrics, dict) else repr(metrics)
                raise ArgumentError(f"{self.id}.metrics: gave {given!s:.200}; metric_names says {sorted(self.metric_names)}")
            for k, name in enumerate(self.metric_names):
                b.metrics[:, k] = self._checked(f"metrics[{name!r}]", metrics[name], (n,))

    def _start(self, ids):
        self._next_episode(ids)
        self.xp.follow(self.batch)
        self._stepped = self._count()
        start = self.task.reset(ids)
        self._no_steps_in("reset")
        if start is None:
            self.batch.reset(ids)
        elif isinstance(start, (tuple, list)) and len(start) == 2:
            self.batch.reset(ids, qpos=start[0], qvel=start[1])
        else:
            given = f"{type(start).__name__} of shape {tuple(np.shape(start))}" if hasattr(start, "shape") else " ".join(repr(start).split())
            raise ArgumentError(f"{self.id}.reset: gave {given:.200}; expected (qpos, qvel), or None: the reference pose")
        self.task.begin(ids)
        self._no_steps_in("begin")

    def _begin(self, ids, b):
        self._start(ids)
        self._look(b, ids)

    def _memory(self):
        return super()._memory() | {"_action": self._action, "task": self.task}

    def _keep_batch(self):
        self.batch._remember()
        return self.batch._put_back

    def _snapshot_batch(self):
        return self.batch.snapshot()

    def _restore_batch(self, snapshot):
        self.batch.restore(snapshot)
