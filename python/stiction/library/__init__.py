"""Tasks that come with the package and are written in Python: `velocity`, `tracking`, `reach`, `drawer`, `in_hand`, as lists of
terms, and dm_control's `suite`."""

from ..tasks.names import register
from . import suite
from .drawer import PandaDrawer
from .in_hand import AllegroCube
from .reach import PandaReach
from .tracking import G1Tracking
from .velocity import G1Flat, G1Rough, Go1Flat, Go1Rough, H1Flat, H1Rough

_TASKS = (G1Flat, G1Rough, Go1Flat, Go1Rough, H1Flat, H1Rough, G1Tracking, PandaReach, PandaDrawer, AllegroCube)
for _task in _TASKS:
    register(_task.id, _task)

__all__ = [*(_task.__name__ for _task in _TASKS), "suite"]
