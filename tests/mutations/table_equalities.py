"""Deliberate breaks of connects and welds."""

from breaks import Break

PAGE = "python/constraint/test_equalities.py::"

EQUALITIES = [
    Break("weld: anchors exchanged", "src/reference/constraint/equalities.cpp",
          "row3(data, weld ? 1 : 0)", "row3(data, weld ? 0 : 1)",
          pytests=(PAGE + "test_residuals_and_jacobians",)),
    Break("weld: impulses act on each body at its own point", "src/physics/constraint/equalities.h",
          "from_origin(m, e, b2, weld ? middle : pose.q)", "from_origin(m, e, b2, pose.q)",
          pytests=(PAGE + "test_packs_against_the_reference",)),
    Break("rigid equality closes in a step", "src/physics/constraint/equalities.h",
          "select(rigid, dt, e.eq_relaxation_time[k])", "select(rigid, zero, e.eq_relaxation_time[k])",
          pytests=(PAGE + "test_packs_against_the_reference",)),
    Break("equality: the batch does not ask eq_active", "src/physics/constraint/equalities.h",
          "active = vabs(e.eq_active[k]);", "active = S(1.0);",
          pytests=(PAGE + "test_inactive_is_absent", "python/constraint/test_loops.py::test_mocap_drags_a_robot")),
    Break("connect: a dof that moves both bodies is left out", "src/cpu/host_blocks.cpp",
          "column.side == 3 && type == EqualityType::weld", "column.side == 3",
          pytests=(PAGE + "test_packs_against_the_reference",)),
    Break("equality: softer than MuJoCo's by d", "src/model/spec/contact_mapping.cpp",
          "d * d / (1 - d) * ref.stiffness", "d / (1 - d) * ref.stiffness",
          pytests=(PAGE + "test_stiffness_is_mujocos",)),
    Break("relpose: a zero quaternion is no question", "src/model/build/build_equalities.cpp",
          "if (length > 1e-14)", "if (length >= 0)",
          pytests=(PAGE + "test_arrays_are_mujocos",)),
    Break("coupling: no slope of the polynomial", "src/physics/constraint/couplings.h",
          "W(2.0) * c[2]", "c[2]", pytests=("python/constraint/test_couplings.py::test_packs_against_the_reference",)),
    Break("coupling: lengths from zero, not from those at qpos0", "src/reference/constraint/equalities.cpp",
          "tendons[at(id)].length - m.tendon_length0[at(id)]", "tendons[at(id)].length",
          pytests=("python/constraint/test_couplings.py::test_residuals_and_jacobians",)),
    Break("coupling: inverse weight of the first joint alone", "src/model/build/build_equalities.cpp",
          "    if (id < 0) continue;", "    if (id < 0 || (sum[0] > 0 && m.eq_type[at(i)] == EqualityType::joint)) continue;",
          pytests=("python/constraint/test_couplings.py::test_stiffness_is_mujocos",)),
    Break("force sensor does not feel a loop", "src/physics/tree/subtrees.h",
          "return total - block_forces(m, e, b, pos);", "return total;",
          pytests=("python/constraint/test_loops.py::test_force_sensor_feels_the_loop",)),
]
