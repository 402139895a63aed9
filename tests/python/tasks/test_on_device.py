"""The Python side of environments on a device: the tests of on_device.py, on the emulated one."""

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

HERE = Path(__file__).parent


def without_torch(code):
    block = "import sys; sys.modules['torch'] = None\n"
    emulated = Path(stiction._core.__file__).parents[1] / "emulated"
    return subprocess.run([sys.executable, "-c", block + code], cwd=HERE, text=True, capture_output=True,
                          env={**os.environ, "PYTHONPATH": f"{emulated}:{HERE.parent}"})  # fmt: skip


@pytest.mark.train("torch", "tensordict", "rsl_rl", "stable_baselines3")
def test_on_the_emulated_device():
    emulated = Path(stiction._core.__file__).parents[1] / "emulated"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", HERE / "on_device.py"]
    env = {**os.environ, "PYTHONPATH": f"{emulated}:{HERE.parent}", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 30


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
