"""Breaks of a medium and its swimmer."""

from breaks import Break

REFERENCE = ("Fluid.AgreesWithTheReference",)
MEDIUM = "python/tree/test_mujoco_dynamics.py::test_passive_forces"

FLUID = [
    Break("fluid: wind does not blow", "src/physics/tree/fluid.h", "velocity_at(V, c) - wind)",
          "velocity_at(V, c) - S(0.0) * wind)", gtests=REFERENCE),
    Break("fluid: the box lies across", "src/physics/tree/fluid.h",
          "slow + half * (l.y * l.z) * vabs(v.x)", "slow + half * (l.x * l.z) * vabs(v.x)",
          gtests=REFERENCE),
    Break("fluid: lift has no shadow", "src/physics/tree/fluid.h", "S(coef[4]) * density * shadow",
          "S(coef[4]) * density * area", gtests=REFERENCE),
    Break("fluid: drag of a subtree is that of its root", "src/physics/tree/fluid.h",
          "  gather_drag(team, m, e);\n", "", gtests=REFERENCE),
    Break("fluid: drag is explicit", "src/reference/actuation/free_motion.cpp",
          "  free.A += share.force * dt * medium.drag;\n", "",
          gtests=(*REFERENCE, "Fluid.QuadraticDragIsExactAtEveryTimestep")),
    Break("fluid: added mass moves nothing", "src/reference/tree/fluid.cpp", "f.force = p.cross(w);",
          "f.force = 0 * p.cross(w);", gtests=REFERENCE, pytests=(MEDIUM,)),
    Break("fluid: virtual masses of a sphere", "src/model/build/fluid.cpp",
          "volume * k[i] / std::max(", "volume * k[0] / std::max(",
          pytests=("python/model/test_mujoco_model.py::test_reals",)),
    Break("env: a swimmer is paid for its way to the side", "envs/swimmer.h",
          "S(forward_weight) * vx;", "S(forward_weight) * vy;",
          pytests=("python/tasks/test_env_gymnasium.py::test_reward_end_and_metrics",)),
]
