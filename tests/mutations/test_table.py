"""The table of breaks fits the sources: mutate.py itself is run by hand and by the full tests."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from table import BREAKS  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
GTEST = re.compile(r"^TEST(?:_[FP])?\((\w+), (\w+)\)", re.MULTILINE)
GTESTS = {f"{suite}.{name}" for file in ROOT.glob("tests/**/*_test.cpp")
          for suite, name in GTEST.findall(file.read_text())}


@pytest.mark.parametrize("b", BREAKS, ids=lambda b: b.name)
def test_break_fits(b):
    assert (ROOT / b.file).read_text().count(b.old) == 1
    assert b.new != b.old
    assert b.gtests or b.pytests
    assert set(b.gtests) <= GTESTS
    for test in b.pytests:
        file, function = test.split("::")
        assert re.search(rf"^def {function}\(", (ROOT / "tests" / file).read_text(), re.MULTILINE)


def test_names_differ():
    assert len({b.name for b in BREAKS}) == len(BREAKS)
    assert len({(b.file, b.old, b.new) for b in BREAKS}) == len(BREAKS)
