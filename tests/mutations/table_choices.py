"""Deliberate breaks of what an option, a parameter of its own or a getter decides."""

from breaks import Break

CHOICES = [
    Break("bounds of friction follow after every contact", "src/physics/solver/friction_follow.h",
          "return whole > share2 *", "return whole > S(-1.0) *",
          gtests=("FrictionFollow.BoundsFollowWhereFrictionChanges",)),
    Break("bounds do not follow a contact that leaves", "src/physics/solver/friction_bounds.h",
          "select(falls, b.n0 * share - b.n, ", "select(falls, S(0.0), ",
          gtests=("FrictionFollow.BoundsFollowWhereFrictionChanges",)),
    Break("bounds follow without relaxation, to and fro", "src/physics/solver/friction_follow.h",
          "select(known, bounded, one)", "S(-1.0) * one",
          gtests=("FrictionFollow.AutoIsNearTheFixedPoint",)),
    Break("the first look at the bounds is left out", "src/physics/solver/solve.h",
          "if (any_lane(at_once)) {", "if (false) {",
          gtests=("FrictionFollow.BoundsFollowWhereTheStartIsTheSolution",)),
    Break("reference: the fixed point keeps the bounds", "src/reference/step/friction.cpp",
          "set_bound(o_, n, p.w, c.law);", "(void)n;",
          gtests=("FrictionFollow.AutoIsNearTheFixedPoint",),
          pytests=("python/step/test_acceptance_impact.py::test_friction_of_a_sliding_impact",)),
    Break("own parameters that change nothing cost an iteration", "src/physics/solver/solve_start.h",
          "e.ncon[0] == S(0.0) && e.rows_act[0] == S(0.0);",
          "e.ncon[0] == S(0.0) && e.rows_act[0] == S(m.nrowdof == m.nv ? -1.0 : 0.0);",
          gtests=("OwnParams.ReadingThemChangesNoBit",)),
    Break("an own orientation that turns nothing is normalized", "src/physics/tree/kinematics.h",
          "differs(own.w, W(1.0)) ||", "!differs(own.w, W(1.0)) ||", gtests=("OwnParams.ReadingThemChangesNoBit",)),
    Break("a model keeps the stiffness of the file's timestep", "src/model/build/pairs.cpp",
          "copy->mapped_pairs) model::set_mapped_pair(*copy, pair);", "copy->mapped_pairs) (void)pair;",
          gtests=("Timestep.OfTheOptionsIsThatOfTheFile",)),
]
