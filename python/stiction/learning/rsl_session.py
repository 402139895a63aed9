"""`stiction train --trainer rsl_rl`: rsl_rl's PPO with our curve, checkpoints and evaluation."""

import contextlib
import functools
import json
import statistics
import time
from dataclasses import dataclass

import torch
from rsl_rl.runners import OnPolicyRunner

from .._core import Error
from ..adapters.rsl_rl import VecEnv
from ..files import replacing, write_text
from ..interrupt import CtrlC
from ..memory import CannotBeWritten
from ..text import say, visible, wrapped
from .curve import LearningCurve, begin_anew
from .evaluate import evaluate
from .rsl_policy import FORMAT, RslPolicy, load_checkpoint
from .loggers import Loggers
from .ppo import env_seed, evaluation_seed
from .run import check_path, check_resume, folder_of
from .session import EVALUATED, draw_pictures, first_line
from .tasks import make_env

ITERATIONS = 300
NUM_ENVS = 4096  # where neither the user nor a checkpoint says it
LARGE_MINIBATCH = 2000  # samples; smaller ones lose on several threads (docs/training.md)


# names of the flags of `stiction train` -> where rsl_rl has them
_FLAGS = {
    "horizon": ("num_steps_per_env",), "epochs": ("algorithm", "num_learning_epochs"),
    "minibatches": ("algorithm", "num_mini_batches"), "learning_rate": ("algorithm", "learning_rate"),
    "target_kl": ("algorithm", "desired_kl"), "clip": ("algorithm", "clip_param"),
    "gamma": ("algorithm", "gamma"), "lam": ("algorithm", "lam"), "entropy": ("algorithm", "entropy_coef"),
}  # fmt: skip


def config(task_id: str, save_interval: int, settings: dict = {}) -> dict:
    """rsl_rl's configuration, with the hyperparameters that were given. Returns are large here, so the
    value loss must not be clipped."""
    cfg = _preset(task_id, save_interval)
    for name, value in settings.items():
        if name == "hidden":
            cfg["actor"]["hidden_dims"], cfg["critic"]["hidden_dims"] = list(value), list(value)
        elif name == "init_std":
            cfg["actor"]["distribution_cfg"]["init_std"] = value
        elif name in _FLAGS:
            *groups, last = _FLAGS[name]
            functools.reduce(dict.__getitem__, groups, cfg)[last] = value
        else:
            raise Error(f"--{name.replace('_', '-')}: rsl_rl has no such setting; it is of --trainer numpy")
    return cfg


def _preset(task_id: str, save_interval: int) -> dict:
    small = not task_id.startswith(("Humanoid", "IsaacHumanoid", "Go2"))
    network = {
        "class_name": "MLPModel",
        "hidden_dims": [64, 64] if small else [256, 128, 64],
        "activation": "elu",
        "obs_normalization": True,
    }
    distribution = {"class_name": "GaussianDistribution", "init_std": 0.6 if small else 1.0}
    return {
        "num_steps_per_env": 24,
        "save_interval": save_interval,
        "obs_groups": {"actor": ["policy"], "critic": ["critic"]},
        "algorithm": {
            "class_name": "PPO",
            "learning_rate": 1e-3,
            "desired_kl": 0.015,
            "entropy_coef": 0.0,
            "use_clipped_value_loss": False,
        },
        "actor": network | {"distribution_cfg": distribution},
        "critic": dict(network),
    }


@dataclass(frozen=True)
class Iteration:
    """A row of the curve."""

    number: int
    steps: int
    episode_return: float
    episode_length: float
    learning_rate: float
    std: float
    step_seconds: float  # within the environment
    collect_seconds: float
    learn_seconds: float


class _Stop(Exception):
    """Ends the runner's loop after an iteration whose checkpoint is written."""


class TimedEnv(VecEnv):
    """Counts the seconds within the environment; a card works on after its step has returned."""

    seconds = 0.0

    def step(self, actions):
        begin = time.perf_counter()
        result = super().step(actions)
        self.seconds += time.perf_counter() - begin
        return result


class Runner(OnPolicyRunner):
    """rsl_rl's runner whose checkpoints are always whole, and say what `play` must know."""

    infos = None

    def save(self, path, infos=None):
        try:
            with replacing(path) as part:
                super().save(str(part), infos or self.infos)
        except RuntimeError as e:  # how torch's writer reports a full disk
            raise OSError(f"{visible(path)} could not be written: {str(e).splitlines()[0]}") from e


def _watch(runner, env, args, curve, loggers, ctrl_c, task, path, steps):
    """After every iteration: a row of the curve, the checkpoint, and an end when it is time."""
    log, begin = runner.logger.log, time.perf_counter()

    def log_and_save(*, it, collect_time, learn_time, **more):
        nonlocal steps
        log(it=it, collect_time=collect_time, learn_time=learn_time, **more)
        steps += runner.cfg["num_steps_per_env"] * env.num_envs
        mean = lambda values: statistics.mean(values) if values else float("nan")
        iteration = Iteration(
            it + 1, steps, mean(runner.logger.rewbuffer), mean(runner.logger.lenbuffer),
            float(more["learning_rate"]), float(more["action_std"].detach().mean()),
            env.seconds, collect_time, learn_time,
        )  # fmt: skip
        curve.add(iteration)
        loggers.add(iteration)
        env.seconds = 0.0
        runner.infos = {
            "format": FORMAT, "task": task, "config": runner.cfg, "steps": steps,
            "rng": torch.get_rng_state(), "episodes": list(runner.logger.rewbuffer),
            "lengths": list(runner.logger.lenbuffer), "num_envs": env.num_envs,
            "seed": args.seed,
        }  # fmt: skip
        running = {
            "reward_sum": runner.logger.cur_reward_sum, "episode_length": runner.logger.cur_episode_length,
        }
        try:
            running["environments"] = env.env.snapshot()
        except CannotBeWritten as e:
            running = {"without_environments": str(e)}
        runner.save(str(path), runner.infos | running)
        late = args.seconds and time.perf_counter() - begin >= args.seconds
        if ctrl_c.pressed or late:
            raise _Stop

    runner.logger.log = log_and_save


def _resume(runner, env, path):
    """Goes on after the iteration of the checkpoint, in the middle of its episodes where it has as
    many environments: (environment steps so far, whether new episodes begin)."""
    infos = runner.load(str(path), map_location=runner.device)
    runner.current_learning_iteration += 1  # rsl_rl would do it again
    runner.logger.rewbuffer.extend(infos["episodes"])
    runner.logger.lenbuffer.extend(infos["lengths"])
    runner.logger.tot_timesteps = infos["steps"]
    torch.set_rng_state(infos["rng"].cpu())
    if infos.get("num_envs") != env.num_envs or "environments" not in infos:
        why = f"the checkpoint is of {infos.get('num_envs')} environments"
        if infos.get("num_envs") == env.num_envs:
            why = infos.get("without_environments", "the checkpoint has none")
        say(f"new episodes begin: {visible(why)}")
        return infos["steps"], True
    env.env.restore(infos["environments"])
    runner.logger.cur_reward_sum.copy_(infos["reward_sum"])
    runner.logger.cur_episode_length.copy_(infos["episode_length"])
    return infos["steps"], False


def _make_runner(args, task):
    place = {"device": args.sim_device or args.device}
    simulation = make_env(task, args.num_envs, threads=args.threads, seed=env_seed(args.seed), **place)
    env = TimedEnv(simulation, device=args.device)
    cfg = config(args.id, args.save_interval, args.settings)
    minibatch = cfg["num_steps_per_env"] * args.num_envs / 4
    torch.set_num_threads(args.threads or env.env.batch.threads if minibatch > LARGE_MINIBATCH else 1)
    return env, Runner(env, cfg, log_dir=str(args.out), device=env.device)


def train(args) -> int:
    with folder_of(args):
        return _train(args, args.out / "model.pt")


def _train(args, path) -> int:
    check_path(args, path)
    task = args.task
    if args.resume:
        infos = load_checkpoint(path)["infos"]
        check_resume(args, path, infos["task"], infos.get("seed"))
        task, args.seed = infos["task"], infos.get("seed", args.seed)
        args.num_envs = args.num_envs or infos.get("num_envs")
    args.num_envs = args.num_envs or NUM_ENVS
    args.seed = 1 if args.seed is None else args.seed
    torch.manual_seed(args.seed)
    with CtrlC() as ctrl_c, open(args.out / "rsl_rl.log", "a") as text:
        with contextlib.redirect_stdout(text):
            env, runner = _make_runner(args, task)
        if not args.resume:
            begin_anew(args.out / "progress.csv")
        say(first_line(env.env, task) + f"; learning on {env.device}", flush=True)
        steps, begins = _resume(runner, env, path) if args.resume else (0, True)
        iterations = args.iterations or (10**9 if args.seconds else ITERATIONS)
        goal = (args.seconds, args.iterations or (None if args.seconds else ITERATIONS))
        done = runner.current_learning_iteration
        names = [name for name in args.logger if name != "tensorboard"]  # which rsl_rl writes itself
        log = Loggers(names, args.out, {"task": task, "seed": args.seed, **runner.cfg})
        with log, LearningCurve(args.out / "progress.csv", done=done, goal=goal) as curve:
            _watch(runner, env, args, curve, log, ctrl_c, task, path, steps)
            with contextlib.suppress(_Stop), contextlib.redirect_stdout(text):
                runner.learn(iterations, init_at_random_ep_len=begins)
        if runner.logger.writer is not None:
            runner.logger.writer.close()
        if ctrl_c.pressed:
            say("interrupted: the policy is kept; --resume goes on")
    policy = RslPolicy(load_checkpoint(path))
    test = make_env(task, EVALUATED, threads=args.threads, seed=evaluation_seed(args.seed))
    found = evaluate(test, policy)
    say(f"  deterministic: {found.text()}", flush=True)
    summary = {
        "task": task, "seed": args.seed, "envs": env.num_envs, "iterations": runner.current_learning_iteration + 1,
        "env_steps": curve.rows[-1]["steps"], "train_seconds": curve.rows[-1]["seconds"],
        "return_mean": float(found.returns.mean()), "return_std": float(found.returns.std()),
        "length_mean": float(found.lengths.mean()), "speed_m_per_s": found.speed,
    }  # fmt: skip
    write_text(args.out / "summary.json", json.dumps(summary, indent=2) + "\n")
    files = [path, args.out / "progress.csv", args.out / "summary.json"]
    files += draw_pictures(args, policy, task, ctrl_c, "PPO of rsl_rl", evaluation_seed(args.seed))
    say(wrapped("written: " + ", ".join(map(visible, files)), 9))
    say(f"TensorBoard: tensorboard --logdir {visible(args.out)}")
    return 130 if ctrl_c.pressed else 0
