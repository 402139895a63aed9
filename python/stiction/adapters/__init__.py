"""Environments in the shapes of training libraries: `gymnasium`, `rsl_rl`, `sb3`, `torchrl`, `rl_games`, `jax`, `dm_env`, `ray` and `rllib`;
`envpool` has the calls of that library without it.

Each module imports its library and is imported by name only. All of them stand on what
`stiction.Env` and `stiction.TaskEnv` have in common (docs/environments.md).
"""

from .. import _core
from .._util.extras import remedy
from ..arrays import on_tensors
from ..tasks.names import find_task
from ..tasks.task import Task, TaskEnv


def not_installed(error: ModuleNotFoundError, extra: str) -> ModuleNotFoundError:
    """The same error with the remedy."""
    name = error.name.partition(".")[0]
    return ModuleNotFoundError(
        f"{name} is not installed: {remedy(extra)}", name=name
    )


def is_open(env) -> bool:
    """Whether it is an environment, not the id or task of one."""
    is_task = isinstance(env, Task) or (isinstance(env, type) and issubclass(env, Task))
    return not isinstance(env, str) and not is_task


def open_env(env, num_envs=1, *, device="cpu", randomization=None, **options):
    """An environment from the name of a task (`find_task`), from a Task or its class; one that is open
    already is returned as it is. `options` as of `stiction.Env`, task options included.

    device: where it lives; on any but "cpu" its arrays are torch tensors.
    randomization: a stiction.Randomization, applied around the environment.
    """
    if device != "cpu":
        options["device"] = device
    if is_open(env):
        if options or randomization is not None:
            given = sorted(options) + ["randomization"] * (randomization is not None)
            raise _core.ArgumentError(f"{', '.join(given)}: the environment is open already")
        return on_tensors(env)
    if isinstance(env, str):
        env = find_task(env)
    create = _core.Env if isinstance(env, str) else TaskEnv
    if randomization is None:
        return on_tensors(create(env, num_envs, **options))
    from ..randomization import RandomizedEnv

    return RandomizedEnv.open(create, env, num_envs, randomization, **options)


def open_env_for(library, needed, env, num_envs=1, /, **options):
    """`open_env` for a library that works with one autoreset alone, the default. ArgumentError: the environment has another."""
    if not is_open(env):
        options.setdefault("autoreset", needed)
    env = open_env(env, num_envs, **options)
    if env.autoreset != needed:
        raise _core.ArgumentError(f"autoreset = {env.autoreset!r}: {library} needs {needed!r}")
    return env
