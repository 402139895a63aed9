"""Commands of learning: train, sweep, play, export."""

import importlib.util
import sys
from pathlib import Path

from .. import _core
from .._util.extras import remedy
from .._util.text import say, visible
from ..tasks.names import find_task, short_name
from .arguments import (
    SEEDS, TASK, add_command, engine_options, existing_file, new_file, non_negative, positive, seed, share, task_option, widths,
)  # fmt: skip

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


def add_commands(commands, build_parser, main):
    """`build_parser` and `main` are those of the program: trials of a sweep are trainings."""
    train = add_command(
        commands, "train", _train,
        help="train a policy",
        description="Trains with rsl_rl's PPO, or with the one in NumPy that needs no deep-learning "
        "framework. Writes a checkpoint at every iteration; Ctrl-C keeps what was learnt. Under torchrun "
        "rsl_rl's ranks share the environments.",
    )  # fmt: skip
    train.add_argument("id", metavar="TASK", help=TASK)
    train.add_argument("--trainer", choices=("rsl_rl", "numpy"), help="rsl_rl where it is installed")
    train.add_argument("--num-envs", type=positive(int), metavar="N", help="of all ranks together; rsl_rl 4096, numpy what suits the task, mostly 128")
    train.add_argument("--threads", type=positive(int), metavar="N", help="of the simulator; all")
    train.add_argument("--device", default="cpu", help="where rsl_rl simulates and learns: cpu, cuda:0")
    train.add_argument("--sim-device", metavar="DEVICE", help="where it simulates, if elsewhere")
    train.add_argument("--seed", type=seed, metavar="N", help="1")
    train.add_argument("--seeds", type=positive(int), default=1, metavar="N",
                       help="as many runs, from --seed on, in --out/seed-N, and their band as a curve")  # fmt: skip
    train.add_argument("--iterations", type=positive(int), metavar="N", help="of this call: with --resume, as many more; rsl_rl 300")
    train.add_argument("--seconds", type=positive(float), metavar="T", help="of this call; numpy 60")
    train.add_argument("--save-interval", type=positive(int), default=50, metavar="N",
                       help="iterations between the checkpoints of rsl_rl that are kept")  # fmt: skip
    train.add_argument("--out", type=Path, metavar="DIR", help="runs/TASK")
    where = train.add_mutually_exclusive_group()
    where.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out; a run that had none yet begins anew")
    where.add_argument("--overwrite", action="store_true", help="begin anew in --out")
    train.add_argument("--logger", action="append", default=[], choices=("tensorboard", "wandb"),
                       help="numbers of every iteration, besides progress.csv; again for both")  # fmt: skip
    train.add_argument("--video", action="store_true", help="film the trained policy")
    train.add_argument("--no-plot", dest="plot", action="store_false", help="no PNG of the curve")
    train.add_argument("--init-from", type=existing_file, metavar="FILE",
                       help="begin with the networks of a policy.npz or model.pt, trained with other options")  # fmt: skip
    train.add_argument("--randomize", metavar="FILE.py:NAME",
                       help="a stiction.Randomization; the task's own, its class attribute `randomization`")  # fmt: skip
    train.add_argument("--history", type=positive(int), metavar="N", help="observe the last N steps side by side; 1")
    task_option(train)
    engine_options(train)
    settings = train.add_argument_group("hyperparameters", "as given, else the preset of the task")
    for name, (kind, meaning) in _SETTINGS.items():
        settings.add_argument("--" + name.replace("_", "-"), type=kind, metavar="X", help=meaning)

    sweep = add_command(
        commands, "sweep", lambda args: _sweep(args, build_parser, main),
        help="train with many settings, on a Ray cluster or here",
        description="Trains once for each of many settings, as trials of Ray Tune: on the cores of this machine, or on "
        "a cluster. Results do not depend on how many machines there are. Writes a folder per trial and sweep.csv.",
    )  # fmt: skip
    sweep.add_argument("id", metavar="TASK", help=TASK)
    sweep.add_argument("--param", action="append", required=True, metavar="NAME=VALUES",
                       help="of `stiction train`: gamma=0.98,0.99 or learning-rate=1e-4..1e-2:log or seed=1,2,3 or "
                       "option.NAME=... or engine-option.NAME=...; again for another")  # fmt: skip
    sweep.add_argument("--trials", type=positive(int), metavar="N", help="as many draws; all combinations")
    sweep.add_argument("--address", metavar="ADDRESS", help="of a Ray cluster, or auto; a new one on this machine")
    sweep.add_argument("--trainer", choices=("numpy", "rsl_rl"), default="numpy", help="numpy")
    sweep.add_argument("--num-envs", type=positive(int), metavar="N", help="of a trial; what suits the task")
    sweep.add_argument("--iterations", type=positive(int), metavar="N", help="of a trial; 100")
    sweep.add_argument("--seconds", type=positive(float), metavar="T",
                       help="of a trial, in the place of iterations: then results depend on the machine")  # fmt: skip
    sweep.add_argument("--threads", type=positive(int), default=1, metavar="N", help="cores of a trial; 1")
    sweep.add_argument("--seed", type=seed, default=1, metavar="N", help="of trainings and draws; 1")
    sweep.add_argument("--out", type=Path, metavar="DIR", help="runs/TASK-sweep")
    again = sweep.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="only trials that have no result in --out")
    again.add_argument("--overwrite", action="store_true", help="all, over those in --out")
    task_option(sweep)
    engine_options(sweep)

    play = add_command(
        commands, "play", _play,
        help="play a policy: numbers, a film, or a window",
        description="Plays a policy of `stiction train` deterministically. --engine mujoco steps the "
        "same model with MuJoCo, with the same observations, rewards and ends of episodes.",
    )  # fmt: skip
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
    play.add_argument("--rewards", action="store_true", help="of the film or view: plot the reward and its terms over the last seconds")
    task_option(play)

    export = add_command(
        commands, "export", _export,
        help="write a policy as ONNX or TorchScript",
        description="Writes a policy of `stiction train` as a graph from observations to actions, "
        "normaliser and clipping inside, that runs without stiction.",
    )  # fmt: skip
    export.add_argument("file", type=existing_file, metavar="FILE", help="policy.npz or model_*.pt")
    export.add_argument("output", type=new_file(".onnx", ".ts"), metavar="OUTPUT", help="*.onnx, or *.ts for TorchScript")


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
    from ..learning import tasks
    from ..learning.loggers import require
    from ..learning.ranks import Ranks
    from ..learning.seeds import check_seeds, train_seeds

    args.ranks = Ranks.of_environment()
    args.task = {
        "id": args.id,
        "options": tasks.parse_options(args.option),
        "engine": tasks.parse_options(args.engine_option),
    }
    if args.history and args.history > 1:
        args.task["history"] = args.history
    if args.randomize:
        args.task["randomization"] = args.randomize
    find_task(args.id)  # refuses before anything is written
    tasks.nested_options(args.task), tasks.randomization_of(args.task)
    require(args.logger)
    check_seeds(args, SEEDS)
    args.settings = {name: getattr(args, name) for name in _SETTINGS if getattr(args, name) is not None}
    args.trainer = _trainer(args)
    args.out = args.out or Path("runs") / short_name(args.id)
    if args.trainer == "rsl_rl":
        from ..learning.rsl_session import train
    else:
        from ..learning.session import train
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


def _sweep(args, build_parser, main) -> int:
    from ..learning.sweep import sweep

    find_task(args.id)
    args.out = args.out or Path("runs") / f"{short_name(args.id)}-sweep"
    return sweep(args, build_parser, main)


def _play(args) -> int:
    from ..learning.play import play

    return play(args)


def _export(args) -> int:
    from ..learning.export import run

    return run(args)
