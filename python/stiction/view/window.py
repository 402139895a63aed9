"""A view in MuJoCo's interactive window."""

import threading

from .._util.text import say
from .panel import SPEEDS, contact_arrows, extent, hold_command, task_arrows, velocity_command
from .rendering import follow, place
from .rewards import add_step, figure, place_in, trace_of
from .scenery import draw_arrows, look, scenery

KEYS = """keys: space pause, backspace begin anew, up and down speed, left and right environment,
page up and page down length of the forces, end forces or none, home follow or not, insert names"""
REWARD_KEYS = "number pad: plus the rewards of the last seconds or none"
COMMAND_KEYS = """number pad: 8 and 2 forward and back, 4 and 6 left and right, 7 and 9 turn, 5 stand, 0 as the task draws, decimal
point its arrows or none"""
SPACE, BACKSPACE, INSERT, RIGHT, LEFT, DOWN, UP, PAGE_UP, PAGE_DOWN, HOME, END = (
    32, 259, 260, 262, 263, 264, 265, 266, 267, 268, 269  # of GLFW; letters are MuJoCo's own
)  # fmt: skip
PAD_0, PAD_5, PAD_POINT, PAD_PLUS = 320, 325, 330, 334
# of the number pad: by how much x, y (m/s) and the yaw rate (rad/s) change
PAD = {328: (0.1, 0, 0), 322: (-0.1, 0, 0), 324: (0, 0.1, 0), 326: (0, -0.1, 0), 327: (0, 0, 0.1), 329: (0, 0, -0.1)}


def press(panel, key: int, num_envs: int):
    """What a key does; others are MuJoCo's."""
    if key == SPACE:
        panel.paused = not panel.paused
    elif key == BACKSPACE:
        panel.restart = True
    elif key in (UP, DOWN):
        nearest = min(range(len(SPEEDS)), key=lambda i: abs(SPEEDS[i] - panel.speed))
        panel.speed = SPEEDS[min(max(nearest + (1 if key == UP else -1), 0), len(SPEEDS) - 1)]
    elif key in (LEFT, RIGHT):
        panel.env = (panel.env + (1 if key == RIGHT else -1)) % num_envs
    elif key in (PAGE_UP, PAGE_DOWN):
        panel.force_scale *= 1.25 if key == PAGE_UP else 0.8
    elif key == END:
        panel.forces = not panel.forces
    elif key == HOME:
        panel.follow = not panel.follow
    elif key == INSERT:
        panel.names = not panel.names
    elif key in PAD:
        panel.command = tuple(round(a + b, 6) for a, b in zip(panel.command or (0, 0, 0), PAD[key]))
    elif key in (PAD_0, PAD_5):
        panel.command = (0, 0, 0) if key == PAD_5 else None
        panel.restart |= key == PAD_0  # draws anew
    elif key == PAD_POINT:
        panel.markers = not panel.markers
    elif key == PAD_PLUS:
        panel.rewards = not panel.rewards


class WindowView:
    """MuJoCo's interactive window, fed with our poses."""

    def __init__(self, motion, panel):
        import mujoco
        import mujoco.viewer

        self.motion, self.panel, self.mujoco = motion, panel, mujoco
        self.length = 2 * extent(motion)[1]
        self.model = scenery(motion.model)
        self.data = mujoco.MjData(self.model)
        # its panels command MuJoCo's simulation, which does not run here
        others = threading.enumerate()
        self.viewer = mujoco.viewer.launch_passive(
            self.model, self.data, show_left_ui=False, show_right_ui=False,
            key_callback=lambda key: press(panel, key, motion.batch.num_envs),
        )  # fmt: skip
        self.threads = [t for t in threading.enumerate() if t not in others]
        self.camera, self.following = follow(self.model), None
        self.trace, self.plotted = trace_of(motion), False
        say(KEYS)
        if self.trace is not None:
            say(REWARD_KEYS)
        if velocity_command(motion) is not None:
            say(COMMAND_KEYS)

    def _aim(self):
        """The camera goes along, or stays where it is."""
        if self.following == self.panel.follow:
            return
        camera, kinds = self.viewer.cam, self.mujoco.mjtCamera
        if self.following is None:
            for name in ("azimuth", "elevation", "distance"):
                setattr(camera, name, getattr(self.camera, name))
            camera.lookat[:] = self.data.subtree_com[self.camera.trackbodyid]
        goes_along = self.panel.follow and self.camera.type == kinds.mjCAMERA_TRACKING
        camera.type = kinds.mjCAMERA_TRACKING if goes_along else kinds.mjCAMERA_FREE
        camera.trackbodyid = self.camera.trackbodyid if goes_along else -1
        self.following = self.panel.follow

    def _plot(self):
        """The rewards of the last seconds at the lower left, or nothing."""
        add_step(self.trace, self.motion, self.panel.env)
        wanted = self.panel.rewards and self.trace is not None
        if wanted and (room := self.viewer.viewport) is not None:
            left, bottom, width, height = place_in(room.width, room.height)
            self.viewer.set_figures((self.mujoco.MjrRect(room.left + left, room.bottom + bottom, width, height), figure(self.trace)))
        elif self.plotted and not wanted:
            self.viewer.clear_figures()
        self.plotted = wanted

    def show(self) -> bool:
        if not self.viewer.is_running():
            return False
        panel, batch, labels = self.panel, self.motion.batch, self.mujoco.mjtLabel
        with self.viewer.lock():
            place(self.model, self.data, batch, panel.env)
            look(self.model, self.data)
            self._aim()
            self.viewer.opt.label = labels.mjLABEL_BODY if panel.names else labels.mjLABEL_NONE
            self.viewer.user_scn.ngeom = 0
            if panel.forces:
                arrows = contact_arrows(batch, panel.env, self.length * panel.force_scale)
                draw_arrows(self.viewer.user_scn, arrows, 0.012 * self.model.stat.extent)
            if panel.markers:
                draw_arrows(self.viewer.user_scn, task_arrows(self.motion, panel.env), 0.012 * self.model.stat.extent)
        hold_command(self.motion, panel)
        self._plot()
        self.viewer.sync()
        return True

    def close(self):
        self.viewer.close()
        for thread in self.threads:  # it may be drawing: X calls a window that is gone an error
            thread.join(timeout=5)
