"""Breaks of anchored dry friction, in both engines."""

from breaks import Break

PAGE = "python/constraint/test_anchored_joints.py::"

JOINT_ANCHORS = [
    Break("anchored dry friction: pulls onwards", "src/reference/actuation/tendons.cpp",
          "? -anchors[at(k)] /", "? anchors[at(k)] /", pytests=(PAGE + "test_a_load_below_is_held",)),
    Break("anchored dry friction: no end of the anchor", "src/reference/law/row_laws.cpp",
          "std::clamp<Real>(z + dt * v, -reach, reach)", "z + dt * v + 0 * reach",
          pytests=(PAGE + "test_what_was_dragged_stays_where_it_stops",)),
    Break("packs: anchored dry friction follows the old velocity", "src/physics/contact/anchors.h",
          "z, e.v[i])", "z, e.qvel[i])", pytests=(PAGE + "test_of_a_batch",)),
    Break("packs: a tendon's anchor is that of a dof", "src/physics/constraint/tendon_rows.h",
          "friction_law(m, e, m.nv + t,", "friction_law(m, e, t,", pytests=(PAGE + "test_of_a_batch",)),
    Break("set_state keeps the anchors of dry friction", "src/batch/state.cpp",
          "{&BatchState::friction_anchor, Field::friction_anchor, true}", "{&BatchState::friction_anchor, Field::friction_anchor, false}",
          pytests=(PAGE + "test_anchors_are_state",)),
    Break("the Jacobian forgets the anchors of dry friction", "src/reference/step/jacobian.cpp",
          "in.mocap_vel, in.anchor, in.friction_anchor,",
          "in.mocap_vel, in.anchor, std::vector<double>(in.friction_anchor.size()),",
          pytests=(PAGE + "test_derivative",)),
]
