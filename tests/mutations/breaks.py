"""What a deliberate break is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Break:
    """`old` occurs once in its file (test_table.py checks it). Names of tests: "Suite.Name" of a
    gtest, "folder/file.py::function" below tests/. `ptx`: gtests on the PTX of the kernels, for text that
    only a GPU executes; where nvcc is missing the break is left out."""

    name: str
    file: str
    old: str
    new: str
    gtests: tuple[str, ...] = ()
    pytests: tuple[str, ...] = ()
    ptx: tuple[str, ...] = ()

    def apply(self, text: str) -> str | None:
        """The text of the file with the break; None: it does not fit."""
        return text.replace(self.old, self.new) if text.count(self.old) == 1 else None
