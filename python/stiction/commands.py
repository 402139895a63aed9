"""The commands for robots and learning: list-robots, list-envs, train, sweep, play, view, bench. Nothing heavy
is imported before."""

import importlib.util
import inspect
import json
import re
import sys
import warnings
from dataclasses import asdict
from pathlib import Path

from . import _core, assets
from .arguments import ROBOT, SEEDS, existing_file, new_file, non_negative, positive, seed, share, widths
from .extras import remedy
from .task_names import find_task, open_task, short_name
from .text import say, visible, wrapped


TASK = "its id, like Ant-v5, or a class of your own: FILE.py:CLASS"


# of PPO, by the names of stiction.learning.ppo.Settings
_SETTINGS = {
    "horizon": (positive(int), "steps of each environment between two updates"),
    "epochs": (positive(int), "passes over them"),
    "minibatches": (positive(int), "of a pass"),
    "learning_rate": (positive(float), "at first; then it follows target-kl"),
    "max_learning_rate": (positive(float), "numpy only"),
    "target_kl": (positive(float), "divergence of two policies that follow each other"),
    "clip": (positive(float), "of the ratio of probabilities"),
    "gamma": (share, "discount of a control step"),
    "lam": (share, "of generalised advantage estimation"),
    "init_std": (positive(float), "of the actions, in halves of their range"),
    "entropy": (non_negative, "weight of the policy's entropy"),
    "hidden": (widths, "widths of the hidden layers, like 64,64"),
}


def _task_option(command):
    command.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE",
        help="option of the task, again for another; `stiction list-envs TASK` lists them",
    )  # fmt: skip


def add_commands(commands):
    envs = commands.add_parser(
        "list-envs",
        help="list the tasks",
        description="Lists the tasks; of one also its options, their defaults and its metrics.",
    )
    envs.add_argument("id", nargs="?", metavar="TASK")
    envs.add_argument("--json", action="store_true", help="machine-readable")
    envs.set_defaults(run=_list_envs)

    robots = commands.add_parser(
        "list-robots",
        help="list the robots that come with the package",
        description="Lists the robots whose names are taken where a model file is, "
        "and what of each is not computed.",
    )
    robots.add_argument("--json", action="store_true", help="machine-readable")
    robots.set_defaults(run=_list_robots)

    train = commands.add_parser(
        "train",
        help="train a policy",
        description="Trains with rsl_rl's PPO, or with the one in NumPy that needs no deep-learning "
        "framework. Writes a checkpoint at every iteration; Ctrl-C keeps what was learnt. Under torchrun "
        "rsl_rl's ranks share the environments.",
    )
    train.add_argument("id", metavar="TASK", help=TASK)
    train.add_argument("--trainer", choices=("rsl_rl", "numpy"), help="rsl_rl where it is installed")
    train.add_argument("--num-envs", type=positive(int), metavar="N", help="of all ranks together; rsl_rl 4096, numpy what suits the task, mostly 128")
    train.add_argument("--threads", type=positive(int), metavar="N", help="of the simulator; all")
    train.add_argument("--device", default="cpu", help="where rsl_rl simulates and learns: cpu, cuda:0")
    train.add_argument("--sim-device", metavar="DEVICE", help="where it simulates, if elsewhere")
    train.add_argument("--seed", type=seed, metavar="N", help="1")
    train.add_argument("--seeds", type=positive(int), default=1, metavar="N",
                       help="as many runs, from --seed on, in --out/seed-N, and their band as a curve")  # fmt: skip
    train.add_argument("--iterations", type=positive(int), metavar="N", help="rsl_rl 300")
    train.add_argument("--seconds", type=positive(float), metavar="T", help="numpy 60")
    train.add_argument("--save-interval", type=positive(int), default=50, metavar="N",
                       help="iterations between the checkpoints of rsl_rl that are kept")  # fmt: skip
    train.add_argument("--out", type=Path, metavar="DIR", help="runs/TASK")
    where = train.add_mutually_exclusive_group()
    where.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out")
    where.add_argument("--overwrite", action="store_true", help="begin anew in --out")
    train.add_argument("--logger", action="append", default=[], choices=("tensorboard", "wandb"),
                       help="numbers of every iteration, besides progress.csv; again for both")  # fmt: skip
    train.add_argument("--video", action="store_true", help="film the trained policy")
    train.add_argument("--no-plot", dest="plot", action="store_false", help="no PNG of the curve")
    _task_option(train)
    train.add_argument(
        "--engine-option", action="append", default=[], metavar="NAME=VALUE",
        help="of stiction.Options, like contact_model=similar or timestep=0.002",
    )  # fmt: skip
    settings = train.add_argument_group("hyperparameters", "as given, else the preset of the task")
    for name, (kind, meaning) in _SETTINGS.items():
        settings.add_argument("--" + name.replace("_", "-"), type=kind, metavar="X", help=meaning)
    train.set_defaults(run=_train)

    sweep = commands.add_parser(
        "sweep",
        help="train with many settings, on a Ray cluster or here",
        description="Trains once for each of many settings, as trials of Ray Tune: on the cores of this machine, or on "
        "a cluster. Results do not depend on how many machines there are. Writes a folder per trial and sweep.csv.",
    )
    sweep.add_argument("id", metavar="TASK", help=TASK)
    sweep.add_argument("--param", action="append", required=True, metavar="NAME=VALUES",
                       help="of `stiction train`: gamma=0.98,0.99 or learning-rate=1e-4..1e-2:log or seed=1,2,3 or "
                       "option.NAME=... or engine-option.NAME=...; again for another")  # fmt: skip
    sweep.add_argument("--trials", type=positive(int), metavar="N", help="as many draws; all combinations")
    sweep.add_argument("--address", metavar="ADDRESS", help="of a Ray cluster, or auto; a new one on this machine")
    sweep.add_argument("--trainer", choices=("numpy", "rsl_rl"), default="numpy", help="numpy")
    sweep.add_argument("--num-envs", type=positive(int), metavar="N", help="of a trial; what suits the task")
    sweep.add_argument("--iterations", type=positive(int), default=100, metavar="N", help="of a trial; 100")
    sweep.add_argument("--threads", type=positive(int), default=1, metavar="N", help="cores of a trial; 1")
    sweep.add_argument("--seed", type=seed, default=1, metavar="N", help="of trainings and draws; 1")
    sweep.add_argument("--out", type=Path, metavar="DIR", help="runs/TASK-sweep")
    again = sweep.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="only trials that have no result in --out")
    again.add_argument("--overwrite", action="store_true", help="all, over those in --out")
    _task_option(sweep)
    sweep.add_argument("--engine-option", action="append", default=[], metavar="NAME=VALUE",
                       help="of stiction.Options")  # fmt: skip
    sweep.set_defaults(run=_sweep)

    play = commands.add_parser(
        "play",
        help="play a policy: numbers, a film, or a window",
        description="Plays a policy of `stiction train` deterministically. --engine mujoco steps the "
        "same model with MuJoCo, with the same observations, rewards and ends of episodes.",
    )
    play.add_argument("file", type=existing_file, nargs="?", metavar="FILE", help="policy.npz or model_*.pt")
    play.add_argument("--pretrained", nargs="?", const="", metavar="TASK",
                      help="one that comes with the package; without TASK: list them")  # fmt: skip
    play.add_argument("--task", metavar="TASK", help="where the task is, if not where it was in training")
    play.add_argument("--engine", choices=("stiction", "mujoco"), default="stiction")
    play.add_argument("--device", default="cpu", help="where stiction simulates: cpu, cuda:0")
    play.add_argument("--num-envs", "--episodes", dest="episodes", type=positive(int), default=16, metavar="N",
                      help="environments, each for one episode; 16")  # fmt: skip
    play.add_argument("--seed", type=seed, default=0)
    play.add_argument("--video", type=new_file(".mp4"), metavar="FILE", help="write one episode as *.mp4")
    play.add_argument("--seconds", type=positive(float), metavar="T", help="of the film; the episode")
    play.add_argument("--view", action="store_true", help="in a browser (viser) or MuJoCo's window")
    play.set_defaults(run=_play)

    export = commands.add_parser(
        "export",
        help="write a policy as ONNX or TorchScript",
        description="Writes a policy of `stiction train` as a graph from observations to actions, "
        "normaliser and clipping inside, that runs without stiction.",
    )
    export.add_argument("file", type=existing_file, metavar="FILE", help="policy.npz or model_*.pt")
    export.add_argument("output", type=new_file(".onnx", ".ts"), metavar="OUTPUT", help="*.onnx, or *.ts for TorchScript")
    export.set_defaults(run=_export)

    view = commands.add_parser(
        "view",
        help="show a model moving, with its contacts and forces",
        description="Simulates a model from its start state and shows it with contact forces as "
        "arrows, in the colours of its file or in ours: in a browser where viser is installed, else in "
        "MuJoCo's window, or as a film. Pause, speed, environment, names and forces are chosen there.",
    )
    view.add_argument("file", metavar="FILE|ROBOT|TASK", help=f"MJCF, {ROBOT}, or a task: {TASK}")
    _task_option(view)
    view.add_argument("--video", type=new_file(".mp4"), metavar="FILE", help="write *.mp4 and open nothing")
    view.add_argument("--seconds", type=positive(float), default=5.0, metavar="T", help="of the film")
    view.add_argument("--controls", default="hold", choices=("hold", "zero", "random"),
                      help="of a file: hold the start pose, zero, or smooth random ones")  # fmt: skip
    view.add_argument("--num-envs", type=positive(int), default=1, metavar="N", help="to choose from, in the view")
    view.add_argument("--speed", type=positive(float), default=1.0, metavar="X", help="times real time")
    view.add_argument("--force-scale", type=positive(float), default=1.0, metavar="X",
                      help="of the arrows; at 1 a robot's weight is as long as the robot is wide")  # fmt: skip
    view.add_argument("--names", action="store_true", help="write the names of bodies beside them")
    view.add_argument("--keyframe", metavar="NAME", help="start state; 'home', else the first")
    view.add_argument("--seed", type=seed, default=0)
    view.set_defaults(run=_view)

    bench = commands.add_parser(
        "bench",
        help="measure whole environment steps",
        description="Environment steps per second with random actions: physics, observations, "
        "rewards, resets and the hand-over to NumPy; and the share of physics in that time. On a "
        "device actions and results stay there.",
    )
    bench.add_argument("ids", nargs="*", metavar="TASK", help=TASK + "; all compiled ones")
    bench.add_argument("--num-envs", type=positive(int), default=1024, metavar="N")
    bench.add_argument("--device", default="cpu", help="cpu, cuda:0")
    bench.add_argument("--threads", type=positive(int), metavar="N", help="all")
    bench.add_argument("--seconds", type=positive(float), default=1.0, metavar="T", help="of each")
    bench.add_argument("--json", action="store_true", help="machine-readable")
    bench.set_defaults(run=_bench)


# ------------------------------------------------------------------------------- list-envs, bench


def _option_row(option) -> dict:
    return {"name": option.name, "default": option.value, "meaning": option.meaning}


def _task_row(info) -> dict:
    names = ("id", "summary", "num_obs", "num_actions", "max_episode_steps", "frame_skip")
    row = {name: getattr(info, name) for name in names} | {"metrics": list(info.metrics)}
    return row | {"options": [_option_row(o) for o in info.options]}


def _class_row(name, task) -> dict:
    """As `_task_row`, of a class of tasks; its options are the keywords of its constructor."""
    env = open_task(name)
    options = [
        {"name": p.name, "default": None if p.default is p.empty else p.default, "meaning": ""}
        for p in inspect.signature(task).parameters.values()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    return {
        "id": name, "summary": env.task.summary or (inspect.getdoc(task) or "").partition("\n")[0],
        "num_obs": env.num_obs, "num_actions": env.num_actions,
        "max_episode_steps": env.max_episode_steps, "frame_skip": env.frame_skip,
        "metrics": list(env.metric_names), "options": options,
    }  # fmt: skip


def _list_envs(args) -> int:
    from .learning.tasks import settings_of

    tasks = {info.id: _task_row(info) for info in _core.Env.tasks()}
    if args.id is not None:
        task = find_task(args.id)
        tasks = {args.id: tasks[task] if isinstance(task, str) else _class_row(args.id, task)}
    if args.json:
        say(json.dumps(list(tasks.values()), indent=2, default=str))
        return 0
    say(f"{'id':<26} {'obs':>4} {'actions':>7} {'limit':>6}  what")
    for t in tasks.values():
        sizes = f"{t['num_obs']:>4} {t['num_actions']:>7} {t['max_episode_steps'] or '-':>6}"
        say(wrapped(f"{t['id']:<26} {sizes}  {visible(t['summary'])}", 48))
    if args.id is not None:
        (t,) = tasks.values()
        say(wrapped(f"\nmetrics: {', '.join(t['metrics']) or 'none'}".lstrip("\n"), 9))
        say("options:")
        for o in t["options"]:
            say(wrapped(f"  {o['name']} = {json.dumps(o['default'], default=str)}", 6))
            if o["meaning"]:
                say(wrapped(f"      {o['meaning']}", 6))
        settings = ", ".join(f"{k}={v}" for k, v in asdict(settings_of(args.id)).items())
        say(wrapped(f"settings of the PPO in NumPy: {settings}", 2))
    return 0


def _not_computed(report) -> list[str]:
    """What of the physics of a robot is left out, in a few words each; `check-model` has the lines."""
    left_out = []
    for e in report.entries:
        if e.use == "ignored" and e.physics:
            what = f"{e.attribute} {e.value}" if e.attribute else re.sub(r" (is|are) not computed.*", "", e.note)
            if what not in left_out:
                left_out.append(what)
    pairs = len(report.pairs_without_collider)
    return left_out + ([f"{pairs} geom pairs"] if pairs else [])


def _robot_row(name) -> dict:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", _core.ModelWarning)  # the table says it
        model, robot = assets.load(name, floor=False), assets.info(name)
    return {
        "name": name, "title": robot.title, "dofs": model.nv, "actuators": model.nu,
        "mass": round(float(model.body_mass.sum()), 3), "licence": robot.licence,
        "not_computed": _not_computed(model.report), "file": str(robot.on_floor),
    }  # fmt: skip


def _list_robots(args) -> int:
    rows = [_robot_row(name) for name in assets.names()]
    if args.json:
        say(json.dumps(rows, indent=2))
        return 0
    say(f"{'name':<12} {'dofs':>4} {'motors':>6}  {'licence':<24} not computed")
    for r in rows:
        left_out = ", ".join(r["not_computed"]) or "-"
        say(f"{r['name']:<12} {r['dofs']:>4} {r['actuators']:>6}  {r['licence']:<24} {left_out}")
    say("\nstiction check-model NAME has the lines; stiction view NAME shows one")
    return 0


def _bench(args) -> int:
    from .learning.bench import measure

    known = [info.id for info in _core.Env.tasks()]
    rows = []
    for id in args.ids or known:
        rows.append(measure(id, args.num_envs, args.threads, args.seconds, args.device))
        if args.json:
            continue
        if len(rows) == 1:
            where = f"{rows[0]['threads']} threads" if args.device == "cpu" else rows[0]["device"]
            say(f"{args.num_envs} environments, {where}, {rows[0]['isa']}")
            say(f"{'id':<26} {'env steps/s':>12} {'physics steps/s':>16} {'physics share':>14}")
        r = rows[-1]
        say(f"{id:<26} {r['env_steps_per_s']:>12.0f} {r['physics_steps_per_s']:>16.0f} "
              f"{100 * r['physics_share']:>12.0f} %", flush=True)  # fmt: skip
    if args.json:
        say(json.dumps(rows, indent=2))
    return 0


# ------------------------------------------------------------------------------- train, play, view


def _missing(*modules) -> str | None:
    return next((m for m in modules if importlib.util.find_spec(m) is None), None)


def _trainer(args) -> str:
    """--trainer, or rsl_rl where it is installed."""
    needs_torch = [name for name, x in (("--device", args.device), ("--sim-device", args.sim_device))
                   if x not in (None, "cpu")]  # fmt: skip
    if args.trainer == "numpy" and args.ranks.size == 1:
        if needs_torch:
            raise _core.ArgumentError(f"{needs_torch[0]}: the trainer in NumPy is for the CPU; elsewhere take --trainer rsl_rl")
        return "numpy"
    missing = _missing("torch", "rsl_rl")
    if args.ranks.size > 1:
        if args.trainer == "numpy":
            raise _core.ArgumentError(f"--trainer numpy: it is one process, and here are {args.ranks.size} ranks: take --trainer rsl_rl")
        if missing:
            raise _core.Error(f"{missing} is not installed, and {args.ranks.size} ranks need it: {remedy('train')}")
    if missing and (args.trainer or needs_torch):
        raise _core.Error(f"{missing} is not installed: {remedy('train')} (5.6 GB), or take --trainer numpy on the CPU")
    if missing:
        say(f"{missing} is not installed ({remedy('train')}): training with the PPO in NumPy")
        return "numpy"
    return "rsl_rl"


def _train(args) -> int:
    from .learning import tasks
    from .learning.loggers import require
    from .learning.ranks import Ranks
    from .learning.seeds import check_seeds, train_seeds

    args.ranks = Ranks.of_environment()
    args.task = {
        "id": args.id,
        "options": tasks.parse_options(args.option),
        "engine": tasks.parse_options(args.engine_option),
    }
    find_task(args.id)  # refuses before anything is written
    require(args.logger)
    check_seeds(args, SEEDS)
    args.settings = {name: getattr(args, name) for name in _SETTINGS if getattr(args, name) is not None}
    args.trainer = _trainer(args)
    args.out = args.out or Path("runs") / short_name(args.id)
    if args.trainer == "rsl_rl":
        from .learning.rsl_session import train
    else:
        from .learning.session import train
    try:
        return train_seeds(args, train) if args.seeds > 1 else train(args)
    except OSError as e:
        if not tasks.disk_is_full(e, args.out):
            raise
        kept = any((args.out / name).exists() for name in ("policy.npz", "model.pt"))
        say(
            f"stiction: no space left on the disk of {visible(args.out)}; "
            + ("the checkpoint there is of the iteration before: make room and go on with --resume"
               if kept else "there is no checkpoint yet: make room and begin again, or give --out DIR"),
            file=sys.stderr,
        )  # fmt: skip
        return 1


def _sweep(args) -> int:
    from .cli import build_parser
    from .learning.sweep import sweep

    find_task(args.id)
    args.out = args.out or Path("runs") / f"{short_name(args.id)}-sweep"
    return sweep(args, build_parser)


def _play(args) -> int:
    from .learning.play import play

    return play(args)


def _export(args) -> int:
    from .learning.export import run

    return run(args)


def _view(args) -> int:
    from .learning.view import view

    return view(args)
