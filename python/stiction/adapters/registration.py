"""`stiction.make`, and the ids "stiction/..." of Gymnasium.

Gymnasium learns the ids when both it and stiction have been imported, in whatever order; importing
stiction never imports it. From version 1.0 on it has no entry points for plugins, which would do that; without
the import of stiction an id names its module, "stiction:stiction/Ant-v5".
"""

import copy
import importlib.abc
import importlib.util
import sys

from .. import _core
from .._util.extras import remedy
from ..tasks.names import on_register, registered

NAMESPACE = "stiction"


def make(id, num_envs=1, device="cpu", seed=None, options=None, **task_options):
    """Environments of a task as `gymnasium.vector.VectorEnv`.

    id: of a compiled task (`stiction.Env.tasks()`) or a registered one, "FILE.py:CLASS", or a
    `stiction.Task` or its class.
    seed: environment i draws with seed + i; None: another one in every run, see `np_random_seed`.
    options: stiction.Options of the engine. task_options: those of the task, and threads, precision,
    autoreset_mode (Gymnasium's AutoresetMode or its name; NEXT_STEP), max_episode_steps,
    randomization, copy, render_mode, render_envs, width, height, camera.
    """
    try:
        from .gymnasium import VectorEnv
    except ModuleNotFoundError as e:
        if e.name != "gymnasium":
            raise
        raise ImportError(f"stiction.make needs Gymnasium: {remedy('gymnasium')}; "
                          "stiction.Env does without") from e  # fmt: skip
    import gymnasium

    given = {"device": device, "seed": seed, "options": options, **task_options}
    envs = VectorEnv(id, num_envs, **given)
    spec = gymnasium.registry.get(f"{NAMESPACE}/{id}") or gymnasium.registry.get(str(id))
    if spec is not None:
        envs.spec = copy.copy(spec)
        envs.spec.kwargs = {**spec.kwargs, "num_envs": num_envs, **given}
    return envs


def register_all():
    """Tells Gymnasium, which has been imported, the ids of compiled and registered tasks."""
    import gymnasium

    specs = {
        f"{NAMESPACE}/{info.id}": (info.id, info.max_episode_steps, info.reward_threshold)
        for info in _core.Env.tasks()
    }
    specs |= {id: (id, task.max_episode_steps, task.reward_threshold) for id, task in registered().items()}
    for name, (task, limit, threshold) in specs.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="stiction.adapters.gymnasium:make_single",
                vector_entry_point="stiction.adapters.gymnasium:make_vector",
                max_episode_steps=limit or None,
                reward_threshold=threshold,
                kwargs={"task": task},
            )


class _AfterGymnasium(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Registers when somebody imports Gymnasium."""

    def find_spec(self, name, path=None, target=None):
        if name != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            self._loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        register_all()


def _register_if_imported():
    if sys.modules.get("gymnasium") is not None:
        register_all()


def register_lazily():
    """Registers now where Gymnasium has been imported, else as soon as it is, and again after each `stiction.register`."""
    on_register(_register_if_imported)
    if sys.modules.get("gymnasium") is not None:
        register_all()
    else:
        sys.meta_path.insert(0, _AfterGymnasium())
