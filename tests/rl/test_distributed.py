"""Ranks of torchrun step the environments of one process: seed + i, wherever environment i lives."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.train("torch", "rsl_rl")


def torchrun(ranks, path, total=1024, steps=30):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}",
               str(Path(__file__).parent / "rank.py"), str(total), str(steps), str(path)]  # fmt: skip
    run = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert run.returncode == 0, run.stderr[-3000:]
    return np.load(path)


def test_two_ranks_of_512_are_one_process_of_1024(tmp_path):
    two = torchrun(2, tmp_path / "two.npy")
    one = torchrun(1, tmp_path / "one.npy")
    assert (
        one.shape == (30, 1024, 19)
        and one[:, :, -1].any()
        and len(np.unique(one[-1, :, 0])) == 1024
    )
    assert two.tobytes() == one.tobytes()
