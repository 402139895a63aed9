"""Ranks of torchrun: the environments and the rollout of one process, its gradients; deaths, and going on."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stiction
from stiction.cli import main
from stiction.learning import ranks
from stiction.learning.ranks import Ranks

HERE = Path(__file__).parent
TASK = "InvertedPendulum-v5"
needs_torch = pytest.mark.train("torch", "rsl_rl")


def torchrun(count, script, *arguments, restarts=0, deaths=""):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={count}",
               f"--max-restarts={restarts}", str(HERE / script), *map(str, arguments)]  # fmt: skip
    more = {"capture_output": True, "text": True, "timeout": 900, "env": os.environ | {"DIES": deaths}}
    return subprocess.run(command, **more)


def numbers(out):
    with open(out / "progress.csv", newline="") as file:
        return [int(row["number"]) for row in csv.DictReader(file)]


@needs_torch
def test_two_ranks_of_512_are_one_process_of_1024(tmp_path):
    found = []
    for count in (2, 1):
        run = torchrun(count, "rank.py", 1024, 30, tmp_path / f"{count}.npy")
        assert run.returncode == 0, run.stderr[-3000:]
        found.append(np.load(tmp_path / f"{count}.npy"))
    two, one = found
    assert (
        one.shape == (30, 1024, 19)
        and one[:, :, -1].any()
        and len(np.unique(one[-1, :, 0])) == 1024
    )
    assert two.tobytes() == one.tobytes()


@needs_torch
def test_two_ranks_collect_the_bits_of_one_process_and_learn_its_gradients(tmp_path, monkeypatch):
    """Of 4096 environments, or of 2048 and 2048, one minibatch."""
    import torch

    import train_rank

    arguments = ["train", "HalfCheetah-v5", "--num-envs", 4096, "--iterations", 1, "--minibatches", 1, "--horizon", 6,
                 "--no-plot", "--option", "max_episode_steps=5"]  # fmt: skip
    run = torchrun(2, "train_rank.py", tmp_path / "two", *arguments, "--out", tmp_path / "run2")
    assert run.returncode == 0, run.stderr[-3000:]
    assert "4096 environments, 1 threads in 2 ranks" in " ".join(run.stdout.split())
    with monkeypatch.context() as patch:
        patch.setattr(train_rank.rsl_ranks.Ppo, "update", train_rank.rsl_ranks.Ppo.update)
        train_rank.watch(tmp_path / "one")
        assert main([str(a) for a in (*arguments, "--out", tmp_path / "run1")]) == 0
    one, *two = (torch.load(tmp_path / name) for name in ("one.0", "two.0", "two.1"))
    assert one["dones"].any() and one["observations"].shape[:2] == (6, 4096)
    assert len(torch.unique(one["actions"])) > 100_000, "no two draw the same"
    for name in (*train_rank.ROLLOUT, "observations"):
        together = torch.cat([rank[name] for rank in two], dim=1)
        if name == "advantages":  # normalised by sums in another order
            torch.testing.assert_close(together, one[name], rtol=1e-5, atol=1e-5)
        else:
            assert torch.equal(together, one[name]), name
    for name in (k for k in one if "." in k):
        assert torch.equal(two[0][name], two[1][name]), name
        largest = one[name].abs().max()
        assert largest > 0 and (two[0][name] - one[name]).abs().max() < 1e-5 * largest, name


@needs_torch
def test_a_rank_that_dies_ends_the_run_and_resume_goes_on_with_another_number(tmp_path, capsys):
    """Rank 1 dies in the third iteration, torchrun begins anew from the checkpoint, it dies in the fifth."""
    arguments = ("train", TASK, "--num-envs", 66, "--no-plot", "--out", tmp_path / "run")
    run = torchrun(2, "train_rank.py", tmp_path / "seen", *arguments, "--iterations", 8, restarts=1, deaths="1:2,1:4")
    assert run.returncode == 1 and "Signal 9 (SIGKILL)" in run.stderr
    assert "stiction: rank 0: another rank has ended" in run.stderr or "SIGTERM" in run.stderr
    assert "rsl_session.py" not in run.stderr, run.stderr
    assert numbers(tmp_path / "run") == [1, 2, 3, 4]
    for count, iterations in ((1, 1), (3, 2)):
        more = (*arguments[:3], "66", *arguments[4:], "--resume", "--iterations", iterations)
        if count == 1:
            assert main([str(a) for a in more]) == 0
            text = capsys.readouterr().out
        else:
            run = torchrun(count, "train_rank.py", tmp_path / "seen", *more)
            text = run.stdout
            assert run.returncode == 0, run.stderr[-3000:]
        assert f"new episodes begin: the checkpoint is of {2 if count == 1 else 1} ranks" in text
    assert numbers(tmp_path / "run") == list(range(1, 8))
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert (summary["iterations"], summary["env_steps"], summary["ranks"]) == (7, 7 * 24 * 66, 3)


@needs_torch
def test_returns_of_five_seeds_overlap(tmp_path):
    """Later updates part by their minibatches; what is learnt does not: the ranges of five returns overlap, and
    both have learnt."""
    arguments = ["train", TASK, "--num-envs", 256, "--horizon", 16, "--epochs", 6, "--minibatches", 2, "--iterations", 8,
                 "--learning-rate", 3e-3, "--option", "max_episode_steps=200", "--seeds", 5, "--no-plot"]  # fmt: skip
    run = torchrun(2, "train_rank.py", tmp_path / "seen", *arguments, "--out", tmp_path / "two")
    assert run.returncode == 0, run.stderr[-3000:]
    assert main([str(a) for a in (*arguments, "--out", tmp_path / "one")]) == 0
    one, two = (json.loads((tmp_path / name / "summary.json").read_text())["return_mean"] for name in ("one", "two"))
    assert len(one) == len(two) == 5
    assert max(min(one), min(two)) <= min(max(one), max(two)), (one, two)
    assert min(np.median(one), np.median(two)) > 60, "after one iteration 20"


@needs_torch
def test_noise_belongs_to_environments_not_to_ranks():
    """3000 environments in blocks of 1024, in one process, two and three; every iteration is another."""
    import torch

    from stiction.learning.rsl_ranks import BLOCK, Noise

    assert BLOCK == 1024
    one, later = Noise(7, 0, 3000, 4, 5), Noise(7, 0, 3000, 4, 5)
    several = {k: [Noise(7, r * 3000 // k, 3000 // k, 4, 5) for r in range(k)] for k in (2, 3)}
    seen = []
    for step in range(10):
        drawn = one.step()
        for shares in several.values():
            assert torch.equal(drawn, torch.cat([noise.step() for noise in shares])), step
        seen.append(drawn)
    everything = torch.stack(seen)
    assert len(torch.unique(everything)) > 0.99 * everything.numel()
    assert abs(everything.mean()) < 0.02 and abs(everything.std() - 1) < 0.02  # 120 000 numbers: deviation 0.003
    later.begin(1)
    assert torch.equal(later.step(), seen[5]), "a resume draws what the run would have drawn"
    assert not torch.equal(Noise(8, 0, 3000, 4, 5).step(), seen[0])


@needs_torch
def test_moments_of_several_ranks_are_those_of_all_numbers():
    import torch

    from stiction.learning.rsl_ranks import moments

    x = torch.randn(3, 1000, generator=torch.Generator().manual_seed(1)) * 3 + 1e3

    class Three(Ranks):
        def gather_all(self, *mine):
            rows = [(p.numel(), p.mean().item(), (p - p.mean()).square().sum().item()) for p in x.double()]
            return torch.tensor(rows, dtype=torch.float64)

    for ranks_, numbers_ in ((Three(), x), (Ranks(), x[:1])):
        mean, deviation = moments(ranks_, x[0])
        assert mean == pytest.approx(numbers_.double().mean().item(), rel=1e-14)
        assert deviation == pytest.approx(numbers_.double().std().item(), rel=1e-12)


# ------------------------------------------------------------------------------- without torch


def test_ranks_share_environments_alike():
    four = [Ranks(rank, 4, rank, 4) for rank in range(4)]
    assert [r.share(4096) for r in four] == [(0, 1024), (1024, 1024), (2048, 1024), (3072, 1024)]
    assert Ranks().share(7) == (0, 7) and four[0].first and not four[1].first
    with pytest.raises(stiction.ArgumentError, match="--num-envs 4095: 4 ranks share them alike: take 4092, or 4096"):
        four[1].share(4095)
    with pytest.raises(stiction.ArgumentError, match="take 4, or 8"):
        four[1].share(3)


def test_each_rank_of_a_machine_has_its_card_and_its_cores(monkeypatch):
    monkeypatch.setattr(ranks, "usable_cores", lambda: 16)
    rank = Ranks(rank=11, size=16, local_rank=3, local_size=8)
    assert rank.device("cuda") == rank.device("cuda:3") == "cuda:3" and rank.device("cpu") == "cpu"
    with pytest.raises(stiction.ArgumentError, match="take --device cuda"):
        rank.device("cuda:0")
    assert rank.threads(None) == 2 and rank.threads(5) == 5 and Ranks().threads(None) is None


def under_torchrun(monkeypatch, **variables):
    given = {"WORLD_SIZE": 2, "RANK": 0, "LOCAL_RANK": 0, "LOCAL_WORLD_SIZE": 2} | variables
    for name, value in given.items():
        monkeypatch.setenv(name, str(value))


@pytest.mark.parametrize("missing", ["torch", "rsl_rl"])
def test_without_torch_one_line_says_the_remedy(missing, tmp_path, monkeypatch, capsys):
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda m, *a: None if m == missing else m == "torch" or found(m, *a))
    under_torchrun(monkeypatch)
    assert main(["train", TASK, "--out", str(tmp_path / "run")]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"stiction: {missing} is not installed, and 2 ranks need it: ") and error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_the_trainer_in_numpy_is_one_process(tmp_path, monkeypatch, capsys):
    under_torchrun(monkeypatch)
    assert main(["train", TASK, "--trainer", "numpy", "--out", str(tmp_path / "run")]) == 1
    assert "--trainer numpy: it is one process, and here are 2 ranks" in capsys.readouterr().err


def test_numbers_that_no_launcher_sets(monkeypatch, capsys):
    under_torchrun(monkeypatch, RANK=2)
    assert main(["train", TASK]) == 1 and "RANK=2" in capsys.readouterr().err
    under_torchrun(monkeypatch, WORLD_SIZE="two")
    assert main(["train", TASK]) == 1 and "WORLD_SIZE=two: must be a whole number" in capsys.readouterr().err
