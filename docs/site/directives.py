"""What the site shows of the program itself: tasks and robots from their registries, commands from their parser."""

import inspect
import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
FILMS = {"Ant-v5": "ant", "Go2Rough": "go2_rough", "LeapCubeReorient": "leap_cube", "PandaPickCube": "panda_pick_cube"}


def task_rows():
    """Of all tasks what `stiction list-envs TASK --json` has, with the file that holds them."""
    from stiction._core import Env
    from stiction.cli.lists import _class_row, _task_row
    from stiction.tasks.names import registered

    rows = [(_task_row(info), "envs/") for info in Env.tasks()]
    for name, task in registered().items():
        file = Path(inspect.getsourcefile(task)).resolve()
        rows.append((_class_row(name, task), str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else file.name))
    return rows


class Tasks(SphinxDirective):
    """A table of all tasks and a section of each."""

    def run(self):
        rows = task_rows()
        head = ("task", "what", "observations", "actions", "steps of an episode")
        found = [_table(head, [(t["id"], t["summary"], t["num_obs"], t["num_actions"], t["max_episode_steps"] or "no limit")
                               for t, _ in rows])]  # fmt: skip
        return found + [self._section(t, source) for t, source in rows]

    def _section(self, t, source):
        section = nodes.section(ids=["task-" + re.sub(r"\W+", "-", t["id"]).lower()])
        section += nodes.title(text=t["id"])
        section += nodes.paragraph(text=f"{t['summary'][:1].upper()}{t['summary'][1:]}.")
        if t["id"] in FILMS:
            section += nodes.image(uri=f"../images/{FILMS[t['id']]}.webp", alt=t["summary"])
            self.env.note_dependency(f"images/{FILMS[t['id']]}.webp")
        sizes = f"{t['num_obs']} observations, {t['num_actions']} actions, {t['frame_skip']} physics steps per control step"
        section += nodes.paragraph(text=f"{sizes}. Source: {source}")
        if t["metrics"]:
            section += nodes.paragraph(text="Terms of the reward, and what is logged beside: " + ", ".join(t["metrics"]) + ".")
        if t["options"]:
            section += _table(("option", "default", "meaning"),
                              [(o["name"], json.dumps(o["default"], default=str), o["meaning"]) for o in t["options"]])  # fmt: skip
        if t.get("terms"):
            section += _table(("term", "what"), [(term["path"], term["term"]) for term in t["terms"]])
        return section


class Robots(SphinxDirective):
    """A table of the robots of the package."""

    def run(self):
        from stiction import assets
        from stiction.cli.lists import _robot_row

        rows = [_robot_row(name) for name in assets.names()]
        head = ("name", "what", "dofs", "actuators", "mass, kg", "licence", "not computed")
        return [_table(head, [(r["name"], r["title"], r["dofs"], r["actuators"], r["mass"], r["licence"],
                               ", ".join(r["not_computed"]) or "nothing") for r in rows])]  # fmt: skip


class Commands(SphinxDirective):
    """The help of every command, from the parser."""

    def run(self):
        import argparse
        import os

        os.environ["COLUMNS"] = "100"
        from stiction.cli import build_parser

        parser = build_parser()
        commands = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction)).choices
        found = [nodes.literal_block(text := parser.format_help(), text, language="text")]
        for name, command in commands.items():
            section = nodes.section(ids=[f"stiction-{name}"])
            text = command.format_help()
            section += nodes.title(text=f"stiction {name}")
            section += nodes.literal_block(text, text, language="text")
            found.append(section)
        return found


def _table(head, rows):
    group = nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=1) for _ in head]
    group += nodes.thead("", _row(head))
    group += nodes.tbody("", *map(_row, rows))
    return nodes.table("", group)


def _row(cells):
    return nodes.row("", *(nodes.entry("", nodes.paragraph(text=str(cell))) for cell in cells))


ALL = {"stiction-tasks": Tasks, "stiction-commands": Commands, "stiction-robots": Robots}
