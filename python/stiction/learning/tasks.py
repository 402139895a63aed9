"""Tasks by id: environments, the settings that train them, and what a run writes where."""

import errno
import inspect
import json
import re
import shutil
from dataclasses import fields, is_dataclass, replace

from .._core import ArgumentError, Options
from .._util.nearest import hint
from .._util.text import visible
from ..randomization import RandomizedEnv, Randomization
from ..tasks.history import HistoryEnv
from ..tasks.names import engine_of, find_object, find_task, open_task
from .ppo import Settings

# Where the defaults of Settings were not the best (lab/notes/training.md).
_HOPS = Settings(
    num_envs=32, horizon=128, epochs=10, minibatches=16, learning_rate=3e-4, max_learning_rate=3e-4,
    target_kl=1.0, gamma=0.995, init_std=1.0, entropy=0.003,
)  # many small steps of one size: no KL brings 3e-4 down
SETTINGS = {
    "Hopper-v5": _HOPS,
    "Walker2d-v5": _HOPS,
    "HalfCheetah-v5": Settings(gamma=0.98, init_std=0.6, target_kl=0.025),
    "InvertedPendulum-v5": Settings(init_std=1.0),
    "InvertedDoublePendulum-v5": Settings(init_std=1.0),
    "Reacher-v5": Settings(gamma=0.95),
    "Pusher-v5": Settings(gamma=0.95),
    "Swimmer-v5": Settings(gamma=0.999),
    "Ant-v5": Settings(),
    "Humanoid-v5": _HOPS,
    "HumanoidStandup-v5": _HOPS,
    "IsaacCartpole": Settings(init_std=1.0),
    "IsaacHumanoid": _HOPS,
    "IsaacAnt": Settings(num_envs=512),
    "Go2Flat": Settings(
        num_envs=512, horizon=24, target_kl=0.015, max_learning_rate=1e-3, init_std=0.2, entropy=0.005,
        hidden=(128, 64),
    ),
    "Go2Rough": Settings(
        num_envs=512, horizon=24, target_kl=0.015, max_learning_rate=1e-3, init_std=0.2, entropy=0.005,
        hidden=(256, 128),
    ),
    "PandaPickCube": Settings(num_envs=512, horizon=30, gamma=0.97, hidden=(128, 64)),
    "LeapCube": Settings(num_envs=256, hidden=(128, 64)),
}


def parse_options(texts) -> dict:
    """Task options from "name=value"; a value is JSON or a plain string. "set.rewards.slip=-0.2" is of the option `set`,
    a dict: {"set": {"rewards.slip": -0.2}}."""
    options = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        to = options
        if name.startswith("set."):
            name, to = name.removeprefix("set."), options.setdefault("set", {})
        if not equals or not all(part.isidentifier() for part in name.split(".")):
            raise ArgumentError(f"{visible(text)}: expected NAME=VALUE")
        try:
            to[name] = json.loads(value)
        except ValueError:
            to[name] = value
    return options


def with_options(options: dict, given: dict) -> dict:
    """Options of a task with others in the place of some; numbers of terms one by one."""
    changes = options.get("set", {}) | given.get("set", {})
    return options | given | ({"set": changes} if changes else {})


# keywords of an environment that are no options of its task -> what gives them on the command line
_NOT_OF_A_TASK = {
    "num_envs": "give --num-envs", "threads": "give --threads", "seed": "give --seed",
    "device": "give --device", "options": "give --engine-option NAME=VALUE",
    "autoreset": "the command chooses it", "precision": "the command chooses it",
}  # fmt: skip


def check_options(options: dict):
    """Refuses what --option can't give."""
    for name, value in options.items():
        if name in _NOT_OF_A_TASK:
            raise ArgumentError(f"--option {name}: no option of a task: {_NOT_OF_A_TASK[name]}")
        if name == "max_episode_steps" and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            raise ArgumentError(f"--option {name}={visible(json.dumps(value))}: must be a whole number >= 0")


_KINDS = {"float": "a number", "int": "a whole number", "bool": "true or false", "str": "text"}


def engine_options(own: Options, given: dict) -> Options:
    """`own` with other values for some of its fields, by name."""
    known = own.__getstate__()
    for name, value in given.items():
        if name not in known:
            raise ArgumentError(f"--engine-option {visible(name)}: no option of the engine"
                                f"{hint(name, known) or '; there are ' + ', '.join(known)}")  # fmt: skip
        try:
            own = own.replace(**{name: value})
        except TypeError:
            found = re.search(rf"[(, ]{name}: ([^=]*) = ", Options.__init__.__doc__ or "")
            kinds = [_KINDS[k] for k in _KINDS if found and re.search(rf"\b{k}\b", found[1])]
            what = " or ".join(kinds) or "a value of its type"
            raise ArgumentError(f"--engine-option {name}={visible(json.dumps(value))}: must be {what}") from None
    return own


def settings_of(name: str, given: dict = {}) -> Settings:
    """The settings of a task by its name, changed by those given. A task in Python has its own in `ppo_settings`."""
    task = find_task(name)
    preset = SETTINGS.get(task, Settings()) if isinstance(task, str) else _settings_of_class(task)
    try:
        settings = replace(preset, **given)
        settings.check()
    except ValueError as e:
        raise ArgumentError(f"settings of {visible(name)}: {e}") from None
    return settings


def _settings_of_class(task) -> Settings:
    try:
        return Settings(**task.ppo_settings)
    except TypeError:
        known = Settings.__dataclass_fields__
        wrong = next(iter(set(task.ppo_settings) - set(known)), None)
        raise ArgumentError(
            f"{task.__name__}.ppo_settings: no setting {wrong!r}; there are {', '.join(known)}"
        ) from None


def randomization_of(task: dict) -> Randomization | None:
    """What a task is trained with: named by "randomization", else the class attribute of that name."""
    if name := task.get("randomization"):
        return find_object(name, Randomization, "stiction.Randomization")
    found = getattr(find_task(task["id"]), "randomization", None)
    if found is not None and not isinstance(found, Randomization):
        raise ArgumentError(f"{visible(task['id'])}.randomization: given {found!r:.100}; expected a stiction.Randomization")
    return found


def make_env(task: dict, num_envs, *, training=False, seed=0, autoreset="same_step", **more):
    """Environments of {"id": name, "options": {...}, "engine": {...}}; the latter changes the task's own. "history": steps
    that are observed side by side. Only in training they have their randomization."""
    engine = engine_options(engine_of(find_task(task["id"])), task.get("engine", {}))
    options, history = nested_options(task), task.get("history", 1)
    check_options(options)
    around = []  # inside out
    if training and (randomization := randomization_of(task)) is not None:
        around.append(lambda env, **how: RandomizedEnv(env, randomization, **how))
    if history > 1:
        around.append(lambda env, **how: HistoryEnv(env, history, **how))
    env = open_task(task["id"], num_envs, options=engine, seed=seed, autoreset="disabled" if around else autoreset, **more,
                    **options)  # fmt: skip
    for k, wrap in enumerate(around):
        env = wrap(env, seed=seed, autoreset=autoreset if k == len(around) - 1 else "disabled")
    return env


def nested_options(task: dict) -> dict:
    """Options of a task; "weights.slip" changes an entry of what the constructor of a class has for `weights`, a dict or
    a dataclass."""
    found = {}
    for name, value in task.get("options", {}).items():
        outer, *inner = name.split(".")
        if not inner:
            found[outer] = value
            continue
        if outer not in found:
            cls = find_task(task["id"])
            parameter = None if isinstance(cls, str) else inspect.signature(cls).parameters.get(outer)
            if parameter is None or parameter.default in (parameter.empty, None):
                raise ArgumentError(f"--option {visible(name)}: {visible(task['id'])} has no option {visible(outer)!r} with a "
                                    "default that has entries")  # fmt: skip
            found[outer] = parameter.default
        found[outer] = _with_entry(found[outer], inner, value, name)
    return found


def _with_entry(whole, path, value, name):
    """A copy of a dict or dataclass with another value at `path`."""
    first, *rest = path
    is_dict = isinstance(whole, dict)
    known = list(whole) if is_dict else [f.name for f in fields(whole)] if is_dataclass(whole) else []
    if first not in known:
        raise ArgumentError(f"--option {visible(name)}: no entry {visible(first)!r}"
                            f"{hint(first, known) or '; there are ' + ', '.join(map(str, known)) if known else ''}")  # fmt: skip
    new = _with_entry(whole[first] if is_dict else getattr(whole, first), rest, value, name) if rest else value
    return {**whole, first: new} if is_dict else replace(whole, **{first: new})


def disk_is_full(error: OSError, directory) -> bool:
    """Encoders are other processes: their errors do not say why they stopped."""
    if error.errno == errno.ENOSPC:
        return True
    return directory.is_dir() and shutil.disk_usage(directory).free < 1 << 16
