"""include/stiction/sensors.def, the one list of sensors: MuJoCo's numbers and sizes, and each is in docs/mjcf.md."""

import re
from pathlib import Path

import mujoco
import pytest
import stiction

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^X\((\w+), (\d+), (\d), (state|interval), (cutoff|unbounded)\)$")
ROWS = [ROW.match(line).groups() for line in (ROOT / "include/stiction/sensors.def").read_text().splitlines()
        if line.startswith("X(")]
DEFINITIONS = (ROOT / "docs/mjcf.md").read_text().split("## Sensors")[1].split("## Ignored")[0]
OF_MUJOCO = {"rangefinder": "mjSENS_RANGEFINDER", "distance": "mjSENS_GEOMDIST", "normal": "mjSENS_GEOMNORMAL",
             "fromto": "mjSENS_GEOMFROMTO", "jointactuatorfrc": "mjSENS_JOINTACTFRC", "tendonactuatorfrc": "mjSENS_TENDONACTFRC"}  # fmt: skip


@pytest.mark.parametrize("name, number, dim, of, bounds", ROWS)
def test_numbers_are_mujocos(name, number, dim, of, bounds):
    kind = getattr(mujoco.mjtSensor, OF_MUJOCO.get(name, f"mjSENS_{name.upper().replace('_', '')}"), None)
    kind = kind if kind is not None else getattr(mujoco.mjtSensor, f"mjSENS_{name.upper()}")
    assert int(kind) == int(number) == int(getattr(stiction.SensorType, name))


def test_each_is_defined_in_the_documentation():
    named = set(re.findall(r"\w+", " ".join(line.split("|")[1] for line in DEFINITIONS.splitlines() if line.startswith("|"))))
    assert not {name for name, *_ in ROWS} - named


def test_no_number_or_name_twice():
    assert len({row[0] for row in ROWS}) == len({row[1] for row in ROWS}) == len(ROWS) == len(stiction.SensorType)
