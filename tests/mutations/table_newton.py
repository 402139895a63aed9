"""Breaks of the batch's Newton iteration: its start, its curvatures, its lines, what it says."""

from breaks import Break

NEWTON = [
    Break("the line search ends at Newton's step", "src/physics/line_search.h",
          "Mask<S> open = active && vabs(full) > bound;", "Mask<S> open = active && full > bound;",
          gtests=("Solve.ADoubleRootIsOneLineSearchAway",)),
    Break("the solver begins with an old acceleration in the air", "src/physics/solve_start.h",
          "Mask<S> use_last = goes_on;", "Mask<S> use_last = goes_on || all_lanes<S>();",
          gtests=("Solve.InTheAirItBeginsAtTheEnd",)),
    Break("contacts stiffer than float resolves", "src/physics/points.h",
          "return select(ratio > S(1.0), k / ratio, k);", "return select(ratio > S(1.0), k, k);",
          gtests=("Solve.StalledIsHarmlessWhereItIsNotInaccurate",)),
    Break("normal velocities count from zero", "src/physics/solve_start.h",
          "shift_velocities(team, e, -1);", "",
          gtests=("Solve.AgreesWithTheReferenceInDouble",)),
    Break("the bounding curvature along the slip is the exact one", "src/physics/contact_law.h",
          "s.plane = s.drag, s.across = S(0.0);", "s.across = s.drag - s.plane;",
          gtests=("ContactLaw.BoundingCurvatureIsAboveTheCurvature",)),
    Break("an inaccurate step says that it stalled and no more", "src/physics/solve.h",
          "s.stalled && !(s.residual <= S(kStalledResidual))", "no_lanes<S>()",
          gtests=("Solve.InaccurateStepsSaySo",)),
]
