"""Deliberate breaks of what an option, a parameter of its own or a getter decides."""

from breaks import Break

CHOICES = [
    Break("auto solves again after every contact", "src/physics/solver/friction_bounds.h",
          "S(kFrictionShare * kFrictionShare)", "S(0.0)",
          gtests=("Solve.AutoSolvesAgainWhereFrictionChanges",)),
    Break("auto does not see a contact that leaves", "src/physics/solver/friction_bounds.h",
          "vmax(vmax(beyond, added), S(0.0));", "vmax(added, S(0.0));",
          gtests=("Solve.AutoSolvesAgainWhereFrictionChanges",)),
    Break("own parameters that change nothing cost an iteration", "src/physics/solver/solve_start.h",
          "e.ncon[0] == S(0.0) && e.rows_act[0] == S(0.0);",
          "e.ncon[0] == S(0.0) && e.rows_act[0] == S(m.nrowdof == m.nv ? -1.0 : 0.0);",
          gtests=("OwnParams.ReadingThemChangesNoBit",)),
    Break("an own orientation that turns nothing is normalized", "src/physics/tree/kinematics.h",
          "own.w != W(1.0) ||", "own.w == W(1.0) ||", gtests=("OwnParams.ReadingThemChangesNoBit",)),
    Break("a model keeps the stiffness of the file's timestep", "src/model/build/pairs.cpp",
          "copy->mapped_pairs) model::set_mapped_pair(*copy, pair);", "copy->mapped_pairs) (void)pair;",
          gtests=("Timestep.OfTheOptionsIsThatOfTheFile",)),
]
