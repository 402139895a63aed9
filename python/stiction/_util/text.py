"""Text on its way to a terminal, which would obey escape sequences in names that come from a file."""

import shutil
import sys
import textwrap

from .. import _core


def visible(text) -> str:
    """One line: control characters, line breaks too, and marks of direction are escaped."""
    return _core.visible(str(text).encode("utf-8", "surrogatepass"))


def say(*parts, file=None, flush=False):
    """`print` for what may contain text of files; what comes from one goes through `visible` first,
    so that it can't look like a line of ours."""
    text = " ".join(map(str, parts)).encode("utf-8", "surrogatepass")
    print(_core.visible(text, lines=True), file=file or sys.stdout, flush=flush)


def wrapped(text: str, indent: int = 0) -> str:
    """Text in lines as wide as the terminal, 80 columns where there is none; later ones are indented."""
    width = max(40, shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80)
    return textwrap.fill(text, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
