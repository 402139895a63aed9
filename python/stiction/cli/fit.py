"""`stiction fit`: parameters of a model from logs of a robot."""

import sys
import time

from .. import _core
from .._util.files import replacing, write_text
from .._util.text import say, visible
from . import arguments
from .arguments import (
    ROBOT,
    TASK,
    existing_file,
    json_option,
    model_file,
    new_file,
    new_folder,
    positive,
    task_option,
)


def add_command(commands):
    fit = arguments.add_command(
        commands,
        "fit",
        _fit,
        help="identify friction, masses, actuators and latency from logs of a robot",
        description="Replays the logs from their measured states in short windows and makes what is replayed equal to "
        "what was measured, by least squares. Says each parameter with a 95 %% interval, and what logs do not determine. "
        "Ctrl-C ends the search and keeps what was found. docs/fit.md has the columns of a log and the parameters.",
    )
    fit.add_argument(
        "logs", nargs="+", type=existing_file, metavar="LOG", help="*.csv or *.npz: time, qpos, qvel, ctrl"
    )
    of = fit.add_mutually_exclusive_group(required=True)
    of.add_argument("--robot", type=model_file, metavar="FILE|ROBOT", help=f"MJCF or URDF, {ROBOT}")
    of.add_argument("--task", metavar="TASK", help=f"its robot and how it steps: {TASK}")
    fit.add_argument(
        "--param",
        action="append",
        required=True,
        metavar="NAME[ROWS]=START,low=L,high=H,prior=S",
        help="what to fit, again for more: dof_damping is one number for all joints, dof_damping[*] one for each, "
        "dof_damping[knee,hip] one for these; latency, kp, kv, strength, mass[trunk], geom_friction[foot], or any "
        "parameter of a batch",
    )
    fit.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="COLUMN=HEADER",
        help="a header of the CSV by what it is: 'ctrl[knee] (deg)=knee goal'; again for more",
    )
    fit.add_argument("--window", type=positive(float), default=0.5, metavar="S", help="length of a window; 0.5")
    fit.add_argument("--timestep", type=positive(float), metavar="S", help="of the physics; the model's or the task's")
    fit.add_argument("--threads", type=positive(int), metavar="N", help="of the simulator; all")
    fit.add_argument("--max-evaluations", type=positive(int), default=200, metavar="N", help="of each round of weights")
    fit.add_argument(
        "--figure",
        type=new_file(".png", ".pdf", ".svg"),
        metavar="FILE",
        help="measured and replayed, before and after",
    )
    fit.add_argument("--output", type=new_file(".json"), metavar="FILE", help="the result as JSON")
    fit.add_argument(
        "--save", type=new_folder, metavar="FOLDER", help="new folder for the fitted model: model.xml and its files"
    )
    task_option(fit)
    json_option(fit)


def _model_and_options(args):
    if args.robot is not None:
        return _core.Model.from_file(args.robot), _core.Options(timestep=args.timestep)
    from ..learning.tasks import parse_options
    from ..tasks.names import open_task

    env = open_task(args.task, 1, threads=1, **parse_options(args.option))
    options = env.batch.options.replace(solver_tolerance=None)
    return env.batch.model, options if args.timestep is None else options.replace(timestep=args.timestep)


def _columns(texts) -> dict[str, str]:
    found = {}
    for text in texts:
        ours, equals, theirs = text.partition("=")
        if not equals or not ours or not theirs:
            raise _core.ArgumentError(f"--column {visible(text)}: expected COLUMN=HEADER, like 'ctrl[knee]=knee goal'")
        found[ours.strip()] = theirs.strip()
    return found


class _Watch:
    """A line on a terminal for each better point."""

    def __init__(self):
        self.begin, self.shown = time.monotonic(), False

    def __call__(self, evaluations, bounds, u, cost):
        if not sys.stderr.isatty():
            return
        values = ", ".join(f"{b.label} {b.value(x):.4g}" for b, x in zip(bounds, u))
        say(f"{time.monotonic() - self.begin:7.1f} s  sum of squares {cost:.5g}  {visible(values)}", file=sys.stderr)


def _fit(args) -> int:
    from ..identification import fit, read_log

    model, options = _model_and_options(args)
    columns = _columns(args.column)
    logs = [read_log(path, model, columns) for path in args.logs]
    for log in logs:
        if log.unused and not args.json:
            say(f"{visible(log.name)}: not used: {', '.join(map(visible, log.unused))}", file=sys.stderr)
    found = fit(
        model,
        logs,
        args.param,
        options=options,
        window=args.window,
        threads=args.threads,
        max_evaluations=args.max_evaluations,
        progress=_Watch(),
    )
    if args.output:
        write_text(args.output, found.to_json() + "\n")
    if args.json:
        say(found.to_json())
    else:
        say(found.table())
        say("\n" + found.snippet())
    if args.figure:
        with replacing(args.figure) as part:
            found.draw(part)
    if args.save:
        found.save(args.save)
    return 130 if found.interrupted else 0
