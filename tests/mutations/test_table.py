"""The table of breaks fits the sources: mutate.py itself is run by hand and by the full tests."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import results  # noqa: E402
from breaks import Break  # noqa: E402
from mutate import gtests_of  # noqa: E402
from table import BREAKS  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
GTESTS = {name for file in ROOT.glob("tests/**/*_test.cpp") for name in gtests_of(file)}


@pytest.mark.parametrize("b", BREAKS, ids=lambda b: b.name)
def test_break_fits(b):
    assert (ROOT / b.file).read_text().count(b.old) == 1
    assert b.new != b.old
    assert b.gtests or b.pytests or b.ptx
    assert {*b.gtests, *b.ptx} <= GTESTS
    for test in b.pytests:
        file, function = test.split("::")
        assert re.search(rf"^def {function}\(", (ROOT / "tests" / file).read_text(), re.MULTILINE)


def test_names_differ():
    assert len({b.name for b in BREAKS}) == len(BREAKS)
    assert len({(b.file, b.old, b.new) for b in BREAKS}) == len(BREAKS)


def test_every_result_is_of_a_break_that_was_noticed():
    rows = results.read()
    assert set(rows) <= {b.name for b in BREAKS}
    for row in rows.values():
        assert row["noticed"] == "yes", row["break"]
        assert re.fullmatch("[0-9a-f]{40}", row["commit"]) and row["by"]


def test_a_sample_belongs_to_its_seed_and_its_weights():
    breaks = [Break(str(i), "src/physics/x.h" if i < 20 else "docs/x", "a", "b") for i in range(100)]
    weight = [6.0] * 20 + [1.0] * 80
    drawn = [results.sample(breaks, weight, 10, f"commit {k}") for k in range(400)]
    assert drawn[0] == results.sample(breaks, weight, 10, "commit 0") != drawn[1]
    assert all(len({b.name for b in some}) == 10 for some in drawn)
    # the first draw takes one of the 20 with probability 120/200, the tenth with somewhat less
    share = sum(b.file.startswith("src/physics") for some in drawn for b in some) / 4000
    assert 0.5 < share < 0.6


def test_what_changed_since_its_result_is_drawn_more_often(tmp_path):
    commit = lambda *names: [results.git(tmp_path, *command) for command in (
        ("add", *names), ("-c", "user.name=a", "-c", "user.email=b", "commit", "-m", "x"),
        ("rev-parse", "HEAD"))][-1]  # fmt: skip
    results.git(tmp_path, "init")
    for name in ("old.h", "new.h"):
        (tmp_path / name).write_text("1")
    row = {"commit": commit("old.h", "new.h")}
    (tmp_path / "new.h").write_text("2")
    commit("new.h")
    breaks = [Break("a", "old.h", "", ""), Break("b", "new.h", "", ""), Break("c", "old.h", "", "")]
    found = results.weights(tmp_path, breaks, {"a": row, "b": row})
    assert found == [1, results.NEW, results.NEW]


def test_results_are_kept_in_the_order_of_the_table(tmp_path):
    breaks = [Break(name, "x", "", "") for name in "cab"]
    row = lambda name, noticed="yes": {
        "break": name, "commit": "1" * 40, "date": "2026-01-02", "noticed": noticed, "by": "a, \"b\""}  # fmt: skip
    rows = {"a": row("a"), "b": row("b", "no"), "gone": row("gone")}
    results.write(rows, breaks, tmp_path / "results.csv")
    found = results.read(tmp_path / "results.csv")
    assert list(found) == ["a", "b"] and found["b"] == rows["b"]
    assert results.summary(found, breaks).startswith("1 of 2 noticed, 1 without a result;")
