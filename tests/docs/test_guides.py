"""The pages of docs/ whose examples run as a whole: each prints what the page shows, and names lead to what is there."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stiction
from stiction.cli import build_parser

DOCS = Path(__file__).parents[2] / "docs"
COMING = sorted(DOCS.glob("site/coming-from/*.md"))
LEARN = [DOCS / f"{name}.md" for name in ("batch", "own_robot", "actuators", "randomisation", "recording", "robot")]
PAGES = [*COMING, *LEARN, DOCS / "site/status.md"]
NEEDS = {"gymnasium": ("gymnasium",), "robot": ("onnx", "onnxruntime")}


def examples(page):
    """(code, what it prints) of a page."""
    text = page.read_text()
    found = re.findall(r"^```python\n(.*?)^```\n\nprints\n\n```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(found) == text.count("```python"), f"{page.name}: a block without what it prints"
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_examples_print_what_is_shown(page, tmp_path):
    for package in NEEDS.get(page.stem, ()):
        pytest.importorskip(package)
    shown = examples(page)
    assert shown
    for code, text in shown:
        run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        assert run.stdout == text


def test_each_of_the_four_has_a_page():
    assert {p.stem for p in COMING} == {"gymnasium", "isaac-lab", "mjlab", "mujoco"}
    hub = (DOCS / "site/coming-from.md").read_text()
    for page in COMING:
        assert hub.count(f"coming-from/{page.stem}") == 2, "in the table and in the toctree"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_names_lead_to_what_is_here(page):
    text = page.read_text()
    for name in re.findall(r"`stiction\.([a-z]\w*)", text):
        assert hasattr(stiction, name) or importlib.util.find_spec(f"stiction.{name}"), name
    batch = stiction.Batch(stiction.assets.load("go1_feetonly"), 1)
    for name in re.findall(r"`batch\.(\w+)", text):
        assert hasattr(batch, name), name
    for name in re.findall(r"`stiction\.rotations\.(\w+)`", text):
        assert hasattr(stiction.rotations, name), name


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_links_and_commands_exist(page):
    text = page.read_text()
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (page.parent / link).exists(), link
    help_text = build_parser().format_help()
    for command in re.findall(r"^(?:`|)stiction ([a-z-]+)|`stiction ([a-z-]+)", text, re.MULTILINE):
        assert re.search(rf"^    {''.join(command)}\b", help_text, re.MULTILINE), command


# Two pages that are records: results as the laboratory wrote them, and what changed when.
PROSE = [p for p in [DOCS.parent / "README.md", *DOCS.rglob("*.md")] if p.stem not in ("laboratory-results", "migration")]


@pytest.mark.parametrize("page", PROSE, ids=lambda p: str(p.relative_to(DOCS.parent)))
def test_lines_of_prose_are_short(page):
    """Neither tables nor code and equations, which are indented by four."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert not [line for line in prose.splitlines() if len(line) > 120 and not line.startswith(("|", "    "))]


def test_what_one_learns_has_a_page():
    """Own robot, own task, terrain, randomisation, actuators, export, many processes: the table of the index leads to each."""
    index = (DOCS / "index.md").read_text()
    for link in ("own_robot.md", "terms.md", "tasks.md", "tasks.md#terrain", "randomisation.md", "actuators.md", "robot.md",
                 "scaling.md"):  # fmt: skip
        assert f"]({link})" in index, link
