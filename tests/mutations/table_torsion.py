"""Deliberate breaks of torsional and rolling friction."""

from breaks import Break

PAGE = "python/contact/test_torsion.py::"

TORSION = [
    Break("torsion: the bound is twice μ_t n0", "src/physics/law/couple_law.h",
          "return {c[0] * e.point_n0[point], c[2]};", "return {S(2.0) * c[0] * e.point_n0[point], c[2]};",
          pytests=(PAGE + "test_a_spinning_ball_stops_in_the_time_of_the_closed_form",)),
    Break("rolling: condim 6 is 4", "src/physics/law/couple_law.h", "c[1] = condim > 4 ?", "c[1] = condim > 6 ?",
          pytests=(PAGE + "test_a_rolling_ball_is_braked_by_rolling_friction",)),
    Break("torsion: the patch of a soft norm is 1", "src/physics/law/couple_law.h",
          "vmax(mu, S(kLeastFriction)) / select(acts, coefficient, S(1.0))", "S(1.0)",
          gtests=("CoupleLaw.SpeedOfTheSoftNorm",)),
    Break("torsion: points between branches have no curvature", "src/physics/solver/cross_points.h",
          "if (m.ncouple > 0) add_cross_couple(team, e, point);", "", gtests=("Hessian.AgreesWithTheExplicitJacobian",)),
    Break("rolling: anchors do not hold", "src/physics/contact/anchors.h",
          "store3(e.point_couple_shift, p, S(1 / (kAnchorTime * dt)) * held);",
          "store3(e.point_couple_shift, p, S(0.0) * held);",
          pytests=(PAGE + "test_a_ball_on_a_slope_stays_while_its_tangent_is_below_the_rolling_radius",)),
]
