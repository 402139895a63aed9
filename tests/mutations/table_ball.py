"""Deliberate breaks of the limits of ball joints."""

from breaks import Break

PAGE = "python/constraint/test_ball_limits.py::"

BALL = [
    Break("ball limit: half the angle", "src/physics/constraint/ball_limits.h", "const S angle = norm(turn);",
          "const S angle = S(0.5) * norm(turn);", pytests=(PAGE + "test_ball_is_a_hinge_about_the_axis",)),
    Break("ball limit: its arm is not a unit", "src/physics/constraint/ball_limits.h", "scale * turn);", "turn);",
          pytests=(PAGE + "test_packs_against_the_reference",)),
    Break("ball limit of the reference without margin", "src/reference/constraint/rows.cpp",
          "const Real upper = high - margin - q;", "const Real upper = high - q;",
          pytests=(PAGE + "test_ball_is_a_hinge_about_the_axis",)),
]
