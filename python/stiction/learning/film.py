"""Films of a policy: MuJoCo's renderer fed with our poses."""

import importlib.util
import os
from pathlib import Path

import numpy as np

from ..rendering import find_backend
from .evaluate import evaluate
from .tasks import make_env

SIZE = (640, 480)


def missing() -> str | None:
    """Why no film can be made here; None where it can."""
    for module, name in (("mujoco", "mujoco"), ("imageio_ffmpeg", "imageio-ffmpeg")):
        if importlib.util.find_spec(module) is None:
            return f"pip install {name}"
    backend, reason = find_backend()
    if backend is None:
        return reason
    os.environ["MUJOCO_GL"] = backend
    return None


def scenery(xml):
    """MuJoCo's model of `xml`, text or Path, with a sky and a chequered floor where it has none: motion shows."""
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
    for light in spec.lights:
        light.castshadow = False
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


class Camera:
    """Draws poses of one robot, following its first moving body from the side."""

    def __init__(self, xml, width=SIZE[0], height=SIZE[1]):
        import mujoco

        self.mujoco, self.model = mujoco, scenery(xml)
        self.data = mujoco.MjData(self.model)
        visual = self.model.vis
        visual.global_.offwidth, visual.global_.offheight = width, height
        visual.quality.shadowsize = 1024  # the default takes a software renderer half its time
        self.renderer = mujoco.Renderer(self.model, height, width)
        self.camera = mujoco.MjvCamera()
        mujoco.mjv_defaultFreeCamera(self.model, self.camera)
        moving = np.flatnonzero(self.model.body_weldid != 0)
        if moving.size:
            self.camera.type = mujoco.mjtCamera.mjCAMERA_TRACKING
            self.camera.trackbodyid = int(moving[0])
            self.camera.distance = 2.2 * self._size(moving)
            self.model.stat.extent = self.camera.distance
        self.camera.azimuth, self.camera.elevation = 115, -15

    def _size(self, moving) -> float:
        """Diameter of the moving geoms around their middle, in the reference pose."""
        self.mujoco.mj_forward(self.model, self.data)
        geoms = np.isin(self.model.geom_bodyid, moving)
        points, reach = self.data.geom_xpos[geoms], self.model.geom_rbound[geoms]
        distance = np.linalg.norm(points - points.mean(axis=0), axis=1)
        return max(0.5, 2 * float(np.max(distance + reach, initial=0.25)))

    def draw(self, qpos, arrows=()):
        """(height, width, 3) uint8; arrows: (n, 2, 3) starts and ends."""
        self.data.qpos[:] = qpos
        self.mujoco.mj_kinematics(self.model, self.data)
        self.mujoco.mj_comPos(self.model, self.data)  # a tracking camera looks at it
        self.mujoco.mj_camlight(self.model, self.data)
        self.renderer.update_scene(self.data, self.camera)
        draw_arrows(self.renderer.scene, arrows)
        return self.renderer.render()

    def close(self):
        self.renderer.close()


def write_mp4(path, frames, fps, size=SIZE):
    """Encodes an iterable of (height, width, 3) uint8 pictures."""
    import imageio_ffmpeg

    part = path.with_name("part." + path.name)
    writer = imageio_ffmpeg.write_frames(
        str(part), size, fps=fps, macro_block_size=2, ffmpeg_log_level="fatal",
        output_params=["-movflags", "+faststart"],
    )  # fmt: skip
    writer.send(None)
    try:
        for frame in frames:
            writer.send(np.ascontiguousarray(frame))
        writer.close()
        if not part.is_file() or not part.stat().st_size:
            raise OSError(f"the film could not be written to {path}")
        os.replace(part, path)
    finally:
        writer.close()
        part.unlink(missing_ok=True)


def film(env, policy, path, seconds=None):
    """One deterministic episode of the first environment, at most `seconds`, in real time."""
    poses = []
    evaluate(env, policy, each_step=lambda e, _: poses.append(np.array(e.batch.qpos[0])))
    if seconds:
        poses = poses[: max(1, round(seconds / env.dt))]
    every = max(1, round(1 / (60 * env.dt)))  # at most 60 pictures a second
    camera = Camera(env.model_xml)
    try:
        write_mp4(path, (camera.draw(q) for q in poses[::every]), 1 / (env.dt * every))
    finally:
        camera.close()


def film_policy(policy, task, path, *, seconds=None, seed=0):
    film(make_env(task, 1, threads=1, seed=seed, autoreset="disabled"), policy, path, seconds)
