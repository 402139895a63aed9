"""What the runs of both trainers have in common: their folder, and what a checkpoint goes on with."""

import contextlib
import errno
import json

from .._core import Error
from .._util.files import FolderLock
from .._util.text import say, visible

ANEW = "leave it out, or begin anew with --overwrite or in another --out"


@contextlib.contextmanager
def folder_of(args):
    """--out, made where it is missing, which is given, and locked. After an error no empty folder or file of it stays."""
    out = args.out
    if out.exists() and not out.is_dir():
        raise Error(f"--out {visible(out)}: is not a folder")
    missing = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        if e.errno == errno.ENOSPC:
            raise
        raise Error(f"--out {visible(out)}: can't be made: {e.strerror}") from None
    try:
        with FolderLock(out, "wait for its end, or give another --out"):
            yield bool(missing)
    except BaseException:
        for name in ("progress.csv", "rsl_rl.log"):
            with contextlib.suppress(OSError):
                if not (out / name).stat().st_size:
                    (out / name).unlink()
        for folder in missing:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def check_path(args, path, is_new):
    """Whether a run may begin, or go on, with the checkpoint `path`; `is_new`: its folder was just made."""
    if args.resume and not path.exists():
        if is_new:
            raise Error(f"--resume: there is no {visible(path)}")
        say(f"--resume: there is no {visible(path)}, the run had no checkpoint yet: it begins anew", flush=True)
        args.resume = False
    if path.exists() and not (args.resume or args.overwrite):
        raise Error(f"{visible(path)} exists: give --resume to go on, --overwrite to begin anew, or --out DIR")


def say_goes_on(done, iterations):
    """`iterations`: of this call, after the `done` ones that the checkpoint has; None: as many as there is time for."""
    say(f"goes on after iteration {done}" + (f", with {iterations} more" if iterations else ""), flush=True)


def check_resume(args, path, task, seed):
    """Refuses to go on with something else than what the checkpoint has."""
    if task.get("id") != args.id:
        raise Error(f"--resume: {visible(path)} was trained on {visible(task.get('id'))}")
    for flag, key in (("--option", "options"), ("--engine-option", "engine")):
        there = task.get(key, {})
        for name, value in args.task[key].items():
            if there.get(name, there) != value:
                was = visible(json.dumps(there[name])) if name in there else "its default"
                raise Error(f"--resume with {flag} {name}={visible(json.dumps(value))}: the checkpoint has {was}; {ANEW}")
    for key in ("history", "randomization"):
        if key in args.task and task.get(key) != args.task[key]:
            raise Error(f"--resume with another {key} than the checkpoint's {visible(json.dumps(task.get(key)))}; {ANEW}")
    if args.init_from:
        raise Error(f"--resume with --init-from: the checkpoint has its own networks; {ANEW}")
    if args.seed is not None and seed is not None and args.seed != seed:
        raise Error(f"--resume with --seed {args.seed}: the checkpoint goes on with seed {seed}; {ANEW}")
    for name in args.settings:
        raise Error(f"--resume with --{name.replace('_', '-')}: the checkpoint has its own; {ANEW}")
