"""`stiction motion`: reference motions from retargeted motion capture."""

import argparse

from .. import _core
from .._util.text import say, visible
from . import arguments
from .arguments import ROBOT, existing_file, model_file, new_file, positive


def _frames(text: str) -> tuple[int, int]:
    first, colon, last = text.partition(":")
    if not (colon and first.isdigit() and last.isdigit()):
        raise argparse.ArgumentTypeError(f"{text}: expected FIRST:LAST, lines counted from 0")
    return int(first), int(last)


def add_command(commands):
    motion = arguments.add_command(
        commands,
        "motion",
        _motion,
        help="convert a retargeted motion for tracking tasks",
        description="Reads a CSV with a line for each frame (position of the base, its quaternion, joints; LAFAN1's retargets "
        "for Unitree's robots) or an npz of poses, resamples it, computes velocities and bodies, and writes the npz that "
        "G1Tracking and mjlab's tracking task read.",
    )
    motion.add_argument("file", type=existing_file, metavar="FILE", help="*.csv or *.npz")
    motion.add_argument("output", type=new_file(".npz"), metavar="OUT.npz")
    motion.add_argument("--robot", required=True, type=model_file, metavar="FILE|ROBOT", help=f"MJCF, {ROBOT}")
    motion.add_argument("--fps", type=positive(float), default=30.0, metavar="N", help="frames per second of a CSV; 30")
    motion.add_argument("--out-fps", type=positive(float), default=50.0, metavar="N", help="of what is written; 50")
    motion.add_argument("--frames", type=_frames, metavar="FIRST:LAST", help="lines of a CSV, counted from 0; all")
    motion.add_argument("--quaternion", choices=("xyzw", "wxyz"), default="xyzw", help="order in a CSV; xyzw")


def _motion(args) -> int:
    from ..motions import Motion

    model = _core.Model.from_file(args.robot)
    if args.file.suffix == ".npz":
        if args.frames is not None:
            raise _core.ArgumentError("--frames: is for a CSV")
        motion = Motion.load(model, args.file)
        if abs(motion.fps - args.out_fps) > 1e-9:
            motion = Motion.from_poses(model, motion.qpos, motion.fps, args.out_fps)
    else:
        motion = Motion.from_csv(model, args.file, args.fps, args.out_fps, frames=args.frames, quaternion=args.quaternion)
    motion.save(args.output)
    speed = abs(motion.joint_vel).max(0)
    fastest = int(speed.argmax())
    say(f"{visible(args.output)}: {len(motion)} frames, {motion.seconds:.2f} s at {motion.fps:g} per second; fastest joint "
        f"{visible(motion.joint_names[fastest])}, {speed[fastest]:.1f} rad/s")  # fmt: skip
    return 0
