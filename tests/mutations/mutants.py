"""Mutants: small wrong changes of lines, made by operators and not by hand.

    sign        a + b         a - b          += and -= likewise
    relation    a < b         a <= b         and the other way round; == and !=
    logic       a && b        a || b         and, or
    constant    3             4              0.5: 1.0
    drop        x = f(y);     (nothing)      a statement on a line of its own
    swap        f(a, b)       f(b, a)        two names as arguments

An operator sees lines of code, without comments and texts. What survives is a wrong line that no test of its room notices,
or one that means the same: somebody has to look.
"""

import ast
import hashlib
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from breaks import Break

SOURCES = ("src/", "envs/", "cuda/", "python/stiction/")
SUFFIXES = (".h", ".cpp", ".py")
GTEST = re.compile(r"^TEST(?:_[FP])?\((\w+), (\w+)\)", re.MULTILINE)

_PAIRS = {
    "sign": ((" + ", " - "), (" - ", " + "), (" += ", " -= "), (" -= ", " += ")),
    "relation": ((" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == ")),
    "logic": ((" && ", " || "), (" || ", " && "), (" and ", " or "), (" or ", " and ")),
}
_NUMBER = re.compile(r"(?<![\w.\"'])(\d+\.\d+|\d+)(?![\w.\"'])")
_SWAP = re.compile(r"(?<=[(])([A-Za-z_]\w*), ([A-Za-z_]\w*)(?=[,)])")
_STATEMENT = re.compile(r"^\s+[A-Za-z_][\w.:\[\]>\-]*(\(|\s*[-+*/|&]?=[^=])")
_KEPT = re.compile(r"^\s*(return|if|for|while|else|case|using|const|auto|template|static|struct|class|throw|raise|def|assert|import|from|yield|with)\b")


@dataclass(frozen=True)
class Mutant(Break):
    """A Break whose text is a line, found by its number."""

    line: int = 0

    def apply(self, text: str) -> str | None:
        lines = text.split("\n")
        if lines[self.line - 1] != self.old:
            return None
        lines[self.line - 1] = self.new
        return "\n".join(lines)


def blank(line: str, python: bool) -> str:
    """The line with texts and comments as spaces, as long as before."""
    line = re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', lambda m: '"' + " " * (len(m[0]) - 2) + '"', line)
    comment = re.compile(r"#.*" if python else r"//.*")
    return comment.sub(lambda m: " " * len(m[0]), line)


def _other(number: str) -> str:
    return repr(2 * float(number) or 1.0) if "." in number else str(int(number) + 1)


def of_line(line: str, python: bool):
    """(operator, changed line) of every mutant of a line of code."""
    code = blank(line, python)
    for operator, pairs in _PAIRS.items():
        for old, new in pairs:
            for at in (m.start() for m in re.finditer(re.escape(old), code)):
                yield operator, line[:at] + new + line[at + len(old) :]
    for m in _NUMBER.finditer(code):
        yield "constant", line[: m.start()] + _other(m[0]) + line[m.end() :]
    for m in _SWAP.finditer(code):
        if m[1] != m[2]:
            yield "swap", line[: m.start()] + f"{m[2]}, {m[1]}" + line[m.end() :]
    whole = code.count("(") == code.count(")") and code.count("[") == code.count("]") and code.count("{") == code.count("}")
    ends = code.rstrip().endswith(";") if not python else not code.rstrip().endswith((",", "(", "[", "{", "\\", ":"))
    if whole and ends and _STATEMENT.match(code) and not _KEPT.match(code):
        indent = line[: len(line) - len(line.lstrip())]
        yield "drop", indent + ("pass" if python else ";")


def _is_code(text: str, python: bool) -> set[int]:
    """Numbers of the lines that an operator may change: in Python none of texts over several lines and of the head of a module,
    in C++ none of includes, macros and assertions at compile time."""
    lines = text.split("\n")
    if not python:
        skip = re.compile(r"\s*(#|//|static_assert|namespace|\*|/\*)")
        return {n for n, line in enumerate(lines, 1) if line.strip() and not skip.match(line) and not line.endswith("\\")}
    inside = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.end_lineno > node.lineno:
            inside |= set(range(node.lineno, node.end_lineno + 1))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inside |= set(range(node.lineno, node.end_lineno + 1))
    return {n for n, line in enumerate(lines, 1) if line.strip() and n not in inside and not re.match(r"\s*(#|@|import|from)", line)}


def of_text(file: str, text: str, lines=None) -> list[Mutant]:
    """Mutants of the lines with these numbers, of all: None."""
    python, found = file.endswith(".py"), []
    rows = text.split("\n")
    for n in sorted(_is_code(text, python) & (set(lines) if lines is not None else set(range(1, len(rows) + 1)))):
        for k, (operator, changed) in enumerate(of_line(rows[n - 1], python)):
            m = Mutant(f"{file}:{n} {operator} {k}", file, rows[n - 1], changed, line=n)
            if python and not _parses(m.apply(text)):
                continue
            found.append(m)
    return found


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def changed_lines(root: Path, since: str) -> dict[str, set[int]]:
    """Numbers of the lines of sources that are new since a commit."""
    diff = subprocess.run(["git", "diff", "-U0", "--no-color", since, "--", *SOURCES], cwd=root, check=True,
                          capture_output=True, text=True).stdout  # fmt: skip
    found, file = {}, None
    for line in diff.splitlines():
        if line.startswith("+++ "):
            name = line[6:]
            file = name if name.endswith(SUFFIXES) and (root / name).is_file() else None
        elif file and (m := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)):
            first, count = int(m[1]), int(m[2] or 1)
            found.setdefault(file, set()).update(range(first, first + count))
    return found


def room_tests(root: Path, file: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(gtests, folders or files of Python tests below tests/) of the room of a source; its own test where there is one."""
    path = Path(file)
    if file.startswith("python/stiction/"):
        room = path.relative_to("python/stiction").parent
        own = sorted((root / "tests/python").rglob(f"test_{path.stem}.py"))
        folder = root / "tests/python" / (room if room.parts and room != Path("_util") else "util")
        found = own or ([folder] if folder.is_dir() else [])
        return (), tuple(p.relative_to(root / "tests").as_posix() for p in found)
    room = path.parent.relative_to("src") if file.startswith("src/") else Path({"envs": "env"}.get(path.parts[0], path.parts[0]))
    folder = root / "tests" / room
    while not list(folder.glob("*_test.cpp")) and folder != root / "tests":
        folder = folder.parent
    own = folder / f"{path.stem}_test.cpp"
    files = [own] if own.is_file() else sorted(folder.glob("*_test.cpp"))
    return tuple(sorted({f"{s}.{n}" for f in files for s, n in GTEST.findall(f.read_text())})), ()


def with_tests(root: Path, mutants: list[Mutant]) -> list[Mutant]:
    """Those whose room has tests."""
    known, found = {}, []
    for m in mutants:
        gtests, pytests = known.setdefault(m.file, room_tests(root, m.file))
        if gtests or pytests:
            found.append(Mutant(m.name, m.file, m.old, m.new, gtests, pytests, line=m.line))
    return found


def of_changes(root: Path, since: str, seed: str) -> list[Mutant]:
    """Mutants of what changed since a commit, shuffled by `seed`, files and operators in turn: a part of them from the front is
    a fair sample."""
    mutants = []
    for file, lines in changed_lines(root, since).items():
        mutants += of_text(file, (root / file).read_text(), lines)
    order = lambda m: hashlib.sha256(f"{seed} {m.name}".encode()).hexdigest()
    turns, counts = [], {}
    for m in sorted(with_tests(root, mutants), key=order):
        operator = m.name.split()[1]
        counts[m.file] = counts.get(m.file, 0) + 1
        counts[m.file, operator] = counts.get((m.file, operator), 0) + 1
        turns.append((counts[m.file, operator], counts[m.file], order(m), m))
    return [turn[-1] for turn in sorted(turns, key=lambda turn: turn[:3])]
