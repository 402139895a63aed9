"""From `import stiction` to the first step, in fresh processes.

`import_s` is the import alone, `first_step_s` import, environments, reset and one step, `process_s` the
whole life of the process, `process_cpu_s` its CPU time. Cold: the files of the interpreter's packages and of stiction are dropped from
the page cache before (those that no other process has mapped). Medians.
Writes bench/results/<machine>/start.csv.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import stiction

from tables import processor, table, write

CODE = """
import json, sys, time
begin = time.perf_counter()
import stiction
imported = time.perf_counter()
task, n = sys.argv[1], int(sys.argv[2])
if sys.argv[3] == "make":
    envs = stiction.make(task, n)
    shape = envs.action_space.shape
else:
    envs = stiction.Env(task, n)
    shape = n, envs.num_actions
import numpy
envs.reset()
envs.step(numpy.zeros(shape, numpy.float32))
print(json.dumps([imported - begin, time.perf_counter() - begin]))
"""


def drop_caches() -> None:
    for root in {Path(np.__file__).parents[1], Path(stiction.__file__).parent}:
        for path in root.rglob("*"):
            if path.is_file():
                file = os.open(path, os.O_RDONLY)
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(file)


def start(task, num_envs, kind, cold):
    if cold:
        drop_caches()
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run([sys.executable, "-c", CODE, task, str(num_envs), kind],
                            capture_output=True, text=True, check=True)  # fmt: skip
    wall, used = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return *json.loads(result.stdout), wall, cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", default="Ant-v5")
    parser.add_argument("--envs", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=7)
    a = parser.parse_args()
    rows = []
    for kind in ("Env", "make"):
        for cold in (True, False):
            times = np.median([start(a.task, a.envs, kind, cold) for _ in range(a.rounds)], axis=0)
            names = ("import_s", "first_step_s", "process_s", "process_cpu_s")
            rows.append({
                "task": a.task, "envs": a.envs, "interface": kind,
                "page_cache": "cold" if cold else "warm",
                **{name: f"{t:.3f}" for name, t in zip(names, times)}, "cpu": processor(),
            })  # fmt: skip
    print(table(rows))
    write(rows, "start", processor())


if __name__ == "__main__":
    main()
