"""Films: MuJoCo's renderer fed with our poses."""

import importlib.util
import math

import numpy as np

from .._util.extras import remedy
from .._util.files import replacing
from .._util.text import visible
from .panel import contact_arrows
from .rendering import Renderer, choose_backend

SIZE = (1280, 720)
RATE = 30  # pictures a second, at most


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
        if not part.stat().st_size:
            raise OSError(f"the film could not be written to {visible(path)}")


def film_motion(motion, path, seconds, panel, arrow_scale):
    """A motion of motion.py, with the arrows, names and speed that its panel says."""
    every = math.ceil(panel.speed / (RATE * motion.dt) - 1e-9)
    camera = Renderer(motion, *SIZE, names=panel.names)

    def pictures():
        for k in range(max(1, round(seconds / motion.dt))):
            if k % every == 0:
                arrows = contact_arrows(motion.batch, panel.env, arrow_scale) if panel.forces else ()
                yield camera.draw_env(motion.batch, panel.env, arrows)
            motion.advance()

    try:
        write_mp4(path, pictures(), panel.speed / (motion.dt * every))
    finally:
        camera.close()
