"""Terms of a task whose batch exists: functions with their parameters, and how observations are seen."""

import numpy as np


def same(a, b):
    """Whether two dicts of parameters are equal, arrays too."""
    return a.keys() == b.keys() and all(x is y or np.array_equal(x, y) for x, y in ((a[k], b[k]) for k in a))


class Call:
    """A plain function with its parameters."""

    _no_memory = True

    def __init__(self, function, params):
        self.function, self.params = function, params

    def __call__(self, task, *more):
        return self.function(task, *more, **self.params)


class View:
    """How an observation is seen."""

    def __init__(self, term, noise, scale, delay, past, first, width):
        self.term, self.noise, self.scale, self.delay, self.past = term, noise, scale, delay, past
        self.first, self.width = first, width
