"""Who may include whom, and the few rules of the text that a grep can check.

Run as a script it prints every violation as `file:line: what` and exits 1 when there is one.
"""

import ast
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

STD = re.compile(r"[a-z_0-9]+")  # <vector>, <cmath>: no slash, no suffix
# The part of the standard library that allocates nothing and compiles for a GPU.
STD_DEVICE = re.compile(r"(array|bit|cmath|concepts|cstddef|cstdint|limits|type_traits|utility)")
EIGEN = re.compile(r"Eigen/\w+")
POSIX = re.compile(r"(fcntl|pthread|sched|sys/stat|unistd)\.h")
CUDA = re.compile(r"(cuda\w*\.h|cooperative_groups\.h|(cub|thrust|cuda)/.+|cusolver\w*\.h)")
NO_CONTAINERS = re.compile(r"std::(vector|string|map|deque|list|function|shared_ptr|unique_ptr)\b")
NO_ALLOCATION = re.compile(r"\b(new\b(?!\s*\()|malloc|free\(|delete\b|throw\b|try\b)")


@dataclass(frozen=True)
class Rule:
    """Files under `folder` (or the file of that name) may include project files
    that start with one of `project` and external headers that match one of `external` entirely,
    and contain no `forbidden` text."""

    folder: str
    project: tuple[str, ...]
    external: tuple[re.Pattern, ...]
    forbidden: tuple[re.Pattern, ...] = ()


# The first rule whose folder is a prefix of the path applies.
RULES = (
    Rule("include/stiction/", ("include/stiction/",), (STD,)),
    Rule("src/model/", ("include/stiction/", "src/math.h", "src/names.h", "src/tendon_path.h", "src/model/"),
         (STD, EIGEN, re.compile(r"tinyxml2\.h|tiny_obj_loader\.h|libqhull_r/libqhull_r\.h|png\.h"))),
    Rule("src/reference/", ("include/stiction/", "src/math.h", "src/quick.h", "src/tendon_path.h", "src/reference/"), (STD, EIGEN)),
    Rule("src/physics/", ("include/stiction/types.h", "src/physics/"), (STD_DEVICE,),
         (NO_CONTAINERS, NO_ALLOCATION)),
    Rule("src/cpu/", ("include/stiction/", "src/index.h", "src/quick.h", "src/physics/", "src/cpu/"),
         (STD, POSIX, re.compile(r"immintrin\.h"))),
    Rule("src/batch/", ("include/stiction/", "src/files.h", "src/index.h", "src/names.h", "src/physics/base/fields.def",
                        "src/physics/base/quantities.def", "src/physics/base/env_status.h", "src/physics/base/team.h", "src/cpu/",
                        "src/batch/"),
         (STD, POSIX, re.compile(r"nlohmann/json\.hpp|Eigen/LU"))),
    Rule("src/env/", ("include/stiction/", "src/index.h", "src/names.h", "src/physics/", "src/cpu/", "src/batch/",
                      "src/env/", "envs/"), (STD, re.compile(r"nlohmann/json\.hpp"))),
    Rule("src/index.h", (), (STD,)),
    Rule("src/math.h", ("src/index.h",), (STD, EIGEN)),
    Rule("src/files.", ("include/stiction/", "src/files.h"), (STD, POSIX)),
    Rule("src/", ("include/stiction/", "src/math.h", "src/names.h"), (STD,)),
    Rule("cuda/", ("include/stiction/", "src/physics/", "src/cpu/layout.h", "src/cpu/host_model.h",
                   "src/batch/device.h", "src/batch/device_episodes.h", "envs/", "cuda/"),
         (STD, CUDA, re.compile(r"dlfcn\.h")),
         (re.compile(r'#\s*include\s*"[^"]*\bpack\.h"'),)),
    Rule("envs/", ("include/stiction/", "src/physics/", "envs/"), (STD_DEVICE,)),
    Rule("python/", ("include/stiction/", "python/"),
         (STD, re.compile(r"nanobind/.+"), re.compile(r"Python\.h"))),
    Rule("lab/", ("include/stiction/", "src/math.h", "src/reference/", "lab/"),
         (STD, EIGEN, re.compile(r"nanobind/.+"))),
    Rule("examples/", ("include/stiction/",), (STD,)),
)

# Folders in which arrows only go up this list: a room includes itself and what stands before it. Files beside the rooms,
# like src/physics/step.h, are above all of them.
ROOMS = {
    "src/physics/": ("base", "tree", "actuation", "collision", "collision/convex", "collision/hfield", "rays", "law",
                     "constraint", "contact", "solver", "sensor"),
    "src/reference/": ("base", "tree", "collision", "rays", "law", "solver", "actuation", "constraint", "contact", "step",
                       "sensor"),
    "src/model/": ("xml", "mesh", "spec", "read", "attach", "urdf", "build", "save"),
}

# The same for the package: modules and folders of python/stiction, each above those before it. Imports inside of functions
# count, too, and no two modules import each other, in however long a circle. Whatever is not named here is above all.
PACKAGE = "python/stiction/"
PACKAGE_ROOMS = ("_core", "_util", "arrays", "rotations", "assets", "motions", "control", "tasks", "randomization", "terms", "sensors", "actuators", "library",
                 "identification", "view", "adapters", "learning", "cli")

CODE = {".h", ".hpp", ".cpp", ".cu", ".cuh"}
TEXT = CODE | {".py", ".cmake", ".md", ".txt", ".xml", ".toml", ".json", ".sh", ".pyi", ""}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
COMMENT = re.compile(r"//.*")

MAX_LINES_PHYSICS = 300
MAX_LINES = 500
PHYSICS = ("src/physics/", "src/reference/")
LINE_LIMITED = CODE | {".py", ".cmake", ".sh", ""}

# Written in pieces, so that this file does not break its own rules.
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
MACHINE_PATH = re.compile(r"(?<![\w.\-/}>$*])/(work|root|home|Users|mnt)/\w")


def resolve(root: Path, file: str, quoted: bool, name: str) -> str | None:
    """Path in the repository that an include names, or None for an external header."""
    places = [root / file, root / "src" / "_", root / "include" / "_", root / "_"] if quoted else [
        root / "include" / "_"]
    for place in places:
        path = (place.parent / name).resolve()
        if path.is_file() and path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    return None


def room(top: str, file: str) -> int | None:
    """Place of a file's room in ROOMS[top], len(ROOMS[top]) beside the rooms; None for an unknown room."""
    folder = file[len(top):].rpartition("/")[0]
    if not folder:
        return len(ROOMS[top])
    return ROOMS[top].index(folder) if folder in ROOMS[top] else None


def check_room(file: str, target: str) -> str | None:
    """What is wrong with an include within one of the folders that have rooms."""
    top = next((top for top in ROOMS if file.startswith(top)), None)
    if top is None or not target.startswith(top):
        return None
    own, other = room(top, file), room(top, target)
    if own is None or other is None:
        unknown = file if own is None else target
        return f"{unknown} is in no room of {top}: {', '.join(ROOMS[top])}"
    return f"arrows of {top} only go down: {target} is above this file" if other > own else None


def check_includes(root: Path, file: str, lines: list[str]) -> list[str]:
    rule = next((r for r in RULES if file.startswith(r.folder)), None)
    if rule is None:
        return []
    found = []
    for number, line in enumerate(lines, 1):
        if match := INCLUDE.match(line):
            name = match[2]
            target = resolve(root, file, match[1] == '"', name)
            if target is not None:
                if not target.startswith(rule.project):
                    found.append(f"{file}:{number}: {rule.folder} must not include {target}")
                elif wrong := check_room(file, target):
                    found.append(f"{file}:{number}: {wrong}")
            elif not any(p.fullmatch(name) for p in rule.external):
                found.append(f"{file}:{number}: {rule.folder} must not include <{name}>")
        code = COMMENT.sub("", line)
        for pattern in rule.forbidden:
            if hit := pattern.search(code):
                found.append(f"{file}:{number}: {rule.folder} must not contain `{hit[0]}`")
    return found


def imports(file: str, text: str) -> list[tuple[int, str]]:
    """(line, path below PACKAGE without suffix) of what a module of the package imports of it."""
    found = []
    folder = file[len(PACKAGE):].split("/")[:-1]
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        base = folder[: len(folder) - node.level + 1] + (node.module or "").split(".")
        base = [part for part in base if part]
        # what `from . import x` names may be a module or a name in the package's __init__
        found += [(node.lineno, "/".join([*base, alias.name])) for alias in node.names]
    return found


def check_package(sources: dict[str, str]) -> list[str]:
    """Arrows between the rooms of the package and circles of its modules; `sources`: text by path."""
    modules = {name[len(PACKAGE):].removesuffix(".py"): name for name in sources}
    level = lambda module: next((i for i, room in enumerate(PACKAGE_ROOMS) if module.split("/")[0] == room), len(PACKAGE_ROOMS))
    found, arrows = [], {module: {} for module in modules}
    for module, file in modules.items():
        for line, target in imports(file, sources[file]):
            if level(target) > level(module):
                found.append(f"{file}:{line}: arrows of {PACKAGE} only go down: {target} is above this module")
            for name in (target, target.rpartition("/")[0], target + "/__init__", target.rpartition("/")[0] + "/__init__"):
                if name in modules:
                    arrows[module].setdefault(name, line)
                    break
    done = set()

    def visit(module, path):
        if module in path:
            circle = [*path[path.index(module):], module]
            found.append(f"{modules[module]}:{arrows[module][circle[1]]}: a circle of imports: {' -> '.join(circle)}")
        elif module not in done:
            for target in arrows[module]:
                visit(target, [*path, module])
            done.add(module)

    for module in modules:
        visit(module, [])
    return found


def check_text(file: str, lines: list[str]) -> list[str]:
    found = []
    limit = MAX_LINES_PHYSICS if file.startswith(PHYSICS) else MAX_LINES
    if Path(file).suffix in LINE_LIMITED and len(lines) > limit:
        found.append(f"{file}:{len(lines)}: longer than {limit} lines; split it")
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            found.append(f"{file}:{number}: unfinished work; finish it or open an issue")
        if MACHINE_PATH.search(line):
            found.append(f"{file}:{number}: a path of one machine")
    return found


def files(root: Path) -> list[str]:
    """What git tracks or would track; in an unpacked archive, everything that is not built."""
    git = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root,
                         capture_output=True, text=True)
    if git.returncode == 0 and git.stdout:
        names = git.stdout.splitlines()
    else:
        built = ("build", "out", ".venv", ".git")
        names = [p.relative_to(root).as_posix() for p in root.rglob("*")
                 if p.relative_to(root).parts[0] not in built]
    return sorted(n for n in names if (root / n).is_file())


def check(root: Path) -> list[str]:
    root = root.resolve()
    found = []
    names = files(root)
    found += check_package({n: (root / n).read_text(encoding="utf-8") for n in names
                            if n.startswith(PACKAGE) and n.endswith(".py")})
    for file in names:
        if Path(file).suffix not in TEXT or file == "LICENSE":
            continue
        lines = (root / file).read_text(encoding="utf-8").splitlines()
        if Path(file).suffix in CODE:
            found += check_includes(root, file, lines)
        if not file.startswith("tests/data/"):
            found += check_text(file, lines)
    return found


if __name__ == "__main__":
    violations = check(Path(__file__).parents[2])
    print("\n".join(violations) or "arrows: ok")
    sys.exit(bool(violations))
