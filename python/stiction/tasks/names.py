"""Tasks by name: compiled ones, classes that `register` gave an id, and classes in files and modules.

    Ant-v5                a compiled task (`stiction.Env.tasks()`)
    my/Jump               registered with stiction.register("my/Jump", Jump)
    jump.py:Jump          the class Jump in a file
    package.tasks:Jump    the class in a module
    package.tasks:my/Jump an id that the module registers
"""

import importlib
import importlib.util
import os
import sys
import traceback
from pathlib import Path

from .._core import ArgumentError, Batch, Env, Error, Model, Options
from .._util.nearest import hint
from .._util.text import visible
from .task import Task, TaskEnv

_registered: dict[str, type[Task]] = {}
_followers: list = []  # what is called after each of them
_files: dict[Path, object] = {}  # modules made of files


def register(id: str, task: type[Task]):
    """Gives a class of tasks an id, for `stiction.make`, adapters, the command line, and Gymnasium.

    Gymnasium knows it under the same id. A class may be registered again under its id; another
    class is refused, and so is the id of a compiled task (ArgumentError).
    """
    if not (isinstance(task, type) and issubclass(task, Task)):
        raise ArgumentError(f"register({id!r}): given {task!r}; expected a class derived from stiction.Task")
    if not isinstance(id, str) or not id or ":" in id or any(c.isspace() for c in id):
        raise ArgumentError(f"register({id!r}): an id is a word without ':', like 'my/Jump'")
    if id in _compiled() or _registered.get(id, task) is not task:
        raise ArgumentError(f"register({id!r}): there is another task of this id")
    _registered[id] = task
    for follow in _followers:
        follow()


def on_register(follow):
    """`follow()` is called whenever `register` has given a class an id."""
    _followers.append(follow)


def registered() -> dict[str, type[Task]]:
    """Classes by the ids that `register` gave them."""
    return dict(_registered)


def _compiled() -> list[str]:
    return [info.id for info in Env.tasks()]


def find_task(name: str) -> str | type[Task]:
    """The id of a compiled task, or the class of a task in Python.

    Raises ArgumentError on an unknown name, with the nearest, and Error where the file or module
    itself fails, with the line.
    """
    source, colon, attribute = name.rpartition(":")
    if colon:
        return _class_in(source, attribute)
    if name in _registered:
        return _registered[name]
    compiled = _compiled()
    if name in compiled:
        return name
    if name.endswith(".py") and os.path.isfile(name):
        raise ArgumentError(f"{visible(name)}: which class of it? give {visible(name)}:{_suggestion(name)}")
    near = hint(name, [*compiled, *_registered])
    raise ArgumentError(f"no task '{visible(name)}'{near}; a class of your own is FILE.py:CLASS")


def open_task(name: str, num_envs=1, **options):
    """`stiction.Env` or `stiction.TaskEnv` of a name that `find_task` knows."""
    task = find_task(name)
    if isinstance(task, str) and options.get("set"):
        raise ArgumentError(f"set {next(iter(options['set']))}: {visible(name)} is compiled, not made of terms; what can be "
                            f"changed are its options: stiction list-envs {visible(name)}")  # fmt: skip
    return (Env if isinstance(task, str) else TaskEnv)(task, num_envs, **options)


def name_of(env) -> str:
    """The name by which `find_task` finds the task of an environment, in another process, too."""
    if getattr(env, "task", None) is None:
        return env.id
    cls = type(env.task)
    module = sys.modules.get(cls.__module__)
    source = cls.__module__
    file = next((str(path) for path, m in _files.items() if vars(m).get("__name__") == source), None)
    if source == "__main__":
        file = getattr(module, "__file__", None)
    if file:
        source = os.path.relpath(file)
    id = next((id for id, known in _registered.items() if known is cls), cls.__qualname__)
    return f"{source}:{id}"


def engine_of(task) -> Options:
    """How the physics of a task step where nobody says: of the id of a compiled one, a Task or its class."""
    if isinstance(task, str):
        return next(info.engine for info in Env.tasks() if info.id == task)
    return task.options or Options()


def _own_timestep(env) -> float:
    return Model.from_xml(env.model_xml, assets=getattr(env, "model_assets", {})).timestep


def find_object(name: str, kind: type, what: str):
    """What a file or module calls by a name, "FILE.py:NAME": of class `kind`, or ArgumentError, which says `what` it should be."""
    source, colon, attribute = name.rpartition(":")
    if not colon:
        raise ArgumentError(f"{visible(name)}: give FILE.py:NAME of {what}")
    found = getattr(_load(source), attribute, None)
    if not isinstance(found, kind):
        raise ArgumentError(f"{visible(source)}: {visible(attribute)} is no {what}: {found!r:.100}")
    return found


def describe(env) -> dict:
    """A dict that opens the environment again: the name and options of its task, and those engine options that differ
    from the task's own; of a group its first member."""
    env = getattr(env, "envs", [env])[0]
    own = engine_of(env.id if getattr(env, "task", None) is None else env.task)
    usual, chosen = own.__getstate__(), env.batch.options.__getstate__()
    engine = {name: value for name, value in chosen.items() if value != usual[name]}
    given = getattr(env, "model_timestep", None) or _own_timestep(env)
    if own.timestep is None and chosen["timestep"] == given:
        engine.pop("timestep", None)
    for name in set(engine) - {"timestep"}:  # what the batch chose itself, it chooses again
        others = {key: value for key, value in engine.items() if key != name}
        again = Batch(env.batch.model, 1, own.replace(**others), precision=env.batch.precision, threads=1)
        if getattr(again.options, name) == chosen[name]:
            engine = others
    return {"id": name_of(env), "options": dict(env.task_options), "engine": engine}


def short_name(name: str) -> str:
    """The name of files and titles: the class or id, without the file or module that holds it."""
    return name.rpartition(":")[2].replace("/", "-")


def _class_in(source: str, attribute: str):
    module = _load(source)
    if attribute in _registered:
        return _registered[attribute]
    task = module
    for part in attribute.split("."):
        task = getattr(task, part, None)
    if not (isinstance(task, type) and issubclass(task, Task)):
        names = ", ".join(_tasks_in(module)) or "none"
        raise ArgumentError(f"{visible(source)}: no class '{visible(attribute)}' derived from stiction.Task; there are: {names}")
    return task


def _tasks_in(module) -> list[str]:
    return [
        name for name, x in vars(module).items()
        if isinstance(x, type) and issubclass(x, Task) and x.__module__ == module.__name__
    ]  # fmt: skip


def _suggestion(file) -> str:
    return next(iter(_tasks_in(_load(file))), "CLASS")


def _load(source: str):
    """The module of a file or of a dotted name."""
    path = Path(source)
    if path.suffix != ".py":
        try:
            return importlib.import_module(source)
        except ModuleNotFoundError as e:
            if e.name and source.startswith(e.name):
                raise ArgumentError(f"{visible(source)}: neither a module nor a file *.py") from None
            raise _failed(source, e) from e
        except Exception as e:
            raise _failed(source, e) from e
    if not path.is_file():
        raise ArgumentError(f"no such file: {visible(source)}")
    path = path.resolve()
    if path not in _files:
        if str(path.parent) not in sys.path:
            sys.path.insert(0, str(path.parent))  # a file's neighbours, as where it is run
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        others = sys.modules.get(path.stem)
        if others is None:
            sys.modules[path.stem] = module  # for pickles and dataclasses
        try:
            spec.loader.exec_module(module)
        except Exception as e:
            if others is None:
                sys.modules.pop(path.stem, None)
            raise _failed(source, e) from e
        _files[path] = module
    return _files[path]


def error_of_own_file(error) -> Error | None:
    """The Error for a failure in a hook of a task that the command line opened from a file, with its line; None for any other failure."""
    if not _files:
        return None
    frames = traceback.extract_tb(error.__traceback__)
    ours = {str(path) for path in _files}
    if not any(os.path.realpath(f.filename) in ours for f in frames):
        return None
    return _failed("", error)


def _failed(source, error) -> Error:
    """The Error for a failure inside somebody's file, with its line there."""
    if isinstance(error, SyntaxError):
        return Error(f"{visible(source)}:{error.lineno}: {visible(error.msg)}")
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "importlib" not in f.filename]
    line = frames[-1].lineno if frames else 0
    where = os.path.relpath(frames[-1].filename) if frames else source
    notes = "".join(f", {visible(note)}" for note in getattr(error, "__notes__", ()))  # which term it was in
    return Error(f"{visible(where)}:{line}: {type(error).__name__}: {visible(error)}{notes}")
