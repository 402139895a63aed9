"""Breaks of bodies and surfaces that move by themselves, of deep starts, and of the reach over height fields."""

from breaks import Break

MOCAP = "python/step/test_mocap_velocity.py::"
SURFACE = "python/contact/test_surfacevel.py::"
DEEP = "python/step/test_acceptance_deep.py::"
FIELDS = "python/collision/test_hfields.py::"

MOVING = [
    Break("a mocap body moves without a velocity", "src/physics/tree/mocap.h",
          "v = narrow3<S>(rate * (to.pos - from.pos));", "v = zero3<S>();",
          pytests=(MOCAP + "test_a_lift_carries_its_load",)),
    Break("a mocap body turns without a velocity", "src/physics/tree/mocap.h",
          "narrow3<S>(rate * select<W>(turns, turn, zero3<W>()))", "zero3<S>()",
          pytests=(MOCAP + "test_a_turntable_turns_what_stands_on_it",)),
    Break("a mocap body is there after the first step of a call", "src/physics/tree/mocap.h",
          "W(m.opt.step_rate / left)", "W(m.opt.step_rate)",
          pytests=(MOCAP + "test_frame_skip_changes_nothing",)),
    Break("teleport does nothing", "src/batch/state.cpp",
          "for (int k = 0; k < s.size(); ++k) impl_->set(impl_->row(f, env), s, k, 0);", "(void)env;",
          pytests=(MOCAP + "test_first_step_after_a_reset_a_set_state_and_a_teleport",)),
    Break("what a mocap body holds lags", "src/physics/constraint/equalities.h",
          "if (m.nmocapstate > 0) drift_block(", "if (m.nmocapstate > 1000) drift_block(",
          pytests=(MOCAP + "test_a_held_load_does_not_lag",)),
    Break("a surface that turns is as fast everywhere", "src/physics/contact/anchors.h",
          "return {w, v + cross(w, r - c)};", "return {w, v};",
          pytests=(SURFACE + "test_a_turntable_turns",)),
    Break("a surface pushes", "src/physics/contact/anchors.h",
          "tangential(n, dot(n, u), u)", "u",
          pytests=(SURFACE + "test_a_surface_does_not_push",)),
    Break("reference: surfaces stand still", "src/reference/step/step.cpp",
          "drift.velocity += u - normal.dot(u) * normal, drift.omega += w;", "(void)u;",
          pytests=(SURFACE + "test_the_engines_agree",)),
    Break("deep starts leave at 1/d", "src/physics/contact/points.h",
          "vmax(vmin(aim, S(kDeepSpeed) * speed) - speed, zero)", "zero",
          pytests=(DEEP + "test_ten_centimetres",)),
    Break("deep starts have no bound", "src/physics/contact/points.h",
          "vmin(aim, S(kDeepSpeed) * speed)", "aim",
          pytests=(DEEP + "test_ten_centimetres",)),
    Break("what rests counts as deep", "src/physics/contact/points.h",
          "const S depth = S(kDeepLoads) * (g", "const S depth = S(0.0) * (g",
          pytests=(DEEP + "test_landings_and_rests_are_as_they_were",)),
    Break("reference: deep starts are at once", "src/reference/contact/contacts.cpp",
          "const Real excess = -p.gap - kDeepLoads * g", "const Real excess = -p.gap - 0 * g",
          pytests=(DEEP + "test_landings_and_rests_are_as_they_were", "python/step/test_acceptance_impact.py::test_c9_normal_velocity_of_one_step")),
    Break("a reach that ends too early is not said", "src/physics/collision/hfield/collide_hfield.h",
          "if (cut) set_lane(limit.cut, lane, 1.0);", "",
          pytests=(FIELDS + "test_speed_over_a_height_field_costs_little",)),
    Break("a field that moves counts as fast", "src/physics/collision/hfield/collide_hfield.h",
          " && reach < std::numeric_limits<double>::infinity()", "",
          pytests=(FIELDS + "test_a_field_that_moves_is_looked_at_whole",)),
]  # fmt: skip
