"""Deliberate breaks of tendons."""

from breaks import Break

PAGE = "python/actuation/test_tendons.py::"

TENDONS = [
    Break("tendon: a pulley multiplies", "src/physics/actuation/tendons.h",
          "share = W(1.0) / widen(e.wrap_coef[k]);", "share = widen(e.wrap_coef[k]);",
          pytests=(PAGE + "test_lengths_and_arms_are_mujocos",)),
    Break("tendon: along the inside where it goes around", "src/physics/actuation/wrapping.h",
          "(within && inside.wraps) ||", "(within && !inside.wraps) ||",
          pytests=(PAGE + "test_lengths_and_arms_are_mujocos",)),
    Break("tendon: its spring is explicit by a step", "src/physics/constraint/tendon_rows.h",
          "S(dt * dt) * tendon_stiffness(m, e, t)", "S(dt) * tendon_stiffness(m, e, t)",
          pytests=(PAGE + "test_damper_and_spring_are_implicit",)),
    Break("tendon: armature has no velocity", "src/physics/constraint/tendon_rows.h",
          "armature * rate /", "S(0.0) * rate /",
          gtests=("Tendons.AStepIsTheReferences",)),
    Break("tendon: a string that turns has no bias", "src/physics/constraint/tendon_rows.h",
          "rate = rate - S(m.opt.timestep) * tendon_bias(m, e, t);", "rate = rate - S(0.0) * tendon_bias(m, e, t);",
          pytests=("python/actuation/test_tendon_bias.py::test_packs_step_as_the_reference",)),
    Break("tendon: points of a string that turns have no centripetal acceleration", "src/physics/actuation/tendon_bias.h",
          "+ cross(v.a, velocity)}", "+ zero3<S>()}", pytests=("python/actuation/test_tendon_bias.py::test_bias_is_mujocos",)),
    Break("tendon of the reference: bias without the sites' accelerations", "src/reference/actuation/tendons.cpp",
          "(u.dot(u) + d.dot(a) - rate * rate)", "(u.dot(u) - rate * rate)", pytests=("python/actuation/test_tendon_bias.py::test_bias_is_mujocos",)),
    Break("actuator: its armature counts gear times", "src/model/build/build_actuators.cpp",
          "x = gear * gear * of_actuator", "x = gear * of_actuator", pytests=("python/actuation/test_actuator_rotors.py::test_sums_stand_in_the_model",)),
    Break("actuator: damping of the last one on a joint alone", "src/model/build/build_actuators.cpp",
          "damping[k] += reflected(", "damping[k] = reflected(", pytests=("python/actuation/test_actuator_rotors.py::test_sums_stand_in_the_model",)),
    Break("actuator: its armature comes after the inverse weights", "src/model/build/build_actuators.cpp",
          "  refuse_shared_tendons(spec, m);\n  add_rotors(spec, m);\n}\n\nvoid resolve_actuators(const Spec& spec, Model& m) {\n",
          "  refuse_shared_tendons(spec, m);\n}\n\nvoid resolve_actuators(const Spec& spec, Model& m) {\n  add_rotors(spec, m);\n",
          pytests=("python/actuation/test_actuator_rotors.py::test_what_follows_from_inertia_is_mujocos",)),
    Break("tendon of the reference: no upper limit", "src/reference/actuation/tendons.cpp",
          "return {{J, limits.lower}, {-J, limits.upper}};", "return {{J, limits.lower}};", gtests=("Tendons.AStepIsTheReferences",)),
]
