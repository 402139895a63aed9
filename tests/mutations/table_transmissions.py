"""Deliberate breaks of actuators on sites and in the parent's frame."""

from breaks import Break

LENGTHS = ("python/actuation/test_transmissions.py::test_lengths_and_arms_are_mujocos",)

ADHESION = "python/contact/test_adhesion.py::"
GRAVITY = "python/actuation/test_actuatorgravcomp.py::"

TRANSMISSIONS = [
    Break("site: its reference feels nothing", "src/physics/actuation/site_drives.h",
          "pull.torque1 = -torque;", "pull.torque1 = zero * torque;", pytests=LENGTHS),
    Break("site: the axes of its own, not of its reference", "src/physics/actuation/site_drives.h",
          "const Mat3<S> axes = narrow_axes<S>(g.quat);", "const Mat3<S> axes = narrow_axes<S>(f.quat);",
          pytests=LENGTHS),
    Break("slider-crank: the rod is longer than it is", "src/physics/actuation/site_drives.h",
          "rod = W(m.actuator_cranklength[a]);", "rod = W(1.1 * m.actuator_cranklength[a]);", pytests=LENGTHS),
    Break("jointinparent: the axes of the child", "src/physics/actuation/site_drives.h",
          "const Vec3<S> axis = transposed(narrow_axes<S>(q), gear);", "const Vec3<S> axis = gear;",
          pytests=LENGTHS),
    Break("site of the reference: what moves both sites counts", "src/reference/actuation/forces.cpp",
          "if (moves(m, i, body) && moves(m, i, ref_body))", "if (false)",
          pytests=LENGTHS),
    Break("reader: rest moment arms of sites without torques", "src/model/spec/derive.cpp",
          "force.dot(v) + torque.dot(w)", "force.dot(v)", pytests=LENGTHS),
    Break("actuatorgravcomp: a servo keeps its range whatever it lifts", "src/physics/constraint/servos.h",
          "x = x - lift, y = y - lift;", "(void)lift;",
          pytests=(GRAVITY + "test_a_step_of_a_batch_is_the_references",
                   GRAVITY + "test_a_servo_too_weak_for_the_weight_sinks")),
    Break("actuatorfrcrange: a servo and what it does not give are bounded", "src/physics/actuation/gravity_lift.h",
          "return select(is_bounded_by_row(m, e, i), f,", "return select(no_lanes<S>(), f,",
          pytests=("python/actuation/test_actuatorgravcomp.py::test_a_range_without_zero_pushes_once",)),
    Break("actuatorgravcomp: the range bounds the actuators alone", "src/physics/actuation/gravity_lift.h",
          "return within_range(m, e, i, f + e.qfrc_lift[i]);", "return within_range(m, e, i, f) + e.qfrc_lift[i];",
          pytests=(GRAVITY + "test_motion_is_mujocos",)),
    Break("actuatorgravcomp: passive and actuators' at once", "src/reference/reference.cpp",
          "(gravcomp - lifted)", "gravcomp", pytests=(GRAVITY + "test_forces_are_mujocos",)),
    Break("adhesion: every point gets all of it", "src/physics/contact/adhesion.h",
          "own_force(m, e, a) / vmax(count, S(1.0))", "own_force(m, e, a)",
          pytests=(ADHESION + "test_a_step_of_a_batch_is_the_references",
                   ADHESION + "test_a_box_hangs_by_what_pulls_more_than_its_weight")),
    Break("adhesion: what only comes near sticks", "src/physics/contact/adhesion.h",
          "return select(active && e.point_gap[p] <= S(0.0), S(1.0), S(0.0));",
          "return select(active, S(1.0), S(0.0));",
          pytests=(ADHESION + "test_a_step_of_a_batch_is_the_references",)),
    Break("adhesion: contacts pushed apart", "src/reference/contact/adhesion.cpp",
          "sum -= contact_jacobian", "sum += contact_jacobian",
          pytests=(ADHESION + "test_forces_are_mujocos",)),
]
