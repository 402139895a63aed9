"""What a policy must bear on a real robot: noise, delays and parameters that are not known exactly.

    robust = stiction.Randomization(
        observation_noise=UniformNoise(0.02), observation_delay=(0, 2), action_delay=(0, 1),
        params=[friction(0.4, 1.2), mass(0.9, 1.1), Param("dof_damping", 0.8, 1.2)])
    envs = stiction.make("Ant-v5", num_envs=4096, randomization=robust)

All draws are functions of (seed of the environment, episode, step): the same whatever num_envs is.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from ._core import ArgumentError
from .arrays import host, namespace, on_tensors
from .tasks.around import Around
from .tasks.philox import Draw, Purpose


@dataclass(frozen=True)
class UniformNoise:
    """Uniform in ± half_width, a number or one for each observation."""

    half_width: float | np.ndarray

    def sample(self, draw, n):
        return (2 * draw.uniform(count=n) - 1) * self.half_width

    def scale(self):
        return self.half_width

    def scaled(self, x):
        return replace(self, half_width=x)


@dataclass(frozen=True)
class NormalNoise:
    """Normal with standard deviation `std`, a number or one for each observation."""

    std: float | np.ndarray

    def sample(self, draw, n):
        return draw.normal(n) * self.std

    def scale(self):
        return self.std

    def scaled(self, x):
        return replace(self, std=x)


@dataclass(frozen=True)
class Param:
    """One or more parameters of the batch, drawn anew at each reset.

    name: as in `batch.param`; several names share the draw. low, high: bounds of what is drawn, a
    number or one for each row. operation: what happens with it and the nominal value, which never
    changes: "scale", "add" or "set". rows: bodies, geoms, ... by index or name; None: all.
    columns: of parameters with several numbers in a row; None: all. each: rows draw for themselves,
    else all rows of an environment share one number. log: uniform in the logarithm.
    interval: (shortest, longest) time in s after which it is drawn again within an episode.
    """

    name: str | tuple[str, ...]
    low: float | np.ndarray
    high: float | np.ndarray
    operation: str = "scale"
    rows: tuple | None = None
    columns: tuple[int, ...] | None = None
    each: bool = False
    log: bool = False
    interval: tuple[float, float] | None = None


def friction(low, high, geoms=None, **more):
    """Sliding coefficients of geoms, set to one number per environment."""
    return Param("geom_friction", low, high, "set", geoms, **more)


def mass(low, high, bodies=None, each=True, **more):
    """Scales masses and, so that bodies keep their shape, their moments of inertia."""
    return Param(("body_mass", "body_inertia"), low, high, "scale", bodies, each=each, **more)


def payload(low, high, body, **more):
    """Adds a mass in kg to one body at its centre of mass."""
    return Param("body_mass", low, high, "add", (body,), **more)


def centre_of_mass(half_width, bodies, each=True, **more):
    """Shifts centres of mass along x, y and z of the body, each by up to half_width in m: three terms."""
    return [Param("body_ipos", -half_width, half_width, "add", bodies, (k,), each, **more)
            for k in range(3)]  # fmt: skip


def actuator_strength(low, high, actuators=None, each=True, **more):
    """Scales what actuators answer: torque of motors, kp and kv of servos together."""
    return Param(
        ("actuator_gain", "actuator_bias"), low, high, "scale", actuators, each=each, **more
    )


@dataclass(frozen=True)
class Randomization:
    """What `RandomizedEnv` does. Delays: (least, most) control steps, drawn at each reset."""

    observation_noise: UniformNoise | NormalNoise | None = None
    observation_delay: tuple[int, int] = (0, 0)
    action_delay: tuple[int, int] = (0, 0)
    params: list[Param] = field(default_factory=list)


def set_param(batch, name, values, ids=None):
    """batch.param(name)[ids] = values, refused and undone where that is unphysical."""
    batch = on_tensors(batch)
    xp, view = namespace(batch.device), batch.param(name)
    rows = slice(None) if ids is None else xp.asarray(ids)
    before = xp.copy(view[rows])
    xp.put(view, rows, xp.asarray(values))
    try:
        batch.check_params()
    except ArgumentError:
        view[rows] = before
        raise


class BoundParam:
    """A Param bound to a batch: which numbers it draws and writes."""

    _no_memory = True

    def __init__(self, param: Param, batch, dt, skip=0):
        self.param, self.batch, self.skip = param, batch, skip
        names = (param.name,) if isinstance(param.name, str) else tuple(param.name)
        if param.operation not in ("scale", "add", "set"):
            raise ArgumentError(
                f"{names[0]}: operation = {param.operation!r}: must be scale, add or set"
            )
        self.xp = xp = namespace(batch.device)
        self.nominal = {name: xp.copy(batch.param(name)) for name in names}
        self.rows = self._rows(names[0])
        low, high = np.asarray(param.low, float), np.asarray(param.high, float)
        if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
            raise ArgumentError(
                f"{names[0]}: low = {param.low}, high = {param.high}: must be finite, low <= high"
            )
        if param.log and not (low > 0).all():
            raise ArgumentError(
                f"{names[0]}: low = {param.low}: must be > 0 to draw in the logarithm"
            )
        self.count = len(self.rows) if param.each or max(low.ndim, high.ndim) else 1
        self.low, self.high = (xp.asarray(np.broadcast_to(x, self.count)) for x in (low, high))
        self.interval = None
        if param.interval is not None:
            self.interval = [max(1, round(s / dt)) for s in param.interval]
        self._check_bounds()

    def _rows(self, name):
        size, xp = next(iter(self.nominal.values())).shape[1], self.xp
        if self.param.rows is None:
            return xp.arange(size)
        kind = name.split("_")[0]
        known = getattr(self.batch.model, f"{kind}_names", ())
        rows = []
        for row in self.param.rows:
            if isinstance(row, str):
                if row not in known:
                    raise ArgumentError(f"{name}: no {kind} {row!r}; known are {', '.join(known)}")
                row = known.index(row)
            if not 0 <= row < size:
                raise ArgumentError(f"{name}: row {row}; must be in [0, {size})")
            rows.append(row)
        return xp.asarray(np.array(rows, int))

    def _check_bounds(self):
        """Both ends must be physical: what lies between is, then."""
        ids = self.xp.arange(self.batch.num_envs)
        try:
            for bound in (self.low, self.high):
                self._write(ids, self.xp.broadcast_to(bound, (len(ids), self.count)))
                self.batch.check_params()
        except ArgumentError as e:
            raise ArgumentError(f"randomization of {self.param.name}: {e}") from None
        finally:
            for name, nominal in self.nominal.items():
                self.batch.param(name)[:] = nominal

    def entries(self):
        """(name, row, column) of every number it writes."""
        for name, nominal in self.nominal.items():
            size = nominal[0, 0].reshape(-1).shape[0]
            columns = self.param.columns or range(size)
            yield from ((name, int(r), c) for r in self.rows for c in columns)

    def draw(self, ids, seed, episode, step):
        """New values for the environments `ids`; control steps until the next ones, or None."""
        return self.write(ids, Draw(seed, episode, Purpose.outer_param, step, self.skip))

    def write(self, ids, d):
        """The same by the next numbers of a draw."""
        u, xp = d.uniform(count=self.count + 1), self.xp
        low, high = (
            (xp.log(self.low), xp.log(self.high)) if self.param.log else (self.low, self.high)
        )
        x = low + (high - low) * u[:, :-1]
        self._write(ids, xp.exp(x) if self.param.log else x)
        if self.interval is None:
            return None
        least, most = self.interval
        return least + xp.astype(xp.floor((most - least + 1) * u[:, -1]), xp.int64)

    def _write(self, ids, x):
        for name, nominal in self.nominal.items():
            view, xp = self.batch.param(name), self.xp
            at = ids[:, None], self.rows
            old = nominal[at]
            factor = x.reshape(tuple(x.shape) + (1,) * (old.ndim - 2))
            if self.param.operation == "scale":
                new = old * factor
            elif self.param.operation == "add":
                new = old + factor
            else:
                new = xp.broadcast_to(factor, old.shape)
            if self.param.columns is None:
                xp.put(view, at, new)
            else:
                columns = list(self.param.columns)
                at = ids[:, None, None], self.rows[:, None], xp.asarray(columns)
                xp.put(view, at, new[..., columns])


class _Delay:
    """The last values of each environment, of which it sees the one `lag` steps ago."""

    def __init__(self, bounds, num_envs, width, name, xp):
        self.least, self.most = bounds
        if not 0 <= self.least <= self.most:
            raise ArgumentError(
                f"{name} = {bounds}: must be (least, most) control steps, 0 <= least <= most"
            )
        self.xp, self.everyone = xp, xp.arange(num_envs)
        self.ring = xp.zeros((self.most + 1, num_envs, width), dtype=xp.float32)
        self.lag = xp.zeros(num_envs, dtype=xp.int64)
        self.now = 0

    def begin(self, ids, draw, first):
        """A new episode: nothing but `first` was there before."""
        self.lag[ids] = draw.integer(self.least, self.most)[:, 0]
        self.xp.put(self.ring, (slice(None), ids), first)

    def push(self, values):
        """Takes in the values of a step and returns those that are seen."""
        self.now = (self.now + 1) % len(self.ring)
        return self.replace(values)

    def replace(self, values):
        """Takes in other values of the last step."""
        self.ring[self.now] = values
        return self.ring[(self.now - self.lag) % len(self.ring), self.everyone]


class RandomizedEnv(Around):
    """An environment with a `Randomization` around it, with the attributes and methods of one.

    Observations: measured with noise, then delayed; `critic_obs` is without both. Actions: the
    task gets delayed ones, zeros before the first. Parameters are drawn before an episode begins.
    env: an open environment with autoreset "disabled" and the seed given here.
    """

    def __init__(self, env, randomization: Randomization, *, seed=0, autoreset="same_step"):
        super().__init__(env, None, seed=seed, autoreset=autoreset)
        self.randomization = r = randomization
        env, n, xp = self.env, self.num_envs, self.xp
        with xp.quiet:
            for b in self._buffers:
                b.critic_obs = xp.zeros_like(self._truth())
            self._bind_noise()
            self._actions = _Delay(r.action_delay, n, env.num_actions, "action_delay", xp)
            self._observations = _Delay(r.observation_delay, n, self.num_obs, "observation_delay", xp)
            self._bind_params()
            self._restart(xp.arange(n), self._buffers[0])
            self._buffers[0].final_obs[:] = self.obs

    @classmethod
    def open(
        cls, create, env, num_envs, randomization, *, seed=0, autoreset="same_step", **options
    ):
        """Around create(env, num_envs, ...), a class of environments."""
        inside = create(env, num_envs, seed=seed, autoreset="disabled", **options)
        return cls(inside, randomization, seed=seed, autoreset=autoreset)

    def _memory(self):
        more = ("_actions", "_observations", "_due")
        return super()._memory() | {name: getattr(self, name) for name in more}

    def _bind_noise(self):
        self._noise = noise = self.randomization.observation_noise
        if noise is None:
            return
        scale = host(noise.scale()).astype(float)
        if (
            scale.shape not in ((), (self.num_obs,))
            or not (np.isfinite(scale) & (scale >= 0)).all()
        ):
            raise ArgumentError(
                f"observation_noise: {scale}: must be >= 0, one number or {self.num_obs}"
            )
        if scale.ndim:
            self._noise = noise.scaled(self.xp.asarray(scale))

    def _bind_params(self):
        self._terms, self._due, taken, skip = [], [], set(), 0
        batch = self.env.batch
        own = {f.name for f in batch.fields() if f.kind == "param" and batch.param_is_own(f.name)}
        params = self.randomization.params
        for param in (p for item in params for p in (item if isinstance(item, list) else [item])):
            term = BoundParam(param, batch, self.env.dt, skip)
            if clash := own.intersection(term.nominal):
                raise ArgumentError(f"{', '.join(clash)}: the task sets it itself")
            entries = set(term.entries())
            if clash := taken & entries:
                raise ArgumentError(f"{min(clash)[0]}: two terms of params write the same numbers")
            taken |= entries
            skip += term.count + 1
            self._terms.append(term)
            self._due.append(self.xp.full((self.num_envs,), -1, dtype=self.xp.int64))

    def _measure(self, ids):
        """Observations of the environments `ids` with noise."""
        obs, noise = self.env.obs[ids], self._noise
        if noise is None:
            return obs
        draw = Draw(self._seed[ids], self._episode[ids], Purpose.outer_noise, self._length[ids])
        return obs + noise.sample(draw, self.num_obs)

    def _advance(self, actions, b, physics):
        xp, everyone = self.xp, self._actions.everyone
        self._step_inside(self._actions.push(actions), b, physics)
        b.critic_obs[:] = self._truth()
        b.obs[:] = self._observations.push(self._measure(everyone))
        for term, due in zip(self._terms, self._due):
            if term.interval is None:
                continue
            due -= 1
            ids = xp.flatnonzero(due == 0)
            if len(ids):
                due[ids] = term.draw(ids, self._seed[ids], self._episode[ids], self._length[ids])

    def _look(self, b):
        self.env.observe()
        b.critic_obs[:] = self._truth()
        b.obs[:] = self._observations.replace(self._measure(self._actions.everyone))

    def _begin(self, ids, b):
        self._next_episode(ids)
        seed, episode = self._seed[ids], self._episode[ids]
        for term, due in zip(self._terms, self._due):
            steps = term.draw(ids, seed, episode, 0)
            if steps is not None:
                due[ids] = steps
        self._reset_inside(ids)
        delay = Draw(seed, episode, Purpose.outer_delay)
        first = self._measure(ids)
        self._actions.begin(ids, delay, 0)
        self._observations.begin(ids, delay, first)
        b.critic_obs[ids] = self._truth()[ids]
        self.xp.put(b.obs, ids, first)
