"""Tasks made of terms on a device: the tests of on_device_terms.py, on the emulated one."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stiction

HERE = Path(__file__).parent


@pytest.mark.train("torch")
def test_on_the_emulated_device():
    emulated = Path(stiction._core.__file__).parents[1] / "emulated"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", HERE / "on_device_terms.py"]
    env = {**os.environ, "PYTHONPATH": f"{emulated}:{HERE}", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 7 and "skipped" not in done.stdout
