"""Fitting a model to logs of a robot: actuators, latency, friction and masses by least squares on replayed windows.

found = stiction.fit(model, "arm.csv", ["dof_damping[*]", "kp", "latency"])
print(found.table())
found.save("fitted")
"""

from .estimate import fit
from .logs import Log, read_log
from .parameters import Parameter
from .result import Direction, Estimate, Fit
from .trajectories import Identified, Trajectory, identify

__all__ = [
    "Direction", "Estimate", "Fit", "Identified", "Log", "Parameter", "Trajectory", "fit", "identify", "read_log",
]  # fmt: skip
