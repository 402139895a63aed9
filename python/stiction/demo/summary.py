"""The numbers of a demo: for the terminal and for summary.json."""

import json

import numpy as np

from .. import __version__
from ..doctor import cpu_name
from ..statistics import status_counts


def summarize(result) -> dict:
    """Everything the table shows, as plain numbers."""

    def joined(name):
        chunks = [c for run in result.runs for c in getattr(run, name)]
        return np.concatenate(chunks) if chunks else np.zeros(0, int)

    def stats(values):
        if not values.size:
            return {"mean": 0.0, "p95": 0.0, "max": 0}
        return {
            "mean": float(np.mean(values)),
            "p95": float(np.percentile(values, 95)),
            "max": int(np.max(values)),
        }

    residual = joined("residual")
    steps = sum(run.steps for run in result.runs)
    started = [run for run in result.runs if run.steps]
    energy = [[run.energy_start, run.energy_end] for run in started]
    return {
        "version": __version__,
        "cpu": cpu_name(),
        "model": result.model.name,
        "file": result.model.file,
        "nq": result.model.nq,
        "nv": result.model.nv,
        "nu": result.model.nu,
        "npair": result.model.npair,
        "envs": len(result.runs),
        "timestep": result.timestep,
        "threads": result.threads,
        "interrupted": result.interrupted,
        "steps": steps,
        "wall_seconds": result.wall,
        "steps_per_second": steps / result.wall,
        "steps_per_second_per_core": steps / result.wall / result.threads,
        "times_real_time": steps * result.timestep / result.wall,
        "contacts": stats(joined("ncontact")),
        "iterations": stats(joined("iterations")),
        "residual_max": float(np.max(residual)) if residual.size else 0.0,
        "energy_start_mean": float(np.mean(energy, axis=0)[0]) if energy else 0.0,
        "energy_end_mean": float(np.mean(energy, axis=0)[1]) if energy else 0.0,
        "status_steps": status_counts(joined("status")),
    }


def table(s: dict) -> str:
    """The summary for people."""
    contacts, iterations = s["contacts"], s["iterations"]
    status = ", ".join(f"{name} in {n} steps" for name, n in s["status_steps"].items()) or "ok"
    rows = [
        ("robot", f"{s['model']}: {s['nv']} dofs, {s['nu']} actuators, {s['npair']} geom pairs"),
        ("copies", f"{s['envs']} on {s['threads']} threads, timestep {1000 * s['timestep']:g} ms"),
        ("steps", f"{s['steps']} in {s['wall_seconds']:.1f} s"),
        (
            "steps per second",
            f"{s['steps_per_second']:.0f} in all, {s['steps_per_second_per_core']:.0f} per thread, "
            f"{s['times_real_time']:.1f} times real time",
        ),
        ("contacts per step", f"mean {contacts['mean']:.1f}, max {contacts['max']}"),
        (
            "Newton iterations",
            f"mean {iterations['mean']:.1f}, 95 % below {iterations['p95']:.0f}, "
            f"max {iterations['max']}",
        ),
        ("worst residual", f"{s['residual_max']:.1e}"),
        (
            "energy per robot",
            f"{s['energy_start_mean']:.2f} J at the start, {s['energy_end_mean']:.2f} J at the end",
        ),
        ("status", status),
    ]
    return "\n".join(f"  {name:<18} {text}" for name, text in rows)


def write_summary(path, summary: dict):
    path.write_text(json.dumps(summary, indent=2) + "\n")
