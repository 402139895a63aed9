"""Which source lines the instructions of kernels come from, and the time of warps: `./dev gpu-counts --lines`.

Of PTX that nvcc made with -lineinfo. A line counts what was compiled from it and from the functions that it
calls, which are inlined; `alone`: from itself. A warp's cycles are those until it issues the instruction, what it
waits for among them.
"""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOC = re.compile(r"\.loc\s+(\d+) (\d+) (\d+)(?:, function_name \S+, inlined_at (\d+) (\d+) (\d+))?")
FILE = re.compile(r'\.file\s+(\d+) "([^"]+)"')


def source(name: str) -> Path:
    """A file's place here: ccache may give what another clone compiled, in its build/lines/."""
    inside = name.partition("/build/lines/../../")[2]
    return (ROOT / inside if inside else Path(name)).resolve()


def count_lines(counted: str):
    """From PTX with numbers before each line, instructions and cycles: of each with calls, and alone, by (number of the
    file, line)."""
    sums, paths, here = [(Counter(), Counter()) for _ in range(2)], {}, ()
    for row in counted.splitlines():
        executed, cycles, text = row.split("\t", 2)
        if ".entry" in text or ".func" in text:
            paths, here = {}, ()  # where a place is called from, as the last of its instructions says
        elif found := LOC.search(text):
            place, caller = found.groups()[:3], found.groups()[3:]
            here = (*paths.get(caller, (caller[:2],) if caller[0] else ()), place[:2])
            paths[place] = here
        elif int(executed):
            for (whole, alone), n in zip(sums, (int(executed), float(cycles)), strict=True):
                whole.update(dict.fromkeys(here, n))
                alone[here[-1] if here else None] += n
    return sums


def table_of_lines(folder: Path, per: int, least: float):
    """Prints, of each kernel's file of PTX, the lines with at least that share of its instructions or of its warps' time:
    instructions per environment and step, `per` of which there are, and percent of the time."""
    for file in sorted(folder.iterdir()):
        counted = file.read_text()
        (whole, alone), (whole_cycles, alone_cycles) = count_lines(counted)
        total, time = sum(alone.values()), sum(alone_cycles.values())
        if not total or not time:
            continue
        names = {number: source(name) for number, name in FILE.findall(counted)}
        print(f"\n{total / per:.0f} instructions of a warp: with calls, alone; time, %: with calls, alone; line")
        for (number, line), n in sorted(whole.items(), key=lambda e: (str(names[e[0][0]]), int(e[0][1]))):
            at = (number, line)
            if max(n / total, whole_cycles[at] / time) < least or not names[number].is_relative_to(ROOT):
                continue
            text = names[number].read_text().splitlines()[int(line) - 1].strip()
            where = f"{names[number].relative_to(ROOT)}:{line}"
            print(f"{n / per:8.0f} {alone[at] / per:7.0f} {100 * whole_cycles[at] / time:6.1f} "
                  f"{100 * alone_cycles[at] / time:5.1f}  {where:36} {text}")  # fmt: skip
