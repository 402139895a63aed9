"""`stiction train --trainer numpy`: trains, shows the curve, evaluates, writes files."""

import importlib.util
import json
import os
import time

from .. import __version__
from .._core import Error
from ..doctor import cpu_name
from ..files import FolderLock, replacing, write_text
from ..interrupt import CtrlC
from ..text import say, visible
from .curve import LearningCurve, begin_anew, read_rows, write_picture
from .evaluate import evaluate
from .ppo import Ppo, trained_num_envs
from .tasks import Settings, make_env, settings_of

EVALUATED = 16  # episodes
FILMED = 10.0  # s
SECONDS = 60.0  # of training, where neither a time nor a number of iterations is given


def _begin(args, path):
    """(ppo, task): new, or from the checkpoint."""
    if args.resume:
        if not path.exists():
            raise Error(f"--resume: there is no {visible(path)}")
        from .policy import Policy

        task = Policy.load(path).task
        if task.get("id") != args.id:
            raise Error(f"--resume: {visible(path)} was trained on {visible(task.get('id'))}")
        num_envs = args.num_envs or trained_num_envs(path) or Settings.num_envs
        env = make_env(task, num_envs, threads=args.threads, seed=args.seed)
        ppo = Ppo.load(path, env)
        if ppo.begins:
            say(f"new episodes begin: {visible(ppo.begins)}")
        return ppo, task
    if path.exists() and not args.overwrite:
        raise Error(f"{visible(path)} exists: give --resume to go on, --overwrite to begin anew, or --out DIR")
    task = args.task
    settings = settings_of(args.id)
    num_envs = args.num_envs or settings.num_envs
    env = make_env(task, num_envs, threads=args.threads, seed=args.seed)
    begin_anew(path.parent / "progress.csv")
    return Ppo(env, settings, seed=args.seed, task=task), task


def _train(args, ppo, path, ctrl_c):
    """Rows of the iterations done. The file at `path` is never more than one iteration old."""
    goal = (args.seconds, args.iterations)
    if goal == (None, None):
        goal = (SECONDS, None)
    seconds, iterations = goal
    with LearningCurve(path.parent / "progress.csv", done=ppo.iterations, goal=goal) as curve:
        begin = time.perf_counter()
        while not ctrl_c.pressed:
            curve.add(ppo.iterate())
            ppo.save(path)
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
    return "\n".join(f"  {name:<16} {text}" for name, text in rows)


def first_line(env, task) -> str:
    given = task["options"] | task["engine"]
    options = "".join(f", {visible(k)}={json.dumps(v)}" for k, v in given.items())
    return (
        f"{task['id']}{options}: {env.num_obs} observations, {env.num_actions} actions; "
        f"{env.num_envs} environments, "
        + (f"{env.batch.threads} threads" if env.batch.device == "cpu" else env.batch.device)
    )


def draw_pictures(args, policy, task, ctrl_c, trainer):
    """Curve and film, as far as this machine can draw; returns the files."""
    files = []
    if args.plot:
        path = args.out / "curve.png"
        if importlib.util.find_spec("matplotlib") is None:
            say("no picture of the curve: pip install matplotlib")
        else:
            with replacing(path) as part:
                write_picture(read_rows(args.out / "progress.csv"), f"{task['id']}, {trainer}", part)
            files.append(path)
    if args.video and not ctrl_c.pressed:
        from .film import film_policy, missing

        if why := missing():
            say(f"no film: {why}")
        else:
            path = args.out / "rollout.mp4"
            film_policy(policy, task, path, seconds=FILMED, seed=args.seed)
            files.append(path)
    return files


def lock_of(args) -> FolderLock:
    return FolderLock(args.out, "wait for its end, or give another --out")


def train(args) -> int:
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / "policy.npz"
    with CtrlC() as ctrl_c, lock_of(args):
        ppo, task = _begin(args, path)
        env = ppo.env
        say(first_line(env, task), flush=True)
        rows = _train(args, ppo, path, ctrl_c)
        if ctrl_c.pressed:
            say("interrupted: the policy is kept; --resume goes on")
            if not rows:
                return 130
        evaluation = evaluate(
            make_env(task, EVALUATED, threads=args.threads, seed=args.seed + 1_000_000), ppo.policy
        )
        summary = _summary(env, ppo, task, rows, evaluation)
        say(table(summary))
        say(f"  {'deterministic':<16} {evaluation.text()}", flush=True)
        write_text(args.out / "summary.json", json.dumps(summary, indent=2) + "\n")
        files = [path, args.out / "progress.csv", args.out / "summary.json"]
        files += draw_pictures(args, ppo.policy, task, ctrl_c, "PPO in NumPy")
        say("written: " + ", ".join(map(visible, files)))
        return 130 if ctrl_c.pressed else 0
