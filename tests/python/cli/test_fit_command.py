"""`stiction fit`: from a CSV to a table, JSON, a picture and a model; what is wrong is said in one line."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest

import stiction
from robot_logs import log_of, pendulum
from stiction.identification.logs import column_names


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A pendulum and its log, in degrees, with a column that nobody needs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pendulum.xml").write_text(pendulum(0.05, 0.01, 0))
    log = log_of(pendulum(0.15, 0.03, 0), 3, noise=(2e-3, 2e-2), hold=20, amplitude=2)
    rows = np.hstack([log.time[:, None], np.degrees(log.qpos), log.qvel, log.ctrl, np.full((len(log.time), 1), 40.0)])
    np.savetxt(
        "log.csv",
        rows,
        delimiter=",",
        header="time,q[hinge] (deg),qdot[hinge],torque,temperature",
        comments="",
        fmt="%.9g",
    )
    return tmp_path


FIT = ("fit", "log.csv", "--robot", "pendulum.xml", "--column", "ctrl[motor]=torque", "--threads", "1")
DAMPING = (*FIT, "--param", "dof_damping", "--param", "dof_armature[*]")


def test_everything_it_writes(cli, folder):
    result = cli(*DAMPING, "--figure", "fit.png", "--output", "fit.json", "--save", "fitted")
    assert result.returncode == 0, result.stderr
    assert result.stderr == "log.csv: not used: temperature\n"
    found = json.loads((folder / "fit.json").read_text())
    names = [e["name"] for e in found["estimates"]]
    assert names == ["dof_damping[hinge]", "dof_armature[hinge]"] == found["correlation"]["names"]
    for e, truth in zip(found["estimates"], (0.15, 0.03)):
        assert e["value"] == pytest.approx(truth, rel=0.05) and f"{e['value']:.4g}" in result.stdout
    assert '<joint name="hinge" damping="' in result.stdout and "95 % interval" in result.stdout
    fitted = stiction.Model.from_file("fitted/model.xml")
    assert (
        fitted.dof_damping[0] == found["estimates"][0]["value"]
        and fitted.dof_armature[0] == found["estimates"][1]["value"]
    )
    assert (folder / "fit.png").read_bytes()[:4] == b"\x89PNG"


def test_json(cli, folder):
    result = cli(*DAMPING, "--json", "--window", "0.3")
    found = json.loads(result.stdout)
    assert result.returncode == 0 and result.stderr == "" and found["samples"] == 301 and found["windows"] == 10
    assert set(found["noise"]) == {"qpos[hinge]", "qvel[hinge]"}


def test_a_task_brings_its_robot(cli, folder):
    """Its model and its steps: the mass of the pole that made the log is found again."""
    model = stiction.Env("InvertedPendulum-v5", 1).batch.model
    names = [name for kind in ("time", "qpos", "qvel", "ctrl") for name in column_names(model, kind)]
    log = log_of(model.to_xml(), 2, every=1, hold=10, amplitude=1)
    np.savetxt(
        "task.csv",
        np.hstack([log.time[:, None], log.qpos, log.qvel, log.ctrl]),
        delimiter=",",
        header=",".join(names),
        comments="",
    )
    result = cli("fit", "task.csv", "--task", "InvertedPendulum-v5", "--param", "mass[pole]", "--json")
    assert result.returncode == 0, result.stderr
    (estimate,) = json.loads(result.stdout)["estimates"]
    assert estimate["value"] == pytest.approx(model.body_mass[model.body("pole")], rel=0.02)


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (FIT, 2, "stiction fit: the following arguments are required: --param"),
        ((*FIT, "--param", "dof_dampng"), 1, "stiction: no parameter 'dof_dampng'; nearest: 'dof_damping'"),
        ((*FIT, "--param", "dof_damping[knee]"), 1, "stiction: dof_damping: no joint 'knee'"),
        (
            (*FIT[:-4], "--param", "dof_damping"),
            1,
            "stiction: log.csv: no column ctrl[motor]; columns are mapped by --column 'ctrl[motor]=HEADER'",
        ),
        ((*DAMPING, "--column", "torque"), 1, "stiction: --column torque: expected COLUMN=HEADER"),
        (
            (*DAMPING, "--window", "0.01"),
            1,
            "stiction: window = 0.01 s: log.csv has a row every 0.01 s; take 3 rows at least",
        ),
        ((*DAMPING, "--save", "."), 2, "stiction fit: --save: .: is there already; give the name of a new folder"),
        ((*DAMPING, "--output", "fit.txt"), 2, "stiction fit: --output: fit.txt: must end in .json"),
        (
            ("fit", "none.csv", "--robot", "pendulum.xml", "--param", "dof_damping"),
            2,
            "stiction fit: LOG: no such file: none.csv",
        ),
        (
            ("fit", "log.csv", "--param", "dof_damping"),
            2,
            "stiction fit: one of the arguments --robot --task is required",
        ),
    ],
    ids=["no param", "name", "joint", "column", "map", "window", "save", "output", "log", "robot"],
)
def test_what_is_refused(cli, folder, arguments, code, message):
    result = cli(*arguments)
    assert (result.returncode, result.stdout) == (code, "")
    last = result.stderr.splitlines()[-1]
    assert last.startswith(message), last


def test_ctrl_c_keeps_what_was_found(folder):
    """The signal comes from inside, after the third better point."""
    code = (
        "import os, signal, sys\nfrom stiction.cli import fit, main\n"
        "class Watch:\n    count = 0\n    def __call__(self, *_):\n        Watch.count += 1\n"
        "        if Watch.count == 3: os.kill(os.getpid(), signal.SIGINT)\n"
        f"fit._Watch = Watch\nsys.exit(main({[*DAMPING, '--output', 'fit.json']!r}))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 128 + signal.SIGINT, run.stderr
    assert "interrupted: the best that was found until then" in run.stdout
    assert json.loads((folder / "fit.json").read_text())["interrupted"]
