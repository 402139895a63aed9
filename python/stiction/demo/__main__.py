"""`python -m stiction.demo`: simulate many copies of a robot, print numbers, write a film.

Files in the output folder: summary.json; film.mp4 and picture.png where MuJoCo can render;
plots.png; numbers alone where matplotlib is missing.
"""

import errno
import importlib.util
import os
import shutil
import sys
from pathlib import Path

from .. import assets
from .._core import Error, Model, Options
from .._util.files import FolderLock
from .._util.interrupt import CtrlC
from .._util.machine import usable_cores
from .._util.text import say, visible
from ..cli.arguments import ROBOT, Parser, model_file
from ..view.rendering import find_backend
from .film import write_film
from .plots import write_plots
from .simulate import simulate
from .summary import summarize, table, write_summary

FPS = 25


def _parser():
    parser = Parser(
        prog="python -m stiction.demo",
        description="Simulates many copies of a robot under random controls and films them.",
    )
    parser.add_argument("--model", type=model_file, default=str(assets.path("quadruped")), metavar="FILE|ROBOT", help=f"MJCF, {ROBOT}")
    parser.add_argument("--num-envs", type=int, metavar="N", help="copies of the robot; 2048")
    parser.add_argument("--seconds", type=float, metavar="T", help="simulated time of each; 3")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--threads", type=int, default=usable_cores(), metavar="N", help="all usable cores"
    )
    parser.add_argument("--out", type=Path, default=Path("out"), metavar="DIR")
    parser.add_argument("--quick", action="store_true", help="a few seconds in all: 64 copies, 0.5 s")
    return parser


def _arguments(argv):
    parser = _parser()
    args = parser.parse_args(argv)
    defaults = (64, 0.5) if args.quick else (2048, 3.0)
    args.num_envs = defaults[0] if args.num_envs is None else args.num_envs
    args.seconds = defaults[1] if args.seconds is None else args.seconds
    args.size = (480, 272) if args.quick else (1280, 720)
    for name in ("num_envs", "seconds", "threads"):
        if not getattr(args, name) > 0:
            parser.error(f"--{name.replace('_', '-')} {getattr(args, name)}: must be > 0")
    return args


def _say_what_was_read(model):
    report = model.report
    ignored = sum(e.physics for e in report.entries if e.use == "ignored")
    say(f"{model!r} from {visible(model.file)}")
    if ignored or report.pairs_without_collider:
        say(
            f"  not computed: {ignored} attributes, {len(report.pairs_without_collider)} geom "
            "pairs; `stiction check-model` lists them"
        )
    if not any(t == 0 for t in model.geom_type):
        say("  the model has no plane: nothing will catch what falls")


def _pictures(result, ctrl_c, out, size):
    """Film where MuJoCo can render, and plots; returns the files."""
    if importlib.util.find_spec("matplotlib") is None:
        say("no pictures: matplotlib is not installed")
        return []
    files = []
    backend, reason = find_backend()
    if backend and importlib.util.find_spec("imageio_ffmpeg") is None:
        backend, reason = None, "imageio-ffmpeg is not installed"
    if backend:
        os.environ["MUJOCO_GL"] = backend
        files += write_film(result, ctrl_c, out / "film.mp4", out / "picture.png", *size)
    else:
        say(f"no film, plots only: {reason}")
    return files + write_plots(result, out)


def run(args, ctrl_c) -> int:
    model = Model.from_file(args.model)
    _say_what_was_read(model)
    result = simulate(
        model,
        Options(),
        ctrl_c,
        envs=args.num_envs,
        seconds=args.seconds,
        seed=args.seed,
        threads=args.threads,
        fps=FPS,
    )
    if result.interrupted:
        say("interrupted: writing what there is")
    summary = summarize(result)
    say(table(summary), flush=True)
    write_summary(args.out / "summary.json", summary)
    files = [args.out / "summary.json", *_pictures(result, ctrl_c, args.out, args.size)]
    say("written: " + ", ".join(map(visible, files)))
    return 130 if ctrl_c.pressed else 0


def _disk_is_full(directory) -> bool:
    """The encoder is another process: its errors do not say why it stopped."""
    return directory.is_dir() and shutil.disk_usage(directory).free < 1 << 16


def main(argv=None) -> int:
    args = _arguments(argv)
    try:
        args.out.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(args.out, "wait for its end, or give another --out")
        with CtrlC() as ctrl_c, lock:
            return run(args, ctrl_c)
    except Error as e:
        say(f"stiction: {e}", file=sys.stderr)
    except OSError as e:
        if e.errno == errno.ENOSPC or _disk_is_full(args.out):
            say(f"stiction: no space left on the disk of {visible(args.out)}", file=sys.stderr)
        else:
            say(f"stiction: {str(e).splitlines()[0]}", file=sys.stderr)
    except KeyboardInterrupt:
        say("stiction: interrupted", file=sys.stderr)
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main())
