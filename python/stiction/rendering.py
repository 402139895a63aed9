"""Which off-screen OpenGL MuJoCo's renderer can use on this machine, if any."""

import importlib.util
import os
import subprocess
import sys

# Rendering in a child process: a broken driver may end the process, and MuJoCo chooses its
# platform once, at import.
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
        return None, "mujoco is not installed"
    wanted = os.environ.get("MUJOCO_GL", "").lower()
    candidates = dict.fromkeys(b for b in (wanted, "egl", "osmesa") if b)
    for backend in candidates:
        if _works(backend):
            return backend, f"MuJoCo renders through {backend}"
    return None, f"no OpenGL platform works (tried {', '.join(candidates)})"


class Renderer:
    """Pictures of an environment's robot through MuJoCo, which must be able to read its model.

    camera: the name of a camera of the file; None: one named "track", else one that follows the
    first moving body. Nothing is loaded before the first picture.
    """

    def __init__(self, env, width: int = 480, height: int = 480, camera: str | None = None):
        self._xml, self._file = env.model_xml, env.batch.model.file
        self._size, self._camera = (height, width), camera
        self._renderer = None

    def _open(self):
        if "mujoco" not in sys.modules and not os.environ.get("MUJOCO_GL"):
            backend, why = find_backend()
            if backend is None:
                raise RuntimeError(f"nothing to render with: {why}")
            os.environ["MUJOCO_GL"] = backend
        import mujoco

        if not self._xml and not self._file:
            raise ValueError("the task was given a Model that came from text: give it the text or a file")
        m = (mujoco.MjModel.from_xml_string(self._xml) if self._xml
             else mujoco.MjModel.from_xml_path(self._file))  # fmt: skip
        height, width = self._size
        m.vis.global_.offwidth = max(width, m.vis.global_.offwidth)
        m.vis.global_.offheight = max(height, m.vis.global_.offheight)
        self._camera = self._camera or self._follow(mujoco, m)
        self._mujoco, self._model, self._data = mujoco, m, mujoco.MjData(m)
        self._renderer = mujoco.Renderer(m, height, width)

    @staticmethod
    def _follow(mujoco, m):
        if mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_CAMERA, "track") >= 0:
            return "track"
        camera = mujoco.MjvCamera()
        mujoco.mjv_defaultFreeCamera(m, camera)
        moving = [b for b in range(1, m.nbody) if m.body_weldid[b] != 0]
        if moving:
            camera.type = mujoco.mjtCamera.mjCAMERA_TRACKING
            camera.trackbodyid = moving[0]
        return camera

    def draw(self, qpos):
        """(height, width, 3) uint8."""
        if self._renderer is None:
            self._open()
        self._data.qpos[:] = qpos
        self._mujoco.mj_kinematics(self._model, self._data)
        self._mujoco.mj_comPos(self._model, self._data)  # a tracking camera looks at it
        self._mujoco.mj_camlight(self._model, self._data)
        self._renderer.update_scene(self._data, self._camera)
        return self._renderer.render()

    def close(self):
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None
