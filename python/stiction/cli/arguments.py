"""Types of command-line arguments. A value that does not fit becomes one line that says what is wrong."""

import argparse
import math
import os
from pathlib import Path

from .. import _core, assets
from .._util.nearest import hint
from .._util.text import visible

MOST = 2**31 - 1  # of whole numbers
SEEDS = 2**32  # whole numbers below
ROBOT = "or a robot of `stiction list-robots`"
TASK = "its id, like Ant-v5, or a class of your own: FILE.py:CLASS"


def _number(text: str, kind):
    try:
        return kind(text)
    except ValueError:
        what = "whole number" if kind is int else "number"
        raise argparse.ArgumentTypeError(f"{text}: must be a {what}") from None


def positive(kind):
    """A finite number > 0, whole ones up to 2³¹ - 1."""

    def parse(text: str):
        value = _number(text, kind)
        if not value > 0 or not math.isfinite(value):
            raise argparse.ArgumentTypeError(f"{text}: must be > 0 and finite")
        if kind is int and value > MOST:
            raise argparse.ArgumentTypeError(f"{text}: must be at most {MOST}")
        return value

    return parse


def non_negative(text: str) -> float:
    value = _number(text, float)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text}: must be >= 0 and finite")
    return value


def share(text: str) -> float:
    value = _number(text, float)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text}: must be in [0, 1]")
    return value


def seed(text: str) -> int:
    value = _number(text, int)
    if not 0 <= value < SEEDS:
        raise argparse.ArgumentTypeError(f"{text}: must be in [0, 2^32)")
    return value


def widths(text: str) -> tuple[int, ...]:
    """Widths of hidden layers, written as "64,64"."""
    return tuple(positive(int)(part) for part in text.split(","))


def existing_file(text: str, others=()) -> Path:
    """The path of a file that is there. `others`: further names to suggest beside those of files."""
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text}: is a folder, expected a file")
    if not path.exists():
        folder = path.parent if path.parent.is_dir() else Path()
        files = [p.name for p in folder.iterdir() if p.suffix == path.suffix]
        near = hint(path.name, [*files, *others])
        raise argparse.ArgumentTypeError(f"no such file: {text}{near}")
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"{text}: is not a file")
    return path


def model_file(text: str) -> Path:
    """A file, or else a robot of stiction.assets, on a floor."""
    if text in assets.names() and not Path(text).is_file():
        return assets.path(text)
    return existing_file(text, assets.names())


def new_file(*suffixes):
    """A parser of paths that can be written: with one of the suffixes, in a folder that exists."""

    def parse(text: str) -> Path:
        path = Path(text)
        if path.is_dir():
            raise argparse.ArgumentTypeError(f"{text}: is a folder, expected a file")
        if path.suffix not in suffixes:
            raise argparse.ArgumentTypeError(f"{text}: must end in {' or '.join(suffixes)}")
        if not path.parent.is_dir():
            raise argparse.ArgumentTypeError(f"{text}: there is no folder {path.parent}")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise argparse.ArgumentTypeError(f"{text}: no permission to write there")
        return path

    return parse


def new_folder(text: str) -> Path:
    """The path of a folder that is not there yet, in one that is."""
    path = Path(text)
    if os.path.lexists(path):
        raise argparse.ArgumentTypeError(f"{text}: is there already; give the name of a new folder")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text}: there is no folder {path.parent}")
    return path


class _Set(argparse.Action):
    """A number of a term is the option set.PATH of the task."""

    def __call__(self, parser, namespace, value, option=None):
        namespace.option = [*namespace.option, f"set.{value}"]


def add_command(commands, name, run, help, description) -> argparse.ArgumentParser:
    """The parser of a command, which `run` of its arguments does."""
    command = commands.add_parser(name, help=help, description=description)
    command.set_defaults(run=run)
    return command


def json_option(command):
    command.add_argument("--json", action="store_true", help="machine-readable")


def task_option(command):
    command.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE",
        help="option of the task, again for another; `stiction list-envs TASK` lists them",
    )  # fmt: skip
    command.add_argument(
        "--set", action=_Set, metavar="TERM=VALUE",
        help="of a task made of terms another number, again for more: rewards.slip=-0.2, rewards.track.std=0.4, "
        "commands.velocity.x=[0,1], events.push=null (docs/terms.md)",
    )  # fmt: skip


def engine_options(command):
    command.add_argument("--engine-option", action="append", default=[], metavar="NAME=VALUE",
                         help="of stiction.Options, like contact_model=similar or timestep=0.002")  # fmt: skip


def model_argument(command):
    command.add_argument("file", type=model_file, metavar="FILE|ROBOT", help=f"MJCF or URDF, {ROBOT}")


def urdf_options(command):
    """How a URDF becomes a model, as of stiction.Urdf."""
    group = command.add_argument_group("of a URDF")
    group.add_argument("--floor", action="store_true", help="a plane at z = 0")
    group.add_argument("--free-root", action="store_true", help="the root link moves freely")
    group.add_argument("--actuators", choices=("position", "velocity", "effort", "none"), default="none",
                       help="of all joints; none")  # fmt: skip
    group.add_argument("--search-path", action="append", default=[], type=Path, metavar="DIR",
                       help="folder of meshes and ROS packages; again for another; the file's")  # fmt: skip


def load_model(args, strict=False) -> _core.Model:
    """The model of `args.file` and the options of `urdf_options`."""
    given = {"floor": args.floor, "free_root": args.free_root, "actuators": args.actuators, "search_path": args.search_path}
    urdf = any(given[k] for k in ("floor", "free_root", "search_path")) or args.actuators != "none"
    return _core.Model.from_file(args.file, strict=strict, urdf=_core.Urdf(**given) if urdf else None)


class Parser(argparse.ArgumentParser):
    """Its messages are one line, with the nearest names. They repeat arguments, which a shell makes of the
    names of files."""

    def error(self, message):
        message = message.removeprefix("argument ")
        self.exit(2, f"{self.prog}: {visible(message)} (see {self.prog} --help)\n")

    def parse_args(self, args=None, namespace=None):
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            parser = self._of_command(getattr(found, "command", None))
            unknown = rest[0].partition("=")[0]
            if not unknown.startswith("-"):
                parser.error(f"'{unknown}' is one argument too many")
            parser.error(f"no option {unknown}{hint(unknown, parser._option_string_actions)}")
        return found

    def _of_command(self, name):
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction) and name in action.choices:
                return action.choices[name]
        return self

    def _check_value(self, action, value):
        if action.choices is None or value in action.choices:
            return
        names = [str(c) for c in action.choices]
        if isinstance(action, argparse._SubParsersAction):
            self.error(f"no command '{value}'{hint(value, names) or '; there are ' + ', '.join(names)}")
        raise argparse.ArgumentError(action, f"'{value}': must be one of {', '.join(names)}")

    def _print_message(self, message, file=None):
        super()._print_message(_core.visible((message or "").encode("utf-8", "surrogatepass"), lines=True), file)
