"""Breaks of sensors, in both engines."""

from breaks import Break

LIMITS = "python/test_limit_sensors.py::"
ZOO = ("python/test_mujoco_sensors.py::test_readings",)
PACKS = ("Sensors.DoubleEqualsReference",)

SENSORS = [
    Break("a limit opens with the joint's velocity", "src/reference/length_forces.cpp",
          "return {high - pose[0] - margin, -v[0]};", "return {high - pose[0] - margin, v[0]};",
          pytests=(LIMITS + "test_distance_and_rate",)),
    Break("a ball's limit opens along its axis", "src/reference/length_forces.cpp",
          "-turn.normalized().dot(row3(v, 0))", "turn.normalized().dot(row3(v, 0))",
          pytests=(LIMITS + "test_distance_and_rate",)),
    Break("packs: margins do not count for the sensor", "src/physics/sensor_state.h",
          "narrow<S>(q - low - margin), upper", "narrow<S>(q - low), upper",
          pytests=(LIMITS + "test_of_a_batch",)),
    Break("packs: the force of a ball's limit is that of a dof", "src/physics/sensor_state.h",
          "const int c = is_ball ? ball_coordinate(m, ball) : dof;", "const int c = dof;",
          pytests=(LIMITS + "test_of_a_batch",)),
    Break("a limit's force is an impulse", "src/reference/length_forces.cpp",
          "force += evaluate(law, J.dot(v)).impulse / dt;", "force += evaluate(law, J.dot(v)).impulse;",
          pytests=(LIMITS + "test_force_at_rest_is_the_weight",)),
    Break("the flux is in the site's axes", "src/reference/sensors.cpp",
          "return frame_of(m, w.kin, ObjectType::site, id).quat.conjugate() * row3(m.magnetic, 0);",
          "return row3(m.magnetic, 0);", pytests=ZOO),
    Break("the energy of what never moves is left out", "src/reference/sensors.cpp",
          "to_vec(energies().potential + energies().fixed_potential)", "to_vec(energies().potential)", pytests=ZOO),
    Break("packs: armature has no energy", "src/physics/energies.h",
          "twice = twice + widen(e.dof_armature[i] * (e.qvel[i] * e.qvel[i]));", "",
          gtests=PACKS),
    Break("packs: a box is a ball", "src/physics/sensor_state.h",
          "vabs(p.x) < size.x && vabs(p.y) < size.y && vabs(p.z) < size.z;",
          "dot(p, p) < size.x * size.x;", gtests=PACKS),
    Break("a massless body is where its frame is", "src/reference/sensors.cpp",
          "const bool centre = type == ObjectType::body && id > 0", "const bool centre = type == ObjectType::body && id < 0",
          pytests=(LIMITS + "test_what_is_inside",)),
]
