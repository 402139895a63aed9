"""`stiction train --seeds N`: the same training with several seeds, and a curve with their band."""

import copy
import json

import numpy as np

from .._core import Error
from .._util.files import replacing, write_text
from .._util.text import say, visible
from .curve import read_rows
from .run import folder_of

POINTS = 200  # of a band


def band(curves):
    """(steps, mean, lowest, highest) of several curves [(steps, values)], as far as all of them go. Values
    before the first whole episode of a run are left out."""
    known = [[(s, v) for s, v in zip(*c) if np.isfinite(v)] for c in curves]
    if not all(known):
        return np.zeros((4, 0))
    first, last = max(c[0][0] for c in known), min(c[-1][0] for c in known)
    steps = np.linspace(first, max(first, last), POINTS)
    values = np.array([np.interp(steps, *np.transpose(c)) for c in known])
    return steps, values.mean(axis=0), values.min(axis=0), values.max(axis=0)


def write_band(runs, title, path):
    """PNG: mean and range of return and length of episodes over environment steps."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 1, figsize=(8, 5.5), sharex=True, layout="constrained")
    names = (("episode_return", "return while exploring"), ("episode_length", "steps of an episode"))
    for k, (ax, (name, label)) in enumerate(zip(axes, names)):
        curves = [([r["steps"] for r in rows], [r[name] for r in rows]) for rows in runs]
        steps, mean, low, high = band(curves)
        for x, y in curves:
            ax.plot(np.divide(x, 1e6), y, color=f"C{k}", alpha=0.25, linewidth=0.8)
        ax.fill_between(steps / 1e6, low, high, color=f"C{k}", alpha=0.25, label="lowest to highest")
        ax.plot(steps / 1e6, mean, color=f"C{k}", label=f"mean of {len(runs)} seeds")
        ax.set_ylabel(label)
        ax.grid(alpha=0.3)
    axes[0].set_title(title)
    axes[0].legend(loc="lower right")
    axes[1].set_xlabel("environment steps, millions")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def train_seeds(args, train) -> int:
    """One run after another, each in --out/seed-N; then summary.json and curve.png of all."""
    first = 1 if args.seed is None else args.seed
    runs = []
    for seed in range(first, first + args.seeds):
        one = copy.copy(args)
        one.task, one.seed, one.out = copy.deepcopy(args.task), seed, args.out / f"seed-{seed}"
        one.resume = args.resume and one.out.exists()  # a run that had not begun begins
        if args.ranks.first:
            say(f"seed {seed}, {len(runs) + 1} of {args.seeds}", flush=True)
        if code := train(one):
            return code
        runs.append(one.out)
    if not args.ranks.first:
        return 0
    with folder_of(args):
        found = [json.loads((run / "summary.json").read_text()) for run in runs]
        returns = [s["return_mean"] for s in found]
        write_text(args.out / "summary.json", json.dumps({"runs": found, "return_mean": returns}, indent=2) + "\n")
        files = [args.out / "summary.json"]
        text = ", ".join(f"{r:.0f}" for r in returns)
        say(f"{args.seeds} seeds: returns {text}; mean {np.mean(returns):.0f}, deviation {np.std(returns):.0f}")
        if args.plot:
            try:
                with replacing(args.out / "curve.png") as part:
                    rows = [read_rows(run / "progress.csv") for run in runs]
                    write_band(rows, f"{args.id}, {args.trainer}, {args.seeds} seeds", part)
                files.append(args.out / "curve.png")
            except ModuleNotFoundError as e:
                if e.name != "matplotlib":
                    raise
        say("written: " + ", ".join(map(visible, files)))
    return 0


def check_seeds(args, most):
    if (args.seed or 1) + args.seeds - 1 >= most:
        raise Error(f"--seed {args.seed} --seeds {args.seeds}: seeds must be below {most}")
