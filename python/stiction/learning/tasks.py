"""Tasks by id: environments, the settings that train them, and what a run writes where."""

import errno
import json
import shutil

from .._core import ArgumentError
from ..task_names import engine_of, find_task, open_task
from ..text import visible
from .ppo import Settings

# Where the defaults of Settings were not the best (docs/training.md).
_HOPS = Settings(
    num_envs=32, horizon=128, epochs=10, minibatches=16, learning_rate=3e-4, max_learning_rate=3e-4,
    target_kl=1.0, gamma=0.995, init_std=1.0, entropy=0.003,
)  # many small steps of one size: no KL brings 3e-4 down
SETTINGS = {
    "Hopper-v5": _HOPS,
    "Walker2d-v5": _HOPS,
    "HalfCheetah-v5": Settings(gamma=0.98, init_std=0.6, target_kl=0.025),
    "InvertedPendulum-v5": Settings(init_std=1.0),
    "IsaacAnt": Settings(num_envs=512),
    "Go2Flat": Settings(
        num_envs=512, horizon=24, target_kl=0.015, max_learning_rate=1e-3, init_std=0.2, entropy=0.005,
        hidden=(128, 64),
    ),
}


def parse_options(texts) -> dict:
    """Task options from "name=value"; a value is JSON or a plain string."""
    options = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise ArgumentError(f"{visible(text)}: expected NAME=VALUE")
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options


def settings_of(name: str) -> Settings:
    """Of a task by its name; those of a class in Python are its `ppo_settings`."""
    task = find_task(name)
    if isinstance(task, str):
        return SETTINGS.get(task, Settings())
    try:
        return Settings(**task.ppo_settings)
    except TypeError:
        known = Settings.__dataclass_fields__
        wrong = next(iter(set(task.ppo_settings) - set(known)), None)
        raise ArgumentError(
            f"{task.__name__}.ppo_settings: no setting {wrong!r}; there are {', '.join(known)}"
        ) from None


def make_env(task: dict, num_envs, **more):
    """Environments of {"id": name, "options": {...}, "engine": {...}}; the latter changes the task's own."""
    own = engine_of(find_task(task["id"]))
    try:
        engine = own.replace(**task.get("engine", {}))
    except TypeError as e:
        raise ArgumentError(f"options of the engine: {str(e).splitlines()[0]}") from None
    return open_task(task["id"], num_envs, options=engine, **more, **task.get("options", {}))


def disk_is_full(error: OSError, directory) -> bool:
    """Encoders are other processes: their errors do not say why they stopped."""
    if error.errno == errno.ENOSPC:
        return True
    return directory.is_dir() and shutil.disk_usage(directory).free < 1 << 16
