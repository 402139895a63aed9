"""Tasks made of named terms: `stiction.TermTask`, what its lists hold, and the common terms.

    from stiction import terms

    rewards = {"track": terms.Reward(terms.track_linear_velocity, weight=1.0, std=0.5)}

docs/terms.md has a complete task, and a table from Isaac Lab's and mjlab's names to these.
"""

from .actions import Action, effort_scale, half_range, middle_of_range
from .commands import Command, PoseCommand, UniformCommand, VelocityCommand
from .config import Curriculum, Event, Memory, Observation, Reward, Termination
from .curricula import *  # noqa: F403
from .curricula import __all__ as _curricula
from .events import *  # noqa: F403
from .events import __all__ as _events
from .motion import *  # noqa: F403
from .motion import __all__ as _motion
from .observations import *  # noqa: F403
from .observations import __all__ as _observations
from .rewards import *  # noqa: F403
from .rewards import __all__ as _rewards
from .robot import Robot
from .task import TermTask
from .terminations import *  # noqa: F403
from .terminations import __all__ as _terminations

__all__ = [
    "Action", "Command", "Curriculum", "Event", "Memory", "Observation", "PoseCommand", "Reward", "Robot", "TermTask", "Termination",
    "UniformCommand", "VelocityCommand", "effort_scale", "half_range", "middle_of_range", *_curricula, *_events, *_motion, *_observations, *_rewards, *_terminations,
]  # fmt: skip
