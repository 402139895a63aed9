"""Breaks of packs that step side by side, whose solves share a third one, and of what lanes know of each other."""

from breaks import Break

SIDE_BY_SIDE = ("DeterminismOfThreads.PacksThatStepSideBySideAreAsOne",)

TWO_PACKS = [
    Break("points that a lane has not keep another lane's law", "src/cpu/solve_two.h",
          "for_laws<S>(m_, take_or_zero), for_impulses<S>(m_, take_or_zero);",
          "for_laws<S>(m_, [&](auto field, int n) { take_or(field, n, S(1.0)); }), for_impulses<S>(m_, take_or_zero);",
          gtests=SIDE_BY_SIDE),
    Break("points that a lane has not keep what another lane has there, finite or not", "src/cpu/solve_two.h",
          "to[i] = select(there, chosen(x[i], y[i], choice_), other_lanes);",
          "to[i] = field == &EnvView<S>::point_normal ? chosen(x[i], y[i], choice_) : select(there, chosen(x[i], y[i], choice_), other_lanes);",
          gtests=("Fuzz.BadInputs",)),
    Break("points of the second pack come behind those of the first", "src/cpu/solve_two.h",
          "slots[0] < slots[1] ? slots[0] : slots[1];", "at[0] < from_[0]->npoint[0] ? slots[0] : slots[1];",
          gtests=SIDE_BY_SIDE),
    Break("the bounds of friction stay in the shared pack", "src/cpu/solve_two.h",
          "for_scales<S>(m_, give_point), for_impulses<S>(m_, give_point);", "for_impulses<S>(m_, give_point);",
          gtests=SIDE_BY_SIDE),
    Break("lanes come back to their places in the shared pack", "src/cpu/solve_two.h",
          "back[k][lane] = count++, came[k][lane] = -1;", "back[k][lane] = lane, ++count, came[k][lane] = -1;",
          gtests=SIDE_BY_SIDE),
    Break("the shared pack has the structure of the pack before", "src/cpu/solve_two.h",
          "    couple_points(one, m_, to_);\n", "", gtests=SIDE_BY_SIDE),
    Break("the third pack is that of another thread", "src/batch/run.cpp",
          "worker + 2 * pool->size()", "2 * pool->size()", gtests=("DeterminismOfThreads.ThreadsDoNotMatter",)),
    Break("round-off is counted anew in lanes that others made wait", "src/physics/solver/solve.h",
          "select(s.moved, select(flat, s.flat_steps + S(1.0), S(0.0)), s.flat_steps)",
          "select(flat, s.flat_steps + S(1.0), S(0.0))", gtests=SIDE_BY_SIDE),
    Break("friction is solved once where a lane ends before half of its pack", "src/physics/solver/solve.h",
          "  s.open = s.active;\n", "  s.open = s.active && s.open && s.moved;\n", gtests=SIDE_BY_SIDE),
]
