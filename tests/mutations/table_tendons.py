"""Deliberate breaks of tendons."""

from breaks import Break

PAGE = "python/test_tendons.py::"

TENDONS = [
    Break("tendon: a pulley multiplies", "src/physics/tendons.h",
          "share = W(1.0) / widen(e.wrap_coef[k]);", "share = widen(e.wrap_coef[k]);",
          pytests=(PAGE + "test_lengths_and_arms_are_mujocos",)),
    Break("tendon: along the inside where it goes around", "src/physics/wrapping.h",
          "(within && inside.wraps) ||", "(within && !inside.wraps) ||",
          pytests=(PAGE + "test_lengths_and_arms_are_mujocos",)),
    Break("tendon: its spring is explicit by a step", "src/physics/tendon_rows.h",
          "S(dt * dt) * tendon_stiffness(m, e, t)", "S(dt) * tendon_stiffness(m, e, t)",
          pytests=(PAGE + "test_damper_and_spring_are_implicit",)),
    Break("tendon: armature has no velocity", "src/physics/tendon_rows.h",
          "armature * e.ten_velocity[t] /", "S(0.0) * e.ten_velocity[t] /",
          gtests=("Tendons.AStepIsTheReferences",)),
    Break("tendon of the reference: no upper limit", "src/reference/tendons.cpp",
          "return {{J, limits.lower}, {-J, limits.upper}};", "return {{J, limits.lower}};", gtests=("Tendons.AStepIsTheReferences",)),
]
