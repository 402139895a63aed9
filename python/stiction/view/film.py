"""Films: MuJoCo's renderer fed with our poses."""

import importlib.util
import math

import numpy as np

from .._util.extras import remedy
from .._util.files import replacing
from .._util.interrupt import CtrlC
from .._util.progress import Progress
from .._util.text import visible
from .grid import Grid, side_by_side
from .panel import contact_arrows, task_arrows
from .rendering import Renderer, choose_backend
from .rewards import FigurePainter, add_step, trace_of

SIZE = (1280, 720)
RATE = 30  # pictures a second, at most
DRAWN = 256  # robots in one picture, at most


def missing() -> str | None:
    """Why no film can be made here; None where it can."""
    for module, name in (("mujoco", "mujoco"), ("imageio_ffmpeg", "imageio-ffmpeg")):
        if importlib.util.find_spec(module) is None:
            return f"{name} is not installed: {remedy('demo')}"
    return choose_backend()


def write_mp4(path, frames, fps, size=SIZE):
    """Encodes an iterable of (height, width, 3) uint8 pictures."""
    import imageio_ffmpeg

    with replacing(path) as part:
        writer = imageio_ffmpeg.write_frames(
            str(part), size, fps=fps, macro_block_size=2, ffmpeg_log_level="fatal",
            output_params=["-movflags", "+faststart"],
        )  # fmt: skip
        writer.send(None)
        try:
            for frame in frames:
                writer.send(np.ascontiguousarray(frame))
        finally:
            writer.close()
        if not _is_whole(part):
            raise OSError(f"the film could not be written to {visible(path)}: is its disk full?")


def _is_whole(path) -> bool:
    """Whether the boxes of an MP4, each with its size at its front, end where the file does, and one of them is the index."""
    data, at, kinds = path.read_bytes(), 0, set()
    while 0 < len(data) - at >= 8:
        size = int.from_bytes(data[at : at + 4], "big")
        if size == 1:  # 64 bits behind the kind
            size = int.from_bytes(data[at + 8 : at + 16], "big")
        kinds.add(data[at + 4 : at + 8])
        at += max(size, 8)
    return at == len(data) and b"moov" in kinds


def film_motion(motion, path, seconds, panel, arrow_scale):
    """A motion of motion.py, with the arrows, names, plot of rewards and speed that its panel says; of several robots that can be moved aside
    DRAWN side by side, without all of that. Ctrl-C ends the film early. Returns the simulated seconds that it has."""
    every = math.ceil(panel.speed / (RATE * motion.dt) - 1e-9)
    steps, done = max(1, round(seconds / motion.dt)), 0
    count = side_by_side(motion.batch.model, min(DRAWN, motion.batch.num_envs))
    camera = Grid(motion, count, *SIZE) if count > 1 else Renderer(motion, *SIZE, names=panel.names)

    trace = trace_of(motion) if panel.rewards and count == 1 else None
    painter = FigurePainter(*SIZE) if trace is not None else None

    def draw():
        if count > 1:
            return camera.draw(motion.batch)
        arrows = [*(contact_arrows(motion.batch, panel.env, arrow_scale) if panel.forces else ())]
        arrows += task_arrows(motion, panel.env) if panel.markers else []
        picture = camera.draw_env(motion.batch, panel.env, arrows)
        return picture if painter is None else painter.draw(picture, trace)

    def pictures():
        nonlocal done
        with Progress() as progress:
            while done < steps and not ctrl_c.pressed:
                if done % every == 0:
                    yield draw()
                motion.advance()
                add_step(trace, motion, panel.env)
                done += 1
                progress.show(done, steps, "film: step")

    try:
        with CtrlC() as ctrl_c:
            write_mp4(path, pictures(), panel.speed / (motion.dt * every))
    finally:
        camera.close()
        if painter is not None:
            painter.close()
    return done * motion.dt
