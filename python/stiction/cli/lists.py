"""What there is, and how fast it is: list-robots, list-envs, bench."""

import inspect
import json
import re
import warnings
from dataclasses import asdict

from .. import _core, assets
from .._util.text import say, visible, wrapped
from ..tasks.names import find_task, open_task, registered
from ..terms.overrides import summary
from ..terms.task import KINDS, TermTask
from .arguments import TASK, add_command, json_option, positive, task_option


def add_commands(commands):
    envs = add_command(
        commands, "list-envs", _list_envs,
        help="list the tasks",
        description="Lists the tasks; of one also its options, their defaults and its metrics.",
    )  # fmt: skip
    envs.add_argument("id", nargs="?", metavar="TASK")
    json_option(envs)

    robots = add_command(
        commands, "list-robots", _list_robots,
        help="list the robots that come with the package",
        description="Lists the robots whose names are taken where a model file is, and what of each is not computed.",
    )  # fmt: skip
    json_option(robots)

    bench = add_command(
        commands, "bench", _bench,
        help="measure whole environment steps",
        description="Environment steps per second with random actions: physics, observations, "
        "rewards, resets and the hand-over to NumPy; and the share of physics in that time. On a "
        "device actions and results stay there.",
    )  # fmt: skip
    bench.add_argument("ids", nargs="*", metavar="TASK", help=TASK + "; all compiled ones")
    bench.add_argument("--num-envs", type=positive(int), default=1024, metavar="N")
    bench.add_argument("--device", default="cpu", help="cpu, cuda:0")
    bench.add_argument("--threads", type=positive(int), metavar="N", help="all")
    bench.add_argument("--seconds", type=positive(float), default=1.0, metavar="T", help="of each")
    json_option(bench)
    task_option(bench)


def _option_row(option) -> dict:
    return {"name": option.name, "default": option.value, "meaning": option.meaning}


def _task_row(info) -> dict:
    names = ("id", "summary", "num_obs", "num_actions", "max_episode_steps", "frame_skip")
    row = {name: getattr(info, name) for name in names} | {"metrics": list(info.metrics)}
    return row | {"options": [_option_row(o) for o in info.options]}


def _class_row(name, task) -> dict:
    """As `_task_row`, of a class of tasks; its options are the keywords of its constructor."""
    env = open_task(name)
    options = [
        {"name": p.name, "default": None if p.default is p.empty else p.default, "meaning": ""}
        for p in inspect.signature(task).parameters.values()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    return {
        "id": name, "summary": env.task.summary or (inspect.getdoc(task) or "").partition("\n")[0],
        "num_obs": env.num_obs, "num_actions": env.num_actions,
        "max_episode_steps": env.max_episode_steps, "frame_skip": env.frame_skip,
        "metrics": list(env.metric_names), "options": options, "terms": _terms(task),
    }  # fmt: skip


def _terms(task) -> list[dict]:
    """What a class of tasks is made of, with the paths that --set takes."""
    if not issubclass(task, TermTask):
        return []
    task = task()
    return [
        {"path": f"{kind}.{name}", "term": summary(term)}
        for kind in KINDS for name, term in (getattr(task, kind) or {}).items()
    ]  # fmt: skip


def _list_envs(args) -> int:
    from ..learning.tasks import settings_of

    tasks = {info.id: _task_row(info) for info in _core.Env.tasks()}
    if args.id is None:
        tasks |= {name: _class_row(name, task) for name, task in registered().items()}
    if args.id is not None:
        task = find_task(args.id)
        tasks = {args.id: tasks[task] if isinstance(task, str) else _class_row(args.id, task)}
    if args.json:
        say(json.dumps(list(tasks.values()), indent=2, default=str))
        return 0
    say(f"{'id':<26} {'obs':>4} {'actions':>7} {'limit':>6}  what")
    for t in tasks.values():
        sizes = f"{t['num_obs']:>4} {t['num_actions']:>7} {t['max_episode_steps'] or '-':>6}"
        say(wrapped(f"{t['id']:<26} {sizes}  {visible(t['summary'])}", 48))
    if args.id is not None:
        (t,) = tasks.values()
        say(wrapped(f"\nmetrics: {', '.join(t['metrics']) or 'none'}".lstrip("\n"), 9))
        say("options:")
        for o in t["options"]:
            say(wrapped(f"  {o['name']} = {json.dumps(o['default'], default=str)}", 6))
            if o["meaning"]:
                say(wrapped(f"      {o['meaning']}", 6))
        if t.get("terms"):
            say("terms, of which --set PATH.NAME=VALUE changes numbers:")
        for term in t.get("terms", ()):
            say(wrapped(f"  {term['path']} = {visible(term['term'])}", 6))
        settings = ", ".join(f"{k}={v}" for k, v in asdict(settings_of(args.id)).items())
        say(wrapped(f"settings of the PPO in NumPy: {settings}", 2))
    return 0


def _not_computed(report) -> list[str]:
    """What of the physics of a robot is left out, in a few words each; `check-model` has the lines."""
    left_out = []
    for e in report.entries:
        if e.use == "ignored" and e.physics:
            what = f"{e.attribute} {e.value}" if e.attribute else re.sub(r" (is|are) not computed.*", "", e.note)
            if what not in left_out:
                left_out.append(what)
    pairs = len(report.pairs_without_collider)
    return left_out + ([f"{pairs} geom pairs"] if pairs else [])


def _robot_row(name) -> dict:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", _core.ModelWarning)  # the table says it
        model, robot = assets.load(name, floor=False), assets.info(name)
    return {
        "name": name, "title": robot.title, "dofs": model.nv, "actuators": model.nu,
        "mass": round(float(model.body_mass.sum()), 3), "licence": robot.licence,
        "not_computed": _not_computed(model.report), "file": str(robot.on_floor),
    }  # fmt: skip


def _list_robots(args) -> int:
    rows = [_robot_row(name) for name in assets.names()]
    if args.json:
        say(json.dumps(rows, indent=2))
        return 0
    say(f"{'name':<12} {'dofs':>4} {'motors':>6}  {'licence':<24} not computed")
    for r in rows:
        left_out = ", ".join(r["not_computed"]) or "-"
        say(f"{r['name']:<12} {r['dofs']:>4} {r['actuators']:>6}  {r['licence']:<24} {left_out}")
    say("\nstiction check-model NAME has the lines; stiction view NAME shows one")
    return 0


def _bench(args) -> int:
    from ..learning.bench import measure
    from ..learning.tasks import parse_options

    options = parse_options(args.option)
    known = [info.id for info in _core.Env.tasks()]
    rows = []
    for id in args.ids or known:
        rows.append(measure(id, args.num_envs, args.threads, args.seconds, args.device, options))
        if args.json:
            continue
        if len(rows) == 1:
            where = f"{rows[0]['threads']} threads" if args.device == "cpu" else rows[0]["device"]
            say(f"{args.num_envs} environments, {where}, {rows[0]['isa']}")
            say(f"{'id':<26} {'env steps/s':>12} {'physics steps/s':>16} {'physics share':>14}")
        r = rows[-1]
        say(f"{id:<26} {r['env_steps_per_s']:>12.0f} {r['physics_steps_per_s']:>16.0f} "
              f"{100 * r['physics_share']:>12.0f} %", flush=True)  # fmt: skip
    if args.json:
        say(json.dumps(rows, indent=2))
    return 0
