"""Command line: `stiction COMMAND`. Each module adds its commands: models.py those about model files, lists.py what
there is, learning.py training and policies, fit.py, motion.py, view.py, lab.py, doctor.py.

Exit codes: 0 all well, 1 refused or failed, 2 bad usage. Nothing heavy is imported before a command needs it.
"""

import os
import sys
import warnings

from .. import _core
from .._util.text import say, visible
from ..tasks.names import error_of_own_file
from . import doctor, fit, lab, learning, lists, models, motion, view
from .arguments import Parser


def build_parser() -> Parser:
    parser = Parser(prog="stiction", description="Simulation of robots with convex contact.")
    parser.add_argument("--version", action="version", version=f"stiction {_core.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    models.add_commands(commands)
    lists.add_commands(commands)
    learning.add_commands(commands, build_parser, main)
    fit.add_command(commands)
    motion.add_command(commands)
    view.add_command(commands)
    lab.add_command(commands)
    doctor.add_command(commands)
    return parser


def _showing(show):
    """`show`, but what a model leaves out is said like every other message of the program."""

    def showwarning(message, category, filename, lineno, file=None, line=None):
        if issubclass(category, _core.ModelWarning):
            say(f"stiction: warning: {message}", file=file or sys.stderr)
        else:
            show(message, category, filename, lineno, file, line)

    return showwarning


def main(argv=None) -> int:
    argv = sys.argv[1:] if argv is None else list(argv)
    # what follows `lab`, --help too, is for the laboratory
    own = argv[:1] if argv[:1] == ["lab"] else argv
    args = build_parser().parse_args(own)
    args.arguments = argv[1:]
    with warnings.catch_warnings():
        warnings.showwarning = _showing(warnings.showwarning)
        return _run(args)


def _run(args) -> int:
    try:
        code = args.run(args)
        sys.stdout.flush()
        return code
    except _core.Error as e:
        say(f"stiction: {e}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader went away (`| head`): nothing more to say, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as e:
        where = "" if e.filename is None else f"{visible(e.filename)}: "
        say(f"stiction: {where}{e.strerror or e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as e:
        if (own := error_of_own_file(e)) is None:
            raise
        say(f"stiction: {own}", file=sys.stderr)
        return 1
