"""Hundreds of robots in one picture, in a grid: MuJoCo's renderer fed with our poses."""

import numpy as np

from .._core import GeomType, JointType
from ..arrays import host
from .rendering import load_triton_first
from .scenery import look, mocap_pose, scenery

GAP = 1.25  # distance of neighbouring robots, in diameters of one
AROUND = 8  # how much of a terrain is seen, in diameters of a robot
WIDE = 16 / 9


def _free_roots(model):
    """Address in qpos of every free joint: these are moved to the robot's place in the grid. None where something that
    moves hangs on the world by another joint, like an arm beside what it grasps."""
    free = [int(a) for a, t in zip(model.jnt_qposadr, model.jnt_type) if t == JointType.free]
    on_world = model.body_weldid[model.body_parentid[model.jnt_bodyid]] == 0
    return free if np.all(model.jnt_type[on_world] == JointType.free) else []


def side_by_side(model, count: int) -> int:
    """How many of `count` robots can be drawn side by side: those that are fixed to the world can't be moved aside."""
    return count if _free_roots(model) else 1


def _stands_on_terrain(model):
    return bool(np.any(model.body_weldid[model.geom_bodyid[model.geom_type == GeomType.hfield]] == 0))


class Grid:
    """Draws the first `count` robots of a batch side by side into one picture: those of an environment, or of a motion.

    env: what has a `batch`. A robot that is fixed to the world can't be moved aside: only the first is drawn. On terrain
    robots stay where they are, and the camera goes along with the first.
    """

    def __init__(self, env, count: int, width: int, height: int):
        import mujoco

        load_triton_first()
        self.mujoco, self.model = mujoco, scenery(env.batch.model)
        self.data, self.option = mujoco.MjData(self.model), mujoco.MjvOption()
        self.perturb, self.roots = mujoco.MjvPerturb(), _free_roots(env.batch.model)
        self.count = side_by_side(env.batch.model, min(count, env.batch.num_envs))
        self.in_place = self.count == 1 or _stands_on_terrain(env.batch.model)
        self._arrange()
        visual = self.model.vis
        visual.global_.offwidth = max(width, visual.global_.offwidth)
        visual.global_.offheight = max(height, visual.global_.offheight)
        room = self.count * (self.model.ngeom + 2) + 100
        self.renderer = mujoco.Renderer(self.model, height, width, max_geom=room)

    def _arrange(self):
        """Places in a grid as wide as the picture, and a camera that looks over it."""
        size = self.model.stat.extent  # of one robot
        self.columns = int(np.ceil(np.sqrt(self.count * WIDE)))
        self.rows = -(-self.count // self.columns)
        self.spacing = GAP * size
        width, depth = self.spacing * (self.columns - 1) + size, self.spacing * (self.rows - 1) + size
        if self.in_place:
            width = depth = size if self.count == 1 else AROUND * size
        # what shadows, clipping planes and haze are made for
        self.model.stat.extent = side = max(width, depth)
        visual = self.model.vis.map
        visual.shadowclip, visual.znear, visual.zfar = 1.2, 0.02 * size / side, 20.0
        # each is a few dozen pixels: round enough
        quality = self.model.vis.quality
        quality.numslices, quality.numstacks, quality.numquads = (28, 16, 4) if self.count == 1 else (10, 6, 1)
        self.model.stat.center[:] = (0, 0, 0.3 * size)
        self.camera = self.mujoco.MjvCamera()
        self.looks_at = np.array((0, 0, 0.1 * size) if self.count == 1 else (0, -0.06 * depth, 0))
        self.camera.distance = 1.45 * size if self.count == 1 else 0.62 * width
        self.camera.azimuth, self.camera.elevation = (125, -18) if self.count == 1 else (104, -26)
        self.light_at = self.model.light("stiction_key").id

    def _pose(self, rows, k: int):
        row, column = divmod(k, self.columns)
        shift = (np.array([column, row]) - np.array([self.columns - 1, self.rows - 1]) / 2) * self.spacing
        shift *= not self.in_place
        for name, values in rows.items():
            getattr(self.data, name)[:] = values[k]
        for a in self.roots:
            self.data.qpos[a : a + 2] += shift
        if self.model.nmocap and self.roots:
            self.data.mocap_pos[:, :2] += shift
        look(self.model, self.data)
        # one shadow for all: from the middle
        far = 0.8 * self.model.stat.extent * self.model.light_dir[self.light_at]
        self.data.light_xpos[self.light_at] = self.middle - far

    def draw(self, batch, middle=(0.0, 0.0, 0.0)):
        """(height, width, 3) uint8 picture of a batch as it is; the camera looks at the grid around `middle`."""
        mj, scene = self.mujoco, self.renderer.scene
        rows = {"qpos": host(batch.qpos[: self.count])}
        self.middle = np.array(middle)
        if self.in_place and self.roots:
            self.middle = self.middle + rows["qpos"][0, self.roots[0] : self.roots[0] + 3]
        self.camera.lookat[:] = self.looks_at + self.middle
        if self.model.nmocap:
            rows["mocap_pos"], rows["mocap_quat"] = mocap_pose(batch, slice(self.count))
        for k in range(self.count):
            self._pose(rows, k)
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
