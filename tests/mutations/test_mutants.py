"""Operators make the changes that they say, in code and nowhere else, and find the tests of a room."""

import ast
import subprocess
from pathlib import Path

import pytest
from mutants import Mutant, blank, changed_lines, of_changes, of_line, of_text, room_tests, with_tests

ROOT = Path(__file__).resolve().parents[2]


def of(line, python=False):
    return {(operator, changed.strip()) for operator, changed in of_line(line, python)}


@pytest.mark.parametrize("line, expected", [
    ("  const Real x = a + b;", {("sign", "const Real x = a - b;")}),
    ("  x += a - b;", {("sign", "x -= a - b;"), ("sign", "x += a + b;"), ("drop", ";")}),
    ("  if (a < b && c != d) {", {("relation", "if (a <= b && c != d) {"), ("relation", "if (a < b && c == d) {"),
                                  ("logic", "if (a < b || c != d) {")}),
    ("  y[i] = 0.5 * f(y, z);", {("constant", "y[i] = 1.0 * f(y, z);"), ("swap", "y[i] = 0.5 * f(z, y);"), ("drop", ";")}),
    ("  return 3;", {("constant", "return 4;")}),
    ("  std::vector<int> v;  // a + b", set()),
    ('  fail("a + 1 < b");', {("drop", ";")}),
    ("  x = f(a,", set()),
    ("  for (int i = 0; i < n; ++i) add(i, i);", {("constant", "for (int i = 1; i < n; ++i) add(i, i);"),
                                                  ("relation", "for (int i = 0; i <= n; ++i) add(i, i);")}),
])  # fmt: skip
def test_lines_of_cpp(line, expected):
    assert of(line) == expected


@pytest.mark.parametrize("line, expected", [
    ("    x = a if a > 1 and b else 0", {("relation", "x = a if a >= 1 and b else 0"), ("logic", "x = a if a > 1 or b else 0"),
                                        ("constant", "x = a if a > 2 and b else 0"), ("constant", "x = a if a > 1 and b else 1"),
                                        ("drop", "pass")}),
    ("    self.put(ids, x)", {("swap", "self.put(x, ids)"), ("drop", "pass")}),
    ("    raise Error(f'{a - b}')  # a - b", set()),
    ("    names = [", set()),
])  # fmt: skip
def test_lines_of_python(line, expected):
    assert of(line, python=True) == expected


def test_blank_keeps_the_columns():
    assert blank('f("a // b")  // c', False) == 'f("      ")      '
    assert len(blank("x = 'it # is'  # y", True)) == len("x = 'it # is'  # y")


def test_a_mutant_is_its_line():
    text = "def f(a, b):\n    \"\"\"a + b\n    a - b\"\"\"\n    c = a + b\n    return c\n"
    mutants = of_text("m.py", text)
    assert {m.line for m in mutants} == {1, 4} and {m.name.split()[1] for m in mutants} == {"sign", "drop", "swap"}
    for m in mutants:
        changed = m.apply(text)
        ast.parse(changed)
        assert [i for i, (x, y) in enumerate(zip(text.split("\n"), changed.split("\n")), 1) if x != y] == [m.line]
        assert m.apply(text.replace("a + b", "a * b").replace("f(a, b)", "g(a, b)")) is None, "the file has changed"


def test_changed_lines_are_those_of_git(tmp_path):
    git = lambda *a: subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *a], cwd=tmp_path, check=True,
                                    capture_output=True, text=True)  # fmt: skip
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.cpp").write_text("int a;\nint b;\nint c;\n")
    (tmp_path / "other.cpp").write_text("int a;\n")
    git("init", "-q"), git("add", "-A"), git("commit", "-qm", "a")
    (tmp_path / "src/a.cpp").write_text("int a;\nint d;\nint e;\nint c;\n")
    (tmp_path / "other.cpp").write_text("int z;\n")
    assert changed_lines(tmp_path, "HEAD") == {"src/a.cpp": {2, 3}}


@pytest.mark.parametrize("file, some", [
    ("src/model/build/pairs.cpp", "gtest"), ("src/physics/law/row_law.h", "gtest"), ("envs/ant.h", "gtest"),
    ("python/stiction/tasks/history.py", "python/"), ("python/stiction/learning/ppo.py", "python/learning/test_ppo.py"),
    ("python/stiction/_util/files.py", "python/util/test_files.py"),
])  # fmt: skip
def test_each_room_has_tests(file, some):
    gtests, pytests = room_tests(ROOT, file)
    assert gtests if some == "gtest" else any(t.startswith(some) for t in pytests)
    assert all((ROOT / "tests" / t).exists() for t in pytests)


def test_sources_have_mutants_of_every_kind():
    found = {}
    for file in ("src/physics/law/row_law.h", "src/model/build/pairs.cpp", "python/stiction/learning/ppo.py"):
        mutants = with_tests(ROOT, of_text(file, (ROOT / file).read_text()))
        assert len(mutants) > 50 and len({m.name for m in mutants}) == len(mutants)
        for m in mutants:
            assert isinstance(m, Mutant) and m.new != m.old
            found.setdefault(m.name.split()[1], []).append(m)
    assert set(found) == {"sign", "relation", "logic", "constant", "drop", "swap"}


def test_the_order_begins_with_one_of_each_file_and_operator(tmp_path, monkeypatch):
    import mutants

    lines = {"python/stiction/learning/ppo.py": set(range(100, 300)), "python/stiction/tasks/episodes.py": set(range(100, 300))}
    monkeypatch.setattr(mutants, "changed_lines", lambda root, since: lines)
    drawn, again, other = (of_changes(ROOT, "HEAD", seed) for seed in ("a", "a", "b"))
    assert drawn == again != other and sorted(m.name for m in drawn) == sorted(m.name for m in other)
    kinds = len({(m.file, m.name.split()[1]) for m in drawn})
    assert len({(m.file, m.name.split()[1]) for m in drawn[:kinds]}) == kinds
