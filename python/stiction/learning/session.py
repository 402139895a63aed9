"""`stiction train --trainer numpy`: trains, shows the curve, evaluates, writes files."""

import importlib.util
import json
import os
import time
from dataclasses import asdict

from .._core import __version__
from .._util.extras import remedy
from .._util.files import replacing, write_text
from .._util.interrupt import CtrlC
from .._util.machine import cpu_name
from .._util.text import say, visible, wrapped
from .curve import LearningCurve, begin_anew, read_rows, write_picture
from .evaluate import evaluate
from .loggers import Loggers
from .policy import Policy
from .ppo import Ppo, env_seed, evaluation_seed, trained_with
from .run import check_path, check_resume, folder_of, say_goes_on
from .tasks import Settings, make_env, settings_of

EVALUATED = 16  # episodes
FILMED = 4.0  # s; 120 pictures at most, each of which takes a core a third of a second
SECONDS = 60.0  # of training, where neither a time nor a number of iterations is given


def _begin(args, path, is_new):
    """(ppo, task): new, or from the checkpoint."""
    check_path(args, path, is_new)
    if args.resume:
        task = Policy.load(path).task
        num_envs, seed = trained_with(path)
        check_resume(args, path, task, seed)
        num_envs = args.num_envs or num_envs or Settings.num_envs
        env = make_env(task, num_envs, training=True, threads=args.threads, seed=env_seed(seed or 0))
        ppo = Ppo.load(path, env)
        if ppo.begins:
            say(f"new episodes begin: {visible(ppo.begins)}")
        say_goes_on(ppo.iterations, args.iterations)
        return ppo, task
    task, seed = args.task, 1 if args.seed is None else args.seed
    settings = settings_of(args.id, args.settings)
    num_envs = args.num_envs or settings.num_envs
    env = make_env(task, num_envs, training=True, threads=args.threads, seed=env_seed(seed))
    ppo = Ppo(env, settings, seed=seed, task=task)
    if args.init_from:
        ppo.begin_with(args.init_from)
    begin_anew(path.parent / "progress.csv")
    return ppo, task


def _train(args, ppo, path, ctrl_c):
    """Rows of the iterations done. The file at `path` is never more than one iteration old."""
    goal = (args.seconds, args.iterations)
    if goal == (None, None):
        goal = (SECONDS, None)
    seconds, iterations = goal
    log = Loggers(args.logger, path.parent, {"task": ppo.policy.task, "seed": ppo.seed, **asdict(ppo.settings)})
    with log, LearningCurve(path.parent / "progress.csv", done=ppo.iterations, goal=goal) as curve:
        begin = time.perf_counter()
        while not ctrl_c.pressed:
            iteration = ppo.iterate()
            curve.add(iteration)  # before the checkpoint: rows without one are cut, lost ones would stay lost
            ppo.save(path)
            log.add(iteration)
            if iterations and len(curve.rows) >= iterations:
                break
            if seconds and time.perf_counter() - begin >= seconds:
                break
    return curve.rows


def _summary(env, ppo, task, rows, evaluation) -> dict:
    batch = env.batch
    stepped = sum(r["step_seconds"] for r in rows)
    env_steps = len(rows) * ppo.settings.horizon * env.num_envs
    return {
        "version": __version__,
        "cpu": cpu_name(),
        "load_average": os.getloadavg()[0],
        "task": task,
        "seed": ppo.seed,
        "envs": env.num_envs,
        "threads": batch.threads,
        "isa": batch.isa,
        "precision": batch.precision,
        "frame_skip": env.frame_skip,
        "iterations": ppo.iterations,
        "env_steps": ppo.steps,
        "train_seconds": rows[-1]["seconds"],
        "env_seconds": stepped,
        "learn_seconds": sum(r["learn_seconds"] for r in rows),
        "env_steps_per_second": env_steps / stepped,
        "physics_steps_per_second": env_steps * env.frame_skip / stepped,
        "return_mean": float(evaluation.returns.mean()),
        "return_std": float(evaluation.returns.std()),
        "length_mean": float(evaluation.lengths.mean()),
        "speed_m_per_s": evaluation.speed,
        "metrics": evaluation.metrics,
        "success": evaluation.success,
    }


def table(s: dict) -> str:
    rows = [
        ("trained", f"{s['train_seconds']:.1f} s, {s['env_steps']} env steps, "
         f"{s['iterations']} iterations of {s['envs']} environments"),
        ("physics steps/s", f"{s['physics_steps_per_second']:.0f} ({s['env_steps_per_second']:.0f} "
         f"env steps/s with observations, rewards and resets; {s['threads']} threads, "
         f"{s['precision']}, {s['isa']})"),
        ("time", f"{s['env_seconds']:.1f} s simulating, {s['learn_seconds']:.1f} s learning"),
    ]  # fmt: skip
    return "\n".join(wrapped(f"  {name:<16} {text}", 19) for name, text in rows)


def first_line(env, task, num_envs=None) -> str:
    """`num_envs`: of all ranks, where others step some of them."""
    given = task["options"] | task["engine"]
    options = "".join(f", {visible(k)}={json.dumps(v)}" for k, v in given.items())
    where = f"{env.batch.threads} threads" if env.batch.device == "cpu" else env.batch.device
    return wrapped(
        f"{visible(task['id'])}{options}: {env.num_obs} observations, {env.num_actions} actions; "
        f"{num_envs or env.num_envs} environments, {where}", 2,
    )  # fmt: skip


def draw_pictures(args, policy, task, ctrl_c, trainer, seed):
    """Curve and film, as far as this machine can draw; returns the files."""
    files = []
    if args.plot:
        path = args.out / "curve.png"
        if importlib.util.find_spec("matplotlib") is None:
            say(f"no picture of the curve: matplotlib is not installed: {remedy('demo')}")
        else:
            with replacing(path) as part:
                write_picture(read_rows(args.out / "progress.csv"), f"{task['id']}, {trainer}", part)
            files.append(path)
    if args.video and not ctrl_c.pressed:
        from ..view.film import missing
        from .film import film_policy

        if why := missing():
            say(f"no film: {why}")
        else:
            path = args.out / "rollout.mp4"
            film_policy(policy, task, path, seconds=FILMED, seed=seed)
            files.append(path)
    return files


def train(args) -> int:
    path = args.out / "policy.npz"
    with CtrlC() as ctrl_c, folder_of(args) as is_new:
        ppo, task = _begin(args, path, is_new)
        env = ppo.env
        say(first_line(env, task), flush=True)
        rows = _train(args, ppo, path, ctrl_c)
        if ctrl_c.pressed:
            say("interrupted: the policy is kept; --resume goes on" if rows else "interrupted")
            if not rows:
                return 130
        evaluation = evaluate(
            make_env(task, EVALUATED, threads=args.threads, seed=evaluation_seed(ppo.seed)), ppo.policy
        )
        summary = _summary(env, ppo, task, rows, evaluation)
        say(table(summary))
        say(f"  {'deterministic':<16} {evaluation.text()}", flush=True)
        if evaluation.metrics:
            say(wrapped(f"  {'metrics':<16} {evaluation.metrics_text()}", 19), flush=True)
        write_text(args.out / "summary.json", json.dumps(summary, indent=2) + "\n")
        files = [path, args.out / "progress.csv", args.out / "summary.json"]
        files += draw_pictures(args, ppo.policy, task, ctrl_c, "PPO in NumPy", evaluation_seed(ppo.seed))
        say(wrapped("written: " + ", ".join(map(visible, files)), 9))
        return 130 if ctrl_c.pressed else 0
