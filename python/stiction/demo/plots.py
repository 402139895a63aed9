"""Plots of a demo."""

import numpy as np

from .._util.files import replacing


def _panels(result):
    """[(title, unit, time step, [(n,) curve per robot])]"""
    runs = result.runs
    model, panels = result.model, []
    free = [int(a) for a, t in zip(model.jnt_qposadr, model.jnt_type) if t == 0]
    poses = [np.array([frame[r.index] for frame in result.frames]) for r in runs]
    if free:
        panels.append(
            ("height of the base", "m", result.frame_time, [p[:, free[0] + 2] for p in poses])
        )
    elif model.nq:
        panels.append(("first coordinate", "m, rad", result.frame_time, [p[:, 0] for p in poses]))
    for title, name in (("contact points", "ncontact"), ("Newton iterations", "iterations")):
        curves = [np.array(getattr(r, name)) for r in runs]
        panels.append((title, "", result.frame_time, curves))
    return panels


def _draw(panels, title, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        len(panels), 1, figsize=(9, 2.4 * len(panels)), sharex=True, layout="constrained"
    )
    for ax, (name, unit, dt, curves) in zip(np.atleast_1d(axes), panels):
        for y in curves:
            ax.plot(np.arange(len(y)) * dt, y, linewidth=0.8, alpha=0.8)
        ax.set_ylabel(f"{name}, {unit}" if unit else name)
        ax.grid(alpha=0.3)
    np.atleast_1d(axes)[0].set_title(title)
    np.atleast_1d(axes)[-1].set_xlabel("time, s")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def write_plots(result, directory):
    """Writes plots.png; returns the files."""
    panels = [p for p in _panels(result) if p[3]]
    if not panels:
        return []
    title = f"{result.model.name}: {len(result.runs)} of {result.batch.num_envs} copies under random controls"
    path = directory / "plots.png"
    with replacing(path) as part:
        _draw(panels, title, part)
    return [path]
