"""The repository keeps its arrows, and each rule is seen to catch a planted violation."""

from pathlib import Path

import pytest
from check_arrows import MAX_LINES, MAX_LINES_PHYSICS, PACKAGE, PACKAGE_ROOMS, ROOMS, RULES, check, files

ROOT = Path(__file__).parents[2]

# folder -> includes that its rule allows; files that exist in the planted tree or in a library.
ALLOWED = {
    "include/stiction/": ['"stiction/model.h"', "<vector>"],
    "src/model/": ['"stiction/model.h"', '"math.h"', '"model/part.h"', "<tinyxml2.h>", "<map>"],
    "src/reference/": ['"stiction/model.h"', '"math.h"', '"reference/part.h"', "<Eigen/Dense>"],
    "src/physics/": ['"stiction/types.h"', '"physics/part.h"', "<cmath>"],
    "src/cpu/": ['"physics/part.h"', '"cpu/part.h"', "<thread>"],
    "src/batch/": ['"stiction/model.h"', '"cpu/part.h"', '"batch/part.h"', "<nlohmann/json.hpp>"],
    "src/index.h": ["<cstddef>"],
    "src/math.h": ["<Eigen/Dense>", "<cmath>", '"index.h"'],
    "src/env/": ['"stiction/model.h"', '"physics/part.h"', '"cpu/part.h"', '"envs/part.h"'],
    "src/files.": ['"stiction/model.h"', "<fcntl.h>", "<string>"],
    "src/": ['"stiction/model.h"', '"math.h"', "<memory>"],
    "cuda/": ['"physics/part.h"', "<cuda_runtime.h>", "<thrust/copy.h>"],
    "envs/": ['"physics/part.h"', '"stiction/model.h"'],
    "python/": ['"stiction/model.h"', "<nanobind/nanobind.h>"],
    "lab/": ['"reference/part.h"', "<Eigen/Dense>", "<nanobind/nanobind.h>"],
    "examples/": ["<stiction/model.h>", "<cstdio>"],
}
FORBIDDEN = {
    "include/stiction/": ["<Eigen/Dense>", '"math.h"', "<cuda_runtime.h>", "<nanobind/nanobind.h>"],
    "src/model/": ['"reference/part.h"', '"physics/part.h"', '"../reference/part.h"'],
    "src/reference/": ['"model/part.h"', '"physics/part.h"', "<tinyxml2.h>"],
    "src/physics/": ["<vector>", "<Eigen/Dense>", "<cuda_runtime.h>", '"stiction/model.h"'],
    "src/cpu/": ['"reference/part.h"', "<Eigen/Dense>", "<cuda_runtime.h>"],
    "src/batch/": ['"physics/part.h"', '"reference/part.h"', "<Eigen/Dense>"],
    "src/index.h": ['"stiction/model.h"', "<Eigen/Dense>"],
    "src/math.h": ['"stiction/model.h"', '"model/part.h"'],
    "src/env/": ['"model/part.h"', '"reference/part.h"', "<Eigen/Dense>"],
    "src/files.": ['"math.h"', '"batch/part.h"', "<Eigen/Dense>"],
    "src/": ['"physics/part.h"', '"reference/part.h"', '"cpu/part.h"', "<fcntl.h>"],
    "cuda/": ['"physics/pack.h"', "<Eigen/Dense>", '"reference/part.h"'],
    "envs/": ['"cpu/part.h"', "<vector>"],
    "python/": ['"reference/part.h"', '"../../src/model/part.h"', "<Eigen/Dense>"],
    "lab/": ['"physics/part.h"', '"model/part.h"'],
    "examples/": ["<Eigen/Dense>"],
}


def plant(root: Path, file: str, text: str) -> None:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def place(rule: str) -> str:
    return rule if rule.endswith(".h") else f"{rule}planted.cpp"


@pytest.fixture
def tree(tmp_path):
    """A miniature of the layout without violations."""
    plant(tmp_path, "include/stiction/model.h", "#pragma once\n")
    plant(tmp_path, "include/stiction/types.h", "#pragma once\n")
    plant(tmp_path, "src/math.h", "#pragma once\n")
    plant(tmp_path, "src/index.h", "#pragma once\n")
    for folder in ("src/model", "src/reference", "src/physics", "src/cpu", "src/batch", "envs"):
        plant(tmp_path, f"{folder}/part.h", "#pragma once\n")
    plant(tmp_path, "src/physics/pack.h", "#pragma once\n")
    assert check(tmp_path) == []
    return tmp_path


def test_repository():
    assert len(files(ROOT)) > 20  # the check sees the sources
    violations = check(ROOT)
    assert not violations, "\n" + "\n".join(violations)


def test_every_rule_is_tested():
    assert set(ALLOWED) == set(FORBIDDEN) == {rule.folder for rule in RULES}


@pytest.mark.parametrize("folder, include", [(f, i) for f, all in ALLOWED.items() for i in all])
def test_allowed(tree, folder, include):
    plant(tree, place(folder), f"#include {include}\n")
    assert check(tree) == []


@pytest.mark.parametrize("folder, include", [(f, i) for f, all in FORBIDDEN.items() for i in all])
def test_forbidden(tree, folder, include):
    plant(tree, place(folder), f"// first line\n#  include {include}\n")
    violations = check(tree)
    assert violations and all(v.startswith(f"{place(folder)}:2:") for v in violations)


@pytest.mark.parametrize("top", ROOMS)
def test_arrows_between_rooms_go_down(tree, top):
    own = top.removeprefix("src/")
    for room in ROOMS[top]:
        plant(tree, f"{top}{room}/part.h", "#pragma once\n")
    for i, room in enumerate(ROOMS[top]):
        allowed = "".join(f'#include "{own}{other}/part.h"\n' for other in ROOMS[top][: i + 1])
        plant(tree, f"{top}{room}/planted.h", allowed)
        assert check(tree) == []
        for other in (*(f"{other}/part.h" for other in ROOMS[top][i + 1:]), "part.h"):
            plant(tree, f"{top}{room}/planted.h", f'#include "{own}{other}"\n')
            assert [v for v in check(tree) if v.startswith(f"{top}{room}/planted.h:1: arrows of {top}")]
        plant(tree, f"{top}{room}/planted.h", "#pragma once\n")


def test_a_folder_that_is_no_room_is_named(tree):
    plant(tree, "src/physics/attic/planted.h", '#include "physics/part.h"\n')
    assert ["src/physics/attic/planted.h is in no room" in v for v in check(tree)] == [True]


def test_rooms_are_the_folders():
    for top, rooms in ROOMS.items():
        folders = {p.parent.relative_to(ROOT / top).as_posix() for p in (ROOT / top).rglob("*.*")} - {"."}
        assert folders == set(rooms)


@pytest.mark.parametrize("line", ["from ..cli import main", "def f():\n    from ..learning.ppo import Ppo", "from .. import Batch",
                                  "from .. import cli", "from ..view.film import write_mp4"])
def test_arrows_of_the_package_go_down(tree, line):
    plant(tree, f"{PACKAGE}tasks/task.py", f"{line}\n")
    assert ["arrows of python/stiction/ only go down" in v for v in check(tree)] == [True]


@pytest.mark.parametrize("line", ["from .._core import Error", "from .._util.text import say", "from .names import find_task",
                                  "from . import names", "import numpy as np", "from ..arrays import host"])
def test_what_a_module_may_import(tree, line):
    plant(tree, f"{PACKAGE}tasks/task.py", f"{line}\n")
    plant(tree, f"{PACKAGE}tasks/names.py", "")
    assert check(tree) == []


def test_no_circle_of_imports(tree):
    plant(tree, f"{PACKAGE}view/show.py", "def f():\n    from .window import WindowView\n")
    plant(tree, f"{PACKAGE}view/window.py", "from .panel import Panel\n")
    assert check(tree) == []
    plant(tree, f"{PACKAGE}view/panel.py", "from . import show\n")
    (found,) = check(tree)
    assert "a circle of imports: " in found and found.count("view/") >= 4


def test_rooms_of_the_package_exist():
    names = {p.stem for p in (ROOT / PACKAGE).iterdir()}
    assert set(PACKAGE_ROOMS) - {"_core"} <= names


@pytest.mark.parametrize("code", ["std::vector<int> v;", "auto p = new int;", "throw 1;",
                                  "void* p = malloc(8);"])
def test_physics_neither_allocates_nor_throws(tree, code):
    plant(tree, "src/physics/planted.h", f"// may say new or throw in a comment\n{code}\n")
    assert len(check(tree)) == 1


@pytest.mark.parametrize("file, limit", [("src/physics/long.h", MAX_LINES_PHYSICS),
                                         ("src/reference/long.cpp", MAX_LINES_PHYSICS),
                                         ("src/model/long.cpp", MAX_LINES),
                                         ("tests/python/long.py", MAX_LINES)])
def test_length(tree, file, limit):
    plant(tree, file, "\n" * limit)
    assert check(tree) == []
    plant(tree, file, "\n" * (limit + 1))
    assert len(check(tree)) == 1


@pytest.mark.parametrize("text", ["// TO" "DO later", "# FIX" "ME", "cd /ro" "ot/project",
                                  "path = '/ho" "me/someone/x.xml'"])
@pytest.mark.parametrize("file", ["src/model/planted.cpp", "docs/planted.md", "tests/planted.py"])
def test_text(tree, file, text):
    plant(tree, file, text + "\n")
    assert len(check(tree)) == 1
