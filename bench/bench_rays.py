"""Rays beside a control step of four physics steps: a Go2 on flat ground and on rough, one core.

    .venv/bin/python bench/bench_rays.py --program build/release/bench/bench_rays

`share` is of the control step measured in the same run, turn by turn; `floor_ns` what a task's scan takes at least:
FLOPS per sample at two a cycle and 3 GHz. Writes bench/results/<processor>/rays.csv.
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

import stiction
from scenes import ROOT, scenes
from tables import processor, table, write

# A sample of an upright field: 2 x 4 for its place, 2 x 2 for cell and rest, 9 for the elevation, 2 for the height; it
# reads three doubles and writes a float.
FLOPS, BYTES = 23, 28
EYE = '<camera name="eye" pos="0.3 0 0.05" xyaxes="0 -1 0 0.5 0 1"/>'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/bench/bench_rays")
    parser.add_argument("--machine", default=processor())
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for scene in scenes(["go2", "go2_rough"]):
            # the robot's root is the first body with a joint
            text = re.sub(r'(<body name="base"[^>]*>)', rf"\1{EYE}", scene.xml(), count=1)
            file = Path(folder) / f"{scene.name}.xml"
            file.write_text(re.sub(r'meshdir="[^"]*"', "", text))
            out = subprocess.run([args.program, file], check=True, capture_output=True, text=True)
            for line in out.stdout.splitlines():
                _, what, rays, ns, share = line.rsplit(",", 4)
                floor = round(int(rays) * FLOPS / 2 / 3) if what == "height scan of a task" else ""
                rows.append({"scene": scene.name, "what": what, "rays": rays, "ns_per_env": ns,
                             "share": share, "floor_ns": floor})  # fmt: skip
    isa = stiction.Batch(stiction.Model.from_xml("<mujoco/>")).isa
    print(table(rows))
    write([{"isa": isa, **row} for row in rows], "rays", args.machine)


if __name__ == "__main__":
    main()
