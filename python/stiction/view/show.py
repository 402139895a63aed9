"""Views that are open until their user closes them: robots in motion with their contact forces, at real time."""

import importlib.util
import os
import time

from .._core import Error
from .._util.interrupt import CtrlC
from .motion import FRAME, PolicyMotion
from .panel import Panel


def open_view(motion, panel=None):
    """A window or page that shows a motion; raises Error where nothing here can show it."""
    panel = panel or Panel()
    if importlib.util.find_spec("viser"):
        from .browser import BrowserView

        return BrowserView(motion, panel)
    if not importlib.util.find_spec("mujoco"):
        raise Error("nothing to show it with: pip install 'stiction[view]', or pip install mujoco")
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise Error("no screen for MuJoCo's window: pip install viser (in a browser), or --video FILE")
    from .window import WindowView

    return WindowView(motion, panel)


def show(motion, panel=None) -> int:
    """Until the window is closed or Ctrl-C."""
    panel = panel or Panel()
    viewer = open_view(motion, panel)
    try:
        with CtrlC() as ctrl_c:
            due = time.perf_counter()
            while viewer.show() and not ctrl_c.pressed:
                if panel.restart:
                    motion.reset()
                    panel.restart = False
                if panel.paused:
                    due = time.perf_counter() + FRAME
                else:
                    motion.advance()
                    due += motion.dt / panel.speed
                late = time.perf_counter() - due
                if late > 1:  # slower than that: go on from here
                    due += late
                time.sleep(max(0.0, -late))
    finally:
        viewer.close()
    return 0


def view_policy(policy, env, rewards=False) -> int:
    return show(PolicyMotion(env, policy), Panel(rewards=rewards))
