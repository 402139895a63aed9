"""What a user chooses while looking at robots, and the sizes that every view draws with."""

from dataclasses import dataclass

import numpy as np

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)


@dataclass
class Panel:
    """What a user chooses while looking."""

    paused: bool = False
    restart: bool = False  # asked for, not yet done
    speed: float = 1.0  # simulated seconds per second
    env: int = 0  # which environment is shown
    forces: bool = True
    force_scale: float = 1.0  # of the arrows
    names: bool = False  # of bodies
    markers: bool = True  # what the task draws
    rewards: bool = False  # of the last seconds, as a plot
    command: tuple[float, float, float] | None = None  # m/s, m/s, rad/s, in the place of what a velocity command draws
    follow: bool = True


def robot_weight(model) -> float:
    """N; of a model without gravity: as if it were 1e-9 m/s²."""
    gravity = max(float(np.linalg.norm(model.gravity)), 1e-9)
    return max(float(model.body_mass[model.body_weldid != 0].sum()) * gravity, 1e-9)


def contact_arrows(batch, env=0, scale=1.0):
    """(n, 2, 3) starts and ends: forces on the moving body of each contact, `scale` m per its weight."""
    model = batch.model
    moving, weight = model.body_weldid != 0, robot_weight(model)
    arrows = []
    for c in batch.contacts(env):
        force = c.impulse / batch.options.timestep / weight * scale
        if not moving[model.geom_bodyid[c.geom2]]:
            force = -force
        if np.linalg.norm(force) > 1e-3:
            arrows.append((c.pos, c.pos + force))
    return np.array(arrows).reshape(-1, 2, 3)


def task_arrows(motion, env=0):
    """[(start, end, colour)] that the task of a motion, or of an environment, draws."""
    task = getattr(getattr(motion, "env", motion), "task", None)
    return task.arrows(env) if task is not None else []


def velocity_command(motion):
    """The velocity command of the task of a motion, which keys may hold; None: it has none."""
    task = getattr(getattr(motion, "env", motion), "task", None)
    return next((c for c in getattr(task, "commands", {}).values() if hasattr(c, "hold")), None)


def hold_command(motion, panel):
    """The environment that is shown is asked for what the panel says."""
    if panel.command is not None and (command := velocity_command(motion)) is not None:
        command.hold(panel.env, panel.command)


def extent(motion):
    """Centre of what moves in the first environment, and the distance to its farthest body, at least 0.3 m."""
    moving = motion.model.body_weldid != 0
    place = motion.batch.xpos[0, moving if moving.any() else slice(None)]
    centre = (place.min(axis=0) + place.max(axis=0)) / 2
    return centre, max(0.3, float(np.linalg.norm(place - centre, axis=1).max()))
