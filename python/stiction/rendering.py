"""Which off-screen OpenGL MuJoCo's renderer can use on this machine, if any."""

import importlib.util
import os
import subprocess
import sys

# Rendering in a child process: a broken driver may end the process, and MuJoCo chooses its
# platform once, at import.
_PROBE = """
import mujoco
renderer = mujoco.Renderer(mujoco.MjModel.from_xml_string("<mujoco/>"), 16, 16)
renderer.close()
"""


def _works(backend: str) -> bool:
    try:
        probe = subprocess.run(
            [sys.executable, "-c", _PROBE],
            env={**os.environ, "MUJOCO_GL": backend},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return probe.returncode == 0


def find_backend() -> tuple[str | None, str]:
    """(value for MUJOCO_GL or None, one line that says why).

    A MUJOCO_GL that the user has set is tried first, then EGL, then OSMesa.
    """
    if importlib.util.find_spec("mujoco") is None:
        return None, "mujoco is not installed"
    wanted = os.environ.get("MUJOCO_GL", "").lower()
    candidates = dict.fromkeys(b for b in (wanted, "egl", "osmesa") if b)
    for backend in candidates:
        if _works(backend):
            return backend, f"MuJoCo renders through {backend}"
    return None, f"no OpenGL platform works (tried {', '.join(candidates)})"
