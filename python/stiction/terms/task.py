"""Tasks made of named terms: observations, rewards, ends, commands, events, actions, sensors.

A `TermTask` is a `stiction.Task` whose hooks are lists of terms; hooks and terms mix: a derived class may override any
hook and call the one here by `super()`. docs/terms.md has a complete example, and a table of Isaac Lab's and mjlab's
names.
"""

import copy
import zlib

import numpy as np

from .._core import ArgumentError, Error
from .._util.statistics import FROZEN
from ..arrays import namespace
from ..control import start_state
from ..randomization import UniformNoise
from ..tasks.philox import Draw
from ..tasks.task import Task
from .actions import Action
from .bound import Call, View, same
from .config import Curriculum, Event, Memory, Observation, Reward, Termination
from .history import Delay, History
from .overrides import override
from .robot import Robot

# lists of terms, what they hold, and what they are called in messages and on the command line
KINDS = {
    "actions": Action,
    "actuators": object,
    "observations": Observation,
    "critic_observations": Observation,
    "rewards": Reward,
    "terminations": Termination,
    "events": Event,
    "curricula": Curriculum,
    "commands": object,
    "sensors": object,
}


class TermTask(Task):
    """A task made of terms: class attributes that are dicts from names to terms.

    actuators: {name: Actuator} of stiction.actuators, laws of motors before each physics step; without any the model's own.
    actions: {name: Action}, in this order the numbers of the action; empty: one for each actuator, as ctrl.
    observations, critic_observations: {name: Observation}, side by side in this order; without the second the critic
    sees the first without noise and delay. rewards: {name: Reward}. terminations: {name: Termination}.
    commands: {name: Command}. events: {name: Event}. curricula: {name: Curriculum}. sensors: {name: Sensor}.
    terrain: stiction.Terrain that the model's ground is made of, or None; first_levels: episodes begin at levels up to this.
    keyframe: the start pose; None: "home", else the first keyframe, else the reference pose.
    base: body that is the robot's base; None: the first with a free joint.

    In terms besides what a Task has: self.robot (base and joints), self.commands and self.sensors by name,
    self.last_action and self.action_before (zeros before the first), self.start_qpos and start_qvel (of the next
    episode, for events), self.weights (of rewards, by name), self.origin (num_envs, 3), level and column of each one's
    patch of the terrain, self.seconds of a whole episode.

    Metrics, in each step: rewards/NAME (weight times term times dt), terminations/NAME (1 where it ended the episode),
    curricula/NAME, and what commands measure as commands/NAME/...
    """

    actions: dict = {}
    actuators: dict = {}
    observations: dict = {}
    critic_observations: dict | None = None
    rewards: dict = {}
    terminations: dict = {}
    commands: dict = {}
    events: dict = {}
    curricula: dict = {}
    sensors: dict = {}
    keyframe: str | None = None
    base: str | None = None
    terrain = None
    first_levels: int = 0

    # ---- before the batch exists

    def override(self, changes):
        """Other numbers for terms: {"rewards.slip": -0.2, "commands.walk.x": [0, 1], "events.push": None}."""
        self._copy_terms()
        override(self, changes, KINDS)

    @property
    def title(self):
        return self.id or type(self).__name__

    def _copy_terms(self):
        """Lists of this instance: the class's stay as they are, and objects with memory are its own."""
        if "_copied" in vars(self):
            return
        self._copied = True
        for kind, cls in KINDS.items():
            terms = getattr(self, kind)
            if terms is None:
                continue
            if not isinstance(terms, dict):
                raise ArgumentError(f"{self.title}.{kind}: given {type(terms).__name__}; expected a dict of terms by name")
            terms = {name: term for name, term in terms.items() if term is not None}
            for name, term in terms.items():
                if not isinstance(term, cls):
                    raise ArgumentError(
                        f"{self.title}.{kind}[{name!r}]: given {type(term).__name__}; expected {cls.__name__}")
            if cls in (Action, object):
                terms = copy.deepcopy(terms)
            setattr(self, kind, terms)

    def prepare(self, model):
        self._copy_terms()
        for kind in KINDS:
            for name, term in (getattr(self, kind) or {}).items():
                if hasattr(term, "check"):
                    term.check(f"{self.title}.{kind}[{name!r}]")
        if not self.observations:
            raise ArgumentError(f"{self.title}.observations: there are none; a policy must see something")
        start_qpos = start_state(model, self.keyframe)[0]
        for name, actuator in self.actuators.items():
            actuator.prepare(f"{self.title}.actuators[{name!r}]", model)
        self._check_actuators("actuators", model, list(self.actuators.values()))
        if self.actions:
            for name, action in self.actions.items():
                action.prepare(self, f"{self.title}.actions[{name!r}]", model, start_qpos)
            parts = list(self.actions.values())
            self.num_actions = sum(a.count for a in parts)
            self.action_low = np.concatenate([a.low for a in parts])
            self.action_high = np.concatenate([a.high for a in parts])
            self._check_actuators("actions", model, parts)
        own = [name for name in type(self).metric_names]
        own += [f"rewards/{name}" for name in self.rewards]
        own += [f"terminations/{name}" for name in self.terminations]
        own += [f"curricula/{name}" for name in self.curricula]
        for name, command in self.commands.items():
            own += [f"commands/{name}/{metric}" for metric in command.metric_names]
        self.metric_names = tuple(own)

    @property
    def drives(self):
        return bool(self.actuators) or type(self).drive is not TermTask.drive

    def drive(self, step):
        for name, actuator in self.actuators.items():
            try:
                actuator.drive()
            except Exception as e:
                e.add_note(f"in {self.title}.actuators[{name!r}]")
                raise

    def _check_actuators(self, kind, model, parts):
        taken = np.concatenate([a.indices for a in parts] or [np.zeros(0, int)])
        twice = np.flatnonzero(np.bincount(taken, minlength=model.nu) > 1)
        if len(twice):
            raise ArgumentError(f"{self.title}.{kind}: two terms write {model.actuator_names[twice[0]]}")

    # ---- once

    def setup(self):
        xp, n = self.xp, self.num_envs
        self.robot = Robot(self, self.base, self.keyframe)
        if self.critic_observations is None and any(
            o.noise is not None or o.delay != (0, 0) for o in self.observations.values()
        ):
            self.critic_observations = {name: o.true() for name, o in self.observations.items()}
        self._purposes = {}
        for kind in KINDS:
            for name in getattr(self, kind) or ():
                self._register(f"{kind}.{name}")
                self._register(f"{kind}.{name} delay")
                self._register(f"{kind}.{name} lasting")
        self.start_qpos = xp.asarray(np.tile(self.robot.start_qpos, (n, 1)))
        self.start_qvel = xp.asarray(np.tile(self.robot.start_qvel, (n, 1)))
        self._start = self.start_qpos[0] + 0, self.start_qvel[0] + 0
        self.last_action = xp.zeros((n, self.batch.model.nu if self.num_actions is None else self.num_actions),
                                    dtype=xp.float32)  # fmt: skip
        self.action_before = xp.zeros_like(self.last_action)
        self._set_down()
        self.weights = {name: float(term.weight) for name, term in self.rewards.items()}
        self.logged = {}  # (num_envs,) of the step, by metric
        for name in self.metric_names:
            self.logged[name] = xp.zeros(n, dtype=xp.float32)
        for action in self.actions.values():
            action.setup(self)
        for kind in ("actuators", "sensors", "commands"):
            for name, part in getattr(self, kind).items():
                part.bind(self, name)
        self._bound, self._views = {}, {}
        for kind, cls in KINDS.items():
            if cls not in (Action, object):
                bound = self._bound[kind] = {}
                for name, term in (getattr(self, kind) or {}).items():
                    bound[name] = self._bind(kind, name, term)
        self._see("observations", self.observations)
        if self.critic_observations is not None:
            self._see("critic_observations", self.critic_observations)
        self._due = {
            name: xp.zeros(n, dtype=xp.int64) for name, e in self.events.items() if e.mode == "interval"
        }

    def _set_down(self):
        """Memory of the places on the terrain; without one all are at the origin of the world."""
        xp, n = self.xp, self.num_envs
        self.origin = xp.zeros((n, 3), dtype=xp.float64)
        self.level, self.column = (xp.zeros(n, dtype=xp.int64) for _ in range(2))
        self._register("terrain")
        self._register("terrain lasting")
        if self.terrain is not None:
            if not 0 <= self.first_levels < self.terrain.levels:
                raise ArgumentError(f"{self.title}.first_levels = {self.first_levels}: must be in [0, {self.terrain.levels})")
            origins = np.array(self.terrain.origins)
            origins.setflags(write=False)
            self._origins = xp.asarray(origins)

    def _place(self, ids):
        """Origins of the next episodes: column and first level are lasting numbers of each environment."""
        if self.terrain is None:
            return
        xp, first = self.xp, self._env._episode[ids] == 0
        draw = self.draw_lasting("terrain", ids)
        self.column[ids] = draw.integer(0, self.terrain.columns - 1)[:, 0]
        self.level[ids] = xp.where(first, draw.integer(0, self.first_levels)[:, 0], self.level[ids])
        self.origin[ids] = self._origins[self.level[ids], self.column[ids]]

    @property
    def seconds(self):
        """Of a whole episode."""
        return self._env.max_episode_steps * self.dt

    def _register(self, path):
        """A term draws for a purpose of its own, that of its name: others may come and go."""
        purpose = 1 << 31 | zlib.crc32(path.encode()) & 0x7FFFFFFF
        clash = next((p for p, other in self._purposes.items() if other == purpose), None)
        if clash is not None:
            raise ArgumentError(f"{self.title}: {path} and {clash} would draw the same numbers: rename one")
        self._purposes[path] = purpose

    def draw_for(self, path, ids=None, step=None):
        """The random numbers of a term, like "events.push", for the environments `ids` (None: all) at their episode
        and step (None: that of now)."""
        env = self._env
        ids = slice(None) if ids is None else ids
        step = env.episode_length[ids] if step is None else step
        return Draw(env._seed[ids], env._episode[ids], self._purposes[path], step)

    def draw_lasting(self, path, ids):
        """The random numbers of a term that depend on the seed alone: the same in all episodes of an environment."""
        env = self._env
        return Draw(env._seed[ids], env._episode[ids] * 0, self._purposes[f"{path} lasting"], 0)

    def _bind(self, kind, name, term):
        """A function of the task (and for some kinds more) alone. What the critic sees of the policy's terms is one."""
        function, params = term.function, term.params
        if kind == "critic_observations":
            for other, seen in self.observations.items():
                if seen.function is function and same(seen.params, params):
                    return self._bound["observations"][other]
        try:
            if isinstance(function, type):
                return function(self, **params)
            return Call(function, params)
        except ArgumentError as e:
            raise ArgumentError(f"{self.title}.{kind}[{name!r}]: {e}") from None

    def _see(self, kind, terms):
        """What observations need besides functions: noise, delays, histories, and where each has its columns."""
        xp, n = self.xp, self.num_envs
        views, first = {}, 0
        for name, term in terms.items():
            width = self._value(kind, name).shape[1]
            title = f"{self.title}.{kind}[{name!r}]"
            noise = UniformNoise(term.noise) if isinstance(term.noise, (int, float)) else term.noise
            if noise is not None:
                scale = np.asarray(noise.scale(), float)
                if scale.shape not in ((), (width,)) or not (np.isfinite(scale) & (scale >= 0)).all():
                    raise ArgumentError(f"{title}: noise = {scale}: must be >= 0, one number or {width}")
                noise = noise.scaled(xp.asarray(scale)) if scale.ndim else noise
            scale = np.asarray(term.scale, np.float32)
            if scale.shape not in ((), (width,)):
                raise ArgumentError(f"{title}: scale: given shape {scale.shape}; expected one number or {width}")
            delay = Delay(xp, n, term.delay, title)
            depth = delay.most + term.history
            past = History(xp, n, depth, (width,)) if depth > 1 else None
            views[name] = View(term, noise, None if not scale.ndim and scale == 1 else xp.asarray(scale),
                                delay, past, first, width * term.history)  # fmt: skip
            first += width * term.history
        self._views[kind] = views

    # ---- terms

    def _call(self, kind, name, *more):
        """What the function of a term gives; an error in it says which term it was."""
        try:
            return self._bound[kind][name](self, *more)
        except Exception as e:
            e.add_note(f"in {self.title}.{kind}[{name!r}]")
            raise

    def _column(self, kind, name, dtype):
        """(num_envs,) of a term."""
        value = self.xp.asarray(self._call(kind, name))
        if tuple(value.shape) != (self.num_envs,):
            raise ArgumentError(
                f"{self.title}.{kind}[{name!r}]: gave shape {tuple(value.shape)}; expected ({self.num_envs},)")
        return self.xp.astype(value, dtype)

    def _value(self, kind, name):
        """(num_envs, k) of an observation; computed once for policy and critic."""
        known, key, n = self.robot.known, id(self._bound[kind][name]), self.num_envs
        if key in known:
            return known[key]
        value = self.xp.asarray(self._call(kind, name))
        if value.ndim == 0 or value.shape[0] != n:
            raise ArgumentError(
                f"{self.title}.{kind}[{name!r}]: gave shape {tuple(value.shape)}; expected ({n},) or ({n}, ...)")
        known[key] = value = value.reshape(n, -1)
        return value

    # ---- hooks

    def reset(self, ids):
        xp = self.xp
        ended = self._env.steps > 0
        for name in self.curricula:
            if ended:
                value = self._call("curricula", name, ids, self.draw_for(f"curricula.{name}", ids, 0))
                self.logged[f"curricula/{name}"][ids] = xp.astype(xp.asarray(value), xp.float32)
        self._place(ids)
        for to, start in zip((self.start_qpos, self.start_qvel), self._start):
            to[ids] = start
        for mode in ("startup", "reset"):
            for name, event in self.events.items():
                if event.mode == mode:
                    path = f"events.{name}"
                    draw = self.draw_for(path, ids, 0) if mode == "reset" else self.draw_lasting(path, ids)
                    self._call("events", name, ids, draw)
        self.last_action[ids] = self.action_before[ids] = 0
        for name, action in self.actions.items():
            action.begin(ids, self.draw_for(f"actions.{name} delay", ids, 0), self)
        for name, actuator in self.actuators.items():
            actuator.restart(ids, self.draw_for(f"actuators.{name}", ids, 0))
        for kind, views in self._views.items():
            for name, view in views.items():
                if view.past is not None:
                    view.past.begin(ids)
                    view.delay.begin(ids, self.draw_for(f"{kind}.{name} delay", ids, 0))
        for name, due in self._due.items():
            due[ids] = self._wait(name, self.draw_for(f"events.{name}", ids, 0))
        return self.start_qpos[ids], self.start_qvel[ids]

    def _wait(self, name, draw):
        """Control steps until an event comes again."""
        shortest, longest = self.events[name].interval
        return self.xp.astype(self.xp.clip(self.xp.round(draw.uniform(shortest, longest)[:, 0] / self.dt), 1, None),
                              self.xp.int64)  # fmt: skip

    def begin(self, ids):
        self.robot.forget()
        for sensor in self.sensors.values():
            sensor.begin(ids)
        for command in self.commands.values():
            command.begin(ids)
        for bound in self._bound.values():
            for term in bound.values():
                if isinstance(term, Memory):
                    term.begin(self, ids)

    def act(self, action):
        self.robot.forget()
        for name, due in self._due.items():
            due -= 1
            ids = self.xp.flatnonzero(due == 0)
            if len(ids):
                draw = self.draw_for(f"events.{name}", ids, self._env.episode_length[ids] + 1)
                self._call("events", name, ids, draw)
                due[ids] = self._wait(name, draw)
        for views in self._views.values():
            for view in views.values():
                if view.past is not None:
                    view.past.move_on()
        for sensor in self.sensors.values():
            sensor.move_on()
        self.action_before[:] = self.last_action
        self.last_action[:] = action
        if not self.actions:
            self.batch.ctrl[:] = action
        first = 0
        for part in self.actions.values():
            part.apply(self, action[:, first : first + part.count])
            first += part.count
        for actuator in self.actuators.values():
            actuator.command()

    def arrows(self, env):
        return [arrow for command in self.commands.values() for arrow in command.arrows(env)]

    def measure(self):
        self.robot.forget()
        for sensor in self.sensors.values():
            sensor.measure()

    def terminated(self):
        return self._ends(False)

    def truncated(self):
        return self._ends(True)

    def _ends(self, time_out):
        ended = self.xp.zeros(self.num_envs, dtype=bool)
        for name, term in self.terminations.items():
            if term.time_out == time_out:
                here = self._column("terminations", name, bool)
                self.logged[f"terminations/{name}"][:] = here
                ended |= here
        return ended

    def reward(self):
        total = self.xp.zeros(self.num_envs, dtype=self.xp.float32)
        for name in self.rewards:
            weight, logged = self.weights[name], self.logged[f"rewards/{name}"]
            if weight == 0:
                logged[:] = 0
                continue
            logged[:] = (weight * self.dt) * self._column("rewards", name, self.xp.float32)
            total += logged
        if self.xp is namespace() and not np.isfinite(total).all():
            self._name_the_reward()
        return total

    def _name_the_reward(self):
        moves = (self.batch.status & FROZEN) == 0
        for name in self.rewards:
            value = self.logged[f"rewards/{name}"]
            for env in np.flatnonzero(~np.isfinite(value) & moves)[:1]:
                raise Error(
                    f"{self.title}.rewards[{name!r}]: environment {env}: {value[env] / self.dt} after "
                    f"{int(self.episode_length[env])} steps of its episode {int(self._env._episode[env])}"
                )

    def command(self):
        for name, command in self.commands.items():
            for metric, value in command.metrics().items():  # of what was asked for in the step just done
                self.logged[f"commands/{name}/{metric}"][:] = value
            command.step()

    def observe(self):
        self.robot.forget()
        return self._observed("observations")

    def observe_critic(self):
        return self._observed("critic_observations") if self.critic_observations is not None else None

    def _observed(self, kind):
        xp = self.xp
        parts = []
        for name, view in self._views[kind].items():
            value, term = self._value(kind, name), view.term
            if view.noise is not None:
                value = value + view.noise.sample(self.draw_for(f"{kind}.{name}"), value.shape[1])
            if term.clip is not None:
                value = xp.clip(value, *term.clip)
            value = xp.astype(value, xp.float32)
            if view.scale is not None:
                value = value * view.scale
            if view.past is not None:
                view.past.write(value)
                lag = view.delay.steps if view.delay.most else 0
                value = xp.concatenate([view.past.back(lag + k) for k in reversed(range(term.history))], 1)
            parts.append(value)
        return xp.concatenate(parts, 1)

    def metrics(self):
        return dict(self.logged)

    def column_name(self, hook, column):
        kind = {"observe": "observations", "observe_critic": "critic_observations"}.get(hook)
        for name, view in self._views.get(kind, {}).items():
            if view.first <= column < view.first + view.width:
                return f"{name}[{column - view.first}]"
        return ""
