"""Deliberate breaks of joint limits."""

from breaks import Break

ACCEPTANCE = "python/step/test_acceptance_limits.py::"

LIMITS = [
    Break("violated limit: returns within a step", "src/reference/law/row_laws.cpp",
          "if (!(g < 0)) return -g / dt;", "if (dt > 0) return -g / dt;",
          gtests=("RowLaws.LimitsThatReturnInTheirOwnTime", "Limits.AgreeWithTheReference"),
          pytests=(ACCEPTANCE + "test_return_from_rest",)),
    Break("violated limit: the speed of its return is forgotten", "src/physics/constraint/limits.h",
          "return_speed(back, dt, -gap, vmax(returning, zero))", "return_speed(back, dt, -gap, vmin(returning, zero))",
          pytests=(ACCEPTANCE + "test_return_from_rest",)),
    Break("violated limit: returns past its end", "src/physics/constraint/limits.h",
          "select(gap < zero, vmin(aim, reach), reach)", "select(gap < zero, aim, reach)",
          pytests=(ACCEPTANCE + "test_a_limit_adds_nothing_to_a_fast_return",)),
    Break("joint limit gives way to any demand", "src/physics/constraint/limits.h",
          "select(yields, soft + demand / select", "select(yields, soft + S(0.0) * demand / select",
          gtests=("Limits.Stiffness", "Limits.AgreeWithTheReference"),
          pytests=(ACCEPTANCE + "test_overshoot_at_any_speed",)),
    Break("joint limit: direct solreflimit upside down", "src/physics/law/recovery.h",
          "select(standard, S(2.0) * solref[1] * rate, -solref[1])",
          "select(standard, S(2.0) * solref[1] * rate, -solref[0])",
          gtests=("Recovery.AgreesWithTheReference",)),
    Break("joint limit does not see the servos", "src/physics/solver/rows.h",
          "S(m.opt.timestep) * e.qfrc_smooth[i] + length_impulse_on(m, e, i)", "S(m.opt.timestep) * e.qfrc_smooth[i]",
          pytests=(ACCEPTANCE + "test_servo_against_a_limit",)),
    Break("a bounded row has a curvature beyond its bounds", "src/physics/law/row_law.h",
          "y > c.lower && y < c.upper", "y < c.upper",
          gtests=("RowLaw.AgreesWithTheReference", "RowLaw.DerivativesAndBounds")),
]
