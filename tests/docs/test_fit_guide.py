"""docs/fit.md: its example prints what it says, and every parameter that has a word of its own is in its table."""

import re
import subprocess
import sys
from pathlib import Path

from stiction.cli import build_parser
from stiction.identification.parameters import WORDS

GUIDE = (Path(__file__).parents[2] / "docs" / "fit.md").read_text()


def test_the_example_prints_what_is_shown():
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    (shown,) = re.findall(r"```text\n(.*?)```", GUIDE, re.DOTALL)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout == shown


def test_the_command_is_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (command,) = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
    for name in ("swing.csv", "walk.csv", "arm.xml"):
        (tmp_path / name).touch()
    words = re.findall(r'"[^"]*"|\S+', command.replace("\\\n", " "))
    args = build_parser().parse_args([word.strip('"') for word in words[1:]])
    assert args.command == "fit" and len(args.logs) == 2 and len(args.param) == 5


def test_every_word_is_in_the_table():
    for word in WORDS:
        assert re.search(rf"^\|.*`{word}`", GUIDE, re.MULTILINE), word
