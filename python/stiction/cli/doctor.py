"""What this machine and this installation have: `stiction doctor`."""

import importlib.metadata
import os
import platform
import sys
import time
from pathlib import Path

from .. import _core, assets
from .._util.extras import remedy
from .._util.machine import cpu_name, usable_cores
from .._util.text import say, wrapped

# Distribution: what it is for, and the extra of the package that brings it. Only NumPy is needed.
_OPTIONAL = {
    "mujoco": ("films, views, replay in another engine", "demo"),
    "imageio-ffmpeg": ("writes films", "demo"),
    "matplotlib": ("learning curves", "demo"),
    "scipy": ("stiction fit", "fit"),
    "gymnasium": ("stiction.make", "gymnasium"),
    "torch": ("trainers", "train"),
    "rsl-rl-lib": ("stiction.adapters.rsl_rl", "train"),
    "stable-baselines3": ("stiction.adapters.sb3", "train"),
    "ray": ("stiction sweep, stiction.adapters.ray", "ray"),
}


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _engine_check() -> tuple[bool, str]:
    """Steps copies of the quadruped that ships with the package for a quarter of a second."""
    try:
        model = _core.Model.from_file(assets.path("quadruped"))
        batch = _core.Batch(model, num_envs=64 * usable_cores())
        batch.reset(qpos=model.key_qpos[0])
        batch.ctrl[:] = model.key_ctrl[0]
        nstep, steps = 5, 0
        begin = time.perf_counter()
        while (wall := time.perf_counter() - begin) < 0.25:
            batch.step(nstep)
            if batch.status_count:
                bits = _core.Status(int(batch.status.max()))
                return False, f"status {bits!r} while standing"
            steps += nstep * batch.num_envs
    except _core.Error as e:
        return False, str(e)
    return True, (
        f"ok, {batch.isa} with {batch.lanes} lanes, {batch.threads} threads, "
        f"{steps / wall:.0f} steps per second of standing quadrupeds"
    )


def _built_isas() -> str:
    """Which instruction sets were compiled and run on this processor; the best one is chosen."""
    model, found = _core.Model.from_xml("<mujoco/>"), []
    before = os.environ.get("STICTION_ISA")
    for name in ("avx512", "avx2", "baseline", "scalar"):
        os.environ["STICTION_ISA"] = name
        try:
            if _core.Batch(model).isa == name:
                found.append(name)
        except _core.Error:
            pass
    if before is None:
        del os.environ["STICTION_ISA"]
    else:
        os.environ["STICTION_ISA"] = before
    chosen = f"STICTION_ISA={before}" if before else "STICTION_ISA not set, the first is chosen"
    return ", ".join(found) + f" ({chosen})"


def _gpu_check(name: str) -> str:
    """Steps quadrupeds on a card for a moment."""
    try:
        model = _core.Model.from_file(assets.path("quadruped"))
        batch = _core.Batch(model, num_envs=4096, device=name)
        nstep, steps = 20, 0
        batch.step(nstep)
        batch.synchronize()
        begin = time.perf_counter()
        while (wall := time.perf_counter() - begin) < 0.25:
            batch.step(nstep)
            batch.synchronize()
            steps += nstep * batch.num_envs
        if batch.status_count:
            return f"FAILED: {batch.status_count} of {batch.num_envs} quadrupeds froze"
    except _core.Error as e:
        return f"FAILED: {e}"
    return f"{steps / wall:.0f} steps per second of falling quadrupeds"


def _gpus() -> dict[str, str]:
    """The CUDA back end of this build, the driver, and a line for each card."""
    report = _core.cuda_devices()
    if not report.built:
        return {"cuda": report.problem}
    built = f"built with {report.toolkit} for {report.architectures}"
    lines = {"cuda": f"{built}, driver for {report.driver or 'none'}"}
    if report.problem:
        lines["cuda"] = f"{built}; {report.problem}"
    for d in report.devices:
        major, minor = d.compute_capability
        lines[d.name] = (
            f"{d.description}, compute capability {major}.{minor}, {d.free / 1e9:.1f} of "
            f"{d.memory / 1e9:.1f} GB free; {d.problem or _gpu_check(d.name)}"
        )
    return lines


def add_command(commands):
    doctor = commands.add_parser("doctor", help="say what this machine and installation have")
    doctor.set_defaults(run=lambda args: run())


def run() -> int:
    """Prints the findings; 0 when the engine works."""
    from ..view.rendering import find_backend

    engine_works, engine = _engine_check()
    backend, reason = find_backend()
    lines = {
        "stiction": f"{_core.__version__} ({Path(_core.__file__).parent})",
        "python": f"{platform.python_version()} ({sys.executable})",
        "numpy": _version("numpy"),
        "system": platform.platform(),
        "cpu": f"{cpu_name()}, {usable_cores()} usable cores",
        **{
            name: _version(name) or f"not installed ({purpose}): {remedy(extra)}"
            for name, (purpose, extra) in _OPTIONAL.items()
        },
        "renderer": reason if backend else f"none, no films: {reason}",
        "instructions": _built_isas(),
        "engine": engine if engine_works else f"FAILED: {engine}",
        **_gpus(),
    }
    for name, text in lines.items():
        say(wrapped(f"{name:<17} {text}", 18))
    return 0 if engine_works else 1
