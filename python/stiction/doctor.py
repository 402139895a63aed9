"""What this machine and this installation have: `stiction doctor`."""

import importlib.metadata
import os
import platform
import sys
import time
from pathlib import Path

from . import _core

# Distribution: what it is for. Only NumPy is needed.
_OPTIONAL = {
    "mujoco": "renders the demo's film",
    "imageio-ffmpeg": "writes the demo's film",
    "matplotlib": "plots",
    "tqdm": "progress bar",
}


def usable_cores() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def demo_model() -> Path:
    """The quadruped that ships with the package."""
    return Path(__file__).parent / "assets" / "quadruped.xml"


def _engine_check() -> tuple[bool, str]:
    """Reads the quadruped that ships with the package and steps it for a quarter of a second."""
    try:
        model = _core.Model.from_file(demo_model())
        reference = _core.Reference(model)
        nstep, steps = 25, 0
        begin = time.perf_counter()
        while (wall := time.perf_counter() - begin) < 0.25:
            trajectory = reference.rollout(
                model.key_qpos[0], model.key_qvel[0], model.key_ctrl[0], nstep
            )
            if trajectory.status.any():
                return False, f"status {_core.Status(int(trajectory.status.max()))!r} while standing"
            steps += nstep
    except _core.Error as e:
        return False, str(e)
    return True, f"ok, {steps / wall:.0f} steps per second of a standing quadruped on one core"


def run() -> int:
    """Prints the findings; 0 when the engine works."""
    from .rendering import find_backend

    engine_works, engine = _engine_check()
    backend, reason = find_backend()
    lines = {
        "stiction": f"{_core.__version__} ({Path(_core.__file__).parent})",
        "python": f"{platform.python_version()} ({sys.executable})",
        "numpy": _version("numpy"),
        "system": platform.platform(),
        "cpu": f"{cpu_name()}, {usable_cores()} usable cores",
        **{
            name: _version(name) or f"not installed ({purpose}): pip install {name}"
            for name, purpose in _OPTIONAL.items()
        },
        "renderer": reason if backend else f"none, the demo draws plots: {reason}",
        "engine": engine if engine_works else f"FAILED: {engine}",
    }
    for name, text in lines.items():
        print(f"{name:<15} {text}")
    return 0 if engine_works else 1
