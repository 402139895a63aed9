"""Breaks of the reader: defaults, alarms, bounds, files, warnings."""

from breaks import Break

READER_DOOR = [
    Break("a shortcut inherits from any default", "src/model/read_actuators.cpp",
          "return from.kind == kind ||", "return from.kind != \"\" ||",
          pytests=("python/test_mujoco_reader.py::test_every_mixture_of_actuator_defaults",)),
    Break("collision meshes that nothing can touch alarm", "src/model/judge.cpp",
          "Use::ignored, false, collides ?", "Use::ignored, collides, collides ?",
          gtests=("MjcfReport.WhatHasNoEffectIsNoAlarm",)),
    Break("lengths have no bound", "src/model/bounds.h",
          "kLengthBound{1e6,", "kLengthBound{1e300,",
          pytests=("python/test_model_bounds.py::test_every_quantity_has_a_bound",)),
    Break("chains of includes have no bound", "src/model/xml.h",
          "kMaxIncludes = 64;", "kMaxIncludes = 6400000;",
          pytests=("python/test_mujoco_reader.py::test_a_chain_of_includes_ends_in_an_error",)),
    Break("nobody is warned", "python/src/model.cpp",
          "if (lines.empty()) return;", "if (true) return;",
          pytests=("python/test_model_warning.py::test_one_warning_with_the_gravest_three",)),
    Break("alignment forgets what hangs on the body", "src/model/build_tree.cpp",
          "for (auto& g : b.geoms) move(g.pos, g.quat);", "",
          pytests=("python/test_mujoco_reader.py::test_same_verdict_and_same_arrays",)),
]
