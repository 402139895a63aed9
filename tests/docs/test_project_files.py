"""Files that say what the project is: one version, forms that their readers take."""

import json
import re
import subprocess
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


def commands_of_dev():
    return set(re.findall(r"^  ([a-z-]+)\b", subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True).stdout,
                          re.MULTILINE))  # fmt: skip


@pytest.mark.parametrize("workflow", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=lambda p: p.stem)
def test_workflows_run_what_is_there(workflow):
    yaml = pytest.importorskip("yaml", reason="yaml not installed: ./dev setup --train")
    read = yaml.safe_load(workflow.read_text())
    assert read["permissions"] == {"contents": "read"} and True in read  # `on` is YAML's true
    steps = [step for job in read["jobs"].values() for step in job["steps"]]
    runs = [step["run"] for step in steps if "run" in step]
    assert ".ci/run" in runs and "./dev wheel" in runs
    for command in re.findall(r"\./dev ([a-z-]+)", "\n".join(runs)):
        assert command in commands_of_dev()
    assert all(("run" in step) != ("uses" in step) for step in steps)
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]) for step in steps if "uses" in step)
    assert all(job["timeout-minutes"] <= 360 for job in read["jobs"].values()), "of what a hosted runner allows"


def test_the_container_for_development_is_set_up_by_dev():
    read = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    assert read["postCreateCommand"] == "./dev setup" and read["image"] == "debian:12"


@pytest.mark.parametrize("file", sorted((ROOT / "docker").glob("*ockerfile")), ids=lambda p: p.name)
def test_images_are_made_of_what_dev_asks_for(file):
    text = file.read_text()
    instructions = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)).splitlines()
    known = {"FROM", "COPY", "RUN", "ENV", "USER", "WORKDIR", "ENTRYPOINT", "CMD"}
    assert {line.split()[0] for line in instructions if line} <= known
    assert all(":latest" not in line and ":" in line for line in instructions if line.startswith("FROM"))
    for line in instructions:  # each RUN is a shell script
        if line.startswith("RUN "):
            subprocess.run(["sh", "-n"], input=line[4:], text=True, check=True)
    packages = re.search(r"^build_packages=\((.*?)\)", (ROOT / "dev").read_text(), re.MULTILINE | re.DOTALL)[1].split()
    needed = {p for p in packages if "gtest" not in p and "gmock" not in p}
    assert "/stiction/dev wheel" in text or needed <= set(re.findall(r"[a-z0-9+.-]+", instructions[1]))
    extras = re.search(r"\[([a-z,]+)\]\"", text)[1].split(",")
    declared = (ROOT / "pyproject.toml").read_text()
    assert all(re.search(rf"^{extra} = \[", declared, re.MULTILINE) for extra in extras)
