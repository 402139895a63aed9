"""What ptxas makes of the kernels, against the budget in kernel_budget.json.

    check_kernels.py [--write] BUILD        e.g. build/release, made by Ninja

The kernels are compiled as the build has compiled them, so ccache has the answer, with what ptxas said.
`task Ant by a warp` is the kernel of a task around its physics. A kernel with more registers, spills, stack or
static shared memory than its budget fails, and so do a spill and a wide number in the arithmetic of `solve`, which of
`step` is compiled alone for that: there PTX may only load and round options.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUDGET = Path(__file__).with_name("kernel_budget.json")
CARD = "sm_90"  # of the budget
PHYSICS = tuple(f"cuda/{name}.cu" for name in ("step", "step_hfields", "step_drives", "solve", "refresh", "threads"))
ALONE = "tests/cuda/solve_alone.cu"  # `solve` of `step`
SOLVES = (ALONE, "cuda/solve.cu", "cuda/threads.cu")
TASKS = "cuda/episodes.cu"
KERNELS = ("dynamics", "collide", "solve", "move", "refresh", "solve_begin", "solve_next")
COLLIDERS = ("round", "box", "boxes", "convex", "meshes", "hfields")
WIDE_IN_SOLVE = {"ld.param.f64", "cvt.rn.f32.f64"}  # constants: options
MOST_WIDE_LOADS = 7  # group_share, once in each sum over a light part


def kernel_of(symbol: str) -> str | None:
    """Name of the kernel that a mangled symbol instantiates."""
    if task := re.search(r"task_by_(warp|thread)I\w*?4envs(\d+)(\w+)", symbol):
        return f"task {task[3][:int(task[2])]} by a {task[1]}"
    drives = re.search(r"DrivesE([12])E", symbol)
    of = {"1": " of strings", "2": " of states"}[drives[1]] if drives else ""
    if step := re.search(r"step_by_tiles\w*?CollidersE(\d)E", symbol):
        return f"step {COLLIDERS[int(step[1])]}{of} by a tile"
    if "solve_by_tiles" in symbol:
        return "solve alone by a tile"
    if group := re.search(r"(thread|tile|block)_per_env\w*?KernelE(\d)E", symbol):
        return f"{KERNELS[int(group[2])]}{of} by a {group[1]}"
    return None


class Build:
    """Compiles again what Ninja has compiled in a folder."""

    def __init__(self, folder: Path):
        self.folder = folder.resolve()

    def command_of(self, source: str) -> list[str]:
        target = f"cuda/CMakeFiles/stiction_cuda.dir/{Path(source).name}.o"
        lines = subprocess.run(["ninja", "-t", "commands", "-s", target], cwd=self.folder, check=True,
                               capture_output=True, text=True).stdout.splitlines()
        command = shlex.split(lines[-1])
        if not any(CARD in word for word in command):
            sys.exit(f"{self.folder} compiles nothing for {CARD}, which {BUDGET.name} is of")
        return command

    def compile(self, command: list[str]) -> tuple[bytes, str]:
        """The object, and what the compiler said."""
        with tempfile.TemporaryDirectory() as folder:
            for option in "-o", "-MF":
                command[command.index(option) + 1] = str(Path(folder) / option[1:])
            ran = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
            if ran.returncode != 0:
                sys.exit(ran.stdout + ran.stderr)
            return (Path(folder) / "o").read_bytes(), ran.stdout + ran.stderr

    def report(self, source: str) -> str:
        """What ptxas said of the kernels of a source, by the very command of the build."""
        return self.compile(self.command_of(source))[1]

    def text(self, source: str) -> tuple[str, str]:
        """PTX of a source, and what ptxas said of that of ALONE, which the build does not have."""
        codes = f"[compute_90,{CARD}]" if source == ALONE else "[compute_90]"
        command = self.command_of(PHYSICS[0])
        command[command.index("-c") + 1] = str(ROOT / source)
        command = [word for word in command if not word.startswith("--generate-code")]
        binary, said = self.compile([*command, f"--generate-code=arch=compute_90,code={codes}", "--no-compress"])
        return re.search(rb"\.version \d[^\0]*", binary)[0].decode(), said


def resources(log: str) -> dict[str, dict[str, int]]:
    """Of each kernel, with the functions that it calls."""
    found = {}
    for entry in re.split(r"Compiling entry function ", log)[1:]:
        _, symbol, _, card = entry.split("'")[:4]
        if card != CARD:
            continue
        kernel = kernel_of(symbol)
        shared = re.search(r"(\d+) bytes smem", entry)
        found[kernel] = {
            "registers": int(re.search(r"Used (\d+) registers", entry)[1]),
            "spill_bytes": sum(int(n) for n in re.findall(r"(\d+) bytes spill", entry)),
            "stack_bytes": sum(int(n) for n in re.findall(r"(\d+) bytes stack frame", entry)),
            "shared_bytes": int(shared[1]) if shared else 0,
        }
    return found


def wide_instructions(ptx: str) -> dict[str, Counter]:
    """Instructions on 64-bit floating-point numbers, of each kernel."""
    found = {}
    for part in re.split(r"(?=\.entry |\.func )", ptx)[1:]:
        if kernel := kernel_of(part.split("(")[0]):
            found[kernel] = Counter(
                re.findall(r"^\s*(?:@!?%p\d+ )?([a-z0-9_.]*f64[a-z0-9_.]*)", part, re.M))
    return found


def check(build: Build, write: bool) -> list[str]:
    measured, wide = {}, {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # each runs a compiler
        texts = pool.map(build.text, SOLVES)
        reports = pool.map(build.report, (*PHYSICS, TASKS))
        for ptx, log in texts:
            wide |= wide_instructions(ptx)
            measured |= resources(log)
        for log in reports:
            measured |= resources(log)
    if write:
        BUDGET.write_text(json.dumps(measured, indent=2) + "\n")
    budget = json.loads(BUDGET.read_text())
    problems = []
    solve = {kernel for kernel in budget if kernel.startswith("solve")}
    if measured.keys() != budget.keys() or not solve <= wide.keys():
        problems.append(f"kernels {sorted(measured)} and {sorted(wide)}, budget {sorted(budget)}")
    for kernel, numbers in measured.items():
        print(f"{kernel:39}", ", ".join(f"{n} {k}" for k, n in numbers.items()))
        for name, n in numbers.items():
            allowed = budget.get(kernel, {}).get(name, 0)
            if n > allowed:
                problems.append(f"{kernel}: {n} {name}, budget {allowed}")
        if kernel.startswith("solve"):
            if numbers["spill_bytes"] != 0:
                problems.append(f"{kernel}: spills")
            extra = {k: n for k, n in wide[kernel].items()
                     if k not in WIDE_IN_SOLVE and not (k == "ld.global.f64" and n <= MOST_WIDE_LOADS)}
            if extra:
                problems.append(f"{kernel}: wide arithmetic {extra}")
    return problems


if __name__ == "__main__":
    arguments = sys.argv[1:]
    folder, = (a for a in arguments if a != "--write")
    found = check(Build(Path(folder)), "--write" in arguments)
    print("\n".join(found) or "kernels: ok")
    sys.exit(bool(found))
