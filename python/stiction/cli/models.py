"""Commands about one model: check-model, info, rollout, replay."""

import json
import sys
import time
import warnings
from pathlib import Path

from .. import _core
from .._util.files import replacing
from .._util.text import say, visible, wrapped
from .arguments import (
    add_command, existing_file, json_option, load_model, model_argument, model_file, new_file, positive, seed, urdf_options,
)  # fmt: skip


def add_commands(commands):
    check = add_command(
        commands, "check-model", _check_model,
        help="say how every element of a model file is read",
        description="Reads an MJCF file and prints what was used, mapped, ignored or refused.",
    )  # fmt: skip
    model_argument(check)
    check.add_argument("--strict", action="store_true", help="refuse physics that would be ignored")
    check.add_argument("--all", action="store_true", help="list also what was used as it is")
    json_option(check)
    urdf_options(check)

    info = add_command(
        commands, "info", _info,
        help="say how large a model is and what a batch of it takes",
        description="Prints sizes, memory per environment and how many environments fit.",
    )  # fmt: skip
    model_argument(info)
    info.add_argument("--num-envs", type=positive(int), default=4096, metavar="N")
    urdf_options(info)

    roll = add_command(
        commands, "rollout", _rollout,
        help="simulate one robot and write its trajectory",
        description="Steps one robot with the reference engine in double precision.",
    )  # fmt: skip
    model_argument(roll)
    roll.add_argument("--steps", type=positive(int), default=1000, metavar="N")
    roll.add_argument("--dt", type=positive(float), metavar="S", help="timestep; the model's")
    roll.add_argument("--seed", type=seed, default=0)
    roll.add_argument("--controls", default="zero", metavar="zero|random|KEY",
                      help="zero, random but smooth, or held at those of keyframe KEY")  # fmt: skip
    roll.add_argument("--keyframe", metavar="NAME", help="start state; 'home', else the first, else qpos0")
    roll.add_argument("--contact-model", choices=("lagged", "similar", "sap"), default="lagged")
    roll.add_argument("--stiction", choices=("regularized", "anchored"), default="regularized")
    roll.add_argument("--output", type=new_file(".npz", ".csv"), metavar="FILE", help="*.npz or *.csv")

    replay = add_command(
        commands, "replay", _replay,
        help="step a dumped environment in double precision, with a trace",
        description="Steps what Batch.dump wrote with the reference engine: iterations, residual, "
        "contacts, status. Exit code 1 when a step froze the state.",
    )  # fmt: skip
    replay.add_argument("file", type=existing_file, metavar="FILE", help="JSON of Batch.dump")
    replay.add_argument("--steps", type=positive(int), default=1, metavar="N")
    replay.add_argument("--model", type=model_file, metavar="FILE|ROBOT", help="the dump's")
    replay.add_argument("--double-tolerance", action="store_true", help="solve to 1e-6 instead of the dump's")


# ------------------------------------------------------------------------------- check-model


def _sizes(model):
    names = ("nq", "nv", "nu", "nbody", "njnt", "ngeom", "nsite", "npair", "nslot", "nkey")
    return {name: getattr(model, name) for name in names}


def _as_json(path, model, report, error):
    fields = ("use", "physics", "file", "line", "element", "attribute", "value", "note")
    pair_fields = ("geom1", "geom2", "name1", "name2", "type1", "type2")
    return json.dumps(
        {
            "file": str(path),
            "accepted": error is None,
            "error": error,
            "complete": bool(report and report.complete and error is None),
            "sizes": _sizes(model) if model else None,
            "entries": [{f: getattr(e, f) for f in fields} for e in (report.entries if report else ())],
            "pairs_without_collider": [
                {f: getattr(p, f) for f in pair_fields}
                for p in (report.pairs_without_collider if report else ())
            ],
        },
        indent=2,
    )


def _check_model(args) -> int:
    model = error = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", _core.ModelWarning)  # the table below says it
            model = load_model(args, strict=args.strict)
        report = model.report
    except _core.ModelError as e:
        error, report = str(e), e.report

    if args.json:
        say(_as_json(args.file, model, report, error))
        return 1 if error else 0

    if report and (report.entries or report.pairs_without_collider):
        for line in report.table(all=args.all).splitlines():
            say(wrapped(line, 8))
    if error:
        sys.stdout.flush()
        say(f"stiction: refused: {error}", file=sys.stderr)
        return 1
    sizes = ", ".join(f"{k} {v}" for k, v in _sizes(model).items())
    say("\n" + wrapped(f"{visible(args.file)}: accepted, {sizes}", 2))
    return 0


# ------------------------------------------------------------------------------- rollout


def _controls(args, model, timestep):
    import numpy as np

    from ..control import random_controls, start_state

    if args.controls == "zero":
        return np.zeros((args.steps, model.nu))
    if args.controls == "random":
        centre = start_state(model, args.keyframe)[2] if model.nkey else None
        rng = np.random.default_rng(args.seed)
        return random_controls(model, args.steps, timestep, rng, centre)
    return np.tile(model.key_ctrl[model.key(args.controls)], (args.steps, 1))


def _write_trajectory(path: Path, trajectory, ctrl, timestep):
    import numpy as np

    steps = trajectory.nstep
    seconds = np.arange(steps + 1) * timestep
    if path.suffix == ".npz":
        names = ("qpos", "qvel", "energy", "iterations", "residual", "ncontact", "status")
        arrays = {name: getattr(trajectory, name) for name in names}
        np.savez_compressed(path, time=seconds, ctrl=ctrl[:steps], timestep=timestep, **arrays)
        return
    columns = {"time": seconds[:, None], "qpos": trajectory.qpos, "qvel": trajectory.qvel}
    header = ",".join(
        name if name == "time" else f"{name}_{k}"
        for name, values in columns.items()
        for k in range(values.shape[1])
    )
    table = np.hstack(list(columns.values()))
    np.savetxt(path, table, delimiter=",", header=header, comments="", fmt="%.17g")


def _rollout(args) -> int:
    import numpy as np

    from ..control import start_state
    from .._util.statistics import FROZEN, status_counts

    model = _core.Model.from_file(args.file)
    options = _core.Options(
        timestep=args.dt, contact_model=args.contact_model, stiction=args.stiction
    )
    reference = _core.Reference(model, options)
    timestep = reference.options.timestep
    qpos, qvel, _ = start_state(model, args.keyframe)
    ctrl = _controls(args, model, timestep)

    begin = time.perf_counter()
    r = reference.rollout(qpos, qvel, ctrl, energy=True)
    wall = time.perf_counter() - begin

    say(wrapped(f"{model!r}, {args.contact_model}, timestep {timestep:g} s", 2))
    say(f"  steps       {r.nstep} in {wall:.2f} s ({r.nstep / wall:.0f} per second, energy included)")
    say(f"  contacts    mean {np.mean(r.ncontact):.1f}, max {np.max(r.ncontact)}")
    say(f"  iterations  mean {np.mean(r.iterations):.1f}, max {np.max(r.iterations)}")
    say(f"  residual    worst {np.max(r.residual):.1e}")
    total = r.energy.sum(axis=1)
    say(f"  energy      {total[0]:.4g} J at the start, {total[-1]:.4g} J at the end")
    counts = status_counts(r.status)
    say("  status      " + (", ".join(f"{k} {v}" for k, v in counts.items()) or "ok"))
    if args.output:
        with replacing(args.output) as part:
            _write_trajectory(part, r, ctrl, timestep)
        say(f"  written     {visible(args.output)}")

    frozen = np.flatnonzero(r.status & FROZEN)
    if frozen.size:
        bits = _core.Status(int(r.status[frozen[0]]))
        say(f"stiction: stopped at step {frozen[0]}: {bits!r}", file=sys.stderr)
        return 1
    return 0


# ------------------------------------------------------------------------------- info, replay


def _info(args) -> int:
    from .._util.machine import available_memory

    model = load_model(args)
    batch = _core.Batch(model, num_envs=1)
    memory, available = batch.memory, available_memory()
    need = args.num_envs * memory.per_env + batch.threads * memory.per_thread
    say(f"{model!r}")
    say(wrapped("  sizes       " + ", ".join(f"{k} {v}" for k, v in _sizes(model).items()), 14))
    say(f"  timestep    {model.timestep:g} s")
    say(f"  memory      {memory.per_env} bytes per environment, {memory.per_thread} per thread")
    say(f"  {args.num_envs} envs".ljust(14) + f"{need / 2**20:.1f} MiB of {available / 2**20:.0f} available")
    say(f"  engine      {batch.isa}, {batch.lanes} environments side by side")
    return 0


def _replay(args) -> int:
    from .replay import replay

    return replay(
        args.file, model_file=args.model, steps=args.steps, double_tolerance=args.double_tolerance
    )
