"""Results as text and as CSV."""

import csv
import re
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def slug(name: str) -> str:
    return re.sub(r"\W+", "-", name).strip("-").lower()


def processor() -> str:
    names = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return slug(names[0] if names else "unknown")


def write(rows: list[dict], name: str, machine: str = "") -> None:
    """bench/results/<machine>/<name>.csv; no machine where the numbers depend on the engine only."""
    from stiction._util.files import replacing  # reading tables takes no built module

    path = RESULTS / machine / f"{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part, part.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"written to {path.relative_to(RESULTS.parents[1])}")


def table(rows: list[dict]) -> str:
    """Columns as wide as their widest entry."""
    lines = [list(rows[0]), *([str(v) for v in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join("  ".join(v.rjust(w) for v, w in zip(line, widths)) for line in lines)
