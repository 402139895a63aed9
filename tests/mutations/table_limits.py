"""Deliberate breaks of joint limits."""

from breaks import Break

ACCEPTANCE = "python/step/test_acceptance_limits.py::"

LIMITS = [
    Break("violated limit: returns within a step", "src/reference/law/row_laws.cpp",
          "g < 0 ? -g / T : -g / dt", "g < 0 ? -g / dt : -g / dt",
          gtests=("RowLaws.LimitsThatReturnInTheirOwnTime", "Limits.AgreeWithTheReference"),
          pytests=(ACCEPTANCE + "test_energy_of_a_violated_limit",)),
    Break("joint limit gives way to any demand", "src/physics/constraint/limits.h",
          "vmax(S(1 / kLimitYield), demand", "vmin(S(1 / kLimitYield), demand",
          gtests=("Limits.Stiffness", "Limits.AgreeWithTheReference"),
          pytests=(ACCEPTANCE + "test_overshoot_at_any_speed",)),
    Break("joint limit: direct solreflimit upside down", "src/physics/constraint/limits.h",
          "const S k = select(standard, one, -solref[0]), b = select(standard, solref[0], -solref[1]);",
          "const S k = select(standard, one, -solref[1]), b = select(standard, solref[0], -solref[0]);",
          gtests=("Limits.RecoveryRate",)),
    Break("joint limit does not see the servos", "src/physics/solver/rows.h",
          "S(m.opt.timestep) * e.qfrc_smooth[i] + length_impulse_on(m, e, i)", "S(m.opt.timestep) * e.qfrc_smooth[i]",
          pytests=(ACCEPTANCE + "test_servo_against_a_limit",)),
    Break("a bounded row has a curvature beyond its bounds", "src/physics/law/row_law.h",
          "y > c.lower && y < c.upper", "y < c.upper",
          gtests=("RowLaw.AgreesWithTheReference", "RowLaw.DerivativesAndBounds")),
]
