"""`stiction lab`: builds the contact laboratory of a checkout on first use and runs it."""

import subprocess
import sys

from .._util.extras import CHECKOUT as ROOT
from .._util.text import say

BUILD = ROOT / "build" / "release"


def _is_here() -> bool:
    return (ROOT / "lab" / "CMakeLists.txt").is_file()


def add_command(commands):
    """The help lists it in a checkout alone: a wheel has no laboratory."""
    listed = {"help": "contact solvers and experiments of the papers"} if _is_here() else {}
    lab = commands.add_parser("lab", description="Contact solvers of the literature and the papers' experiments.", **listed)
    lab.set_defaults(run=_lab)


def _problem():
    """Why there is no laboratory here, or None once its module is built and current."""
    if not _is_here():
        return "the contact laboratory is not in the wheel: clone the repository and call ./dev setup there"
    if not (BUILD / "build.ninja").is_file():
        return "the contact laboratory is built in build/release: ./dev setup first"
    build = subprocess.run(["cmake", "--build", str(BUILD), "--target", "stiction_lab"],
                           capture_output=True, text=True)
    if build.returncode:
        return f"the contact laboratory does not build:\n{build.stdout}{build.stderr}"
    return None


def _lab(args) -> int:
    problem = _problem()
    if problem:
        say(f"stiction lab: {problem}", file=sys.stderr)
        return 1
    sys.path.insert(0, str(ROOT / "lab"))
    from stiction_lab.cli import main

    return main(args.arguments)
