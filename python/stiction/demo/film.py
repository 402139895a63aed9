"""A film of several robots: MuJoCo's renderer fed with our poses."""

import numpy as np

from .._core import Error
from ..files import replacing
from ..learning.film import write_mp4
from ..text import visible
from .progress import Progress

GRID = 1.1  # m between neighbouring robots, at least


def _free_roots(model):
    """Address in qpos of every free joint: these are moved to the robot's place in the grid."""
    return [int(a) for a, t in zip(model.jnt_qposadr, model.jnt_type) if t == 0]


class Scene:
    """Draws the poses of several copies of one model into one picture."""

    def __init__(self, result, width, height):
        import mujoco

        self.mujoco = mujoco
        try:
            self.model = mujoco.MjModel.from_xml_path(result.model.file)
        except ValueError as e:
            raise Error(f"MuJoCo, which draws, can't read the model: {visible(e)}") from None
        self.data = mujoco.MjData(self.model)
        self.option, self.perturb = mujoco.MjvOption(), mujoco.MjvPerturb()
        self.roots = _free_roots(result.model)
        self._arrange(self.copies(len(result.runs)))
        visual = self.model.vis
        visual.global_.offwidth = max(width, visual.global_.offwidth)
        visual.global_.offheight = max(height, visual.global_.offheight)
        visual.quality.shadowsize = 1024  # the default takes a software renderer half its time
        self.renderer = mujoco.Renderer(self.model, height, width)

    def copies(self, available: int) -> int:
        """A robot that is fixed to the world can't be moved aside: only one is drawn."""
        return min(available, 9) if self.roots else 1

    def _arrange(self, count: int):
        """Places in a square grid, and a camera that sees them."""
        size = self._robot_size()
        self.columns = int(np.ceil(np.sqrt(count)))
        self.spacing = max(GRID, 1.5 * size)
        side = self.spacing * (self.columns - 1) + size
        self.model.stat.extent = side  # what shadows and clipping planes are made for
        self.model.stat.center[:] = (0, 0, 0.35 * size)
        self.camera = self.mujoco.MjvCamera()
        self.camera.lookat[:] = (0, 0, 0.35 * size)
        self.camera.distance = 1.15 * side + 0.6 * size
        self.camera.azimuth, self.camera.elevation = 125, -24

    def _robot_size(self) -> float:
        """Diameter of the moving geoms around their middle, in the reference pose."""
        self.mujoco.mj_forward(self.model, self.data)
        moving = self.model.body_weldid[self.model.geom_bodyid] != 0
        if not moving.any():
            return 1.0
        points, reach = self.data.geom_xpos[moving], self.model.geom_rbound[moving]
        middle = points.mean(axis=0)
        return max(0.2, 2 * float(np.max(np.linalg.norm(points - middle, axis=1) + reach)))

    def _pose(self, qpos, k: int):
        row, column = divmod(k, self.columns)
        shift = (np.array([column, row]) - (self.columns - 1) / 2) * self.spacing
        self.data.qpos[:] = qpos
        for a in self.roots:
            self.data.qpos[a : a + 2] += shift
        self.mujoco.mj_kinematics(self.model, self.data)
        self.mujoco.mj_camlight(self.model, self.data)

    def draw(self, poses):
        """(height, width, 3) uint8 picture of the (nq,) poses."""
        mj, scene = self.mujoco, self.renderer.scene
        for k, qpos in enumerate(poses):
            self._pose(qpos, k)
            if k == 0:
                self.renderer.update_scene(self.data, self.camera, self.option)
            else:
                mj.mjv_addGeoms(
                    self.model, self.data, self.option, self.perturb, mj.mjtCatBit.mjCAT_DYNAMIC,
                    scene,
                )
        return self.renderer.render()

    def close(self):
        self.renderer.close()


def write_film(result, ctrl_c, film_path, picture_path, width, height):
    """Writes the film and one picture of it; returns the files. Ctrl-C ends the film early."""
    from matplotlib import image

    scene = Scene(result, width, height)
    runs = result.runs[: scene.copies(len(result.runs))]
    count = max((len(r.frames) for r in runs), default=0)
    if not count:
        scene.close()
        return []
    middle = None

    def pictures():
        nonlocal middle
        with Progress(count, "film", "frame") as progress:
            for k in range(count):
                pixels = scene.draw([r.frames[min(k, len(r.frames) - 1)] for r in runs])
                yield pixels
                if k <= count // 2:
                    middle = pixels.copy()
                progress.advance()
                progress.show()
                if ctrl_c.pressed and not result.interrupted:
                    break

    try:
        # One film second per simulated second, whatever the timestep.
        write_mp4(film_path, pictures(), 1 / result.frame_time, (width, height))
    finally:
        scene.close()
    with replacing(picture_path) as part:
        image.imsave(part, middle)
    return [film_path, picture_path]
