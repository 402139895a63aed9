"""Tasks that come with the package and are written in Python, as lists of terms: `velocity`."""

from ..tasks.names import register
from .velocity import G1Flat, G1Rough

for _task in (G1Flat, G1Rough):
    register(_task.id, _task)

__all__ = ["G1Flat", "G1Rough"]
