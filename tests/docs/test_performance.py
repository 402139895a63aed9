"""What docs/performance.md and README.md promise is what the files of measurements say."""

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "bench/results"
CORE = "intel-r-xeon-r-processor-2-50ghz"
MODELS = {"Ant": "ant", "Go2": "go2", "Humanoid": "humanoid", "G1, feet touch": "g1_feetonly"}


def rows(file, **wanted):
    with open(RESULTS / file) as f:
        return [r for r in csv.DictReader(f) if all(r[k] == v for k, v in wanted.items())]


def one(file, column, **wanted):
    (row,) = rows(file, **wanted)
    return float(row[column])


def promised(name):
    """Cells of a robot in the table of a page, as pairs of smooth motion and noise."""
    lines = {re.search(rf"^\| {name} \|.*$", (ROOT / page).read_text(), re.MULTILINE)[0] for page in ("docs/performance.md", "README.md")}
    (line,) = lines
    return [re.findall(r"[\d.]+", cell) for cell in line.split("|")[2:-1]]


@pytest.mark.parametrize("name", MODELS)
def test_the_table_has_the_numbers_of_the_files(name):
    steps, ratio, card, beside = promised(name)
    model = MODELS[name]
    for i, motion in enumerate(("smooth", "noise")):
        core = {"model": model, "motion": motion, "law": "task", "threads": "1", "envs": "1024", "isa": "avx512"}
        assert steps[i] == f"{one(f'{CORE}/mujoco.csv', 'steps_per_s', **core) / 1e3:.0f}"
        assert ratio[i] == f"{one(f'{CORE}/mujoco.csv', 'ratio', **core):.1f}"
        on_card = {"model": model, "motion": motion, "envs": "8192", "friction_iterations": "auto"}
        folder = "nvidia-h100-80gb-hbm3"
        assert card[i] == f"{one(f'{folder}/step.csv', 'steps_per_s', **on_card) / 1e6:.1f}"
        assert beside[i] == f"{one(f'{folder}/mjwarp.csv', 'ratio', **on_card):.1f}"


def test_the_page_is_short_and_its_scripts_exist():
    text = (ROOT / "docs/performance.md").read_text()
    assert text.count("\n") < 150 and text.count("![") <= 3
    for script in re.findall(r"`(bench/\w+\.\w+)`", text):
        assert (ROOT / script).is_file(), script
    for note in (ROOT / "lab/notes").glob("*.md"):
        assert f"](../lab/notes/{note.name})" in text, note.name
