"""Breaks of Newton's iteration, of the reference and of the batch: start, curvatures, lines, ends."""

from breaks import Break

API = "python/test_api.py::"
METAMORPHIC = "python/test_metamorphic.py::"
ACCURACY = "python/test_batch_accuracy.py::"
LIMITS = "python/test_acceptance_limits.py::"

SOLVER = [
    Break("an absolute constant in the stopping rule", "src/reference/newton.cpp",
          "return scale > 0 ? r / scale : Real(1);",
          "return scale > 0 ? r / (scale + 1e-3) : Real(1);",
          pytests=(METAMORPHIC + "test_four_times_the_mass_is_bitwise",)),
    Break("line search accepts every full step", "src/reference/line_search.cpp",
          "if (at_1.slope <= kTolerance * scale || scale <= round_off) return {1, 0};",
          "if (at_1.slope <= 1e30) return {1, 0};",
          gtests=("Newton.RandomStartsFindOneMinimizer",)),
    Break("line search: bracket closed from the wrong side", "src/reference/line_search.cpp",
          "((value.f > 0) == rising ? upper : lower)", "((value.f > 0) == rising ? lower : upper)",
          gtests=("LineSearch.RootFinder",)),
    Break("cubic guess: wrong coefficient", "src/reference/line_search.cpp",
          "-3 * difference - 2 * at_0.slope - at_1.slope",
          "-3 * difference - at_0.slope - at_1.slope",
          gtests=("LineSearch.CubicMinimumIsExactForACubic",)),
    Break("Newton: half of the contacts' Hessian", "src/reference/problem.cpp",
          "+= on.transpose() * h * on;",
          "+= 0.5 * on.transpose() * h * on;",
          gtests=("Newton.CostFallsAndGradientIsConsistent",)),
    Break("Newton: contact impulse missing in the residual", "src/reference/problem.cpp",
          "add(J.transpose() * value.impulse);", "add(0.0 * J.transpose() * value.impulse);",
          gtests=("Newton.CostFallsAndGradientIsConsistent",),
          pytests=(API + "test_resting_sphere",)),
    Break("Newton: stops a thousand times too early", "src/reference/newton.cpp",
          "while (!(s.residual <= tolerance)) {", "while (!(s.residual <= 1e3 * tolerance)) {",
          gtests=("Newton.StopsAtTheTolerance",)),
]

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
    Break("bounding curvatures have the last word", "src/physics/solve.h",
          "select(s.bounded, tolerance * tolerance, tolerance)", "tolerance",
          pytests=(ACCURACY + "test_friction_of_a_slide_does_not_depend_on_the_start",)),
    Break("the residual is relative to the sum of the impulses alone", "src/physics/solve_start.h",
          "vmax(s.scale, rho * vsqrt(loads(team, m, e)))", "s.scale",
          pytests=(LIMITS + "test_balanced_impulses_need_no_iteration",)),
    Break("the load of a joint leaves its limits out", "src/physics/rows.h",
          "load = load + row_load(", "load = load + S(0.0) * row_load(",
          pytests=(LIMITS + "test_balanced_impulses_need_no_iteration",)),
    Break("the load of a joint is the sum of its rows", "src/physics/rows.h",
          "load = load + vabs(row_law(load_bounded(e, row), v).impulse)", "load = load + row_law(load_bounded(e, row), v).impulse",
          pytests=(LIMITS + "test_balanced_impulses_need_no_iteration",)),
    Break("reference: the residual is relative to the sum of the impulses alone", "src/reference/newton.cpp",
          "rho * D.cwiseProduct(e.load).norm()", "0.0",
          pytests=(LIMITS + "test_balanced_impulses_need_no_iteration",)),
]
