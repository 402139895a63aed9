"""The Python side of environments on a device: tests that want torch, on the emulated one."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kinds
import stiction
from stiction.adapters import open_env
from stiction.cli import main

ROOM = Path(__file__).parent
EMULATED = Path(stiction._core.__file__).parents[1] / "emulated"


def run_emulated(*arguments):
    """Python with a module that has an emulated device, and with the tests' folder on its path."""
    env = {**os.environ, "PYTHONPATH": f"{EMULATED}:{ROOM.parent}", "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, *arguments], cwd=ROOM, env=env, text=True, capture_output=True)


def without_torch(code):
    return run_emulated("-c", "import sys; sys.modules['torch'] = None\n" + code)


@pytest.mark.parametrize("tests, least", [
    pytest.param("tasks/on_device.py", 30, marks=pytest.mark.train("torch", "tensordict", "rsl_rl", "stable_baselines3")),
    pytest.param("terms/on_device_terms.py", 12, marks=pytest.mark.train("torch")),
])  # fmt: skip
def test_on_the_emulated_device(tests, least):
    done = run_emulated("-m", "pytest", "-p", "no:cacheprovider", "-rs", ROOM.parent / tests)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= least


def test_without_torch_a_sentence_says_what_is_missing():
    done = without_torch("import kinds\nkinds.python(2, device='emulated')")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "device = 'emulated'" in last and "./dev setup --train" in last
    assert without_torch("import kinds\nkinds.python(2)").returncode == 0


def test_without_a_card_everything_says_why(capsys):
    why = stiction.cuda_devices().problem
    if not why:
        pytest.skip("there is a card")
    for create in (
        lambda: kinds.compiled(2, device="cuda:0"),
        lambda: kinds.python(2, device="cuda"),
        lambda: open_env("Ant-v5", 2, device="cuda:0", randomization=kinds.NOISY),
    ):
        with pytest.raises(stiction.ArgumentError) as refused:
            create()
        assert why in str(refused.value)
    assert main(["bench", "Ant-v5", "--device", "cuda:0"]) == 1
    assert why in capsys.readouterr().err


def test_a_package_that_is_no_checkout_names_its_extra(tmp_path, monkeypatch):
    from stiction._util import extras

    assert extras.remedy("train") == "./dev setup --train"
    monkeypatch.setattr(extras, "CHECKOUT", tmp_path / "lib")
    assert extras.remedy("train") == "pip install 'stiction[train]'"
