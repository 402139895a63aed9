"""The notebooks of examples/notebooks: jupytext opens them in Jupyter, as scripts they run to their end and check themselves."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples/notebooks").glob("*.py"))


def test_there_are_three():
    assert [n.stem for n in NOTEBOOKS] == ["contact_and_creep", "own_task", "train"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda p: p.stem)
def test_cells_are_text_or_code(notebook):
    head, *cells = re.split(r"^# %%", notebook.read_text(), flags=re.MULTILINE)
    assert "format_name: percent" in head and all(line.startswith("#") for line in head.strip().splitlines())
    assert cells[0].startswith(" [markdown]\n# # "), "a title first"
    for cell in cells:
        kind, _, body = cell.partition("\n")
        if kind == " [markdown]":
            assert all(line.startswith("#") for line in body.strip().splitlines())
        else:
            assert kind == "" and ast.parse(body).body
    assert any("assert " in cell for cell in cells)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda p: p.stem)
def test_it_runs(notebook, tmp_path):
    run = subprocess.run([sys.executable, notebook], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()
