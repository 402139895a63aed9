"""Deliberate breaks of the reader of URDF."""

from breaks import Break

PAGE = "python/model/test_urdf.py::"

URDF = [
    Break("urdf: turns about the axes of the body", "src/model/urdf/urdf_robot.cpp",
          "(turn(2) * turn(1) * turn(0))", "(turn(0) * turn(1) * turn(2))",
          pytests=(PAGE + "test_the_robot_is_mujocos",)),
    Break("urdf: shapes of a fixed link weigh nothing", "src/model/urdf/urdf.cpp",
          "if (mass == Mass::sum && !l.inertial) parts", "if (mass == Mass::sum && !l.inertial && false) parts",
          pytests=(PAGE + "test_masses_of_a_rigid_group",)),
    Break("urdf: a moving mesh weighs nothing beside an inertial", "src/model/urdf/urdf.cpp",
          "weighs_by_meshes(l) ? Mass::shapes : Mass::sum", "Mass::sum",
          pytests=(PAGE + "test_meshes_weigh_beside_inertials", "python/model/test_urdf_robots.py::test_a_robot_of_meshes_is_mujocos")),
    Break("urdf: a mesh may lie anywhere", "src/model/urdf/urdf_meshes.cpp",
          "return end == b.end();", "return end == b.end() || true;",
          pytests=(PAGE + "test_meshes_that_are_not_read",)),
    Break("urdf: a loop beside the root is lost", "src/model/urdf/urdf_robot.cpp",
          'fail(*l.element, "has itself among its parents: URDF has no loops");', "break;",
          pytests=(PAGE + "test_bad_robots",)),
]
