"""Logs cut into windows, and all windows replayed at once: a column of environments for the base and for each number
that is moved, a row for each window, so that residuals and their derivatives come out of one batch.

A window begins at a measured state, corrected by z: what is measured is not exact, and what is not measured (an
activation, a velocity without a column) is only guessed. Residuals of a window are

    r = (replayed - measured) / σ       of every sample, the first one, -z/σ, among them

and z is no unknown of the fit: for each window it is eliminated by QR (`Elimination`).
"""

from dataclasses import dataclass

import numpy as np

from .. import rotations
from .._core import ArgumentError, Batch, JointType

MOST_NUMBERS = 2**25  # of a run's residuals, 256 MiB
STEP = 1e-3  # of finite differences, of u
Z_STEP = 0.1  # of z: of the noise
GAP = 5.0  # sample periods: a longer one ends a window


class Tangent:
    """Differences and sums of positions in the coordinates of velocities, over the last axis."""

    def __init__(self, model):
        plain, self.quaternions = [], []
        for t, q, v in zip(model.jnt_type, model.jnt_qposadr, model.jnt_dofadr):
            if JointType(t) == JointType.free:
                plain += [(q + k, v + k) for k in range(3)]
            if JointType(t) in (JointType.free, JointType.ball):
                shift = 3 if JointType(t) == JointType.free else 0
                self.quaternions.append((int(q) + shift, int(v) + shift))
            else:
                plain.append((q, v))
        self.nv = model.nv
        self.q, self.v = (np.array([p[k] for p in plain], int) for k in (0, 1))

    def difference(self, measured, other):
        """other ⊖ measured; of quaternions the rotation vector in the measured body's axes."""
        shape = np.broadcast_shapes(measured.shape[:-1], other.shape[:-1])
        out = np.empty((*shape, self.nv))
        out[..., self.v] = other[..., self.q] - measured[..., self.q]
        for q, v in self.quaternions:
            turn = rotations.multiply(rotations.conjugate(measured[..., q : q + 4]), other[..., q : q + 4])
            out[..., v : v + 3] = rotations.log(turn)
        return out

    def add(self, qpos, step):
        out = np.array(np.broadcast_to(qpos, (*step.shape[:-1], qpos.shape[-1])))
        out[..., self.q] += step[..., self.v]
        for q, v in self.quaternions:
            out[..., q : q + 4] = rotations.multiply(qpos[..., q : q + 4], rotations.exp(step[..., v : v + 3]))
        return out


class HeldCommands:
    """The commands of a log, each held until the next. A physics step gets the mean of its interval, so that latency is
    continuous: mean of u(t - L) over the step = (U(t + δt - L) - U(t - L)) / δt, U the integral of u."""

    def __init__(self, log, model):
        low, high = model.actuator_ctrlrange.T
        limited = model.actuator_ctrllimited != 0
        ctrl = np.where(limited, np.clip(log.ctrl, low, high), log.ctrl)
        # before the first row its command, after the last one its command
        self.time = np.concatenate([log.time[:1] - 1e4, log.time, log.time[-1:] + 1e4])
        held = np.concatenate([ctrl[:1], ctrl])
        steps = held * np.diff(self.time)[:, None]
        # from the first row on, so that round-off does not grow with what is before
        self.integral = np.concatenate([-steps[:1], np.zeros((1, ctrl.shape[1])), np.cumsum(steps[1:], axis=0)])

    def mean(self, begin, dt, actuator):
        """(n,) of one actuator over the intervals from `begin` (n,)."""
        ends = np.interp(np.stack([begin, begin + dt]), self.time, self.integral[:, actuator])
        return (ends[1] - ends[0]) / dt


@dataclass
class Windows:
    """Samples of all windows, side by side: (number, most samples, ...); `valid` where there is one."""

    log: np.ndarray  # of each window
    row: np.ndarray  # of its first sample
    begin: np.ndarray  # s, in the log's time
    time: np.ndarray  # s since begin
    valid: np.ndarray
    qpos: np.ndarray
    qvel: np.ndarray

    def __len__(self):
        return len(self.log)


def cut(logs, seconds: float) -> Windows:
    """Windows one after the other, none across a gap of the time; what is left over at an end is a shorter one."""
    spans = []
    for k, log in enumerate(logs):
        period = np.median(np.diff(log.time))
        if seconds < 2 * period:
            raise ArgumentError(
                f"window = {seconds:g} s: {log.name} has a row every {period:g} s; take 3 rows at least"
            )
        first = 0
        while first < len(log.time):
            end = first + 1
            while (
                end < len(log.time)
                and log.time[end] - log.time[first] <= seconds * (1 + 1e-9)
                and (log.time[end] - log.time[end - 1] <= GAP * period)
            ):
                end += 1
            if end - first >= 3:
                spans.append((k, first, end))
            first = end
    if not spans:
        raise ArgumentError("no window of 3 rows without a gap")
    most = max(end - first for _, first, end in spans)
    rows = np.array([np.minimum(first + np.arange(most), end - 1) for _, first, end in spans])
    of = [k for k, _, _ in spans]
    pick = lambda name: np.stack([getattr(logs[k], name)[r] for k, r in zip(of, rows)])
    time = pick("time")
    valid = rows == np.array([first for _, first, _ in spans])[:, None] + np.arange(most)
    return Windows(np.array(of), rows[:, 0], time[:, 0], time - time[:, :1], valid, pick("qpos"), pick("qvel"))


class Replay:
    """Residuals of all windows as a function of the fitted numbers u and the start corrections z, with derivatives.

    σ: (2 nv,) of positions and velocities; `measured`: (2 nv,) which of them there are.
    """

    def __init__(self, model, options, logs, bounds, windows, batch, progress=None, pressed=None):
        self.model, self.logs, self.bounds, self.windows, self.batch = model, logs, bounds, windows, batch
        self.dt, self.tangent, self.pressed = batch.options.timestep, Tangent(model), pressed or (lambda: False)
        self.commands = [HeldCommands(log, model) for log in logs]
        seen = ~np.isnan(np.concatenate([log.qvel for log in logs]))
        self.measured = np.concatenate([np.ones(model.nv, bool), seen.any(axis=0)])
        if (seen.any(axis=0) & ~seen.all(axis=0)).any():
            raise ArgumentError("a joint's velocity is measured in some logs and not in others: fit them alone")
        self.nz = 2 * model.nv + model.na
        self.nominal = {name: np.copy(batch.param(name)[0]) for b in bounds for name in b.fields()}
        self.start_qvel, self.start_act = self._starts()
        self.columns = 1 + len(bounds) + self.nz
        self.per_run = batch.num_envs // self.columns

    @staticmethod
    def envs_for(windows, columns, samples, nv):
        """Environments of a batch that replays all windows, or as many as memory has room for."""
        per_window = columns * samples * 2 * nv
        return columns * int(np.clip(MOST_NUMBERS // per_window, 1, windows))

    def _starts(self):
        """Velocities and activations at the beginning of windows: measured, else guessed from what is."""
        w, model = self.windows, self.model
        qvel = np.nan_to_num(w.qvel[:, 0])
        rows = np.flatnonzero(~self.measured[model.nv :])
        for k, (log, row) in enumerate(zip(w.log, w.row)):
            at = slice(max(0, row - 2), row + 3)
            time, q = self.logs[log].time[at], self.logs[log].qpos[at]
            slope = self.tangent.difference(self.logs[log].qpos[row], q) if rows.size else None
            if rows.size:
                t = time - time.mean()
                qvel[k, rows] = (t @ slope / (t @ t))[rows]
        act = np.zeros((len(w), model.na))
        for a, adr in enumerate(model.actuator_actadr):
            if adr >= 0 and model.actuator_dyntype[a] != 1:  # an integrator's is no command
                act[:, adr] = [np.interp(b, self.logs[k].time, self.logs[k].ctrl[:, a]) for k, b in zip(w.log, w.begin)]
        return qvel, act

    def z_scale(self, sigma):
        """(nz,) of the corrections: the noise of what is measured; of what is not what it may be wrong by."""
        model, w = self.model, self.windows
        scale = np.array(sigma)
        speed = np.maximum(np.sqrt((self.start_qvel**2).mean(axis=0)), 0.1)
        scale[model.nv :][~self.measured[model.nv :]] = speed[~self.measured[model.nv :]]
        act = np.ones(model.na)
        for a, adr in enumerate(model.actuator_actadr):
            if adr >= 0:
                act[adr] = max(np.std(np.concatenate([log.ctrl[:, a] for log in self.logs])), 1e-3)
        return np.concatenate([scale, act])

    def differences(self, u):
        """Steps of u, away from bounds."""
        h = np.array([STEP if b.name != "latency" else 0.25 * self.dt / b.scale for b in self.bounds])
        high = np.array([b.number(b.high) for b in self.bounds])
        return np.where(u + h > high, -h, h)

    def run(self, u, z, sigma):
        """(r, J): residuals (windows, samples, 2 nv) and their derivatives by each u and each z, (columns - 1, ...)."""
        p, h, hz = len(self.bounds), self.differences(u), Z_STEP
        us, steps = np.repeat(u[None], self.columns, axis=0), np.zeros((self.columns, self.nz))
        us[1 + np.arange(p), np.arange(p)] += h
        steps[1 + p + np.arange(self.nz), np.arange(self.nz)] = hz
        r = self.compare(us, z + steps[:, None], sigma)
        moved = np.concatenate([h, np.full(self.nz, hz)])
        return r[0], (r[1:] - r[0]) / moved[:, None, None, None]

    def compare(self, us, zs, sigma):
        """(n, windows, samples, 2 nv): residuals of n <= columns numbers u with start corrections z."""
        parts = [
            self._run_part(us, zs * self.z_scale(sigma), np.arange(k, min(k + self.per_run, len(self.windows))))
            for k in range(0, len(self.windows), self.per_run)
        ]
        r = np.concatenate(parts, axis=1)
        r *= self.windows.valid[..., None] * self.measured / sigma
        return r

    def _run_part(self, us, zs, part):
        """Differences replayed ⊖ measured of some windows: (columns, windows, samples, 2 nv)."""
        columns, n, model, w, nv = len(us), len(part), self.model, self.windows, self.model.nv
        envs = np.arange(columns * n).reshape(columns, n)
        self._write(us, envs)
        ids = np.arange(self.batch.num_envs)
        window = np.full(self.batch.num_envs, part[0])  # environments without a window follow the first
        window[: columns * n] = np.tile(part, columns)
        own = np.zeros((self.batch.num_envs, self.nz))
        own[: columns * n] = zs[:, part].reshape(columns * n, -1)
        qpos = self.tangent.add(w.qpos[window, 0], own[:, :nv])
        qvel = self.start_qvel[window] + own[:, nv : 2 * nv]
        state = {"act": self.start_act[window] + own[:, 2 * nv :]} if model.na else {}
        self.batch.reset(ids, qpos=qpos, qvel=qvel, **state)
        return self._step_through(us, columns, n, part)

    def _write(self, us, envs):
        for name, value in self.nominal.items():
            self.batch.param(name)[:] = value
        every = envs.reshape(-1)
        for k, bound in enumerate(self.bounds):
            bound.write(self.batch, every, np.repeat(bound.value(us[:, k]), envs.shape[1]))
        self.batch.check_params()

    def _latencies(self, us):
        """(columns, nu) s"""
        found = np.zeros((len(us), self.model.nu))
        for k, bound in enumerate(self.bounds):
            if bound.name == "latency":
                found[:, bound.rows] = bound.value(us[:, k])[:, None]
        return found

    def controls(self, latency, windows, nstep):
        """(nstep, windows, nu): mean commands of all physics steps of windows under latencies (nu,)."""
        w, out = self.windows, np.empty((nstep, len(windows), self.model.nu))
        steps = np.arange(nstep) * self.dt
        for a in range(self.model.nu):
            for k in np.unique(w.log[windows]):
                of = np.flatnonzero(w.log[windows] == k)
                begin = w.begin[windows[of]] + steps[:, None] - latency[a]
                out[:, of, a] = self.commands[k].mean(begin, self.dt, a)
        return out

    def _step_through(self, us, columns, n, part):
        w, batch, nv, dt = self.windows, self.batch, self.model.nv, self.dt
        # sample s lies in the step that ends after it, at the fraction f of that step
        place = np.maximum(w.time[part] / dt, 0)
        step = np.maximum(np.ceil(place - 1e-6).astype(int), 1)
        fraction = np.clip(place - (step - 1), 0, 1)
        nstep = int(step[w.valid[part]].max())
        latencies, memory = self._latencies(us), {}
        for c in range(columns):
            key = tuple(latencies[c])
            if key not in memory:
                memory[key] = self.controls(latencies[c], part, nstep)
        used = [memory[tuple(latencies[c])] for c in range(columns)] if self.model.nu else []
        out = np.zeros((columns, n, w.time.shape[1], 2 * nv))
        view = lambda x: np.array(x[: columns * n]).reshape(columns, n, -1)
        before = view(batch.qpos), view(batch.qvel)
        first = np.stack([w.qvel[part, 0]])
        out[:, :, 0, :nv] = self.tangent.difference(w.qpos[part, 0], before[0])
        out[:, :, 0, nv:] = before[1] - np.nan_to_num(first)
        order = [np.argwhere((step == k + 1) & w.valid[part] & (np.arange(step.shape[1]) > 0)) for k in range(nstep)]
        for k, more in self._runs(used, order, fraction, nstep):
            if self.pressed():
                raise KeyboardInterrupt
            for c, ctrl in enumerate(used):
                batch.ctrl[c * n : (c + 1) * n] = ctrl[k]
            batch.step(more)
            after = view(batch.qpos), view(batch.qvel)
            samples = order[k + more - 1]
            for i in np.unique(samples[:, 1]):
                at = samples[samples[:, 1] == i, 0]
                f = fraction[at, i, None]
                q = self.tangent.add(before[0][:, at], f * self.tangent.difference(before[0][:, at], after[0][:, at]))
                v = before[1][:, at] + f * (after[1][:, at] - before[1][:, at])
                out[:, at, i, :nv] = self.tangent.difference(w.qpos[part[at], i], q)
                out[:, at, i, nv:] = v - np.nan_to_num(w.qvel[part[at], i])
            before = after
        return out

    @staticmethod
    def _runs(used, order, fraction, nstep):
        """(first, number) of physics steps that are made by one call: under the same commands, up to a sample. A sample
        within a step needs the state before it, too."""
        inside = [any(fraction[i, s] < 1 - 1e-6 for i, s in samples) for samples in order]
        first = 0
        while first < nstep:
            end = first + 1
            while (
                end < nstep
                and not len(order[end - 1])
                and not inside[end]
                and all(np.array_equal(ctrl[end], ctrl[first]) for ctrl in used)
            ):
                end += 1
            yield first, end - first
            first = end


class Elimination:
    """What is left of r, J_θ and J_z of each window when z is where it is best.

    QR of [J_z J_θ r] has below the rows of z the triangle of [J_θ r] projected on what z can't explain; sums of squares
    and products are those of the projected ones. z̃, of columns that are not measured, has a prior of its scale.
    """

    def __init__(self, r, J, z, p, measured):
        windows, nz = z.shape
        rows = np.concatenate([J, r[None]]).reshape(len(J) + 1, windows, -1).transpose(1, 2, 0)
        free = np.flatnonzero(~np.concatenate([measured, np.zeros(nz - len(measured), bool)]))
        prior = np.zeros((windows, len(free), p + nz + 1))
        prior[:, np.arange(len(free)), p + free] = 1
        prior[..., -1] = z[:, free]
        padding = np.zeros((windows, p + nz + 1, p + nz + 1))
        stacked = np.concatenate([rows, prior, padding], axis=1)
        order = [*range(p, p + nz), *range(p), p + nz]
        R = np.linalg.qr(stacked[..., order], mode="r")[:, : nz + p + 1]
        self.r, self.z, self.J, self.f = r, z, R[:, nz:, nz:-1], R[:, nz:, -1]
        self.gain = (R[:, :nz, -1] ** 2).sum(axis=1)  # of a window's sum of squares, by a better z
        self.cost = (self.f**2).sum(axis=1) + self.gain
        # a direction of z that nothing depends on stays
        lead = R[:, :nz, :nz] + 1e-9 * np.eye(nz)
        self.step = -np.linalg.solve(lead, R[:, :nz, -1:])[..., 0]
        self.slope = -np.linalg.solve(lead, R[:, :nz, nz:-1])

    def take(self, other, windows):
        """What another one has of some windows."""
        for name, value in vars(self).items():
            value[windows] = getattr(other, name)[windows]
