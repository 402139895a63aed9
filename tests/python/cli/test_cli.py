"""The command line: exit codes (0 well, 1 refused or failed, 2 bad usage) and what it prints."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import stiction
from robots import QUADRUPED, SPHERE

MOVING_FLOOR = SPHERE.replace('name="floor"', 'name="floor" adhesion="1"', 1)
# six drums meet hills only, whose file is not there
HILLS = (
    '<asset><hfield name="h" file="h.png" size="9 9 1 1"/></asset>'
    '<worldbody><geom name="hills" type="hfield" hfield="h" contype="2" conaffinity="0"/>'
)
DRUM = (
    '<body pos="{0} 0 1"><freejoint/><geom name="drum{0}" type="cylinder" size=".1 .1" '
    'contype="0" conaffinity="2"/></body>'
)
DRUMS = SPHERE.replace("<worldbody>", HILLS, 1).replace(
    "</worldbody>", "".join(DRUM.format(k) for k in range(6)) + "</worldbody>"
)


def write(tmp_path, text):
    path = tmp_path / "model.xml"
    path.write_text(text)
    return path


def test_version(cli):
    result = cli("--version")
    assert (result.returncode, result.stdout) == (0, f"stiction {stiction.__version__}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("fly",),
        ("check-model",),
        ("check-model", "nowhere.xml"),
        ("rollout", "nowhere.xml"),
        ("rollout", QUADRUPED, "--steps", "0"),
        ("rollout", QUADRUPED, "--dt", "-1"),
        ("rollout", QUADRUPED, "--dt", "nan"),
        ("rollout", QUADRUPED, "--contact-model", "rigid"),
        ("rollout", QUADRUPED, "--output", "trajectory.txt"),
    ],
)
def test_bad_usage(cli, arguments):
    result = cli(*arguments)
    assert result.returncode == 2
    assert result.stderr.startswith("stiction") and result.stderr.count("\n") == 1 and result.stdout == ""


# --------------------------------------------------------------------------------- check-model


def test_check_model_accepts(cli):
    result = cli("check-model", QUADRUPED)
    assert result.returncode == 0 and result.stderr == ""
    assert "accepted, nq 19, nv 18, nu 12, nbody 14" in " ".join(result.stdout.split())


def test_check_model_all_lists_more(cli):
    short, full = (cli("check-model", QUADRUPED, *more).stdout for more in ((), ("--all",)))
    assert len(full.splitlines()) > len(short.splitlines())
    assert "frictionloss" in full
    assert max(map(len, full.splitlines()[1:])) <= 80  # the first is the file's name


def test_check_model_refuses(cli, tmp_path):
    path = write(tmp_path, SPHERE.replace('mass="1"', 'mass="-1"'))
    result = cli("check-model", path)
    assert result.returncode == 1
    assert "refused" in result.stderr and "mass" in result.stderr
    assert "Traceback" not in result.stderr


def test_check_model_strict(cli, tmp_path):
    path = write(tmp_path, MOVING_FLOOR)
    relaxed, strict = cli("check-model", path), cli("check-model", path, "--strict")
    assert (relaxed.returncode, strict.returncode) == (0, 1)
    assert "adhesion" in relaxed.stdout and "adhesion" in strict.stderr


def test_check_model_json(cli, tmp_path):
    path = write(tmp_path, MOVING_FLOOR)
    result = cli("check-model", path, "--json")
    told = json.loads(result.stdout)
    assert result.returncode == 0 and told["accepted"] and not told["complete"]
    assert told["sizes"]["ngeom"] == 2 and told["error"] is None
    (velocity,) = [e for e in told["entries"] if e["attribute"] == "adhesion"]
    assert velocity["use"] == "ignored" and velocity["physics"] and velocity["line"] == 4

    result = cli("check-model", path, "--json", "--strict")
    told = json.loads(result.stdout)
    assert result.returncode == 1 and not told["accepted"] and "adhesion" in told["error"]


def test_check_model_groups_pairs_without_collider(cli, tmp_path):
    path = write(tmp_path, DRUMS)
    text = cli("check-model", path).stdout
    assert "no collider: 6 pairs hfield-cylinder: 'hills' and 'drum0', " in text
    assert text.count("'drum") == 3 and "and 3 more" in text
    assert "'hills' and 'drum5'" in " ".join(cli("check-model", path, "--all").stdout.split())
    told = json.loads(cli("check-model", path, "--json").stdout)
    assert len(told["pairs_without_collider"]) == 6


def test_output_may_be_cut_short():
    """`stiction ... | head` must not end in a traceback."""
    command = f'"{sys.executable}" -m stiction check-model "{QUADRUPED}" --all | head -n 1'
    result = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=300)
    assert result.stderr == "" and len(result.stdout.splitlines()) == 1


# --------------------------------------------------------------------------------- rollout


def test_rollout_npz(cli, tmp_path):
    path = tmp_path / "trajectory.npz"
    result = cli("rollout", QUADRUPED, "--steps", 50, "--controls", "home", "--output", path)
    assert result.returncode == 0 and "steps       50" in result.stdout
    model = stiction.Model.from_file(QUADRUPED)
    expected = stiction.Reference(model).rollout(
        model.key_qpos[0], model.key_qvel[0], model.key_ctrl[0], 50
    )
    with np.load(path) as data:
        assert data["qpos"].tobytes() == expected.qpos.tobytes()
        assert data["ctrl"].shape == (50, 12) and data["energy"].shape == (51, 2)
        np.testing.assert_allclose(data["time"][-1], 0.1, rtol=1e-12)
        assert {"qvel", "iterations", "residual", "ncontact", "status"} <= set(data)


def test_rollout_csv_is_exact(cli, tmp_path):
    path = tmp_path / "trajectory.csv"
    result = cli("rollout", QUADRUPED, "--steps", 10, "--dt", 0.001, "--output", path)
    assert result.returncode == 0
    header, *rows = path.read_text().splitlines()
    assert header.startswith("time,qpos_0,") and header.endswith(",qvel_17") and len(rows) == 11
    model = stiction.Model.from_file(QUADRUPED)
    reference = stiction.Reference(model, stiction.Options(timestep=0.001))
    last = reference.rollout(model.key_qpos[0], model.key_qvel[0], nstep=10).qpos[-1]
    # 17 digits give every double back
    assert [float(x) for x in rows[-1].split(",")[1:20]] == list(last)


def test_rollout_random_follows_the_seed(cli, tmp_path):
    found = []
    for seed in (1, 1, 2):
        path = tmp_path / f"{len(found)}.npz"
        arguments = ("--controls", "random", "--seed", seed, "--steps", 300, "--output", path)
        assert cli("rollout", QUADRUPED, *arguments).returncode == 0
        with np.load(path) as data:
            found.append(data["qpos"].tobytes())
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("option", ["--controls", "--keyframe"])
def test_rollout_unknown_keyframe(cli, option):
    result = cli("rollout", QUADRUPED, option, "hom")
    assert result.returncode == 1 and "home" in result.stderr
    assert "Traceback" not in result.stderr


def test_rollout_contact_model_is_used(cli, tmp_path):
    found = set()
    for kind in ("lagged", "similar", "sap"):
        path = tmp_path / f"{kind}.npz"
        arguments = ("--contact-model", kind, "--steps", 300, "--output", path)
        assert cli("rollout", QUADRUPED, *arguments).returncode == 0
        with np.load(path) as data:
            found.add(data["qpos"].tobytes())
    assert len(found) == 3


def test_rollout_where_nothing_can_be_written(cli, tmp_path):
    path = tmp_path / "missing" / "t.npz"
    result = cli("rollout", QUADRUPED, "--steps", 5, "--output", path)
    assert result.returncode == 2
    assert "there is no folder" in result.stderr and "Traceback" not in result.stderr


# --------------------------------------------------------------------------------- doctor


def test_doctor(cli):
    result = cli("doctor")
    assert result.returncode == 0
    # a line that goes on is indented; only words longer than a line, like paths, are wider than a terminal
    found = dict(line.split(None, 1) for line in re.sub(r"\n +", " ", result.stdout).splitlines())
    assert all(len(line) <= 80 or " " not in line.strip()[18:] for line in result.stdout.splitlines())
    assert "pip install" not in result.stdout, "this is a checkout"
    assert found["stiction"].startswith(stiction.__version__)
    assert found["numpy"].strip() == np.__version__
    assert found["engine"].startswith("ok, ")
    assert {"python", "cpu", "renderer", "mujoco", "matplotlib"} <= set(found)
    report = stiction.cuda_devices()
    assert report.problem in found["cuda"]
    assert not report.built or f"built with {report.toolkit}" in found["cuda"]
    assert {d.name for d in report.devices} <= set(found)
