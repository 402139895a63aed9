"""`stiction view` and `play --view`: robots in motion with their contact forces, at real time."""

import importlib.util
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import assets
from .._core import Batch, Error, JointType, Model
from ..control import HoldPose, SmoothControls, start_key, start_state
from ..interrupt import CtrlC
from ..task_names import open_task
from ..text import say, visible
from .tasks import parse_options

FRAME = 0.02  # s between two pictures, at least
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)


@dataclass
class Panel:
    """What a user chooses while looking."""

    paused: bool = False
    restart: bool = False  # asked for, not yet done
    speed: float = 1.0  # simulated seconds per second
    env: int = 0  # which environment is shown
    forces: bool = True
    force_scale: float = 1.0  # of the arrows
    names: bool = False  # of bodies
    follow: bool = True


def robot_weight(model) -> float:
    """N; of a model without gravity: as if it were 1e-9 m/s²."""
    gravity = max(float(np.linalg.norm(model.gravity)), 1e-9)
    return max(float(model.body_mass[model.body_weldid != 0].sum()) * gravity, 1e-9)


def contact_arrows(batch, env=0, scale=1.0):
    """(n, 2, 3) starts and ends: forces on the moving body of each contact, `scale` m per its weight."""
    model = batch.model
    moving, weight = model.body_weldid != 0, robot_weight(model)
    arrows = []
    for c in batch.contacts(env):
        force = c.impulse / batch.options.timestep / weight * scale
        if not moving[model.geom_bodyid[c.geom2]]:
            force = -force
        if np.linalg.norm(force) > 1e-3:
            arrows.append((c.pos, c.pos + force))
    return np.array(arrows).reshape(-1, 2, 3)


def falls_for_ever(model):
    """Whether a body is free and nothing that it could touch stands still."""
    free = np.any(model.jnt_type == JointType.free) and np.any(model.gravity != 0)
    partners = model.geom_bodyid[np.concatenate([model.pair_geom1, model.pair_geom2])]
    return bool(free and np.all(model.body_weldid[partners] != 0))


def extent(motion):
    """Centre of what moves in the first environment, and the distance to its farthest body, at least 0.3 m."""
    moving = motion.model.body_weldid != 0
    place = motion.batch.xpos[0, moving if moving.any() else slice(None)]
    centre = (place.min(axis=0) + place.max(axis=0)) / 2
    return centre, max(0.3, float(np.linalg.norm(place - centre, axis=1).max()))


class ModelMotion:
    """Robots from their start state: motors and servos hold it, or nothing does, or they wander."""

    def __init__(self, file, keyframe, controls, seed, num_envs=1):
        self.model = Model.from_file(file)
        self.model_xml = None  # included files and meshes are beside the file
        self.batch = Batch(self.model, num_envs=num_envs, threads=1)
        self._start, self._key = start_state(self.model, keyframe), start_key(self.model, keyframe)
        self._kind, self._seed = controls, seed
        self.steps = max(1, round(FRAME / self.batch.options.timestep))
        self.dt = self.steps * self.batch.options.timestep
        self.reset()

    def reset(self):
        qpos, qvel, ctrl = self._start
        self.batch.reset(qpos=qpos, qvel=qvel)
        if self._key is not None:
            self.batch.mocap_pos[:] = self.model.key_mpos[self._key]
            self.batch.mocap_quat[:] = self.model.key_mquat[self._key]
        self.batch.ctrl[:] = 0 if self._kind == "zero" else ctrl
        self._smooth = self._hold = None
        if self._kind == "random":
            self._smooth = SmoothControls(self.model, self.batch.num_envs, self._seed, ctrl)
        elif self._kind == "hold":
            self._hold = HoldPose(self.batch, qpos, ctrl)
        self.time = 0.0

    def advance(self):
        if self._smooth:
            self.batch.ctrl[:] = self._smooth.at(self.time)
        if self._hold and self._hold.acts:
            for _ in range(self.steps):
                self._hold.act()
                self.batch.step()
        else:
            self.batch.step(self.steps)
        self.time += self.dt


class PolicyMotion:
    """Environments under a policy; each begins anew when its episode ends."""

    def __init__(self, env, policy):
        self.env, self.policy, self.batch, self.model = env, policy, env.batch, env.batch.model
        self.model_xml, self.model_assets = env.model_xml, getattr(env, "model_assets", {})
        self.steps = max(1, round(FRAME / env.dt))
        self.dt = self.steps * env.dt
        self.reset()

    def reset(self):
        self.obs = self.env.reset()

    def advance(self):
        for _ in range(self.steps):
            self.obs, _, terminated, truncated = self.env.step(self.policy(self.obs))
            ended = terminated | truncated
            if ended.any():
                self.obs = self.env.reset(ended)


class Wandering:
    """A policy of no use: actions that drift through their ranges, ±1 where there are none."""

    def __init__(self, env, seed):
        bounded = np.isfinite(env.action_low) & np.isfinite(env.action_high)
        self.low = np.where(bounded, env.action_low, -1)
        self.high = np.where(bounded, env.action_high, 1)
        self.rng, self.keep = np.random.default_rng(seed), np.exp(-env.dt / 0.3)
        self.x = np.zeros((env.num_envs, env.num_actions))

    def __call__(self, obs):
        noise = self.rng.standard_normal(self.x.shape)
        self.x = self.keep * self.x + np.sqrt(1 - self.keep**2) * noise
        middle, half = (self.high + self.low) / 2, (self.high - self.low) / 2
        return np.float32(middle + half * np.tanh(self.x))


# ------------------------------------------------------------------------------- showing


def open_view(motion, panel=None):
    """A window or page that shows a motion; raises Error where nothing here can show it."""
    panel = panel or Panel()
    if importlib.util.find_spec("viser"):
        from .browser import BrowserView

        return BrowserView(motion, panel)
    if not importlib.util.find_spec("mujoco"):
        raise Error("nothing to show it with: pip install 'stiction[view]', or pip install mujoco")
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise Error("no screen for MuJoCo's window: pip install viser (in a browser), or --video FILE")
    from .window import WindowView

    return WindowView(motion, panel)


def show(motion, panel=None) -> int:
    """Until the window is closed or Ctrl-C."""
    panel = panel or Panel()
    viewer = open_view(motion, panel)
    try:
        with CtrlC() as ctrl_c:
            due = time.perf_counter()
            while viewer.show() and not ctrl_c.pressed:
                if panel.restart:
                    motion.reset()
                    panel.restart = False
                if panel.paused:
                    due = time.perf_counter() + FRAME
                else:
                    motion.advance()
                    due += motion.dt / panel.speed
                late = time.perf_counter() - due
                if late > 1:  # slower than that: go on from here
                    due += late
                time.sleep(max(0.0, -late))
    finally:
        viewer.close()
    return 0


def view_policy(policy, env) -> int:
    return show(PolicyMotion(env, policy))


def _motion(args):
    """Of a file or robot, or of a task under actions that drift."""
    is_file = Path(args.file).is_file() and Path(args.file).suffix != ".py"
    if is_file or args.file in assets.names():
        file = Path(args.file) if is_file else assets.path(args.file)
        return ModelMotion(file, args.keyframe, args.controls, args.seed, args.num_envs)
    if Path(args.file).suffix in (".xml", ".mjcf", ".urdf"):
        raise Error(f"no such file: {visible(args.file)}")
    options = {"autoreset": "disabled", "seed": args.seed, "threads": 1}
    env = open_task(args.file, args.num_envs, **options, **parse_options(args.option))
    return PolicyMotion(env, Wandering(env, args.seed))


def view(args) -> int:
    motion = _motion(args)
    if falls_for_ever(motion.model):
        say(f"{visible(args.file)} has no floor, it falls: show a file with a floor that includes it")
    panel = Panel(names=args.names, force_scale=args.force_scale, speed=args.speed)
    if not args.video:
        return show(motion, panel)
    from .film import film_motion, missing

    if why := missing():
        raise Error(f"no film: {why}")
    scale = 2 * extent(motion)[1] * panel.force_scale
    film_motion(motion, args.video, args.seconds, panel, scale)
    say(f"written: {visible(args.video)}; contact forces: 1 m is {robot_weight(motion.model) / scale:.4g} N")
    return 0
