"""`stiction play`: a policy of either trainer, deterministically."""

import importlib.util
from pathlib import Path

from .._core import Error
from .._util.extras import remedy
from .._util.text import say, visible, wrapped
from .evaluate import evaluate
from .policy import Policy
from .pretrained import available, pretrained
from .tasks import make_env, parse_options, with_options


def load_policy(path):
    """The policy in a file of `stiction train`: .npz, or .pt where torch and rsl_rl are installed."""
    path = Path(path)
    if path.suffix != ".pt":
        return Policy.load(path)
    for module in ("torch", "rsl_rl"):
        if importlib.util.find_spec(module) is None:
            raise Error(f"{visible(path)}: {module} is not installed: {remedy('train')}")
    from .rsl_policy import RslPolicy

    return RslPolicy.load(path)


def _engine(name, env):
    if name == "stiction":
        return env
    from .mujoco_engine import MujocoEnv

    return MujocoEnv(env)


def _check_sizes(env, policy, path):
    wanted = env.num_obs, env.num_actions
    if (policy.num_obs, policy.num_actions) != wanted:
        raise Error(
            f"{visible(path)}: takes {policy.num_obs} observations and gives {policy.num_actions} actions, "
            f"{visible(policy.task['id'])} has {wanted[0]} and {wanted[1]}"
        )


def _task_name(policy, args) -> str:
    """The name of the task, as given or as it was in training. A file that a policy names is run only where it lies
    below the folder that the user is in."""
    if args.task:
        return args.task
    name = policy.task.get("id")
    if not name:
        raise Error(f"{visible(args.file)}: does not say its task: give --task TASK")
    source = name.rpartition(":")[0]
    if source.endswith(".py") and (Path(source).is_absolute() or ".." in Path(source).parts or
                                   not Path(source).is_file()):  # fmt: skip
        raise Error(f"{visible(args.file)}: trained on {visible(name)}, which is not below this folder: give --task FILE.py:CLASS")
    return name


def _list_pretrained() -> int:
    for task in available():
        t = pretrained(task).task["training"]
        speed = "" if t["speed_m_per_s"] is None else f"{t['speed_m_per_s']:.1f} m/s"
        say(f"{task:<26} return {t['return_mean']:>6.0f} ± {t['return_std']:<5.0f} {speed:>8}  "
            f"{t['env_steps'] / 1e6:.2f} M steps")  # fmt: skip
    return 0


def _policy(args):
    if args.pretrained is None and args.file is None:
        raise Error("play: give the FILE of a policy, or --pretrained TASK")
    if args.pretrained is None:
        return load_policy(args.file)
    if args.file is not None:
        raise Error(f"play: {visible(args.file)} and --pretrained {visible(args.pretrained)}: give one of them")
    args.file = f"--pretrained {args.pretrained}"
    return pretrained(args.pretrained)


def play(args) -> int:
    if args.pretrained == "" and args.file is None:
        return _list_pretrained()
    policy = _policy(args)
    policy.task["id"] = _task_name(policy, args)
    policy.task["options"] = with_options(policy.task.get("options", {}), parse_options(args.option))
    mujoco = args.engine == "mujoco"
    if mujoco and args.device != "cpu":
        raise Error(f"--device {args.device}: MuJoCo is played on the CPU")
    precision = "float64" if mujoco else "float32"
    more = {"seed": args.seed, "autoreset": "disabled", "precision": precision}
    env = make_env(policy.task, args.episodes, device=args.device, **more)
    _check_sizes(env, policy, args.file)
    if args.view:
        from ..view.show import view_policy

        return view_policy(policy, _engine(args.engine, make_env(policy.task, 1, **more)), args.rewards)
    found = evaluate(_engine(args.engine, env), policy)
    say(f"{visible(policy.task['id'])}, {args.engine}: {found.text()}")
    if found.metrics:
        say(wrapped(f"  metrics: {found.metrics_text()}", 11))
    if not args.video:
        return 0
    from ..view.film import missing
    from .film import film

    if why := missing():
        raise Error(f"no film: {why}")
    film(_engine(args.engine, make_env(policy.task, 1, **more)), policy, args.video, args.seconds, args.rewards)
    say(f"written: {visible(args.video)}")
    return 0
