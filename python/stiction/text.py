"""Text on its way to a terminal, which would obey escape sequences in names that come from a file."""

import argparse
import sys

from . import _core


def visible(text) -> str:
    """One line: control characters, line breaks too, and marks of direction are escaped."""
    return _core.visible(str(text).encode("utf-8", "surrogatepass"))


def say(*parts, file=None, flush=False):
    """`print` for what may contain text of files; what comes from one goes through `visible` first,
    so that it can't look like a line of ours."""
    text = " ".join(map(str, parts)).encode("utf-8", "surrogatepass")
    print(_core.visible(text, lines=True), file=file or sys.stdout, flush=flush)


class Parser(argparse.ArgumentParser):
    """Its messages repeat arguments, which a shell makes of the names of files."""

    def error(self, message):
        super().error(visible(message))

    def _print_message(self, message, file=None):
        super()._print_message(_core.visible((message or "").encode("utf-8", "surrogatepass"), lines=True), file)
