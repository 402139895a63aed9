"""Pictures through MuJoCo's renderer, and which off-screen OpenGL it can use here, if any."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from ._core import Error
from .text import visible

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


def choose_backend() -> str | None:
    """Makes MuJoCo render through what works here; why nothing does, or None where all is well."""
    if not os.environ.get("MUJOCO_GL"):
        backend, why = find_backend()
        if backend is None:
            return why
        os.environ["MUJOCO_GL"] = backend
    chosen = sys.modules.get("mujoco.rendering.classic.gl_context")
    if chosen is not None and chosen._MUJOCO_GL != os.environ["MUJOCO_GL"]:
        importlib.reload(chosen)  # MuJoCo was imported before and has made its choice
    return None


def _load_triton_first():
    """Torch's compiler and a software OpenGL each bring an LLVM: loaded in the other order, they crash."""
    try:
        importlib.import_module("triton._C.libtriton")
    except ImportError:
        pass


def scenery(xml):
    """MuJoCo's model of `xml`, text or Path, with a sky, a chequered floor and a light that follows."""
    try:
        return _scenery(xml)
    except ValueError as e:
        raise Error(f"MuJoCo, which draws, can't read the model: {visible(e)}") from None


def _scenery(xml):
    import mujoco

    is_file = isinstance(xml, Path)
    spec = mujoco.MjSpec.from_file(str(xml)) if is_file else mujoco.MjSpec.from_string(xml)
    textures = {t.type for t in spec.textures}
    if mujoco.mjtTexture.mjTEXTURE_SKYBOX not in textures:
        spec.add_texture(
            name="stiction_sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, width=64, height=384,
            builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, rgb1=(0.75, 0.84, 0.92), rgb2=(1, 1, 1),
        )  # fmt: skip
    spec.add_texture(
        name="stiction_chequer", type=mujoco.mjtTexture.mjTEXTURE_2D, width=256, height=256,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER, rgb1=(0.62, 0.66, 0.70), rgb2=(0.70, 0.74, 0.78),
    )  # fmt: skip
    chequer = spec.add_material(name="stiction_chequer", texrepeat=(0.5, 0.5), texuniform=True)
    chequer.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "stiction_chequer"
    for geom in spec.geoms:
        if geom.type == mujoco.mjtGeom.mjGEOM_PLANE and not geom.material:
            geom.material, geom.rgba = "stiction_chequer", (1, 1, 1, 1)
            geom.size = (0, 0, geom.size[2])  # drawn without end
    for light in spec.lights:
        light.castshadow, light.diffuse = False, 0.3 * np.array(light.diffuse)
    # a light that goes along: the shadow of one that stays ends where the robot has left
    moving = next((b for b in spec.bodies[1:] if b.joints), spec.worldbody)
    moving.add_light(
        pos=(-1, -1.5, 4), dir=(0.25, 0.35, -1), type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        mode=mujoco.mjtCamLight.mjCAMLIGHT_TRACKCOM, castshadow=True, diffuse=(0.5, 0.5, 0.5),
    )  # fmt: skip
    return spec.compile()


def draw_arrows(scene, arrows):
    """Adds (n, 2, 3) arrows to a scene of MuJoCo, as many as it has room for."""
    import mujoco

    for start, end in arrows[: scene.maxgeom - scene.ngeom]:
        geom = scene.geoms[scene.ngeom]
        nothing, colour = np.zeros(3), np.array([0.9, 0.3, 0.15, 1])
        mujoco.mjv_initGeom(geom, mujoco.mjtGeom.mjGEOM_ARROW, nothing, nothing, np.zeros(9), colour)
        mujoco.mjv_connector(geom, mujoco.mjtGeom.mjGEOM_ARROW, 0.02, start, end)
        scene.ngeom += 1


def _diameter(mujoco, m, bodies) -> float:
    """Of the bodies' geoms around their middle, in the reference pose."""
    data = mujoco.MjData(m)
    mujoco.mj_kinematics(m, data)
    geoms = np.isin(m.geom_bodyid, bodies)
    points, reach = data.geom_xpos[geoms], m.geom_rbound[geoms]
    distance = np.linalg.norm(points - points.mean(axis=0), axis=1)
    return max(0.5, 2 * float(np.max(distance + reach)))


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
        if why := choose_backend():
            raise RuntimeError(f"nothing to render with: {why}")
        import mujoco

        _load_triton_first()
        if not self._xml and not self._file:
            raise ValueError("the task was given a Model that came from text: give it the text or a file")
        m = scenery(self._xml or Path(self._file))
        height, width = self._size
        m.vis.global_.offwidth = max(width, m.vis.global_.offwidth)
        m.vis.global_.offheight = max(height, m.vis.global_.offheight)
        m.vis.quality.shadowsize = 1024  # the default takes a software renderer half its time
        self._camera = self._camera or self._follow(mujoco, m)
        self._mujoco, self._model, self._data = mujoco, m, mujoco.MjData(m)
        self._renderer = mujoco.Renderer(m, height, width)

    @staticmethod
    def _follow(mujoco, m):
        if mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_CAMERA, "track") >= 0:
            return "track"
        camera = mujoco.MjvCamera()
        mujoco.mjv_defaultFreeCamera(m, camera)
        moving = np.flatnonzero(m.body_weldid != 0)
        if moving.size:
            camera.type = mujoco.mjtCamera.mjCAMERA_TRACKING
            camera.trackbodyid = int(moving[0])
            camera.distance = 2.2 * _diameter(mujoco, m, moving)
            m.stat.extent = camera.distance  # what shadows and clipping planes are made for
        camera.azimuth, camera.elevation = 115, -15
        return camera

    def draw(self, qpos, arrows=()):
        """(height, width, 3) uint8; arrows: (n, 2, 3) starts and ends."""
        if self._renderer is None:
            self._open()
        self._data.qpos[:] = qpos
        self._mujoco.mj_kinematics(self._model, self._data)
        self._mujoco.mj_comPos(self._model, self._data)  # a tracking camera looks at it
        self._mujoco.mj_camlight(self._model, self._data)
        self._renderer.update_scene(self._data, self._camera)
        draw_arrows(self._renderer.scene, arrows)
        return self._renderer.render()

    def close(self):
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None
