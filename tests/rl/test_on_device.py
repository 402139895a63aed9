"""The Python side of environments on a device: the tests of on_device.py, on the emulated one."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stiction

HERE = Path(__file__).parent


def without_torch(code):
    block = "import sys; sys.modules['torch'] = None\n"
    emulated = Path(stiction._core.__file__).parents[1] / "emulated"
    return subprocess.run([sys.executable, "-c", block + code], cwd=HERE, text=True, capture_output=True,
                          env={**os.environ, "PYTHONPATH": f"{emulated}:{HERE}"})  # fmt: skip


@pytest.mark.train("torch", "tensordict", "rsl_rl", "stable_baselines3")
def test_on_the_emulated_device():
    emulated = Path(stiction._core.__file__).parents[1] / "emulated"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", HERE / "on_device.py"]
    env = {**os.environ, "PYTHONPATH": f"{emulated}:{HERE}", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 30


def test_without_torch_a_sentence_says_what_is_missing():
    done = without_torch("import kinds\nkinds.python(2, device='emulated')")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "device = 'emulated'" in last and "pip install 'stiction[train]'" in last
    assert without_torch("import kinds\nkinds.python(2)").returncode == 0
