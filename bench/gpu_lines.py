"""Which source lines the instructions of kernels come from: `./dev gpu-counts --lines`.

Of PTX that nvcc made with -lineinfo. A line counts what was compiled from it and from the functions that it
calls, which are inlined; `alone`: from itself.
"""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOC = re.compile(r"\.loc\s+(\d+) (\d+) (\d+)(?:, function_name \S+, inlined_at (\d+) (\d+) (\d+))?")
FILE = re.compile(r'\.file\s+(\d+) "([^"]+)"')


def count_lines(counted: str):
    """From PTX with a count before each line: counts with calls, and alone, by (number of the file, line)."""
    whole, alone, paths, here = Counter(), Counter(), {}, ()
    for row in counted.splitlines():
        times, _, text = row.partition("\t")
        if ".entry" in text or ".func" in text:
            paths, here = {}, ()  # where a place is called from, as the last of its instructions says
        elif found := LOC.search(text):
            place, caller = found.groups()[:3], found.groups()[3:]
            here = (*paths.get(caller, (caller[:2],) if caller[0] else ()), place[:2])
            paths[place] = here
        elif n := int(times):
            whole.update(dict.fromkeys(here, n))
            alone[here[-1] if here else None] += n
    return whole, alone


def table_of_lines(folder: Path, per: int, least: float):
    """Prints, of each kernel's file of PTX, the lines with at least that share of it, `per` environment and step."""
    for file in sorted(folder.iterdir()):
        counted = file.read_text()
        whole, alone = count_lines(counted)
        total = sum(alone.values())
        if not total:
            continue
        names = {number: Path(name).resolve() for number, name in FILE.findall(counted)}
        print(f"\n{total / per:.0f} instructions of a warp: with calls, alone, line")
        for (number, line), n in sorted(whole.items(), key=lambda e: (str(names[e[0][0]]), int(e[0][1]))):
            if n < least * total or not names[number].is_relative_to(ROOT):
                continue
            text = names[number].read_text().splitlines()[int(line) - 1].strip()
            where = f"{names[number].relative_to(ROOT)}:{line}"
            print(f"{n / per:8.0f} {alone[number, line] / per:7.0f}  {where:36} {text}")
