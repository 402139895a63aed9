"""Robots that come with the package: `stiction.assets.load("go2")`.

Where the command line takes a model file, it takes these names, too; a file of that name wins.
"""

from dataclasses import dataclass
from pathlib import Path

from .._core import ArgumentError, Model
from .._util.nearest import hint
from .._util.text import visible

_HERE = Path(__file__).parent
_PLAYGROUND = "Apache-2.0, BSD-3-Clause"


@dataclass(frozen=True)
class Robot:
    """What is known of a robot beside its file, whose head says what was taken from where."""

    name: str
    title: str
    licence: str  # SPDX names
    licence_file: Path | None  # None: the package's own
    file: Path  # the robot; of those named _feetonly and of the quadruped also a floor
    on_floor: Path  # the same on a floor; an arm, which is fixed to the world, has none


def _robot(name, title, licence, text, file=None) -> Robot:
    own = _HERE / (file or f"robots/{name}.xml")
    scene = _HERE / f"robots/on_floor/{name}.xml"
    where = _HERE / f"robots/licenses/{text}.txt" if text else None
    return Robot(name, title, licence, where, own, scene if scene.exists() else own)


_ROBOTS = {
    robot.name: robot
    for robot in (
        _robot("quadruped", "a quadruped of boxes and capsules, 12 servos", "Apache-2.0", None, "quadruped.xml"),
        _robot("go1", "Unitree Go1, servos", "BSD-3-Clause", "unitree_go1"),
        _robot("go1_feetonly", "Unitree Go1 of MuJoCo Playground, only feet touch", _PLAYGROUND, "unitree_go1"),
        _robot("go2", "Unitree Go2, torque motors", "BSD-3-Clause", "unitree_go2"),
        _robot("anymal_c", "ANYbotics ANYmal C, servos", "BSD-3-Clause", "anybotics_anymal_c"),
        _robot("h1", "Unitree H1, torque motors", "BSD-3-Clause", "unitree_h1"),
        _robot("h1_feetonly", "Unitree H1 of MuJoCo Playground, only feet touch", _PLAYGROUND, "unitree_h1"),
        _robot("g1", "Unitree G1 of mjlab, servos", _PLAYGROUND, "unitree_g1"),
        _robot("g1_feetonly", "Unitree G1 of MuJoCo Playground, only feet touch", _PLAYGROUND, "unitree_g1"),
        _robot("cassie", "Agility Robotics Cassie, torque motors, loops and springs", "MIT", "agility_cassie"),
        _robot("allegro_right", "Wonik Allegro hand, right, servos", "BSD-2-Clause", "wonik_allegro"),
        _robot("leap_right", "LEAP hand, right, servos", "MIT", "leap_hand"),
        _robot("panda", "Franka Emika Panda, servos, only finger pads touch", "Apache-2.0", "franka_emika_panda"),
    )
}  # fmt: skip


def names() -> list[str]:
    return list(_ROBOTS)


def info(name: str) -> Robot:
    """Title, licence and files of a robot. ArgumentError on an unknown name, with the nearest."""
    if name in _ROBOTS:
        return _ROBOTS[name]
    near = hint(name, _ROBOTS) or f"; there are: {', '.join(_ROBOTS)}"
    raise ArgumentError(f"no robot '{visible(name)}' in stiction.assets{near}")


def path(name: str, floor: bool = True) -> Path:
    """The MJCF file of a robot on a floor; floor=False: of the robot alone, to be included in a scene.

    Those named _feetonly and the quadruped have their floor in the one file that there is; the arm has none.
    """
    robot = info(name)
    return robot.on_floor if floor else robot.file


def load(name: str, floor: bool = True, strict: bool = False) -> Model:
    """`Model.from_file(path(name, floor), strict)`."""
    return Model.from_file(path(name, floor), strict=strict)
