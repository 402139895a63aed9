"""The documentation site: every page is in its index, every public name in the API, what the pages show is what happens."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stiction

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
API = "\n".join(page.read_text() for page in DOCS.glob("site/api/*.md"))
START = (DOCS / "site/start.md").read_text()


def in_toctrees(page: Path) -> set[Path]:
    """Pages that the toctrees of a page name."""
    entries = [line for tree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.DOTALL)
               for line in tree.splitlines() if line and not line.startswith(":")]  # fmt: skip
    return {(page.parent / f"{entry}.md").resolve() for entry in entries}


def test_every_page_is_in_the_index():
    reached, waiting = set(), [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        assert page.is_file(), page
        reached.add(page)
        waiting += in_toctrees(page) - reached
    there = {p for p in [*DOCS.glob("*.md"), *DOCS.glob("site/**/*.md")]}
    assert there == reached


def test_llms_txt_has_every_page_by_its_title():
    text = (ROOT / "llms.txt").read_text()
    assert text.startswith("# stiction\n\n> ")
    links = dict((link, title) for title, link in re.findall(r"\[([^\]]+)\]\(([^)]+)\)", text))
    assert all((ROOT / link).exists() for link in links)
    generated = ("changelog", "command-line", "contributing", "tasks", "api/")  # from other files and from docstrings
    for page in [*DOCS.glob("*.md"), *DOCS.glob("site/**/*.md")]:
        if not str(page.relative_to(DOCS)).startswith(tuple(f"site/{g}" for g in generated)):
            assert links[str(page.relative_to(ROOT))] == re.search(r"^# (.*)", page.read_text(), re.MULTILINE)[1]


@pytest.mark.parametrize("name", stiction.__all__)
def test_every_public_name_is_in_the_api(name):
    shown = set(re.findall(r"^\.\. auto(?:class|function|exception|module):: (?:stiction\.)?([\w.]+)$", API, re.MULTILINE))
    told = set(re.findall(r"`stiction\.(\w+)`", API))
    assert name in shown | told


def test_nothing_is_shown_that_is_not_there():
    for path in re.findall(r"^\.\. auto(?:class|function|exception):: ([\w.]+)$", API, re.MULTILINE):
        thing = stiction
        for part in path.removeprefix("stiction.").split("."):
            thing = getattr(thing, part)
    for name in re.findall(r"^\.\. automodule:: ([\w.]+)$", API, re.MULTILINE):
        assert importlib.util.find_spec(name), name


def examples(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", START, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code, shown", list(zip(examples("python"), examples("text"), strict=True)), ids=["batch", "task"])
def test_the_first_five_minutes_run_and_print_what_is_shown(code, shown):
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout == shown


def test_requirements_are_pinned():
    lines = (DOCS / "site/requirements.txt").read_text().splitlines()
    assert all(line.startswith("#") or re.fullmatch(r"[\w-]+==[\w.]+", line) for line in lines)


@pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="sphinx not installed: ./dev docs builds the site")
def test_the_site_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-c", DOCS / "site",
               "-d", tmp_path / "doctrees", DOCS, tmp_path / "html"]  # fmt: skip
    run = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert run.returncode == 0, run.stderr
    html = tmp_path / "html"
    assert "track_linear_velocity" in (html / "site/api/terms.html").read_text()
    assert "G1Flat" in (html / "site/tasks.html").read_text()
    assert "--set" in (html / "site/command-line.html").read_text()
    assert (html / "llms.txt").read_text().startswith("# stiction")


def test_the_page_of_status_has_each_bit_with_what_to_do():
    page = (DOCS / "site/status.md").read_text()
    rows = {name: (int(number), [cell.strip() for cell in rest.split("|")])
            for name, number, rest in re.findall(r"^\| `(\w+)` \| (\d+) \|(.*)\|$", page, re.MULTILINE)}  # fmt: skip
    assert set(rows) == {s.name for s in stiction.Status if s.value}
    frozen = {"bad_state", "cholesky_failed", "velocity_limit"}
    for name, (number, (meaning, remedy, then)) in rows.items():
        assert number == stiction.Status[name].value and meaning and remedy
        assert then == ("freezes" if name in frozen else "goes on"), name
