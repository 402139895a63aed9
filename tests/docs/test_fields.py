"""docs/fields.md says what src/physics/base/fields.def says."""

import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))
import make_fields  # noqa: E402


def test_page_is_up_to_date():
    made = subprocess.run([sys.executable, DOCS / "make_fields.py"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert (DOCS / "fields.md").read_text() == made.stdout, (
        "python3 docs/make_fields.py > docs/fields.md")


def test_page_has_every_public_field():
    text = 'X(state, wide, a, nq, one, step, "x | y")\nX(output, real, b, nbody, six, step, "z")\n'
    asked = 'X(c, nv, nv, "y")\n'
    page = make_fields.page(text, asked)
    assert "| `a` | (nq) | wide | step | x \\| y |" in page
    assert "| `b` | (nbody, 6) | real | step | z |" in page
    assert "| `c` | (nv, nv) | y |" in page
    with pytest.raises(ValueError, match="one line"):
        make_fields.page(text + 'X(state, wide,\n  c, nq, one, step, "")\n', asked)
    with pytest.raises(ValueError, match="one line"):
        make_fields.page(text, asked + 'X(d, nv,\n  one, "")\n')
