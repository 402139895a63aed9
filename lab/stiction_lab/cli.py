"""`stiction lab list | run NAME... | report`."""

import argparse
from pathlib import Path

from stiction.cli.arguments import Parser
from stiction._util.text import say

from . import mujoco_solver, solvers


def build_parser():
    parser = Parser(prog="stiction lab", description="Contact solvers of the literature and the papers' experiments.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    commands.add_parser("list", help="list experiments and solvers").set_defaults(run=_list)
    run = commands.add_parser("run", help="run experiments: their gates, numbers and figures")
    run.add_argument("names", nargs="+", metavar="NAME")
    run.set_defaults(run=_run)
    report = commands.add_parser("report", help="run all and write OUT/index.html with the papers' tables")
    report.set_defaults(run=_report)
    report.add_argument("--resume", action="store_true", help="take the experiments that the same program has finished in OUT")
    for command in (run, report):
        command.add_argument("--full", action="store_true", help="all sweeps, not the reduced ones")
        command.add_argument("--out", type=Path, default=Path("out/lab"), metavar="DIR", help="out/lab")
    return parser


def _list(args):
    from .experiments import experiments

    say("experiments")
    for e in experiments().values():
        say(f"  {e.name:16s} {e.title} ({e.source})")
    say("solvers")
    for name, law, summary in solvers():
        say(f"  {name:16s} {summary} ({law})")
    missing = "" if mujoco_solver.available() else "; not installed"
    say(f"  {'mujoco':16s} MuJoCo's own answer to its own convex problem (convex{missing})")
    return 0


def _run(args):
    from .experiments import experiments
    from .report import run_all

    known = experiments()
    for name in args.names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"no experiment {name}; there are: {' '.join(known)}")
    return 0 if run_all(args.out, args.full, say, args.names) else 1


def _report(args):
    from .report import run_all

    return 0 if run_all(args.out, args.full, say, resume=args.resume) else 1


def main(argv):
    args = build_parser().parse_args(argv)
    try:
        return args.run(args)
    except argparse.ArgumentTypeError as e:
        say(f"stiction lab: {e}")
        return 2
