"""What README.md shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
GUIDES = ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in ROOT.glob("docs/*.md"))]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_python_example_prints_what_is_shown():
    (code,), (shown,) = blocks("python"), blocks("text")
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    # The creep follows from the law to far more digits than are printed, so text is compared.
    assert run.stdout == shown


def test_dev_commands_exist():
    known = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True).stdout
    mentioned = {c for name in GUIDES for c in re.findall(r"\./dev (\w+)", (ROOT / name).read_text())}
    assert mentioned >= {"run", "test", "doctor"}
    for command in mentioned:
        assert re.search(rf"^  {command}\b", known, re.MULTILINE), f"./dev {command}"


@pytest.mark.parametrize("guide", GUIDES)
def test_links_and_paths_exist(guide):
    text = (ROOT / guide).read_text()
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", text)
    paths = re.findall(r"`((?:src|include|tests|python|examples|bench|docs)/[\w./]*[\w/])`", text)
    coming = {"src/physics", "src/cpu"}  # named as future folders
    base = (ROOT / guide).parent
    missing = [p for p in links if not (base / p).exists()]
    missing += [p for p in paths if p not in coming and not (ROOT / p).exists()]
    assert not missing
