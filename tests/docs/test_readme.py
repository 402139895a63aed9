"""What README.md shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
GUIDES = ["README.md", "CONTRIBUTING.md", *(f"{p.relative_to(ROOT)}" for folder in ("docs", "lab/notes") for p in ROOT.glob(f"{folder}/*.md"))]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_python_example_prints_what_is_shown():
    (code,), (shown,) = blocks("python"), blocks("text")
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    # The creep follows from the law to far more digits than are printed, so text is compared.
    assert run.stdout == shown


STANDS = """
import numpy as np
contacts = batch.contacts()
assert batch.num_envs == 16 and not batch.frozen.any() and not batch.status.any()
assert (batch.qpos[:, 2] > 0.25).all() and (batch.xquat[:, 1, 0] > 0.99).all(), "they stand"
assert (np.bincount(contacts.env) == 4).all(), "on four feet"
"""
AROUND = {  # what a block needs besides, and what holds after it
    "stiction.Batch(": ("import stiction\n", STANDS),
    "stiction.Env(": ("import gymnasium\nimport numpy as np\nimport stiction\n"
                      "actions = np.zeros((16, 8))\n", "assert obs.shape == (16, env.num_obs)\n"),
}


@pytest.mark.parametrize("block", blocks("py"), ids=lambda b: b.partition("\n")[0])
def test_other_python_examples_run(block):
    before, after = next(x for words, x in AROUND.items() if words in block)
    if "gymnasium." in block:
        pytest.importorskip("gymnasium")
    assert "num_envs=4096" in block
    code = before + block.replace("4096", "16") + after
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


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
