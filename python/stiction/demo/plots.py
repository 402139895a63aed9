"""Plots of a demo: with matplotlib a PNG, without it an SVG."""

import numpy as np


def _panels(result):
    """[(title, unit, time step, [(n,) curve per robot])]"""
    runs = [r for r in result.runs if r.steps][:16]
    model, panels = result.model, []
    free = [int(a) for a, t in zip(model.jnt_qposadr, model.jnt_type) if t == 0]
    poses = [np.array(r.frames) for r in runs]
    if free:
        panels.append(
            ("height of the base", "m", result.frame_time, [p[:, free[0] + 2] for p in poses])
        )
    elif model.nq:
        panels.append(("first coordinate", "m, rad", result.frame_time, [p[:, 0] for p in poses]))
    for title, name in (("contact points", "ncontact"), ("Newton iterations", "iterations")):
        curves = [np.concatenate(getattr(r, name)) for r in runs]
        panels.append((title, "", result.timestep, curves))
    return panels


def _matplotlib(panels, title, path):
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


def _svg(panels, title, path):
    width, height, left = 900, 200, 60
    colours = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
        f'height="{30 + height * len(panels)}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{left}" y="20">{title}</text>',
    ]
    for k, (name, unit, dt, curves) in enumerate(panels):
        top, bottom = 30 + height * k + 20, 30 + height * (k + 1) - 20
        low, high = min(y.min() for y in curves), max(y.max() for y in curves)
        scale = (bottom - top) / (high - low or 1)
        end = max(len(y) for y in curves) * dt
        parts.append(f'<text x="{left}" y="{top - 4}">{name} {unit} over {end:.3g} s</text>')
        for value, at in ((low, bottom), (high, top)):
            parts.append(f'<text x="{left - 6}" y="{at}" text-anchor="end">{value:.3g}</text>')
        for j, y in enumerate(curves):
            x = left + (width - left - 10) * np.arange(len(y)) * dt / end
            points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, bottom - (y - low) * scale))
            parts.append(
                f'<polyline points="{points}" fill="none" stroke="{colours[j % len(colours)]}"/>'
            )
    path.write_text("\n".join([*parts, "</svg>"]) + "\n")


def write_plots(result, directory):
    """Writes plots.png, or plots.svg where matplotlib is missing; returns the files."""
    panels = [p for p in _panels(result) if p[3]]
    if not panels:
        return []
    title = f"{result.model.name}: {len(result.runs)} copies under random controls"
    try:
        path = directory / "plots.png"
        _matplotlib(panels, title, path)
    except ImportError:
        path = directory / "plots.svg"
        _svg(panels, title, path)
    return [path]
