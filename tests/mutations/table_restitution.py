"""Deliberate breaks of restitution."""

from breaks import Break

PAGE = "python/contact/test_restitution.py::"
FAST, REFERENCE = "src/physics/contact/rebound.h", "src/reference/contact/rebound.cpp"
BALL, REST = ("Rebound.ComesBackToTheSquareOfE",), ("Rebound.RestsOnceGravityAloneBringsItDown",)

RESTITUTION = [
    Break("restitution: a tenth too fast", FAST, "select(known, share * v_a, zero)", "select(known, S(1.1) * share * v_a, zero)", gtests=BALL),
    Break("restitution: the law that parts is as soft as the pair", FAST,
          "select(rigid, vmax(usual.k, least_k), usual.k)", "usual.k", gtests=BALL),
    Break("restitution: SAP parts as softly as it presses", "src/physics/contact/points.h",
          "select(given.rigid, S(bounce), S(usual))", "S(usual)", gtests=("Rebound.SapComesBackToo",)),
    Break("restitution: a soft bounce has the implicit gap", FAST,
          "select(soft, usual.gap - S(dt) * s,", "select(soft, usual.gap,", gtests=BALL),
    Break("restitution: nothing of a soft bounce is given up", FAST, "(one - S(0.125) * vsqrt(vmax(stiff, zero)))", "one",
          gtests=BALL),
    Break("restitution: soft bounces keep the pair's d", FAST, "select(soft, d, usual.d)", "usual.d", gtests=BALL),
    Break("restitution: d of the root without its cubic", FAST, "S(0.35) * e", "S(0.0) * e", gtests=BALL),
    Break("restitution: everything bounces", FAST, "kLeastImpact = 4;", "kLeastImpact = 0;",
          gtests=REST),
    Break("restitution: what has bounced and presses bounces again", FAST,
          "select(met > zero && goes_on, met, pressed)", "select(met > zero && goes_on, met, zero)", gtests=BALL),
    Break("restitution: a soft bounce that turns back goes on", FAST, "approach <= zero && dot(n,", "no_lanes<S>() && dot(n,",
          gtests=REST),
    Break("restitution: a frozen lane bounces on", FAST, "select(moves, e.point_approach[p], e.rebound[slot])",
          "e.point_approach[p]", gtests=BALL),
    Break("restitution: what has met is left out where its gap is closed", "src/physics/contact/activation.h",
          "if (m.nrebound > 0) closing = vmax(closing, e.rebound[slot]);", "",
          pytests=(PAGE + "test_what_has_met_parts_though_its_gap_is_open",)),
    Break("restitution: a set state keeps it", "src/batch/state.cpp", "{&BatchState::rebound, Field::rebound, true}",
          "{&BatchState::rebound, Field::rebound, false}", pytests=(PAGE + "test_state_is_saved_copied_and_reset",)),
    Break("restitution: overdamped springs bounce", "src/model/spec/contact_mapping.cpp",
          "if (!(dampratio < kCritical)) return 0;", "if (!(dampratio < 2)) return 0;", pytests=(PAGE + "test_solref_of_a_file",)),
    Break("restitution: the spring pulls", "src/model/spec/contact_mapping.cpp", "std::numbers::pi - std::atan2(2 * z * root, 1 - 2 * z * z)",
          "std::numbers::pi", pytests=(PAGE + "test_solref_of_a_file",)),
    Break("restitution: a rigid geom has a say", "src/model/spec/contact_material.cpp",
          "compliant(m, g1) ? m.geom_restitution[at(g1)] : 0", "m.geom_restitution[at(g1)]",
          pytests=(PAGE + "test_materials_of_two_geoms",)),
    Break("restitution, reference: the speed at the surface", REFERENCE, "return -v_n0 > least_impact(m, *o.timestep) ? -v_n0 : kPressed",
          "return -v_n0 > least_impact(m, *o.timestep) ? -v_n : kPressed", gtests=BALL),
]
