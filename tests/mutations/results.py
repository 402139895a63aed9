"""What each break was told when it was last made: results.csv, which is committed, and samples."""

import csv
import random
import subprocess
from pathlib import Path

from breaks import Break

FILE = Path(__file__).with_name("results.csv")
COLUMNS = ("break", "commit", "date", "noticed", "by")

# How much likelier than another a break is drawn: where a slip is cheapest to make and dearest to find.
WEIGHTS = {"src/physics/": 6, "cuda/": 2, "src/cpu/": 2, "src/batch/": 2}
NEW = 3  # times that, where no result is as young as the file that the break is made in


def git(root: Path, *arguments) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def read(path: Path = FILE) -> dict[str, dict]:
    """The row of each break that has one."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row["break"]: row for row in csv.DictReader(file)}


def write(rows: dict[str, dict], breaks: list[Break], path: Path = FILE) -> None:
    """The rows in the order of the table; those of breaks that it no longer has are left out."""
    part = path.with_suffix(".part")
    with part.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[b.name] for b in breaks if b.name in rows)
    part.replace(path)


def summary(rows: dict[str, dict], breaks: list[Break]) -> str:
    known = [rows[b.name] for b in breaks if b.name in rows]
    if not known:
        return f"none of {len(breaks)} breaks has a result"
    noticed = sum(row["noticed"] == "yes" for row in known)
    dates = sorted(row["date"] for row in known)
    return (f"{noticed} of {len(known)} noticed, {len(breaks) - len(known)} without a result; "
            f"at commits from {dates[0]} to {dates[-1]}")  # fmt: skip


def is_new(root: Path, b: Break, row: dict | None) -> bool:
    """Whether the break has no result, or its file has changed since."""
    if row is None or not git(root, "cat-file", "-t", row["commit"]):
        return True
    return bool(git(root, "diff", "--name-only", row["commit"], "--", b.file))


def weights(root: Path, breaks: list[Break], rows: dict[str, dict]) -> list[float]:
    result = []
    for b in breaks:
        place = next((w for folder, w in WEIGHTS.items() if b.file.startswith(folder)), 1)
        result.append(place * (NEW if is_new(root, b, rows.get(b.name)) else 1))
    return result


def sample(breaks: list[Break], weights: list[float], size: int, seed: str) -> list[Break]:
    """`size` different breaks; the same for the same seed. The largest of u^(1/w), u uniform in
    (0, 1): the k-th is drawn with probability proportional to w among those that are left."""
    rng = random.Random(seed)
    keys = [rng.random() ** (1 / w) for w in weights]
    drawn = sorted(range(len(breaks)), key=lambda i: -keys[i])[:size]
    return [breaks[i] for i in sorted(drawn)]
