"""`stiction view` and `play --view`: robots in motion with their contact forces, at real time."""

import importlib.util
import os
import threading
import time
from pathlib import Path

import numpy as np

from .._core import Batch, Error, JointType, Model
from ..control import SmoothControls, start_state
from ..interrupt import CtrlC
from ..task_names import open_task
from ..text import say, visible
from .tasks import parse_options

FRAME = 0.02  # s between two pictures, at least
ARROW = 1.0  # length in robot weights


def contact_arrows(batch, env=0):
    """(n, 2, 3) starts and ends: forces on the moving body of each contact, 1 m per its weight."""
    model = batch.model
    gravity = max(float(np.linalg.norm(model.gravity)), 1e-9)
    moving = model.body_weldid != 0
    weight = max(float(model.body_mass[moving].sum()) * gravity, 1e-9)
    arrows = []
    for c in batch.contacts(env):
        force = c.impulse / batch.options.timestep / weight * ARROW
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


def _extent(motion):
    """Centre of what moves, and the distance from there to its farthest body, at least 0.3 m."""
    moving = motion.model.body_weldid != 0
    place = motion.batch.xpos[0, moving if moving.any() else slice(None)]
    centre = (place.min(axis=0) + place.max(axis=0)) / 2
    return centre, max(0.3, float(np.linalg.norm(place - centre, axis=1).max()))


class ModelMotion:
    """One robot from its start state."""

    def __init__(self, file, keyframe, controls, seed):
        self.model = Model.from_file(file)
        self.model_xml = None  # included files and meshes are beside the file
        self.batch = Batch(self.model, num_envs=1, threads=1)
        qpos, qvel, ctrl = start_state(self.model, keyframe)
        self.batch.reset(qpos=qpos, qvel=qvel)
        self.batch.ctrl[:] = 0 if controls == "zero" else ctrl
        self.controls = SmoothControls(self.model, 1, seed, ctrl) if controls == "random" else None
        self.steps = max(1, round(FRAME / self.batch.options.timestep))
        self.dt, self.time = self.steps * self.batch.options.timestep, 0.0

    def advance(self):
        if self.controls:
            self.batch.ctrl[:] = self.controls.at(self.time)
        self.batch.step(self.steps)
        self.time += self.dt


class PolicyMotion:
    """One environment after another under a policy."""

    def __init__(self, env, policy):
        self.env, self.policy, self.batch, self.model = env, policy, env.batch, env.batch.model
        self.model_xml, self.obs = env.model_xml, env.reset()
        self.steps = max(1, round(FRAME / env.dt))
        self.dt = self.steps * env.dt

    def advance(self):
        for _ in range(self.steps):
            self.obs, _, terminated, truncated = self.env.step(self.policy(self.obs))
            if (terminated | truncated).any():
                self.obs = self.env.reset()


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


# ------------------------------------------------------------------------------- browser


class BrowserView:
    """A page of viser: bodies as frames, their geoms as meshes below them."""

    def __init__(self, motion):
        import trimesh
        import viser

        self.motion, self.trimesh = motion, trimesh
        self.server = viser.ViserServer(host="127.0.0.1", verbose=False)
        self.server.scene.set_up_direction("+z")
        model = motion.model
        self.frames = [
            self.server.scene.add_frame(f"/body{b}", show_axes=False) for b in range(model.nbody)
        ]
        for g in range(model.ngeom):
            self._add_geom(model, g)
        centre, radius = _extent(motion)
        self.server.initial_camera.look_at = centre
        self.server.initial_camera.position = centre + radius * np.array([2.0, -2.0, 1.0])
        say(f"open http://localhost:{self.server.get_port()} in a browser; Ctrl-C ends")

    def _mesh(self, model, g):
        make, size = self.trimesh.creation, model.geom_size[g]
        kind = model.geom_type[g]
        name = _GEOM_NAMES.get(int(kind))
        if name == "sphere":
            return make.icosphere(radius=size[0])
        if name == "capsule":
            mesh = make.capsule(radius=size[0], height=2 * size[1])
            return mesh.apply_translation(-mesh.bounds.mean(axis=0))
        if name == "cylinder":
            return make.cylinder(radius=size[0], height=2 * size[1])
        if name == "box":
            return make.box(extents=2 * size)
        if name == "ellipsoid":
            return make.icosphere().apply_scale(size)
        return None

    def _add_geom(self, model, g):
        scene, pose = self.server.scene, {"position": model.geom_pos[g], "wxyz": model.geom_quat[g]}
        name = f"/body{model.geom_bodyid[g]}/geom{g}"
        if _GEOM_NAMES.get(int(model.geom_type[g])) == "plane":
            scene.add_grid(name, width=40, height=40, plane="xy", **pose)
            return
        mesh = self._mesh(model, g)
        if mesh is None and model.geom_type[g] == 7:
            spec = model.meshes[model.geom_dataid[g]]
            mesh = self.trimesh.load(spec.file, force="mesh").apply_scale(spec.scale)
        if mesh is not None:
            scene.add_mesh_simple(name, mesh.vertices, mesh.faces, color=(150, 170, 190), **pose)

    def show(self) -> bool:
        batch = self.motion.batch
        with self.server.atomic():
            for b, frame in enumerate(self.frames):
                frame.position, frame.wxyz = batch.xpos[0, b], batch.xquat[0, b]
            arrows = contact_arrows(batch)
            self.server.scene.add_line_segments(
                "/forces", arrows, colors=np.full((len(arrows), 2, 3), (230, 80, 40)), thickness=4,
                thickness_units="screen", visible=len(arrows) > 0,
            )  # fmt: skip
        return True

    def close(self):
        self.server.stop()


_GEOM_NAMES = {0: "plane", 2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box"}


# ------------------------------------------------------------------------------- MuJoCo


class WindowView:
    """MuJoCo's interactive window, fed with our poses."""

    def __init__(self, motion):
        import mujoco
        import mujoco.viewer

        from ..rendering import scenery

        self.motion, self.mujoco = motion, mujoco
        self.model = scenery(motion.model_xml or Path(motion.model.file))
        self.data = mujoco.MjData(self.model)
        # its panels command MuJoCo's simulation, which does not run here
        others = threading.enumerate()
        self.viewer = mujoco.viewer.launch_passive(
            self.model, self.data, show_left_ui=False, show_right_ui=False
        )
        self.threads = [t for t in threading.enumerate() if t not in others]

    def show(self) -> bool:
        from ..rendering import draw_arrows

        if not self.viewer.is_running():
            return False
        with self.viewer.lock():
            self.data.qpos[:] = self.motion.batch.qpos[0]
            self.mujoco.mj_kinematics(self.model, self.data)
            self.mujoco.mj_comPos(self.model, self.data)
            scene = self.viewer.user_scn
            scene.ngeom = 0
            draw_arrows(scene, contact_arrows(self.motion.batch))
        self.viewer.sync()
        return True

    def close(self):
        self.viewer.close()
        for thread in self.threads:  # it may be drawing: X calls a window that is gone an error
            thread.join(timeout=5)


def open_view(motion):
    """A window or page that shows a motion; raises Error where nothing here can show it."""
    if importlib.util.find_spec("viser"):
        return BrowserView(motion)
    if not importlib.util.find_spec("mujoco"):
        raise Error("nothing to show it with: pip install viser, or pip install mujoco")
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise Error("no screen for MuJoCo's window: pip install viser (in a browser), or --video FILE")
    return WindowView(motion)


def show(motion) -> int:
    """Until the window is closed or Ctrl-C."""
    viewer = open_view(motion)
    try:
        with CtrlC() as ctrl_c:
            begin, shown = time.perf_counter(), 0
            while viewer.show() and not ctrl_c.pressed:
                motion.advance()
                shown += 1
                late = time.perf_counter() - begin - shown * motion.dt
                if late > 1:  # slower than real time: go on from here
                    begin += late
                time.sleep(max(0.0, -late))
    finally:
        viewer.close()
    return 0


def view_policy(policy, env) -> int:
    return show(PolicyMotion(env, policy))


def _motion(args):
    """Of a file, or of a task under actions that drift."""
    if Path(args.file).is_file() and Path(args.file).suffix != ".py":
        return ModelMotion(args.file, args.keyframe, args.controls, args.seed)
    if Path(args.file).suffix in (".xml", ".mjcf", ".urdf"):
        raise Error(f"no such file: {visible(args.file)}")
    options = {"autoreset": "disabled", "seed": args.seed, "threads": 1}
    env = open_task(args.file, 1, **options, **parse_options(args.option))
    return PolicyMotion(env, Wandering(env, args.seed))


def view(args) -> int:
    motion = _motion(args)
    if falls_for_ever(motion.model):
        say(f"{visible(args.file)} has no floor, it falls: show a file with a floor that includes it")
    if not args.video:
        return show(motion)
    from ..rendering import Renderer
    from .film import SIZE, missing, write_mp4

    if why := missing():
        raise Error(f"no film: {why}")
    camera = Renderer(motion, *SIZE)

    def pictures():
        for _ in range(max(1, round(args.seconds / motion.dt))):
            yield camera.draw(motion.batch.qpos[0], contact_arrows(motion.batch))
            motion.advance()

    try:
        write_mp4(args.video, pictures(), 1 / motion.dt)
    finally:
        camera.close()
    say(f"written: {visible(args.video)}")
    return 0
