"""docs/terms.md: its example prints what it says, and its tables have every term."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import stiction
from stiction import rotations, sensors, terms

sys.path.append(str(Path(__file__).parents[3] / "bench"))

GUIDE = (Path(__file__).parents[3] / "docs" / "terms.md").read_text()


def test_the_example_prints_what_is_shown():
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    (shown,) = re.findall(r"```text\n(.*?)```", GUIDE, re.DOTALL)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout == shown


@pytest.mark.parametrize("module", [terms, sensors, rotations], ids=lambda m: m.__name__)
def test_everything_public_has_a_docstring(module):
    for name in module.__all__:
        assert (getattr(module, name).__doc__ or "").strip(), name


def test_the_tables_have_every_term_and_sensor():
    words = set(re.findall(r"[A-Za-z_]\w*", GUIDE))
    # what the lists of the class are about is said by their names in prose
    told_elsewhere = {"Command", "Robot", "TermTask", "walks", "feet_apart", "body_positions", "base_orientation",
                      "joint_torques", "clock", "time_left", "far_away", "Sensor"}  # fmt: skip
    assert set(terms.__all__) - told_elsewhere <= words
    assert set(sensors.__all__) <= words


def test_g1_in_terms_and_in_hooks_give_the_same_bits():
    import bench_terms

    assert bench_terms.compare(num_envs=24, steps=80) > 5


def test_g1_is_what_the_guide_says():
    env = stiction.TaskEnv(stiction.library.G1Flat, 2)
    assert env.num_obs == 99 and env.num_actions == 29 and "observations of 99 numbers" in GUIDE
    assert len(env.task.rewards) == 7 and env.dt == 0.02
