"""`stiction sweep`: one training with many settings, each a trial of Ray Tune on whatever machine is free.

What a trial does depends on its number and settings alone, so neither on the machines nor on their number.
"""

import contextlib
import csv
import functools
import io
import itertools
import json
import logging
import math
import os
import re
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._core import ArgumentError, Error
from .._util.extras import remedy
from .._util.files import write_text
from .._util.text import say, visible, wrapped
from .run import folder_of

RETRIES = 3  # of a trial whose process ended
MOST = 10_000  # trials
ITERATIONS = 100  # of a trial, where neither a number nor a time is given
_FILES = ("policy.npz", "model.pt", "progress.csv", "summary.json")
_RANGE = re.compile(r"([-+.\deE]+)\.\.([-+.\deE]+)(:log)?")
# what a parameter may be besides a setting of `stiction train`
_GROUPS = {"option": "--option", "engine-option": "--engine-option"}


@dataclass(frozen=True)
class Param:
    """Values to try, or a range to draw from."""

    name: str
    values: tuple = ()
    low: float = 0.0
    high: float = 0.0
    log: bool = False

    @classmethod
    def parse(cls, text: str):
        """NAME=V1,V2,... or NAME=LOW..HIGH, or NAME=LOW..HIGH:log for even chances of each magnitude."""
        name, equals, rest = text.partition("=")
        if not equals or not name or not rest:
            raise ArgumentError(f"--param {visible(text)}: expected NAME=V1,V2,... or NAME=LOW..HIGH")
        if not (found := _RANGE.fullmatch(rest)):
            return cls(name, tuple(rest.split(",")) if name != "hidden" else tuple(rest.split(";")))
        try:
            low, high, log = float(found[1]), float(found[2]), bool(found[3])
        except ValueError:
            raise ArgumentError(f"--param {visible(text)}: bounds must be numbers") from None
        if not low < high < math.inf or log and low <= 0:
            raise ArgumentError(f"--param {visible(text)}: needs LOW < HIGH" + (", and LOW > 0" if log else ""))
        return cls(name, (), low, high, log)

    def draw(self, rng) -> str:
        if self.values:
            return self.values[rng.integers(len(self.values))]
        u = rng.random()
        x = self.low * (self.high / self.low) ** u if self.log else self.low + u * (self.high - self.low)
        return f"{x:.6g}"

    def flags(self, value: str) -> list[str]:
        """The arguments of `stiction train` that set this parameter."""
        group, dot, name = self.name.partition(".")
        if dot and group in _GROUPS:
            return [_GROUPS[group], f"{name}={value}"]
        return [f"--{self.name.replace('_', '-')}", value]


def trials_of(params, count, seed) -> list[dict]:
    """{name: value} of every trial: the grid of all values, or `count` draws, which depend on `seed` alone."""
    names = [p.name for p in params]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"--param {visible(name)}: given twice")
    ranges = [p.name for p in params if not p.values]
    if count is None:
        if ranges:
            raise ArgumentError(f"--param {visible(ranges[0])} is a range: give --trials N")
        if math.prod(len(p.values) for p in params) > MOST:
            raise ArgumentError(f"--param: the grid has more than {MOST} trials: give --trials N")
        return [dict(zip(names, values)) for values in itertools.product(*(p.values for p in params))]
    return [{p.name: p.draw(np.random.default_rng([seed, k, i])) for i, p in enumerate(params)} for k in range(count)]


def arguments(args, params, trial) -> list[str]:
    """The command line of `stiction` for a trial."""
    found = ["train", args.id, "--trainer", args.trainer, "--threads", str(args.threads), "--no-plot"]
    if args.iterations or not args.seconds:
        found += ["--iterations", str(args.iterations or ITERATIONS)]
    found += ["--seconds", str(args.seconds)] if args.seconds else []
    found += ["--num-envs", str(args.num_envs)] if args.num_envs and "num-envs" not in trial else []
    found += ["--seed", str(args.seed)] if "seed" not in trial else []
    for flag, texts in (("--option", args.option), ("--engine-option", args.engine_option)):
        for text in texts:
            found += [flag, text]
    for p in params:
        found += p.flags(trial[p.name])
    return found


def run_trial(argv, main) -> dict:
    """Trains in this process, by the program's `main`: {"files": {name: bytes}}, or {"error": line}."""
    text, nowhere = io.StringIO(), contextlib.redirect_stdout(io.StringIO())
    with tempfile.TemporaryDirectory() as out, nowhere, contextlib.redirect_stderr(text):
        if main([*argv, "--out", out]):
            return {"error": (text.getvalue().strip().splitlines() or ["failed"])[-1]}
        return {"files": {f: (Path(out) / f).read_bytes() for f in _FILES if (Path(out) / f).exists()}}


class _Collector:
    """Where trials leave their files for the process that began the sweep."""

    def __init__(self):
        self._found = {}

    def keep(self, trial, found):
        self._found[trial] = found

    def take(self, trial):
        return self._found.pop(trial, None)


def _trainable(config, commands, collector, folder, main):
    """What Ray Tune calls in a worker; names of files are those of the folder in which the sweep began."""
    import ray

    with contextlib.chdir(folder) if os.path.isdir(folder) else contextlib.nullcontext():
        found = run_trial(commands[config["trial"]], main)
    ray.get(collector.keep.remote(config["trial"], found))
    score = json.loads(found["files"]["summary.json"])["return_mean"] if "files" in found else float("nan")
    return {"return_mean": score}


def folder_name(number) -> str:
    return f"trial-{number:04d}"


class Results:
    """The folders of the trials, and a table of them, written anew whenever one is done."""

    def __init__(self, out, commands, trials):
        self.out, self.commands, self.trials, self.rows = out, commands, trials, {}

    def add_done(self):
        """What an earlier sweep with the same settings has left in the folder."""
        for number, argv in enumerate(self.commands):
            folder = self.out / folder_name(number)
            with contextlib.suppress(OSError, ValueError):
                if json.loads((folder / "trial.json").read_text()) == argv:
                    self._row(number, json.loads((folder / "summary.json").read_text()))
        return self

    def add(self, number, found):
        if "files" not in found:
            self.rows[number] = {"trial": number, **self.trials[number], "error": found["error"]}
            self.write()
            say(f"trial {number}: {visible(found['error'])}", flush=True)
            return
        folder = self.out / folder_name(number)
        folder.mkdir(exist_ok=True)
        for name, content in found["files"].items():
            (folder / name).write_bytes(content)
        write_text(folder / "trial.json", json.dumps(self.commands[number]) + "\n")
        row = self._row(number, json.loads(found["files"]["summary.json"]))
        self.write()
        say(wrapped(f"{len(self.rows)} of {len(self.trials)}: trial {number}, {self._settings(number)}: "
                    f"return {row['return_mean']:.0f} ± {row['return_std']:.0f}", 2), flush=True)  # fmt: skip

    def _row(self, number, summary):
        keep = ("return_mean", "return_std", "length_mean", "env_steps", "train_seconds")
        self.rows[number] = {"trial": number, **self.trials[number], **{k: summary[k] for k in keep}}
        return self.rows[number]

    def _settings(self, number):
        return ", ".join(f"{visible(k)}={visible(v)}" for k, v in self.trials[number].items())

    def write(self):
        text = io.StringIO()
        rows = [self.rows[k] for k in sorted(self.rows)]
        writer = csv.DictWriter(text, list(dict.fromkeys(k for row in rows for k in row)))
        writer.writeheader()
        writer.writerows(rows)
        write_text(self.out / "sweep.csv", text.getvalue())

    def best(self):
        known = [r for r in self.rows.values() if math.isfinite(r.get("return_mean", math.nan))]
        return sorted(known, key=lambda r: (-r["return_mean"], r["trial"]))


def _check(commands, build_parser):
    """Refuses here what a trial would refuse, before anything is begun."""
    from .tasks import parse_options, settings_of

    for argv in commands:
        args = build_parser().parse_args([*argv, "--out", "x"])
        given = {k: getattr(args, k) for k in settings_names(args) if getattr(args, k) is not None}
        settings_of(args.id, given if args.trainer == "numpy" else {})
        parse_options(args.option), parse_options(args.engine_option)


def settings_names(args):
    from .ppo import Settings

    return [k for k in Settings.__dataclass_fields__ if k != "num_envs" and hasattr(args, k)]


def sweep(args, build_parser, main) -> int:
    """`stiction sweep`; `build_parser` and `main` are those of the program, whose `train` runs a trial."""
    try:
        from ray import tune

        from ..adapters import ray as cluster
    except ModuleNotFoundError as e:
        raise Error(f"{e.name} is not installed: {remedy('ray')}") from None
    params = [Param.parse(text) for text in args.param]
    trials = trials_of(params, args.trials, args.seed)
    commands = [arguments(args, params, trial) for trial in trials]
    _check(commands, build_parser)
    with folder_of(args):
        if any(args.out.glob("trial-*")) and not (args.resume or args.overwrite):
            raise Error(f"--out {visible(args.out)} has trials: give --resume to go on, --overwrite, or --out DIR")
        results = Results(args.out, commands, trials)
        if args.resume:
            results.add_done()
        todo = [k for k in range(len(trials)) if k not in results.rows]
        if todo:
            _run(args, tune, cluster, commands, todo, results, main)
        return _report(args, results, len(trials))


def _run(args, tune, cluster, commands, todo, results, main):
    import ray

    # one table and one line per trial are ours
    os.environ.setdefault("TUNE_DISABLE_AUTO_CALLBACK_LOGGERS", "1")
    os.environ.setdefault("RAY_AIR_NEW_OUTPUT", "0")
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    logging.getLogger("ray.tune").setLevel(logging.CRITICAL)
    begin = time.perf_counter()
    try:
        cluster.connect(args.address, logging_level=logging.CRITICAL)
    except Exception as e:  # of many kinds, the bare one among them
        where = f"at {visible(args.address)}" if args.address else "on this machine"
        raise Error(f"no Ray cluster {where}: {visible((str(e).splitlines() or [''])[0])}") from None
    cpus = int(ray.cluster_resources().get("CPU", 1))
    nodes = sum(node["Alive"] for node in ray.nodes())
    say(f"{len(todo)} trials of {visible(args.id)} on {cpus} cores of {nodes} machine{'s' * (nodes > 1)}, connected in "
        f"{time.perf_counter() - begin:.0f} s", flush=True)  # fmt: skip
    collector = ray.remote(num_cpus=0)(_Collector).remote()

    class Done(tune.Callback):
        def on_trial_complete(self, iteration, trials, trial, **info):
            number = trial.config["trial"]
            if (found := ray.get(collector.take.remote(number))) is not None:
                results.add(number, found)

    train = functools.partial(_trainable, commands=commands, collector=collector, folder=os.getcwd(), main=main)
    with tempfile.TemporaryDirectory() as storage:
        tuner = tune.Tuner(
            tune.with_resources(train, {"cpu": args.threads}),
            param_space={"trial": tune.grid_search(todo)},
            run_config=tune.RunConfig(
                storage_path=storage, callbacks=[Done()], verbose=0,
                failure_config=tune.FailureConfig(max_failures=RETRIES),
            ),
        )  # fmt: skip
        tuner.fit()


def _report(args, results, count) -> int:
    results.write()
    best = results.best()
    for row in best[:5]:
        say(wrapped(f"  return {row['return_mean']:.0f} ± {row['return_std']:.0f}: trial {row['trial']}, "
                    f"{results._settings(row['trial'])}", 4))  # fmt: skip
    say(wrapped(f"written: {visible(args.out / 'sweep.csv')}, a folder per trial", 9))
    if len(best) < count:
        say(f"{count - len(best)} of {count} trials have no result; --resume tries them again")
        return 1
    return 0
