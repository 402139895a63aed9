"""What the models of a folder need, and what of it is computed:

    python bench/coverage.py FOLDER ... [--list] [--csv FILE]

Takes every *.xml below the folders that begins with <mujoco> and is a model with degrees of freedom, in MuJoCo's
opinion where stiction refuses it. `whole`: loads with strict=True. Otherwise what stands in the way, by kinds:
`blocks` counts the models that lack it, `alone` those that lack nothing else. Models are loaded in another process,
which may crash.
"""

import argparse
import csv
import re
import sys
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

import stiction

ROOT_ELEMENT = re.compile(r"^(\s|<\?[^>]*>|<!--.*?-->|<!DOCTYPE[^>]*>)*<mujoco[\s>/]", re.DOTALL)


@dataclass
class Found:
    file: Path
    verdict: str  # whole, physics ignored, refused
    lacks: tuple[str, ...]  # kinds, sorted


def in_mujoco(file: Path) -> bool:
    """Whether MuJoCo loads it as a model with degrees of freedom; True where it is not installed."""
    try:
        import mujoco
    except ImportError:
        return True
    try:
        return mujoco.MjModel.from_xml_path(str(file)).nv > 0
    except ValueError:
        return False


def kinds(error: Exception) -> tuple[str, ...]:
    """What a refusal names, without files, lines, names and numbers."""
    lines = [line.strip() for line in str(error).splitlines()]
    said = {re.sub(r"^\S+\.xml:\d+: ", "", line) for line in lines if re.match(r"\S+\.xml:\d+: <", line)} or {lines[0]}
    said = {re.sub(r' name="[^"]*"', "", line) for line in said}
    said = {re.sub(r"'[^']*'", "'...'", line) for line in said}
    return tuple(sorted({re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "#", line)[:90] for line in said}))


def look(file: Path) -> Found | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = stiction.Model.from_file(file)
        except stiction.ModelError as error:
            return Found(file, "refused", kinds(error)) if in_mujoco(file) else None
    if not model.nv:
        return None
    report = model.report
    if report.complete:
        return Found(file, "whole", ())
    lacks = {f"<{e.element} {e.attribute}>" if e.attribute else f"<{e.element}>" for e in report.entries if e.physics}
    for pair in report.pairs_without_collider:
        types = {pair.type1, pair.type2}
        lacks.add("a collider of " + next((t for t in ("hfield", "mesh") if t in types), "-".join(sorted(types))))
    return Found(file, "physics ignored", tuple(sorted(lacks)))


def look_at_all(files: list[Path]) -> list[Found]:
    """A file that takes the process with it is counted as refused; a new process goes on with the next."""
    found, pool = [], ProcessPoolExecutor(1)
    for file in files:
        try:
            found.append(pool.submit(look, file).result())
        except BrokenProcessPool:
            found.append(Found(file, "refused", ("loading it ends the process",)))
            pool = ProcessPoolExecutor(1)
    pool.shutdown()
    return [f for f in found if f]


def files(folder: Path) -> list[Path]:
    return [f for f in sorted(folder.rglob("*.xml")) if ROOT_ELEMENT.match(f.read_text(errors="replace"))]


def counts(found: list[Found]) -> Counter:
    return Counter(f.verdict for f in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--list", action="store_true", help="each model that is not whole, and why")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="the same list as a file")
    a = parser.parse_args()
    total = []
    print(f"{'folder':40s} models  whole  physics ignored  refused")
    for folder in a.folders:
        if not folder.is_dir():
            sys.exit(f"no folder {folder}")
        found = look_at_all(files(folder))
        n = counts(found)
        print(f"{folder.name[-40:]:40s} {len(found):6d} {n['whole']:6d} {n['physics ignored']:16d} {n['refused']:8d}")
        total += found
    n = counts(total)
    print(f"{'all':40s} {len(total):6d} {n['whole']:6d} {n['physics ignored']:16d} {n['refused']:8d}\n")
    blocks = Counter(what for f in total for what in f.lacks)
    alone = Counter(f.lacks[0] for f in total if len(f.lacks) == 1)
    print("blocks  alone  what")
    for what, count in blocks.most_common():
        print(f"{count:6d} {alone[what]:6d}  {what}")
    rows = [{"file": str(f.file), "verdict": f.verdict, "lacks": "; ".join(f.lacks)} for f in total if f.lacks]
    if a.list:
        for row in rows:
            print(f"{row['file']}: {row['lacks']}")
    if a.csv:
        with a.csv.open("w", newline="") as out:
            writer = csv.DictWriter(out, ("file", "verdict", "lacks"), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
