"""Prints docs/fields.md, made from the lists in src/physics: `python3 docs/make_fields.py`."""

import re
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src/physics/base/fields.def"
COMPUTED = SOURCE.with_name("quantities.def")
QUANTITY = re.compile(r'^X\((\w+),\s*(\w+),\s*(\w+),\s*"(.*)"\)$')
ENTRY = re.compile(r'^X\((\w+),\s*(\w+),\s*(\w+),\s*(\w+),\s*(\w+),\s*(\w+),\s*"(.*)"\)$')

INTRODUCTION = """\
# Fields

This page has every number of an environment, from the lists `src/physics/base/fields.def` and `quantities.def`;
`docs/make_fields.py` makes it. States, inputs and outputs are attributes of a batch (`batch.qpos`), and so is what
a batch computes on request (`batch.geom_xpos`). Parameters come from `batch.param(name)`. Arrays have the environments
first: `batch.xpos` is (num_envs, nbody, 3). SI units, radians, quaternions w x y z, z up. [Batches](batch.md) shows how
fields are used.

`wide` numbers are float64 in every precision, `real` ones follow the precision of the batch.
"""
KINDS = {
    "state": "A step depends on these besides inputs and parameters. They are saved.",
    "input": "The user writes these before a step. They are saved. Those of a keyframe are `Model.key_ctrl`, `key_mpos` and\n"
             "`key_mquat`: a reset does not write them.",
    "param": "Numbers of the model. All environments share them until `batch.param(name)` gives each environment its own.",
    "output": "A step or `refresh` writes these. They are read-only.",
    "scratch": "Intermediate results of a step: one copy per thread, not public, not valid after the step.",
}
COUNTS = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "eight": "8", "nine": "9", "ten": "10",
          "eleven": "11", "twelve": "12", "eighteen": "18",
          "sym6": "21"}  # fmt: skip


def entries(text: str, entry=ENTRY, source=SOURCE):
    """(kind, type, name, rows, columns, producer, meaning) of each field; all of them or an error."""
    found = [m.groups() for m in map(entry.match, text.splitlines()) if m]
    if len(found) != len(re.findall(r"^X\(", text, re.MULTILINE)):
        raise ValueError(f"{source.name}: an entry is not written on one line as the others")
    return found


def computed(text: str) -> str:
    parts = ["\n## computed\n\nThe CPU computes these from the present state when they are asked for. They are arrays of their own, "
             "float64,\nread-only, and NaN where the state is out of bounds.\n\nMethods compute more: `batch.jac(body, point)`, "
             "`jac_body`, `jac_body_com`, `jac_geom`, `jac_site`, `batch.contacts()`,\n`batch.inverse(qacc)`, and what rays see: "
             "`batch.raycast(origins, directions)`, `batch.height_scan(body)` and\n`batch.depth(camera)` "
             "([Contact geometry](geometry.md#rays)).\n\n"
             "| name | shape | meaning |\n|---|---|---|\n"]  # fmt: skip
    for name, rows, columns, words in entries(text, QUANTITY, COMPUTED):
        parts.append(f"| `{name}` | {shape(rows, columns)} | {escaped(words)} |\n")
    return "".join(parts)


def escaped(words: str) -> str:
    return words.replace("|", "\\|").replace("<", "&lt;")


def shape(rows: str, columns: str) -> str:
    sizes = [COUNTS.get(s, s) for s in (rows, columns)]
    return "(" + ", ".join(s for s in sizes if s != "1") + ")"


def page(text: str, quantities: str) -> str:
    fields, parts = entries(text), [INTRODUCTION]
    for kind, meaning in KINDS.items():
        parts.append(f"\n## {kind}\n\n{meaning}\n\n| field | shape | number | written by | meaning |"
                     "\n|---|---|---|---|---|\n")  # fmt: skip
        for k, number, name, rows, columns, producer, words in fields:
            if k == kind:
                parts.append(f"| `{name}` | {shape(rows, columns)} | {number} | {producer} | {escaped(words)} |\n")
        if kind == "output":
            parts.append(computed(quantities))
    return "".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page(SOURCE.read_text(), COMPUTED.read_text()))
