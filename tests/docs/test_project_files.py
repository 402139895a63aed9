"""Files that say what the project is: one version, forms that their readers take."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VERSION = re.search(r"project\(stiction VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def test_the_citation_has_the_version_and_what_the_format_asks_for():
    text = (ROOT / "CITATION.cff").read_text()
    keys = re.findall(r"^([\w-]+):", text, re.MULTILINE)
    assert {"cff-version", "message", "title", "authors"} <= set(keys) and len(keys) == len(set(keys))
    assert f"\nversion: {VERSION}\n" in text and "\nlicense: Apache-2.0\n" in text


def test_security_names_what_is_there():
    text = (ROOT / "SECURITY.md").read_text()
    for link in re.findall(r"\]\(([^)#]+)", text):
        assert (ROOT / link).exists(), link


@pytest.mark.parametrize("form", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")), ids=lambda p: p.stem)
def test_issue_forms_have_what_they_need(form):
    yaml = pytest.importorskip("yaml", reason="yaml not installed: ./dev setup --train")
    read = yaml.safe_load(form.read_text())
    if form.stem == "config":
        assert set(read) == {"blank_issues_enabled"}
        return
    assert {"name", "description", "body"} <= set(read) <= {"name", "description", "body", "labels"}
    ids = [part["id"] for part in read["body"]]
    assert len(ids) == len(set(ids))
    for part in read["body"]:
        assert part["type"] in ("textarea", "input", "dropdown") and part["attributes"]["label"]
    # commands that a form asks for are commands of the program
    from stiction.cli import build_parser

    help_text = build_parser().format_help()
    for command in re.findall(r"`stiction ([a-z-]+)", form.read_text()):
        assert re.search(rf"^    {command}\b", help_text, re.MULTILINE), command
