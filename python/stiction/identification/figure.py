"""A picture of a fit: measured and replayed before and after, and the residuals, of each joint."""

import numpy as np

from .._core import Error
from .._util.extras import remedy
from .logs import column_names

MOST_JOINTS = 6
SECONDS = 6.0  # of the log in the picture


def draw(fit, path):
    """PNG, PDF or SVG, by the suffix. Windows begin at their measured states, before and after."""
    try:
        import matplotlib
    except ImportError:
        raise Error(f"no picture: matplotlib is not installed: {remedy('fit')}") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    problem, replay = fit.problem, fit.problem.replay
    windows, nv = replay.windows, fit.model.nv
    start = np.array([float(b.number(b.start)) for b in replay.bounds])
    starts = np.stack([np.zeros_like(problem.z), problem.best.left.z])
    before, after = replay.compare(np.stack([start, problem.best.u]), starts, problem.sigma) * problem.sigma
    shown = np.flatnonzero((windows.log == windows.log[0]) & (windows.begin - windows.begin[0] < SECONDS))
    joints = _worst(before, nv)
    names = column_names(fit.model, "qpos_of_dofs")
    figure, axes = pyplot.subplots(
        len(joints), 2, figsize=(12, 0.8 + 2.2 * len(joints)), squeeze=False, sharex=True, layout="constrained"
    )
    for (left, right), v in zip(axes, joints):
        for w in shown:
            valid = windows.valid[w]
            time = windows.begin[w] - windows.begin[0] + windows.time[w][valid]
            measured = replay.tangent.difference(
                windows.qpos[windows.log == windows.log[0]][0, :1], windows.qpos[w][valid]
            )[:, v]
            label = (lambda text: text) if w == shown[0] else lambda text: None
            left.plot(time, measured, "k.", ms=2, label=label("measured"))
            left.plot(time, measured + before[w, valid, v], "C1-", lw=1, label=label("before"))
            left.plot(time, measured + after[w, valid, v], "C0-", lw=1, label=label("after"))
            right.plot(time, before[w, valid, v], "C1-", lw=1)
            right.plot(time, after[w, valid, v], "C0-", lw=1)
        spread = 4 * np.std(measured + 0) + 1e-12
        right.set_ylabel("replayed - measured")
        left.set_title(names[v], fontsize=10)
        low, high = left.get_ylim()
        left.set_ylim(max(low, measured.mean() - 20 * spread), min(high, measured.mean() + 20 * spread))
        right.axhline(0, color="k", lw=0.5)
        for ax in (left, right):
            ax.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=8, loc="upper right")
    for ax in axes[-1]:
        ax.set_xlabel("s")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _worst(before, nv):
    """Dofs in the order of the model, those with the greatest residuals where there are many."""
    rms = np.sqrt((before[..., :nv] ** 2).mean(axis=(0, 1)))
    return np.sort(np.argsort(-rms)[:MOST_JOINTS])
