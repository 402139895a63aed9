"""Two processes give the same bits, and one goes on where another has saved."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import stiction

SCRIPT = Path(__file__).with_name("fresh_process.py")
CALLS = 200  # of five steps
ROBOTS = ("allegro_right", "anymal_c", "cassie", "g1", "g1_feetonly", "go1", "go1_feetonly", "go2", "h1",
          "h1_feetonly", "leap_right", "panda")
LOOSE = {
    "stack": """
      <body pos="0 0 .102"><freejoint/><geom type="box" size=".2 .2 .1" mass="2"/></body>
      <body pos=".02 0 .31"><freejoint/><geom type="box" size=".15 .2 .1" mass="1"/></body>""",
    "trees": """
      <body pos="0 0 .11"><freejoint/><geom type="sphere" size=".1" mass="1"/></body>
      <body pos=".05 0 .31"><freejoint/><geom type="capsule" size=".08 .2" euler="80 0 0" mass="2"/>
        <body pos="0 .3 0"><joint type="ball"/><geom type="box" size=".05 .1 .05" mass=".3"/></body>
      </body>""",
    "mocap": """
      <body mocap="true" pos="0 0 .05"><geom type="box" size=".3 .3 .05"/></body>
      <body pos="0 0 .2"><freejoint/><geom type="sphere" size=".1" mass="1"/></body>""",
}


@pytest.fixture(params=[*ROBOTS, *LOOSE])
def scene(request, tmp_path):
    """The path of a model on a floor."""
    floor = '<geom type="plane" size="5 5 1" contype="7" conaffinity="7" condim="3"/>'
    if request.param in LOOSE:
        text = f"<mujoco><worldbody>{floor}{LOOSE[request.param]}</worldbody></mujoco>"
    else:
        text = stiction.assets.path(request.param, floor=False).read_text()
        if "feetonly" not in request.param:
            text = text.replace("<worldbody>", f"<worldbody>{floor}", 1)
    path = tmp_path / f"{request.param}.xml"
    path.write_text(text)
    return path


def start(*arguments):
    # another layout of memory and other hashes in every process
    return subprocess.Popen([sys.executable, str(SCRIPT), *map(str, arguments)], text=True,
                            env=os.environ | {"PYTHONHASHSEED": "random"}, stdout=subprocess.PIPE)


def lines(process):
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return out.splitlines()


def test_fresh_processes_give_the_same_bits(scene, tmp_path):
    saved = tmp_path / "saved"
    first = lines(start(scene, "anchored", 1, CALLS, "--save", saved, CALLS // 2))
    same = start(scene, "anchored", 2, CALLS)
    loaded = start(scene, "anchored", 1, CALLS, "--load", saved, CALLS // 2)
    assert lines(same) == first
    assert lines(loaded)[:-1] == first[CALLS // 2:-1]
    assert len(first) == CALLS + 1
    assert len({line.split(maxsplit=1)[1] for line in first}) > CALLS // 2  # it moves
    _, contacts, _, frozen = first[-1].split()
    assert frozen == "0"
    assert int(contacts) > CALLS or scene.stem == "panda"  # an arm that reaches nothing
