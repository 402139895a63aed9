"""The numbers of a demo: for the terminal and for summary.json."""

import json

import numpy as np

from .._core import __version__
from .._util.files import write_text
from .._util.machine import cpu_name
from .._util.statistics import status_counts
from .._util.text import visible


def _iterations(counts) -> dict:
    """Mean, 95 % quantile and maximum from the histogram."""
    histogram = np.asarray(counts.iteration_histogram)
    if not histogram.any():
        return {"mean": 0.0, "p95": 0, "max": 0}
    share = np.cumsum(histogram) / histogram.sum()
    return {
        "mean": float(np.arange(histogram.size) @ histogram / histogram.sum()),
        "p95": int(np.searchsorted(share, 0.95)),
        "max": int(np.flatnonzero(histogram)[-1]),
    }


def summarize(result) -> dict:
    """Everything the table shows, as plain numbers."""
    counts, batch = result.counts, result.batch
    steps = counts.env_steps
    step_wall = max(result.step_wall, 1e-9)
    return {
        "version": __version__,
        "cpu": cpu_name(),
        "isa": batch.isa,
        "lanes": batch.lanes,
        "precision": batch.precision,
        "model": result.model.name,
        "file": result.model.file,
        "nq": result.model.nq,
        "nv": result.model.nv,
        "nu": result.model.nu,
        "npair": result.model.npair,
        "envs": batch.num_envs,
        "timestep": result.timestep,
        "threads": batch.threads,
        "interrupted": result.interrupted,
        "steps": steps,
        "wall_seconds": result.wall,
        "step_seconds": result.step_wall,
        "steps_per_second": steps / step_wall,
        "steps_per_second_per_thread": steps / step_wall / batch.threads,
        "times_real_time": steps * result.timestep / step_wall,
        "contacts": {"mean": counts.contacts / max(steps, 1), "max": result.ncontact_max},
        "iterations": _iterations(counts),
        "residual_max": result.residual_max,
        "energy_start_mean": float(np.mean([r.energy_start for r in result.runs])),
        "energy_end_mean": float(np.mean([r.energy_end for r in result.runs])),
        "not_converged_steps": counts.not_converged,
        "stalled_steps": counts.stalled,
        "inaccurate_steps": counts.inaccurate,
        "late_contact_steps": counts.late_contact,
        "status_envs": status_counts(batch.status),
        "frozen_envs": int(batch.status_count),
    }


def table(s: dict) -> str:
    """The summary for people."""
    contacts, iterations = s["contacts"], s["iterations"]
    status = ", ".join(f"{name} in {n} copies" for name, n in s["status_envs"].items()) or "ok"
    rows = [
        ("robot", f"{visible(s['model'])}: {s['nv']} dofs, {s['nu']} actuators, {s['npair']} geom pairs"),
        ("copies", f"{s['envs']} on {s['threads']} threads, timestep {1000 * s['timestep']:g} ms, "
         f"{s['precision']}, {s['isa']} with {s['lanes']} lanes"),
        (
            "physics steps",
            f"{s['steps']} in {s['step_seconds']:.1f} s, {s['wall_seconds']:.1f} s with controls",
        ),
        (
            "physics steps/s",
            f"{s['steps_per_second']:.0f} in all, {s['steps_per_second_per_thread']:.0f} per thread, "
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
    write_text(path, json.dumps(summary, indent=2) + "\n")
