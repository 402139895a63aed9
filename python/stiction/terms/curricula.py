"""Common curricula: functions f(task, ids, draw, ...) of environments whose episode has ended."""

from .._core import ArgumentError
from .._util.nearest import hint
from .observations import part

__all__ = ["scheduled", "terrain_levels"]


def terrain_levels(task, ids, draw, command="velocity"):
    """Levels of the terrain by merit: who was further than half a patch from its origin at the end goes up a level, who
    was less than half as far as the last command asks for in a whole episode goes down, and who masters the last
    level goes to any. Returns the levels, (len(ids),)."""
    xp, terrain = task.xp, task.terrain
    if terrain is None:
        raise ArgumentError("terrain_levels: the task has no terrain")
    offset = task.robot.position[ids, :2] - task.origin[ids, :2]
    c = part(task.commands, command, "command").value[ids, :2]
    distance, asked = xp.sqrt((offset * offset).sum(-1)), xp.sqrt((c * c).sum(-1)) * task.seconds
    up = distance > 0.5 * terrain.patch
    down = (distance < 0.5 * asked) & ~up
    level = task.level[ids] + xp.astype(up, xp.int64) - xp.astype(down, xp.int64)
    anywhere = draw.integer(0, terrain.levels - 1)[:, 0]
    level = xp.where(level >= terrain.levels, anywhere, xp.clip(level, 0, None))
    task.level[ids] = level
    return level


def scheduled(task, ids, draw, reward, stages):
    """The weight of a reward by the control steps that these environments have done: stages = [(steps, weight), ...], in
    rising order; before the first the weight stays. Returns the weight.

    It depends on the steps of all environments together, not of one: the same for all of them.
    """
    if reward not in task.weights:
        raise ArgumentError(f"no reward {reward!r}{hint(reward, task.weights)}")
    for steps, weight in stages:
        if task._env.steps >= steps:
            task.weights[reward] = float(weight)
    return task.weights[reward]
