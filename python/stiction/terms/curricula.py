"""Common curricula: functions f(task, ids, ...) of environments whose episode has ended."""

from .._core import ArgumentError
from .._util.nearest import hint


def scheduled(task, ids, reward, stages):
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
