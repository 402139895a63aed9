"""Pictures through MuJoCo's renderer, and which off-screen OpenGL it can use here, if any."""

import importlib.util
import os
import subprocess
import sys

from .._core import ArgumentError, Error
from ..arrays import host
from .scenery import draw_arrows, draw_names, first_moving, look, mocap_pose, scenery

# Rendering in a child process: a broken driver may end the process, and MuJoCo chooses its
# platform once, at import.
PACKAGES = "apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri libopengl0"
_PROBE = """
import mujoco
renderer = mujoco.Renderer(mujoco.MjModel.from_xml_string("<mujoco/>"), 16, 16)
renderer.close()
"""


def _works(backend: str) -> bool:
    try:
        probe = subprocess.run(
            [sys.executable, "-c", _PROBE],
            env={**os.environ, "MUJOCO_GL": backend},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return probe.returncode == 0


def find_backend() -> tuple[str | None, str]:
    """(value for MUJOCO_GL or None, one line that says why).

    A MUJOCO_GL that the user has set is tried first, then EGL, then OSMesa.
    """
    if importlib.util.find_spec("mujoco") is None:
        return None, "mujoco is not installed: pip install mujoco"
    wanted = os.environ.get("MUJOCO_GL", "").lower()
    candidates = dict.fromkeys(b for b in (wanted, "egl", "osmesa") if b)
    for backend in candidates:
        if _works(backend):
            return backend, f"MuJoCo renders through {backend}"
    return None, f"no OpenGL platform works (tried {', '.join(candidates)}): {PACKAGES}"


def choose_backend() -> str | None:
    """Makes MuJoCo render through what works here; why nothing does, or None where all is well."""
    if not os.environ.get("MUJOCO_GL") or importlib.util.find_spec("mujoco") is None:
        backend, why = find_backend()
        if backend is None:
            return why
        os.environ["MUJOCO_GL"] = backend
    chosen = sys.modules.get("mujoco.rendering.classic.gl_context")
    if chosen is not None and chosen._MUJOCO_GL != os.environ["MUJOCO_GL"]:
        importlib.reload(chosen)  # MuJoCo was imported before and has made its choice
    return None


def load_triton_first():
    """Torch's compiler and a software OpenGL each bring an LLVM: loaded in the other order, they crash."""
    try:
        importlib.import_module("triton._C.libtriton")
    except ImportError:
        pass


class Renderer:
    """Pictures of an environment's robot through MuJoCo, in the colours of its file or in ours.

    env: Env, TaskEnv or whatever has a `batch`.
    camera: the name of a camera of the file; None: one that follows the first moving body.
    names: whether the names of bodies are written beside them. Nothing is loaded before the first picture;
    Error, with the remedy, where MuJoCo or a platform of OpenGL is missing.
    """

    def __init__(self, env, width: int = 480, height: int = 480, camera: str | None = None, names: bool = False):
        self._model = env.batch.model
        self._size, self._camera, self._names = (height, width), camera, names
        self._renderer = None

    def _open(self):
        if why := choose_backend():
            raise Error(f"nothing to render with: {why}")
        import mujoco

        load_triton_first()
        m = scenery(self._model)
        height, width = self._size
        m.vis.global_.offwidth = max(width, m.vis.global_.offwidth)
        m.vis.global_.offheight = max(height, m.vis.global_.offheight)
        m.vis.quality.shadowsize = 4096 if width * height > 400_000 else 2048
        self._camera = self._camera or follow(m)
        self._drawn, self._data = m, mujoco.MjData(m)
        self._option = mujoco.MjvOption()
        self._renderer = mujoco.Renderer(m, height, width)

    def draw(self, qpos, arrows=(), mocap=None):
        """(height, width, 3) uint8 at qpos (nq,); arrows: (n, 2, 3) starts and ends; mocap: positions (nmocap, 3) and
        orientations (nmocap, 4) of mocap bodies, where they are not the model's."""
        if self._renderer is None:
            self._open()
        self._data.qpos[:] = qpos
        if mocap is not None:
            self._data.mocap_pos[:], self._data.mocap_quat[:] = mocap
        return self._draw(arrows)

    def draw_env(self, batch, env: int = 0, arrows=()):
        """As `draw`, of environment `env` of a batch as it is: mocap bodies, too."""
        if self._renderer is None:
            self._open()
        place(self._drawn, self._data, batch, env)
        return self._draw(arrows)

    def _draw(self, arrows):
        look(self._drawn, self._data)
        for _ in range(2):  # MuJoCo lays the floor around where the camera was
            self._renderer.update_scene(self._data, self._camera, self._option)
        draw_arrows(self._renderer.scene, arrows, 0.012 * self._drawn.stat.extent)
        if self._names:
            draw_names(self._renderer.scene, self._model.body_names, self._data.xpos)
        return self._renderer.render()

    def close(self):
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


def follow(m):
    """A camera that goes along with the first moving body, as far away as shows the whole robot."""
    import mujoco

    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(m, camera)
    if body := first_moving(m):
        camera.type = mujoco.mjtCamera.mjCAMERA_TRACKING
        camera.trackbodyid = body
    camera.distance = 1.45 * m.stat.extent
    camera.azimuth, camera.elevation = 125, -18
    return camera


def place(m, data, batch, env):
    """Puts MuJoCo's bodies where those of an environment are."""

    def row(field):
        return host(field[env : env + 1])[0]

    data.qpos[:] = row(batch.qpos)
    if m.nmocap:
        pos, quat = mocap_pose(batch, slice(env, env + 1))
        data.mocap_pos[:], data.mocap_quat[:] = pos[0], quat[0]


_kept: dict = {}  # of the last picture: a renderer takes a third of a second to make


def render_batch(batch, env: int = 0, width: int = 640, height: int = 480, camera: str | None = None):
    """`Batch.render`."""
    if not 0 <= env < batch.num_envs:
        raise ArgumentError(f"render({env}): the batch has environments 0 to {batch.num_envs - 1}")
    if not (0 < width <= 8192 and 0 < height <= 8192):
        raise ArgumentError(f"render: width {width} and height {height} must be from 1 to 8192")
    key = (id(batch.model), width, height, camera)
    if key not in _kept:
        for renderer, _ in _kept.values():
            renderer.close()
        _kept.clear()
        _kept[key] = Renderer(_View(batch), width, height, camera), batch.model
    return _kept[key][0].draw_env(batch, env)


class _View:
    def __init__(self, batch):
        self.batch = batch
