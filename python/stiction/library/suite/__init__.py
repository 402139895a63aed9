"""Tasks of dm_control's suite, with its observations, rewards and lengths: "dm_control/walker-walk".

Its bodies are from the project's own files. The physics are stiction's, so returns are near dm_control's and not equal
to them. Observations are one vector, in the order of dm_control's dictionaries.
"""

from ...tasks.names import register
from .arms import BallInCup, FingerSpin, FingerTurn, Reacher
from .bodies import Cheetah, Hopper, Humanoid, Quadruped, Walker
from .cartpole import Cartpole
from .tolerance import tolerance


def _task(base, name, summary, **settings):
    """A class for each task, since an id stands for a class without options."""
    words = [w.capitalize() for w in name.replace("-", "_").split("_")]
    return type("".join(words), (base,), {
        "__module__": __name__, "__doc__": summary + ".", "id": f"dm_control/{name}", "summary": f"{summary} (dm_control)",
        **settings,
    })  # fmt: skip


TASKS = {
    task.id: task
    for task in (
        _task(Cartpole, "cartpole-balance", "keep a pole upright"),
        _task(Cartpole, "cartpole-balance_sparse", "keep a pole upright, reward 0 or 1", sparse=True),
        _task(Cartpole, "cartpole-swingup", "swing a pole up and hold it", swing_up=True),
        _task(Cartpole, "cartpole-swingup_sparse", "swing a pole up and hold it, reward 0 or 1", swing_up=True, sparse=True),
        _task(Cheetah, "cheetah-run", "a planar cheetah runs at 10 m/s"),
        _task(Walker, "walker-stand", "a planar walker stands up", speed=0.0),
        _task(Walker, "walker-walk", "a planar walker walks at 1 m/s", speed=1.0),
        _task(Walker, "walker-run", "a planar walker runs at 8 m/s", speed=8.0),
        _task(Hopper, "hopper-stand", "a planar hopper stands up", hopping=False),
        _task(Hopper, "hopper-hop", "a planar hopper hops at 2 m/s", hopping=True),
        _task(Humanoid, "humanoid-stand", "a humanoid stands up", speed=0.0),
        _task(Humanoid, "humanoid-walk", "a humanoid walks at 1 m/s", speed=1.0),
        _task(Humanoid, "humanoid-run", "a humanoid runs at 10 m/s", speed=10.0),
        _task(FingerSpin, "finger-spin", "a finger spins a body at 15 rad/s"),
        _task(FingerTurn, "finger-turn_easy", "a finger turns a body's tip into a target", radius=0.07),
        _task(FingerTurn, "finger-turn_hard", "a finger turns a body's tip into a small target", radius=0.03),
        _task(BallInCup, "ball_in_cup-catch", "a cup catches the ball that hangs from it"),
        _task(Reacher, "reacher-easy", "an arm of two links reaches a target", radius=0.05),
        _task(Reacher, "reacher-hard", "an arm of two links reaches a small target", radius=0.015),
        _task(Quadruped, "quadruped-walk", "a quadruped walks at 0.5 m/s", speed=0.5),
        _task(Quadruped, "quadruped-run", "a quadruped runs at 5 m/s", speed=5.0),
    )
}

for _id, _cls in TASKS.items():
    globals()[_cls.__name__] = _cls  # a pickle and "stiction.library.suite:WalkerWalk" find it by name
    register(_id, _cls)

__all__ = ["TASKS", "tolerance"]
