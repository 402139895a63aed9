"""The contact laboratory: contact solvers of the literature on the same contact problems.

    from stiction_lab import Problem, Scene, solve, solvers

`Scene` makes the contact problem of a state with the reference engine, `solve` runs a solver by its name.
docs/laboratory.md has a tour.
"""

import os
from pathlib import Path

# the compiled half lies where CMake builds it; STICTION_LAB: in the folder of another build
__path__.append(os.environ.get("STICTION_LAB") or
                str(Path(__file__).resolve().parents[2] / "build" / "release" / "lab"))

import stiction  # noqa: E402, F401  its errors are those of _lab

from ._lab import (  # noqa: E402
    MaximalProblem,
    MaximalSolution,
    Problem,
    Scene,
    Solution,
    interior_point,
    project_cone,
    project_dual_cone,
    solve,
    solvers,
)

__all__ = [
    "MaximalProblem",
    "MaximalSolution",
    "Problem",
    "Scene",
    "Solution",
    "interior_point",
    "project_cone",
    "project_dual_cone",
    "solve",
    "solvers",
]
