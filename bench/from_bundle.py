"""Tables of what cuda/bundle/run.sh found on a card: bench/results/<device>/*.csv.

    python bench/from_bundle.py RESULT.json...    # of several calls: the last of each part
"""

import argparse
import json
import sys
from pathlib import Path

from tables import slug, write

COLUMNS = ("model", "motion", "friction_iterations", "nv", "envs", "timestep", "steps_per_s", "ms_per_step",
           "ms_single_step", "spread", "points", "iter_mean", "iter_p95", "iter_max", "capped", "stalled", "residual",
           "frozen", "bytes_per_env", "hash", "error")  # fmt: skip
KERNEL = ("kernel", "us", "share", "threads_per_env", "registers", "local_bytes", "shared_bytes", "arena_bytes",
          "envs_per_sm", "occupancy")  # fmt: skip


def of(found: dict, columns) -> dict:
    digits = lambda x: f"{x:.6g}" if isinstance(x, float) else x
    return {c: digits(found.get(c, "")) for c in columns}


def rows(parts: dict, name: str) -> list:
    """Nothing of a part that is `absent`."""
    return found if isinstance(found := parts.get(name), list) else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", type=Path)
    found, parts = {}, {}
    for file in parser.parse_args().results:
        found = json.loads(file.read_text())
        parts |= {name: part["result"] for name, part in found["parts"].items() if part["result"]}
    if found["device"] == "none":
        sys.exit("found without a card: no result")
    folder = slug(found["device"])
    tables = {
        "step": [of(r, COLUMNS) for part in ("speed", "sweep") for r in rows(parts, part)],
        "cusolver": [of(r, COLUMNS) for r in rows(parts, "cusolver")],
        "kernels": [of(r, ("model", "motion", "envs")) | of(k, KERNEL) for r in rows(parts, "times")
                    for k in r.get("kernels", ())],
        "switches": [{"switches": s["switches"]} | of(r, COLUMNS) for part in ("switches", "groups")
                     for s in rows(parts, part) for r in s["rows"] or ()],
        "mjwarp": parts.get("compare", {}).get("rows", []),
    }  # fmt: skip
    for name, table in tables.items():
        if table:
            write(table, name, folder)


if __name__ == "__main__":
    main()
