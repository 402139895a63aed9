"""What the scripts share: their arguments, tables as CSV, and MuJoCo's side of a comparison."""

import argparse
import csv
from pathlib import Path

import mujoco


def arguments(states=None):
    """Policies, --csv and, with a default, --states."""
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=Path)
    if states is not None:
        parser.add_argument("--states", type=int, default=states)
    parser.add_argument("--csv", type=Path)
    return parser.parse_args()


def write_csv(path, header, rows):
    """Nothing where no path was given."""
    if path:
        with path.open("w", newline="") as f:
            writer = csv.writer(f)
            writer.writerow(header)
            writer.writerows(rows)


def mujoco_model(xml, dt, solref=None, limits=None, **options):
    """solref, limits: time constants of all geoms and joint limits, s; options: of mjOption."""
    m = mujoco.MjModel.from_xml_string(xml)
    m.opt.timestep = dt
    for name, value in options.items():
        setattr(m.opt, name, value)
    if solref:
        m.geom_solref[:, 0] = solref
    if limits:
        m.jnt_solref[:, 0] = limits
    return m
