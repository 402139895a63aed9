"""Policies that the package brings: `stiction play --pretrained Ant-v5`; bench/pretrained.py trains them."""

from pathlib import Path

from .._core import ArgumentError
from .._util.nearest import hint
from .._util.text import visible
from .policy import Policy

FOLDER = Path(__file__).resolve().parents[1] / "pretrained"


def available() -> list[str]:
    """The tasks that there is a policy for."""
    return sorted(path.stem for path in FOLDER.glob("*.npz"))


def pretrained(task: str) -> Policy:
    """The policy for a task. Its `task` says how it was trained and what it earned, under "training".

    Raises ArgumentError where there is none.
    """
    known = available()
    if task not in known:
        near = hint(task, known) or f"; there are {', '.join(known)}"
        raise ArgumentError(f"no trained policy for '{visible(task)}'{near}")
    return Policy.load(FOLDER / f"{task}.npz")
