"""What a deliberate break is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Break:
    """`old` occurs once in its file (test_table.py checks it). Names of tests: "Suite.Name" of a
    gtest, "folder/file.py::function" below tests/."""

    name: str
    file: str
    old: str
    new: str
    gtests: tuple[str, ...] = ()
    pytests: tuple[str, ...] = ()
