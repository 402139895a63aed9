"""`stiction train --trainer rsl_rl`: rsl_rl's PPO with our curve, checkpoints and evaluation, in one process or in
the ranks of torchrun, of which the first one prints and writes."""

import contextlib
import functools
import io
import json
import os
import statistics
import time
from dataclasses import dataclass, field

import torch
from rsl_rl.runners import OnPolicyRunner

from .._core import Error
from .._util.files import replacing, write_text
from .._util.interrupt import CtrlC
from .._util.text import say, visible, wrapped
from ..adapters.rsl_rl import VecEnv
from ..tasks.memory import CannotBeWritten
from .curve import LearningCurve, begin_anew
from .evaluate import evaluate
from .loggers import Loggers
from .ppo import env_seed, evaluation_seed
from .ranks import Ranks
from .rsl_policy import FORMAT, RslPolicy, load_checkpoint
from .rsl_ranks import Noise
from .run import check_path, check_resume, folder_of, say_goes_on
from .session import EVALUATED, draw_pictures, first_line
from .tasks import make_env

ITERATIONS = 300
NUM_ENVS = 4096  # where neither the user nor a checkpoint says it
LARGE_MINIBATCH = 2000  # samples; smaller ones lose on several threads (docs/training.md)
MOST_SNAPSHOTS = 2**28  # bytes of all ranks' environments that the first one collects for a checkpoint


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
            "class_name": "stiction.learning.rsl_ranks:Ppo",
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
    metrics: dict = field(default_factory=dict)  # means of a step, of this rank's environments


class _Stop(Exception):
    """Ends the runner's loop after an iteration whose checkpoint is written."""


class TimedEnv(VecEnv):
    """Counts the seconds within the environment; a card works on after its step has returned. Adds up its metrics."""

    seconds = 0.0
    steps = 0

    def _log(self):
        log = super()._log()
        before = self.totals if self.steps else dict.fromkeys(log, 0.0)
        self.totals, self.steps = {name: before[name] + x for name, x in log.items()}, self.steps + 1
        return log

    def take_metrics(self) -> dict:
        """Means of the steps since the last call."""
        found = {k.removeprefix("metrics/"): float(x) / self.steps for k, x in self.totals.items()} if self.steps else {}
        self.steps = 0
        return found

    def step(self, actions):
        begin = time.perf_counter()
        result = super().step(actions)
        self.seconds += time.perf_counter() - begin
        return result


class Runner(OnPolicyRunner):
    """rsl_rl's runner whose checkpoints are always whole, and say what `play` must know; its ranks are ours."""

    infos = None

    def __init__(self, env, cfg, *, ranks=Ranks(), **more):
        self.ranks = ranks
        super().__init__(env, cfg, **more)
        self.alg.ranks = ranks

    def _configure_multi_gpu(self):
        """As rsl_rl's, whose ranks must have cards: here `Ranks.join` has found the others, by gloo on CPUs."""
        r = self.ranks
        self.is_distributed, self.gpu_world_size = r.size > 1, r.size
        self.gpu_global_rank, self.gpu_local_rank = r.rank, r.local_rank
        group = {"global_rank": r.rank, "local_rank": r.local_rank, "world_size": r.size}
        self.cfg["multi_gpu"] = group if self.is_distributed else None

    def save(self, path, infos=None):
        try:
            with replacing(path) as part:
                super().save(str(part), infos or self.infos)
        except RuntimeError as e:  # how torch's writer reports a full disk
            raise OSError(f"{visible(path)} could not be written: {str(e).splitlines()[0]}") from e


def _running(runner, env) -> dict:
    """What goes on in the middle of episodes: the snapshots of all ranks' environments, for the first one."""
    ranks = runner.ranks
    try:
        mine, why = env.env.snapshot(), None
    except CannotBeWritten as e:
        mine, why = b"", str(e)
    if ranks.gather_all(len(mine)).sum() > MOST_SNAPSHOTS:
        mine, why = b"", f"they are more than {MOST_SNAPSHOTS >> 20} MiB"
    everyone = ranks.gather(mine)
    if why is not None:
        return {"without_environments": why}
    return {
        "reward_sum": runner.logger.cur_reward_sum, "episode_length": runner.logger.cur_episode_length,
        "environments": everyone,
    }  # fmt: skip


def _watch(runner, env, args, curve, loggers, ctrl_c, task, path, steps, goal):
    """After every iteration: a row of the curve, the checkpoint, and an end when it is time."""
    log, begin, ranks = runner.logger.log, time.perf_counter(), runner.ranks

    def write(it, collect_time, learn_time, running, more):
        mean = lambda values: statistics.mean(values) if values else float("nan")
        iteration = Iteration(
            it + 1, steps, mean(runner.logger.rewbuffer), mean(runner.logger.lenbuffer),
            float(more["learning_rate"]), float(more["action_std"].detach().mean()),
            env.seconds, collect_time, learn_time, env.take_metrics(),
        )  # fmt: skip
        curve.add(iteration)
        loggers.add(iteration)
        runner.infos = {
            "format": FORMAT, "task": task, "config": runner.cfg, "steps": steps,
            "rng": torch.get_rng_state(), "episodes": list(runner.logger.rewbuffer),
            "lengths": list(runner.logger.lenbuffer), "num_envs": env.num_envs * ranks.size,
            "ranks": ranks.size, "seed": args.seed, "goal": goal,
            "action_range": [env.env.action_low.tolist(), env.env.action_high.tolist()],
        }  # fmt: skip
        runner.save(str(path), runner.infos | running)

    def log_and_save(*, it, collect_time, learn_time, **more):
        nonlocal steps
        log(it=it, collect_time=collect_time, learn_time=learn_time, **more)
        steps += runner.cfg["num_steps_per_env"] * env.num_envs * ranks.size
        running = _running(runner, env)
        if ranks.first:
            write(it, collect_time, learn_time, running, more)
        env.seconds = 0.0
        late = bool(args.seconds) and time.perf_counter() - begin >= args.seconds
        if ranks.any(ctrl_c.pressed or late):
            raise _Stop

    runner.logger.log = log_and_save


def _go_on(runner, env, checkpoint: bytes):
    """Goes on after the iteration of the checkpoint, in the middle of its episodes where it has as
    many environments and ranks: (environment steps so far, whether new episodes begin)."""
    ranks = runner.ranks
    infos = runner.load(io.BytesIO(checkpoint), map_location=runner.device)
    runner.current_learning_iteration += 1  # rsl_rl would do it again
    runner.logger.rewbuffer.extend(infos["episodes"])
    runner.logger.lenbuffer.extend(infos["lengths"])
    runner.logger.tot_timesteps = infos["steps"]
    torch.set_rng_state(infos["rng"].cpu())
    why = None
    for here, there, what in ((env.num_envs * ranks.size, infos.get("num_envs"), "environments"),
                              (ranks.size, infos.get("ranks", ranks.size), "ranks")):  # fmt: skip
        if here != there:
            why = why or f"the checkpoint is of {there} {what}"
    if "environments" not in infos or "ranks" not in infos:
        why = why or infos.get("without_environments", "the checkpoint has none")
    if why:
        if ranks.first:
            say(f"new episodes begin: {visible(why)}")
        return infos["steps"], True
    env.env.restore(infos["environments"][ranks.rank])
    if ranks.first:
        runner.logger.cur_reward_sum.copy_(infos["reward_sum"])
        runner.logger.cur_episode_length.copy_(infos["episode_length"])
    return infos["steps"], False


def _begin_with(runner, checkpoint: bytes, path):
    """Networks and normalisers of a checkpoint of other options, but of the same sizes."""
    try:
        runner.load(io.BytesIO(checkpoint), {"actor": True, "critic": True}, map_location=runner.device)
    except RuntimeError as e:  # how torch says that sizes differ
        raise Error(f"{visible(path)}: its networks are not those of this training: {visible(str(e).splitlines()[-1].strip())}") from None


def _begin_at_random_times(env, ranks):
    """Episodes of all ranks, so that they do not end together; of each environment the same in any rank."""
    first, count = ranks.share(env.num_envs * ranks.size)
    everyone = env.episode_length_buf.new_empty(env.num_envs * ranks.size)
    drawn = torch.randint_like(everyone, high=int(env.max_episode_length))
    env.episode_length_buf = drawn[first : first + count]


def _make_runner(args, task):
    ranks = args.ranks
    first, count = ranks.share(args.num_envs)
    threads = ranks.threads(args.threads)
    place = {"device": args.sim_device or args.device}
    simulation = make_env(task, count, training=True, threads=threads, seed=env_seed(args.seed) + first, **place)
    env = TimedEnv(simulation, device=args.device)
    cfg = config(args.id, args.save_interval, args.settings)
    minibatch = cfg["num_steps_per_env"] * count / 4
    torch.set_num_threads(threads or env.env.batch.threads if minibatch > LARGE_MINIBATCH else 1)
    runner = Runner(env, cfg, ranks=ranks, log_dir=str(args.out), device=env.device)
    return env, runner


def _draw(runner, env, args):
    """The actions' noise from the next iteration on."""
    first, count = args.ranks.share(args.num_envs)
    horizon = runner.cfg["num_steps_per_env"]
    noise = Noise(args.seed, first, count, env.num_actions, horizon, env.device)
    noise.begin(runner.current_learning_iteration)
    runner.alg.draw_with(noise)


def _prepare(args, path, folder) -> dict:
    """What all ranks begin with, found by the first one, which alone reads and writes files."""
    is_new = folder.enter_context(folder_of(args))
    if args.ranks.restarts and path.exists():  # torchrun begins anew what it had begun
        args.resume = True
    else:
        check_path(args, path, is_new)
    found = {"task": args.task, "seed": args.seed, "num_envs": args.num_envs, "checkpoint": None}
    if args.init_from:
        load_checkpoint(args.init_from)  # refuses what is none
        found["init"] = args.init_from.read_bytes()
    if args.resume:
        infos = load_checkpoint(path)["infos"]
        check_resume(args, path, infos["task"], infos.get("seed"))
        found = {
            "task": infos["task"], "seed": infos.get("seed", args.seed),
            "num_envs": args.num_envs or infos.get("num_envs"), "checkpoint": path.read_bytes(),
        }  # fmt: skip
        if args.ranks.restarts:
            found["goal"] = infos.get("goal")
    return found


def train(args) -> int:
    ranks, path = args.ranks, args.out / "model.pt"
    args.device, args.sim_device = ranks.device(args.device), ranks.device(args.sim_device)
    ranks.join(args.device)
    try:
        with contextlib.ExitStack() as folder, CtrlC() as ctrl_c:
            return _train(args, ranks.from_first(lambda: _prepare(args, path, folder)), path, ctrl_c)
    except RuntimeError as e:
        raise (ranks.explained(e) if ranks.size > 1 else e) from None


def _learn(args, begins_with, path, ctrl_c):
    """(environment, runner, rows of the curve, environment steps)"""
    ranks, task, checkpoint = args.ranks, begins_with["task"], begins_with["checkpoint"]
    torch.manual_seed(args.seed)
    with contextlib.ExitStack() as stack:
        text = stack.enter_context(open(args.out / "rsl_rl.log" if ranks.first else os.devnull, "a"))
        with contextlib.redirect_stdout(text):
            env, runner = _make_runner(args, task)
        if ranks.first and checkpoint is None:
            begin_anew(args.out / "progress.csv")
        if ranks.first:
            many = f" in {ranks.size} ranks" if ranks.size > 1 else ""
            say(first_line(env.env, task, args.num_envs) + f"{many}; learning on {env.device}", flush=True)
        if begins_with.get("init"):
            _begin_with(runner, begins_with["init"], args.init_from)
        steps, begins = _go_on(runner, env, checkpoint) if checkpoint else (0, True)
        if begins:
            _begin_at_random_times(env, ranks)
        done = runner.current_learning_iteration
        iterations = args.iterations or (None if args.seconds else ITERATIONS)
        goal = begins_with.get("goal") or (done + iterations if iterations else None)
        curve = loggers = None
        if ranks.first:
            if checkpoint:
                say_goes_on(done, goal and goal - done)
            names = [name for name in args.logger if name != "tensorboard"]  # which rsl_rl writes itself
            description = {"task": task, "seed": args.seed, **runner.cfg}
            loggers = stack.enter_context(Loggers(names, args.out, description))
            limits = (args.seconds, goal and goal - done)
            curve = stack.enter_context(LearningCurve(args.out / "progress.csv", done=done, goal=limits))
        _draw(runner, env, args)
        _watch(runner, env, args, curve, loggers, ctrl_c, task, path, steps, goal)
        with contextlib.suppress(_Stop), contextlib.redirect_stdout(text):
            runner.learn(max(goal - done, 0) if goal else 10**9)
        if runner.logger.writer is not None:
            runner.logger.writer.close()
    return env, runner, curve.rows if curve else [], steps


def _train(args, begins_with, path, ctrl_c) -> int:
    ranks, task = args.ranks, begins_with["task"]
    args.seed = 1 if begins_with["seed"] is None else begins_with["seed"]
    default = begins_with["num_envs"] or NUM_ENVS
    # what the user did not choose fits the ranks
    args.num_envs = args.num_envs or max(default - default % ranks.size, ranks.size)
    env, runner, rows, steps = _learn(args, begins_with, path, ctrl_c)
    if not ranks.first:
        return 130 if ctrl_c.pressed else 0
    if ctrl_c.pressed:
        say("interrupted: the policy is kept; --resume goes on")
    policy = RslPolicy(load_checkpoint(path))
    test = make_env(task, EVALUATED, threads=args.threads, seed=evaluation_seed(args.seed))
    found = evaluate(test, policy)
    say(f"  deterministic: {found.text()}", flush=True)
    if found.metrics:
        say(wrapped(f"  metrics: {found.metrics_text()}", 11), flush=True)
    summary = {
        "task": task, "seed": args.seed, "envs": args.num_envs, "ranks": ranks.size,
        "iterations": runner.current_learning_iteration + bool(rows),
        "env_steps": rows[-1]["steps"] if rows else steps, "train_seconds": rows[-1]["seconds"] if rows else 0.0,
        "return_mean": float(found.returns.mean()), "return_std": float(found.returns.std()),
        "length_mean": float(found.lengths.mean()), "speed_m_per_s": found.speed, "metrics": found.metrics,
        "success": found.success,
    }  # fmt: skip
    write_text(args.out / "summary.json", json.dumps(summary, indent=2) + "\n")
    files = [path, args.out / "progress.csv", args.out / "summary.json"]
    files += draw_pictures(args, policy, task, ctrl_c, "PPO of rsl_rl", evaluation_seed(args.seed))
    say(wrapped("written: " + ", ".join(map(visible, files)), 9))
    say(f"TensorBoard: tensorboard --logdir {visible(args.out)}")
    return 130 if ctrl_c.pressed else 0
