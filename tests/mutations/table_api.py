"""Deliberate breaks of what a batch computes on request, of checks of parameters, of pickled models."""

from breaks import Break

COMPUTE = "python/test_compute.py::"
BATCH = "python/test_batch_api.py::"

API_DOOR = [
    Break("quantities: mass matrix without armature", "src/physics/quantities.h",
          "widen(i == j ? x + e.dof_armature[i] : x)", "widen(x)",
          pytests=(COMPUTE + "test_quantities",)),
    Break("quantities: axes by columns", "src/physics/quantities.h",
          "store3(out, 3 * i, {axes.x.x, axes.y.x, axes.z.x});", "store3(out, 3 * i, axes.x);",
          pytests=(COMPUTE + "test_quantities",)),
    Break("quantities: cvel at the body's own centre", "src/physics/quantities.h",
          "subtree(m, e, root).com", "subtree(m, e, b).com", pytests=(COMPUTE + "test_quantities",)),
    Break("quantities: energy of a spring doubled", "src/physics/quantities.h",
          "S(0.5) * e.jnt_stiffness[j] *", "e.jnt_stiffness[j] *",
          pytests=(COMPUTE + "test_energies",)),
    Break("jacobian: about O, not about the point", "src/physics/quantities.h",
          "put(0, i, velocity_at(axis, r))", "put(0, i, axis.l + S(0.0) * r)",
          pytests=(COMPUTE + "test_jacobians",)),
    Break("inverse: the velocity at the end of the step taken for that of the solve",
          "src/physics/inverse.h", "  before_second_half(team, m, e);\n", "",
          pytests=(COMPUTE + "test_a_step_with_the_inverse_has_its_acceleration",)),
    Break("inverse: points of the motion without the force", "src/cpu/kernels.cpp",
          "k < kInversePasses; ++k)", "k < 1; ++k)",
          pytests=(COMPUTE + "test_a_step_with_the_inverse_has_its_acceleration",)),
    Break("inverse: actuators count as what acts besides", "src/batch/compute.cpp",
          "    const Replaced gain(w.fields[at(Field::actuator_gain)], none.data());\n", "",
          pytests=(COMPUTE + "test_inverse_finds_what_the_actuators_did",)),
    Break("contacts: points of the neighbours in the pack", "src/batch/contacts.cpp",
          "lane.integer(Field::point_slot, i)) > 0.5)", "lane.integer(Field::point_slot, i)) > -1)",
          pytests=(COMPUTE + "test_contacts_of_all_environments",)),
    Break("compute: a bad state has numbers", "src/batch/compute.h",
          "    if (impl.state_is_good(ids[i])) good", "    good",
          pytests=(COMPUTE + "test_a_bad_state_has_no_numbers",)),
    Break("check: written parameters are not looked at before a step", "src/batch/run.cpp",
          "  check_written_params();\n", "",
          pytests=(BATCH + "test_an_unphysical_parameter_is_refused_by_the_next_step",)),
    Break("check: nor before a step of environments", "src/env/step.cpp",
          "  engine().check_written_params();\n", "",
          pytests=(BATCH + "test_environments_refuse_it_too",)),
    Break("frozen: a warning counts", "src/batch/state.cpp",
          "    if (impl_->frozen(env)) ids.push_back(env);",
          "    if (impl_->status[at(env)] != 0) ids.push_back(env);",
          pytests=(BATCH + "test_a_warning_does_not_freeze",)),
]
