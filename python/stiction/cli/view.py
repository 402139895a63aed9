"""`stiction view`."""

import time
from pathlib import Path

from .. import assets
from .._core import Error
from .._util.text import say, visible, wrapped
from ..tasks.names import open_task
from .arguments import ROBOT, TASK, load_model, new_file, positive, seed, task_option, urdf_options


def add_command(commands):
    view = commands.add_parser(
        "view",
        help="show a model moving, with its contacts and forces",
        description="Simulates a model from its start state and shows it with contact forces as "
        "arrows, in the colours of its file or in ours: in a browser where viser is installed, else in "
        "MuJoCo's window, or as a film. Pause, speed, environment, names and forces are chosen there.",
    )
    view.add_argument("file", metavar="FILE|ROBOT|TASK", help=f"MJCF or URDF, {ROBOT}, or a task: {TASK}")
    task_option(view)
    urdf_options(view)
    view.add_argument("--video", type=new_file(".mp4"), metavar="FILE", help="write *.mp4 and open nothing")
    view.add_argument("--seconds", type=positive(float), default=5.0, metavar="T", help="of the film")
    view.add_argument("--controls", default="hold", choices=("hold", "zero", "random"),
                      help="of a file: hold the start pose, zero, or smooth random ones")  # fmt: skip
    view.add_argument("--num-envs", type=positive(int), default=1, metavar="N",
                      help="robots to choose from in the view; a film shows the first 256 side by side")  # fmt: skip
    view.add_argument("--speed", type=positive(float), default=1.0, metavar="X", help="times real time")
    view.add_argument("--force-scale", type=positive(float), default=1.0, metavar="X",
                      help="of the arrows; at 1 a robot's weight is as long as the robot is wide")  # fmt: skip
    view.add_argument("--names", action="store_true", help="write the names of bodies beside them")
    view.add_argument("--rewards", action="store_true", help="of a task: plot the reward and its terms over the last seconds")
    view.add_argument("--keyframe", metavar="NAME", help="start state; 'home', else the first")
    view.add_argument("--seed", type=seed, default=0)
    view.set_defaults(run=_view)


def _motion(args):
    """The robots of a file or of a name, or those of a task under actions that drift."""
    from ..learning.tasks import parse_options
    from ..view.motion import ModelMotion, PolicyMotion, Wandering

    is_file = Path(args.file).is_file() and Path(args.file).suffix != ".py"
    if is_file or args.file in assets.names():
        args.file = Path(args.file) if is_file else assets.path(args.file)
        return ModelMotion(load_model(args), args.keyframe, args.controls, args.seed, args.num_envs)
    if Path(args.file).suffix in (".xml", ".mjcf", ".urdf"):
        raise Error(f"no such file: {visible(args.file)}")
    options = {"autoreset": "disabled", "seed": args.seed, "threads": 1 if args.num_envs == 1 else None}
    env = open_task(args.file, args.num_envs, **options, **parse_options(args.option))
    return PolicyMotion(env, Wandering(env, args.seed))


def _view(args) -> int:
    from ..view.film import film_motion, missing
    from ..view.motion import falls_for_ever
    from ..view.panel import Panel, extent, robot_weight
    from ..view.show import show

    motion = _motion(args)
    if falls_for_ever(motion.model):
        say(f"{visible(args.file)} has no floor, it falls: show a file with a floor that includes it")
    panel = Panel(names=args.names, rewards=args.rewards, force_scale=args.force_scale, speed=args.speed)
    if not args.video:
        return show(motion, panel)
    if why := missing():
        raise Error(f"no film: {why}")
    scale = 2 * extent(motion)[1] * panel.force_scale
    begin = time.perf_counter()
    seconds = film_motion(motion, args.video, args.seconds, panel, scale)
    if args.num_envs > 1:
        say(wrapped(_numbers(motion.batch, seconds, time.perf_counter() - begin), 2))
        say(f"written: {visible(args.video)}")
    else:
        say(f"written: {visible(args.video)}; contact forces: 1 m is {robot_weight(motion.model) / scale:.4g} N")
    return 0 if seconds >= args.seconds - motion.dt else 130  # Ctrl-C


def _numbers(batch, seconds, wall) -> str:
    """What many robots did during a film."""
    counts = batch.counts
    steps, histogram = max(counts.env_steps, 1), counts.iteration_histogram
    iterations = sum(k * n for k, n in enumerate(histogram)) / steps
    froze = f"; {batch.status_count} froze" if batch.status_count else ""
    return (f"{batch.num_envs} robots for {seconds:g} s on {batch.threads} threads: {counts.env_steps} steps of physics in "
            f"{wall:.1f} s with the film, each with {counts.contacts / steps:.1f} contacts and {iterations:.1f} Newton "
            f"iterations on average{froze}")  # fmt: skip
