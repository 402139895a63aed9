"""The reward of the environment that is shown and its terms over the last seconds: kept in a `RewardTrace`, drawn as a MuJoCo figure in
windows and films, by viser in a browser."""

import colorsys
from collections import deque

import numpy as np

from ..arrays import host

SECONDS = 5.0  # that are shown
TERMS = 7  # beside the reward, the greatest ones
_POINTS = 120  # of a line, at most: MuJoCo draws none between points that fall on one pixel
_PREFIXES = ("rewards/", "reward_")  # of metrics that are parts of the reward, of tasks made of terms and of compiled ones
_WIDTH, _HEIGHT = 0.34, 0.36  # of a picture, at the lower left


class RewardTrace:
    """Reward of a control step and its terms, weights included, of one environment."""

    def __init__(self, metric_names=()):
        found = [(k, next((n[len(p) :] for p in _PREFIXES if n.startswith(p)), "")) for k, n in enumerate(metric_names)]
        self._columns = [k for k, name in found if name]
        self.names = ("reward", *(name for _, name in found if name))
        self.clear()

    def clear(self):
        self._rows, self._env = deque(), None

    def add(self, time, reward, metrics, env=0):
        """Of the step that ended at `time` (s). Another environment, or a time before the last one, begins anew; the same time adds nothing."""
        if env != self._env or (self._rows and time < self._rows[-1][0]):
            self.clear()
            self._env = env
        if self._rows and time == self._rows[-1][0]:
            return
        self._rows.append((time, float(reward), *(float(metrics[k]) for k in self._columns)))
        while self._rows[0][0] < time - SECONDS:
            self._rows.popleft()

    def table(self):
        """(times (T,), from −SECONDS to 0; values (T, 1 + terms))."""
        rows = np.array(self._rows).reshape(-1, 1 + len(self.names))
        return rows[:, 0] - (rows[-1, 0] if len(rows) else 0), rows[:, 1:]

    def shown(self):
        """Columns of what is drawn: the reward, and of the terms the greatest of these seconds, in their order."""
        values = self.table()[1]
        size = np.abs(values[:, 1:]).mean(0) if len(values) else np.zeros(len(self.names) - 1)
        return [0, *sorted(1 + int(k) for k in np.argsort(-size, kind="stable")[:TERMS])]

    def colour(self, column):
        """The reward is white; terms keep their colours."""
        return (1.0, 1.0, 1.0) if column == 0 else colorsys.hsv_to_rgb((0.61 * (column - 1)) % 1, 0.65, 1.0)


def trace_of(motion):
    """A trace for a motion, or None where it has no rewards."""
    env = getattr(motion, "env", None)
    return RewardTrace(env.metric_names) if hasattr(motion, "reward") and env is not None else None


def add_step(trace, motion, env):
    """The last step of a motion."""
    if trace is not None and motion.reward is not None:
        trace.add(motion.time, motion.reward[env], motion.metrics[env], env)


def keep_step(env):
    """(reward, metrics) of the last step of all environments, on the CPU."""
    return np.array(host(env.reward)), np.array(host(env.metrics))


def figure(trace):
    """A mujoco.MjvFigure."""
    import mujoco

    fig = mujoco.MjvFigure()
    mujoco.mjv_defaultFigure(fig)
    times, values = trace.table()
    shown = trace.shown()
    fig.title, fig.xlabel = "reward of a control step", f"last {SECONDS:g} s"
    fig.flg_legend, fig.flg_extend = 1, 0
    fig.flg_ticklabel[:] = (0, 1)
    fig.figurergba[:] = (0.08, 0.08, 0.1, 0.75)
    fig.gridsize[:] = (8, 4)
    fig.yformat = "%.3g"
    low, high = (float(values[:, shown].min()), float(values[:, shown].max())) if len(values) else (0.0, 0.0)
    low, high = min(low, 0.0), max(high, 0.0)
    room = 0.05 * (high - low) or 1.0
    # names stand at the right, beside what is newest
    fig.range[:] = [[-SECONDS, 0.4 * SECONDS], [low - room, high + room]]
    every = max(-(-len(times) // _POINTS), 1)
    some = slice((len(times) - 1) % every, None, every)  # the newest among them
    for line, column in enumerate(shown):
        x, y = times[some], values[some, column]
        fig.linename[line] = trace.names[column][:90].encode("ascii", "replace")
        fig.linergb[line] = trace.colour(column)
        fig.linepnt[line] = len(x)
        fig.linedata[line, : 2 * len(x)] = np.stack([x, y], 1).ravel()
    return fig


def place_in(width, height):
    """(left, bottom, width, height) of the figure in a picture, in pixels."""
    return 8, 8, int(_WIDTH * width), int(_HEIGHT * height)


class FigurePainter:
    """Draws figures into pictures (height, width, 3) uint8, through an OpenGL of its own: MuJoCo's Renderer draws scenes only."""

    def __init__(self, width, height):
        import mujoco
        from mujoco.rendering.classic.gl_context import GLContext  # mujoco.GLContext is that of the first import

        self._mujoco = mujoco
        self.left, self.bottom, self.width, self.height = place_in(width, height)
        model = mujoco.MjModel.from_xml_string(
            f'<mujoco><visual><global offwidth="{self.width}" offheight="{self.height}"/></visual></mujoco>')  # fmt: skip
        self._gl = GLContext(self.width, self.height)
        self._gl.make_current()
        self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)
        self._rect = mujoco.MjrRect(0, 0, self.width, self.height)

    def draw(self, picture, trace):
        """A copy of the picture with the figure over its lower left."""
        mj, under = self._mujoco, (slice(-self.bottom - self.height, -self.bottom), slice(self.left, self.left + self.width))
        picture, pixels = np.array(picture), np.empty((self.height, self.width, 3), np.uint8)
        fig = figure(trace)
        opaque, fig.figurergba[3] = float(fig.figurergba[3]), 1.0
        self._gl.make_current()
        mj.mjr_figure(self._rect, fig, self._context)
        mj.mjr_readPixels(pixels, None, self._rect, self._context)
        picture[under] = (1 - opaque) * picture[under] + opaque * pixels[::-1]
        return picture

    def close(self):
        self._gl.make_current()
        self._context.free()
        self._gl.free()
